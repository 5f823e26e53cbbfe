//! What an experiment found, asked for another target afterwards.

use crate::tune::{AtTarget, Experiment, Found, MetricValue};
use abstain::certify::Certificate;
use abstain::{Error, RcCurve};

impl Found {
    /// The same for the target of another experiment: what each method keeps there, and the threshold, with
    /// its certificate if one was found. What was tuned and chosen stays as it was.
    pub fn retargeted(
        &self,
        experiment: &Experiment,
        certificate: Option<Certificate>,
    ) -> Result<Found, Error> {
        let Found { mut report, run } = self.clone();
        report.target = experiment.target_of(&run.losses);
        let columns: Vec<&[f64]> = run.confidences.iter().map(|column| &column[..]).collect();
        let metrics = [report.target.metric()?];
        let compared =
            experiment.bootstrap().compare(&metrics, &columns, &run.losses, &mut |_| {})?;
        // What is measured anew is the first split alone, and so the others are left out of the rest.
        report.splits = 1;
        for (line, own) in report.methods.iter_mut().zip(compared) {
            for value in [&mut line.naurc, &mut line.aurc, &mut line.auroc, &mut line.gain] {
                value.spread = None;
            }
            line.kept = MetricValue { interval: own[0].value.ok(), spread: None };
        }
        let chosen = report.choice.place(&report.methods);
        let curve = RcCurve::new(&run.confidences[chosen], &run.losses)?;
        report.at_target = AtTarget::new(report.target, &curve);
        (report.certificate, report.infeasible) = (certificate, None);
        Ok(Found { report, run })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Experiment, InMemory, Target};
    use abstain::{Labels, Logits};

    #[test]
    fn another_target_is_as_if_it_had_been_asked_for() {
        let rows: Vec<f64> =
            (0..1200_u32).map(|i| f64::from(i.wrapping_mul(2654435761) % 997) / 100.0).collect();
        let labels: Vec<u32> = (0..400_u32).map(|i| i.wrapping_mul(40503) % 7 % 3).collect();
        let logits = Logits::new(&rows, 3).expect("logits");
        let labels = Labels::new(&labels, 3).expect("labels");
        let first = |target| Experiment {
            methods: vec!["MaxLogit-pNorm".parse().expect("a method")],
            target: Some(Target::Accuracy(target)),
            replicates: 20,
            ..Experiment::default()
        };
        let run = |experiment: &Experiment| {
            let mut source = InMemory::new(&logits, &labels).expect("rows");
            experiment.run(&mut source, &mut |_| {}).expect("a report")
        };
        let json = |found: &crate::Found| {
            let mut json = serde_json::to_value(&found.report).expect("serialises");
            // The choice is that of the first target.
            json["choice"] = serde_json::Value::Null;
            json
        };
        let (before, after) = (first(0.3), first(0.4));
        let found = run(&before).retargeted(&after, None).expect("measured again");
        assert_eq!(json(&found), json(&run(&after)));
        assert_ne!(json(&found), json(&run(&before)));
        let several = run(&Experiment { splits: 3, ..before });
        assert!(several.report.methods[1].naurc.spread.is_some());
        let found = several.retargeted(&after, None).expect("measured again");
        assert_eq!(json(&found), json(&run(&after)));
    }
}
