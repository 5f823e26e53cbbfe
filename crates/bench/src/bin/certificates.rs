//! The Rust half of `compare_certificates.py`: how much is certified on samples of real classifiers.
//!
//! Each population is the errors of one confidence, surest first. A row of a sample is a place in it,
//! and a threshold a place: coverage and risk above it are the population's.

use abstain::certify::{Certifier, Pilot, Procedure, binomial_tail};
use abstain::{Losses, RcCurve};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// The errors of a population, surest first.
struct Population {
    wrong: Vec<u8>,
    /// The errors among the first so many rows.
    errors: Vec<f64>,
}

/// A generator that the script shares.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Population {
    fn read(path: &str) -> Result<Self> {
        let file = std::fs::File::open(path).with_context(|| path.to_string())?;
        let wrong: Vec<u8> = npyz::NpyFile::new(std::io::BufReader::new(file))?.into_vec()?;
        ensure!(!wrong.is_empty(), "{path} is empty");
        let mut errors = vec![0.0];
        for &row in &wrong {
            errors.push(errors[errors.len() - 1] + f64::from(row));
        }
        Ok(Population { wrong, errors })
    }

    /// The curve of so many rows; a confidence is the negative place.
    fn sample(&self, rows: usize, random: &mut SplitMix) -> Result<RcCurve> {
        let scale = self.wrong.len() as f64 / 2.0_f64.powi(53);
        let places: Vec<f64> = (0..rows).map(|_| (random.next() >> 11) as f64 * scale).collect();
        let wrong = |&place: &f64| f64::from(self.wrong[self.index(place)]);
        let losses = Losses::new(places.iter().map(wrong).collect())?;
        let confidences: Vec<f64> = places.iter().map(|place| -place).collect();
        Ok(RcCurve::new(&confidences, &losses)?)
    }

    fn index(&self, place: f64) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let index = place as usize;
        index.min(self.wrong.len() - 1)
    }

    /// The coverage up to a place, and the risk there.
    fn truth(&self, place: f64) -> (f64, f64) {
        let index = self.index(place);
        let part = (place - index as f64) * f64::from(self.wrong[index]);
        (place / self.wrong.len() as f64, (self.errors[index] + part) / place.max(1e-9))
    }
}

/// Four starts, each with a quarter of δ and none taking it along: the rule before this one.
fn four_starts(curve: &RcCurve, risk: f64, delta: f64) -> Option<f64> {
    let knots: Vec<_> = curve.knots().collect();
    let fits = |starts: usize| {
        let level = delta / starts as f64;
        let first = (1..=knots.len()).find(|&n| binomial_tail(0, n, risk) <= level)?;
        (first << (starts - 1) <= knots.len()).then_some((starts, first, level))
    };
    let (starts, first, level) = (1..=4).rev().find_map(fits)?;
    let passes =
        |knot: &&abstain::curve::Knot| binomial_tail(knot.errors(), knot.accepted, risk) <= level;
    (0..starts)
        .filter_map(|k| {
            let from = (first << k) - 1;
            knots[from..].iter().take_while(passes).last().map(|knot| -knot.threshold)
        })
        .reduce(f64::max)
}

/// What one rule certified.
#[derive(Default)]
struct Tally {
    coverage: f64,
    broken: u32,
}

impl Tally {
    fn add(&mut self, population: &Population, risk: f64, place: Option<f64>) {
        if let Some(place) = place {
            let (coverage, truth) = population.truth(place);
            self.coverage += coverage;
            self.broken += u32::from(truth > risk);
        }
    }
}

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("usage: certificates FOLDER")?;
    let plan = std::fs::read_to_string(format!("{folder}/plan.json"))?;
    let plan: Value = serde_json::from_str(&plan)?;
    let number = |value: &Value| value.as_f64().context("a number is missing");
    let count = |value: &Value| -> Result<usize> {
        Ok(usize::try_from(value.as_u64().context("a count is missing")?)?)
    };
    let list = |name: &str| plan[name].as_array().cloned().unwrap_or_default();
    let runs = count(&plan["runs"])?;
    let pilots = list("pilots").iter().map(count).collect::<Result<Vec<_>>>()?;
    for cell in list("cells") {
        let name = cell["population"].as_str().context("a population is missing")?;
        let population = Population::read(&format!("{folder}/{name}.npy"))?;
        let (risk, delta) = (number(&cell["risk"])?, number(&cell["delta"])?);
        let (rows, seed) = (count(&cell["rows"])?, count(&cell["seed"])? as u64);
        let blind = Certifier::risk(risk, delta);
        let sgr = Certifier { procedure: Procedure::Sgr, ..blind.clone() };
        let mut tallies: Vec<(String, Tally)> = ["four starts", "no pilot", "SGR"]
            .map(String::from)
            .into_iter()
            .chain(pilots.iter().map(|rows| format!("pilot of {rows}")))
            .map(|rule| (rule, Tally::default()))
            .collect();
        for run in 0..runs {
            let mut random = SplitMix(seed + run as u64);
            let curve = population.sample(rows, &mut random)?;
            tallies[0].1.add(&population, risk, four_starts(&curve, risk, delta));
            let place = |certifier: &Certifier| -> Result<Option<f64>> {
                Ok(certifier.widest(&curve)?.map(|certificate| -certificate.threshold))
            };
            tallies[1].1.add(&population, risk, place(&blind)?);
            tallies[2].1.add(&population, risk, place(&sgr)?);
            for (tally, &rows) in tallies[3..].iter_mut().zip(&pilots) {
                let pilot = Pilot::of(&population.sample(rows, &mut random)?);
                let certifier = Certifier { pilot, ..blind.clone() };
                tally.1.add(&population, risk, place(&certifier)?);
            }
        }
        let results: serde_json::Map<String, Value> = tallies
            .into_iter()
            .map(|(rule, Tally { coverage, broken })| {
                let (coverage, broken) = (coverage / runs as f64, f64::from(broken) / runs as f64);
                (rule, json!([coverage, broken]))
            })
            .collect();
        println!("{}", Value::Object(results));
    }
    Ok(())
}
