//! What a threshold accepts in each predicted class and in each group, as tables.

use super::{Finding, Findings, Tone};
use crate::sheet::{Align, Cell, Group, Heading, Sheet, Value};
use crate::words::{count, percent};
use abstain_lab::{Breakdown, BreakdownRow};

/// Lines of a table; of more, those with the least accuracy are shown.
const SHOWN: usize = 12;

/// What is accepted, right and wrong in each predicted class and in each group.
pub fn breakdown(breakdown: &Breakdown) -> Vec<Findings> {
    let mut all = Vec::new();
    for (what, parts) in [("predicted class", &breakdown.by_class), ("group", &breakdown.by_group)]
    {
        // Of many parts without enough rows, no table means anything.
        let means_something =
            parts.len() <= SHOWN || parts.iter().any(|part| part.accepted >= ENOUGH);
        if parts.len() > 1 && means_something {
            all.push(Findings {
                about: vec![Finding::new(Tone::Plain, caption(what, parts.len()))],
                sheet: Some(sheet(what, parts)),
                findings: low_accuracy(what, parts).into_iter().collect(),
                ..Findings::default()
            });
        }
    }
    all
}

/// Of many parts, those with fewer accepted rows than this are not shown: their accuracy means nothing.
const ENOUGH: usize = 10;

fn caption(what: &str, parts: usize) -> String {
    if parts <= SHOWN {
        return format!("Accepted rows by {what}");
    }
    format!(
        "Accepted rows by {what}: of {} with {ENOUGH} or more, those with the least accuracy",
        count(parts)
    )
}

fn sheet(what: &str, parts: &[BreakdownRow]) -> Sheet {
    let mut shown: Vec<&BreakdownRow> = parts.iter().collect();
    if shown.len() > SHOWN {
        // Where nothing is accepted nothing is wrong.
        let accuracy = |part: &&BreakdownRow| part.accuracy().unwrap_or(2.0);
        shown.retain(|part| part.accepted >= ENOUGH);
        shown.sort_by(|a, b| accuracy(a).total_cmp(&accuracy(b)).then(b.wrong.cmp(&a.wrong)));
        shown.truncate(SHOWN);
    }
    let row = |part: &&BreakdownRow| {
        vec![
            Cell::text(&part.name),
            Cell::count(part.rows),
            Cell::count(part.accepted),
            Cell::count(part.right),
            Cell::count(part.wrong),
            part.accuracy()
                .map_or(Value::Missing.into(), |accuracy| Cell::number(accuracy, 1).percent()),
        ]
    };
    let weighted = parts.iter().any(|part| part.weights.is_some());
    let note = "Rows are counted as they are; the accuracy is weighted.";
    let names = [what, "rows", "accepted", "right", "wrong", "accuracy of accepted"];
    Sheet {
        name: format!("by {what}"),
        caption: caption(what, parts.len()),
        header: vec![names.map(Heading::new).into()],
        align: vec![Align::Left, Align::Right],
        groups: vec![Group { label: None, rows: shown.iter().map(row).collect() }],
        notes: weighted.then(|| note.to_string()).into_iter().collect(),
    }
}

/// The part that is far less accurate than all accepted rows together.
fn low_accuracy(what: &str, parts: &[BreakdownRow]) -> Option<Finding> {
    let sum = |of: fn(&BreakdownRow) -> f64| parts.iter().map(of).sum::<f64>();
    let (accepted, right) = (sum(|part| part.sums().accepted), sum(|part| part.sums().right));
    let all = if accepted > 0.0 { right / accepted } else { 0.0 };
    let least = parts
        .iter()
        .filter(|part| part.accepted >= 5)
        .min_by(|a, b| a.accuracy().unwrap_or(1.0).total_cmp(&b.accuracy().unwrap_or(1.0)))?;
    let accuracy = least.accuracy()?;
    // Beyond what chance makes of so few rows.
    let error = (all * (1.0 - all) / least.accepted as f64).sqrt();
    (accuracy < all - 0.1 && accuracy < all - 3.0 * error).then(|| {
        let (name, right) = (&least.name, count(least.right));
        let text = format!(
            "Of the accepted rows of {what} '{name}', {} are right ({right} of {}); of all \
             accepted rows, {}.",
            percent(accuracy),
            count(least.accepted),
            percent(all)
        );
        Finding::new(Tone::Bad, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::{Losses, Rule, Threshold};
    use abstain_lab::BrokenDownBy;

    #[test]
    fn rare_classes_with_low_accuracy_are_named() {
        // 980 rows of one class, nearly all right; 20 of the other, a third of them right.
        let predictions: Vec<usize> = (0..1000).map(|row| usize::from(row < 20)).collect();
        let wrong = |row: usize| if row < 13 || row == 500 { 1.0 } else { 0.0 };
        let losses = Losses::new((0..1000).map(wrong).collect()).expect("losses");
        let names = ["negative", "positive"].map(String::from);
        let by = BrokenDownBy {
            predictions: Some(&predictions),
            class_names: Some(&names),
            groups: None,
            weights: None,
        };
        let rule = Rule::from(Threshold::given(0.5));
        let found = Breakdown::new(&[1.0; 1000], &losses, Some(&rule), by).expect("zero-one");
        let found = breakdown(&found);
        let text: String = found.iter().map(Findings::text).collect();
        assert!(
            text.contains("35.0 % are right (7 of 20); of all accepted rows, 98.6 %"),
            "{text}"
        );
        assert!(text.contains("negative") && text.contains("979"), "{text}");
        assert_eq!(found.len(), 1, "there are no groups");
    }
}
