//! What one reading of rows learns: an accumulator of everything that is needed, whose parts merge.

use crate::error::LabError;
use crate::order::{OtherOrder, other_order};
use abstain::internal::exact::{ExactSum, Numbers};
use abstain::{
    Artifact, Error, Estimator, Labels, Losses, RowSource,
    internal::{Influences, ProfilePlan, ProfileState, Profiles, RowFacts, RowSketches, Weighing},
    rows::{Chunk, Labelled},
    threshold::Basis,
};
use abstain_io::{Fingerprint, OrderedFingerprint, classes_of_answers};
use serde::{Deserialize, Serialize};

/// Rows of a source.
#[derive(Debug, Clone, Copy, Default)]
pub enum Select<'a> {
    /// All of them.
    #[default]
    All,
    /// These, in ascending order.
    Rows(&'a [usize]),
}

/// What a pass learns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The profiles of some rows, which need labels.
    pub profiles: Option<(&'a ProfilePlan, Select<'a>)>,
    /// The confidences of some estimators on some rows, with their losses if there are labels.
    pub confidences: Option<(&'a [Estimator], Select<'a>)>,
    /// The confidences of one estimator on further rows, with their losses: the first ones may be a
    /// sample of these.
    pub whole: Option<(&'a Estimator, Select<'a>)>,
    /// The weight of each logit over all rows.
    pub influences: &'a [Weighing],
    /// The negative log-likelihood of the labels under some estimators, over all rows.
    pub nll: &'a [Estimator],
    /// The predictions of all rows.
    pub predictions: bool,
    /// The fingerprints of all rows, and what else recognises rows: their facts, and the sketches of all
    /// rows and of those with profiles.
    pub fingerprint: bool,
    /// Also the fingerprint of the first scheme, which depends on the order: parts that are merged have
    /// none.
    pub ordered_fingerprint: bool,
}

impl Wanted<'_> {
    /// The same with all fingerprints by which an artifact may know the rows.
    #[must_use]
    pub fn recognised_by(self, artifact: Option<&Artifact>) -> Self {
        let ordered_fingerprint = artifact.is_some_and(has_ordered_fingerprint);
        Wanted { fingerprint: true, ordered_fingerprint, ..self }
    }
}

/// Whether an artifact holds a fingerprint of the first scheme.
pub(crate) fn has_ordered_fingerprint(artifact: &Artifact) -> bool {
    let tuning = artifact.tuning.as_ref();
    let measured = tuning.and_then(|tuning| tuning.measured.as_ref());
    let certified = match artifact.threshold().map(|threshold| &threshold.basis) {
        Some(Basis::Certified { data, .. }) => data.as_ref(),
        _ => None,
    };
    [
        tuning.and_then(|tuning| tuning.data.as_ref()),
        tuning.and_then(|tuning| tuning.unlabelled.as_ref()),
        measured.and_then(|measured| measured.data.as_ref()),
        certified,
    ]
    .into_iter()
    .flatten()
    .any(|text| OrderedFingerprint::is_text_of(text))
}

/// The texts by which artifacts know a set of rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Fingerprints {
    /// That of the rows with their labels or losses.
    pub labelled: Option<String>,
    /// That of the rows alone.
    pub alone: Option<String>,
    /// Those of the first scheme.
    pub(crate) ordered: Vec<String>,
}

impl Fingerprints {
    /// Whether a fingerprint in an artifact is one of these rows.
    pub fn contain(&self, text: &str) -> bool {
        let known = self.ordered.iter().chain(&self.labelled).chain(&self.alone);
        known.into_iter().any(|known| known == text)
    }
}

/// What a pass collected.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// The rows that were read.
    pub rows: usize,
    /// The profiles.
    pub profiles: Option<Profiles>,
    /// The confidences of each estimator.
    pub confidences: Vec<Vec<f64>>,
    /// The losses of the rows that have confidences; none without labels.
    pub losses: Vec<f64>,
    /// The confidences of [`Wanted::whole`].
    pub whole: Vec<f64>,
    /// The losses of these rows; none without labels.
    pub whole_losses: Vec<f64>,
    /// The geometric mean of the weights of each logit, for each weighing.
    pub influences: Vec<Vec<f64>>,
    /// The mean negative log-likelihood under each estimator that has one.
    pub nll: Vec<Option<f64>>,
    /// The predictions.
    pub predictions: Vec<usize>,
    /// The fingerprints.
    pub fingerprints: Fingerprints,
    /// What the rows look like.
    pub facts: RowFacts,
    /// A sample of all rows, by which they are recognised.
    pub sketch: RowSketches,
    /// The same of the rows that have profiles.
    pub sketch_of_profiles: RowSketches,
    /// The key of each row, by which copies are found ([`abstain::internal::RowMark`]).
    pub keys: Vec<u64>,
}

impl Collected {
    /// The confidences and the losses of the rows that have them.
    pub fn into_confidences(self) -> Result<(Vec<Vec<f64>>, Losses), Error> {
        Ok((self.confidences, Losses::new(self.losses)?))
    }
}

/// The labels and predictions of all rows of a source.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The labels.
    pub labels: Labels,
    /// The predicted classes.
    pub predictions: Vec<usize>,
}

impl Answers {
    /// Predictions and labels that are names, and the names of the classes: those that occur, in the order
    /// of their numbers if they are numbers, else sorted.
    pub fn of_names(
        predictions: &[String],
        labels: &[String],
    ) -> Result<(Self, Vec<String>), Error> {
        let (predictions, numbers, names) = classes_of_answers(predictions, labels);
        let labels = Labels::new(&numbers, names.len().max(2))?;
        Ok((Answers { labels, predictions }, names))
    }

    /// Those of some rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let predictions = rows.iter().map(|&row| self.predictions[row]).collect();
        Answers { labels: self.labels.select(rows), predictions }
    }

    /// One more than the largest class that occurs.
    pub(crate) fn classes_seen(&self) -> usize {
        let labels = self.labels.values().iter().map(|&label| label as usize);
        labels.chain(self.predictions.iter().copied()).max().map_or(0, |largest| largest + 1)
    }
}

/// What one reading learns of rows, a chunk at a time.
///
/// Parts of a set may be read in different places: what they learned is merged in the order of the parts,
/// and is then what one reading of all rows would have learned, to the bit. Chunks say which rows of the
/// whole set they hold.
pub struct Pass<'a> {
    wanted: Wanted<'a>,
    classes: usize,
    profiles: Option<Profiles>,
    ordered: Option<OrderedFingerprint>,
    learned: Learned,
}

/// What a pass has learned, to be stored or sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassState {
    profiles: Option<ProfileState>,
    learned: Learned,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Learned {
    rows: usize,
    /// Whether the rows have labels.
    labelled: bool,
    confidences: Vec<Numbers>,
    losses: Numbers,
    whole: Numbers,
    whole_losses: Numbers,
    influences: Influences,
    nll: Vec<Option<ExactSum>>,
    predictions: Vec<usize>,
    fingerprint: Fingerprint,
    facts: RowFacts,
    sketch: RowSketches,
    sketch_of_profiles: RowSketches,
    #[serde(default)]
    keys: Vec<u64>,
}

impl<'a> Pass<'a> {
    /// Nothing yet, of rows with so many classes.
    pub fn new(wanted: Wanted<'a>, classes: usize) -> Self {
        let profiles = wanted.profiles.map(|(plan, _)| Profiles::empty(classes, plan));
        let estimators = wanted.confidences.map_or(0, |(estimators, _)| estimators.len());
        let learned = Learned {
            confidences: vec![Numbers::default(); estimators],
            nll: vec![Some(ExactSum::default()); wanted.nll.len()],
            ..Learned::default()
        };
        let ordered = wanted.ordered_fingerprint.then(OrderedFingerprint::default);
        Pass { wanted, classes, profiles, ordered, learned }
    }

    /// What was learned before, by a pass that wanted the same.
    pub fn resume(wanted: Wanted<'a>, classes: usize, state: PassState) -> Result<Self, Error> {
        let mut pass = Pass::new(wanted, classes);
        let PassState { profiles, learned } = state;
        pass.profiles = match (wanted.profiles, profiles) {
            (Some((plan, _)), Some(state)) => Some(Profiles::from_state(classes, plan, state)?),
            (None, None) => None,
            _ => return Err(Error::StatesDiffer),
        };
        pass.check(&learned)?;
        (pass.learned, pass.ordered) = (learned, None);
        Ok(pass)
    }

    /// What was learned.
    pub fn into_state(self) -> PassState {
        PassState { profiles: self.profiles.map(Profiles::into_state), learned: self.learned }
    }

    /// Refuses what was learned by a pass that wanted something else.
    fn check(&self, other: &Learned) -> Result<(), Error> {
        let counts = |learned: &Learned| (learned.confidences.len(), learned.nll.len());
        let same = counts(&self.learned) == counts(other);
        if same { Ok(()) } else { Err(Error::StatesDiffer) }
    }

    /// Makes room for rows, where it is known how many they are.
    fn reserve(&mut self, rows: usize) {
        if let (Some(profiles), Some((_, select))) = (&mut self.profiles, self.wanted.profiles) {
            profiles.reserve(select.count(rows));
        }
        if let Some((_, select)) = self.wanted.confidences {
            let columns = self.learned.confidences.iter_mut().chain([&mut self.learned.losses]);
            columns.for_each(|column| column.0.reserve_exact(select.count(rows)));
        }
        if let Some((_, select)) = self.wanted.whole {
            let columns = [&mut self.learned.whole, &mut self.learned.whole_losses];
            for column in columns {
                column.0.reserve_exact(select.count(rows));
            }
        }
        if self.wanted.predictions {
            self.learned.predictions.reserve_exact(rows);
        }
        if self.wanted.fingerprint {
            self.learned.keys.reserve_exact(rows);
        }
    }

    /// Adds the next rows.
    pub fn update(&mut self, chunk: &Chunk<'_>) -> Result<(), Error> {
        let Pass { wanted, profiles, ordered, learned, .. } = self;
        learned.rows += chunk.logits.rows();
        learned.labelled = chunk.labelled.is_some();
        let labels = chunk.labelled.map(|labelled| labelled.labels);
        let mut fingerprint = Fingerprint::default();
        let hash = || {
            if wanted.fingerprint {
                fingerprint.update(chunk.logits, labels);
            }
            if let Some(ordered) = ordered {
                ordered.update(chunk.logits, labels);
            }
        };
        let gather = || -> Result<(), Error> {
            if wanted.fingerprint {
                learned.facts.merge(&RowFacts::of_chunk(chunk.logits, chunk.first));
                let marks = chunk.logits.row_marks();
                learned.sketch.extend(&marks);
                learned.keys.extend(marks.iter().map(|mark| mark.key));
            }
            if let (Some(profiles), Some((_, select))) = (profiles, wanted.profiles) {
                select.take(chunk, |part| {
                    if wanted.fingerprint {
                        learned.sketch_of_profiles.extend(&part.logits.row_marks());
                    }
                    let Labelled { labels, losses } = part.labelled()?;
                    profiles.push(part.logits, labels, losses)
                })?;
            }
            if let Some((estimators, select)) = wanted.confidences {
                select.take(chunk, |part| {
                    let columns = Estimator::confidences_of(estimators, part.logits);
                    for (all, column) in learned.confidences.iter_mut().zip(columns) {
                        all.0.extend(column);
                    }
                    let losses = part.labelled.map(|labelled| labelled.losses.values());
                    learned.losses.0.extend(losses.unwrap_or_default());
                    Ok(())
                })?;
            }
            if let Some((estimator, select)) = wanted.whole {
                select.take(chunk, |part| {
                    learned.whole.0.extend(estimator.confidences(part.logits));
                    let losses = part.labelled.map(|labelled| labelled.losses.values());
                    learned.whole_losses.0.extend(losses.unwrap_or_default());
                    Ok(())
                })?;
            }
            for (sum, estimator) in learned.nll.iter_mut().zip(wanted.nll) {
                let labels = chunk.labelled()?.labels;
                let rows = estimator.log_losses_of(chunk.logits, labels).and_then(Result::ok);
                match (sum.as_mut(), rows) {
                    (Some(sum), Some(rows)) => rows.into_iter().for_each(|row| sum.add(row)),
                    _ => *sum = None,
                }
            }
            if !wanted.influences.is_empty() {
                learned.influences.push(wanted.influences, chunk.logits);
            }
            if wanted.predictions {
                learned.predictions.extend(chunk.logits.predictions());
            }
            Ok(())
        };
        let ((), gathered) = rayon::join(hash, gather);
        learned.fingerprint.merge(&fingerprint);
        gathered
    }

    /// Adds what another pass learned of the rows after these.
    pub fn merge(&mut self, other: Pass<'_>) -> Result<(), Error> {
        let Learned { rows, labelled, .. } = other.learned;
        self.check(&other.learned)?;
        if self.classes != other.classes {
            return Err(Error::StatesDiffer);
        }
        match (&mut self.profiles, other.profiles) {
            (Some(here), Some(there)) => here.merge(there)?,
            (None, None) => {}
            _ => return Err(Error::StatesDiffer),
        }
        if rows > 0 {
            self.ordered = if self.learned.rows == 0 { other.ordered } else { None };
        }
        let (here, mut there) = (&mut self.learned, other.learned);
        here.labelled = if here.rows == 0 { labelled } else { here.labelled && labelled };
        here.rows += rows;
        let columns = here.confidences.iter_mut().zip(&mut there.confidences);
        columns.for_each(|(here, there)| here.0.append(&mut there.0));
        here.losses.0.append(&mut there.losses.0);
        here.whole.0.append(&mut there.whole.0);
        here.whole_losses.0.append(&mut there.whole_losses.0);
        here.influences.merge(&there.influences);
        for (here, there) in here.nll.iter_mut().zip(there.nll) {
            match (here.as_mut(), there) {
                (Some(here), Some(there)) => here.merge(&there),
                _ => *here = None,
            }
        }
        here.predictions.append(&mut there.predictions);
        here.keys.append(&mut there.keys);
        here.fingerprint.merge(&there.fingerprint);
        here.facts.merge(&there.facts);
        here.sketch.merge(&there.sketch);
        here.sketch_of_profiles.merge(&there.sketch_of_profiles);
        Ok(())
    }

    /// Everything that was learned.
    pub fn finish(self) -> Collected {
        let Learned { rows, labelled, fingerprint, .. } = &self.learned;
        let mean = |sum: &Option<ExactSum>| sum.as_ref().map(|sum| sum.value() / *rows as f64);
        let wanted = self.wanted.fingerprint;
        let ordered =
            self.ordered.map(|hash| (hash.without_labels(), labelled.then(|| hash.with_labels())));
        let fingerprints = Fingerprints {
            labelled: (wanted && *labelled).then(|| fingerprint.with_labels()),
            alone: wanted.then(|| fingerprint.without_labels()),
            ordered: ordered
                .into_iter()
                .flat_map(|(rows, all)| [Some(rows), all])
                .flatten()
                .collect(),
        };
        Collected {
            rows: *rows,
            nll: self.learned.nll.iter().map(mean).collect(),
            fingerprints,
            profiles: self.profiles,
            confidences: self.learned.confidences.into_iter().map(|column| column.0).collect(),
            losses: self.learned.losses.0,
            whole: self.learned.whole.0,
            whole_losses: self.learned.whole_losses.0,
            influences: self.learned.influences.means(),
            predictions: self.learned.predictions,
            facts: self.learned.facts,
            sketch: self.learned.sketch,
            sketch_of_profiles: self.learned.sketch_of_profiles,
            keys: self.learned.keys,
        }
    }
}

/// Reads a source once and collects what is wanted. Refuses an order of the classes that nothing states, and
/// that the labels contradict.
pub fn collect(source: &mut dyn RowSource, wanted: &Wanted<'_>) -> Result<Collected, LabError> {
    let estimators = wanted.confidences.map_or(&[][..], |(estimators, _)| estimators);
    if !source.has_extra() && estimators.iter().any(Estimator::needs_extra) {
        return Err(Error::ExtraMissing.into());
    }
    let guessed = source.has_guessed_order() && source.labels().is_some();
    let wanted = Wanted { predictions: wanted.predictions || guessed, ..*wanted };
    let mut pass = Pass::new(wanted, source.classes());
    if let Some(rows) = source.rows() {
        pass.reserve(rows);
    }
    source.pass(&mut |chunk| pass.update(chunk))?;
    let collected = pass.finish();
    if let (true, Some(labels), Some(names)) = (guessed, source.labels(), source.class_names()) {
        check_order(labels, &collected.predictions, names)?;
    }
    Ok(collected)
}

/// Refuses names of classes in an order that nothing states, where another one fits the predictions far
/// better.
pub fn check_order(
    labels: &Labels,
    predictions: &[usize],
    names: &[String],
) -> Result<(), LabError> {
    let Some(other) = other_order(labels, predictions, names.len()) else { return Ok(()) };
    let OtherOrder { label_of, accuracy, reordered } = other;
    let names = label_of.iter().map(|&label| names[label].clone()).collect();
    Err(LabError::OtherOrder { names, accuracy, reordered })
}

/// The labels of a source, where they are needed.
pub(crate) fn labels_of(source: &dyn RowSource) -> Result<&Labels, Error> {
    source.labels().ok_or(Error::NoLabels)
}

impl Select<'_> {
    fn count(self, all: usize) -> usize {
        match self {
            Select::All => all,
            Select::Rows(rows) => rows.len(),
        }
    }

    /// Calls a function with the selected rows of a chunk, if there are any.
    fn take(
        self,
        chunk: &Chunk<'_>,
        each: impl FnOnce(&Chunk<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Select::Rows(rows) = self else { return each(chunk) };
        let before = |end: usize| rows.partition_point(|&row| row < end);
        let here = &rows[before(chunk.first)..before(chunk.range().end)];
        if here.len() == chunk.logits.rows() {
            // All rows of the chunk: nothing is copied.
            return each(chunk);
        }
        if here.is_empty() {
            return Ok(());
        }
        let local: Vec<usize> = here.iter().map(|&row| row - chunk.first).collect();
        let logits = &chunk.logits.select(&local);
        let first = chunk.first;
        let Some(Labelled { labels, losses }) = chunk.labelled else {
            return each(&Chunk { first, logits, labelled: None });
        };
        let (labels, losses) = (&labels.select(&local), &losses.select(&local));
        each(&Chunk { first, logits, labelled: Some(Labelled { labels, losses }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abstain::{Logits, MemoryRows, Threshold};

    #[test]
    fn one_pass_collects_what_several_would() {
        let (rows, classes) = (50_000, 30);
        let values: Vec<f32> =
            (0..rows * classes).map(|i| (i * 7919 % 10007) as f32 / 1000.0).collect();
        let labels: Vec<usize> = (0..rows).map(|row| row * 31 % classes).collect();
        let logits = Logits::new(&values[..], classes).expect("valid");
        let labels = Labels::new(&labels, classes).expect("valid");
        let estimators: Vec<Estimator> =
            ["MSP", "MaxLogit-pNorm(p=3)"].map(|text| text.parse().expect("valid")).to_vec();
        let plan = ProfilePlan::of(&estimators);
        let third: Vec<usize> = (0..rows).filter(|row| row % 3 == 1).collect();
        let mut source = MemoryRows::zero_one(logits.clone(), labels.clone()).expect("valid");
        let collected = collect(
            &mut source,
            &Wanted {
                profiles: Some((&plan, Select::Rows(&third))),
                confidences: Some((&estimators, Select::Rows(&third))),
                predictions: true,
                fingerprint: true,
                ..Wanted::default()
            },
        )
        .expect("a pass");
        let profiles = collected.profiles.expect("profiles");
        assert_eq!(profiles.rows(), third.len());
        let expected = Estimator::confidences_of(&estimators, &logits.select(&third));
        assert_eq!(collected.confidences, expected);
        assert_eq!(profiles.confidences(&estimators[..1]).expect("recorded")[0], expected[0]);
        assert_eq!(collected.predictions, logits.predictions());
        let losses = Losses::zero_one(&logits, &labels).expect("valid").select(&third);
        assert_eq!(collected.losses, losses.values());
        let mut whole = Fingerprint::default();
        whole.update(&logits, Some(&labels));
        assert_eq!(collected.fingerprints.labelled, Some(whole.with_labels()));
        assert_eq!(collected.fingerprints.alone, Some(whole.without_labels()));
    }

    /// Some rows of few or many classes, with a further selection of them.
    struct Set {
        logits: Logits<'static>,
        labels: Labels,
        third: Vec<usize>,
        estimators: Vec<Estimator>,
        weighings: Vec<Weighing>,
    }

    impl Set {
        fn new(rows: usize, classes: usize) -> Self {
            let value = |i: usize| (i * 7919 % 10007) as f64 / 1000.0;
            let values: Vec<f64> = (0..rows * classes).map(value).collect();
            let labels: Vec<usize> = (0..rows).map(|row| row * 31 % classes).collect();
            let texts = ["MSP", "MSP-pNorm(p=3, tau=0.3)", "MaxLogit-pNorm(p=3)"];
            Set {
                logits: Logits::new(values, classes).expect("logits"),
                labels: Labels::new(&labels, classes).expect("labels"),
                third: (0..rows).filter(|row| row % 3 == 1).collect(),
                estimators: texts.map(|text| text.parse().expect("an estimator")).to_vec(),
                weighings: vec![Weighing::Exponential(abstain::transform::Temperature::ONE)],
            }
        }

        fn wanted<'a>(&'a self, plan: &'a ProfilePlan, select: Select<'a>) -> Wanted<'a> {
            Wanted {
                profiles: Some((plan, select)),
                confidences: Some((&self.estimators, select)),
                whole: Some((&self.estimators[1], Select::All)),
                influences: &self.weighings,
                nll: &self.estimators,
                predictions: true,
                fingerprint: true,
                ordered_fingerprint: false,
            }
        }

        /// A pass over some rows, in chunks that end anywhere.
        fn pass<'a>(
            &self,
            wanted: Wanted<'a>,
            rows: std::ops::Range<usize>,
            chunk: usize,
        ) -> Pass<'a> {
            let mut pass = Pass::new(wanted, self.logits.classes());
            for first in rows.clone().step_by(chunk) {
                let range = first..(first + chunk).min(rows.end);
                let (logits, labels) = (self.logits.part(range.clone()), self.labels.part(range));
                let update = &mut |chunk: &Chunk<'_>| pass.update(chunk);
                let loss = &abstain::Loss::ZeroOne;
                Chunk::hand_out(first, &logits, Some(&labels), loss, update).expect("rows");
            }
            pass
        }
    }

    fn bits(columns: &[Vec<f64>]) -> Vec<u64> {
        columns.iter().flatten().map(|number| number.to_bits()).collect()
    }

    fn assert_same(found: &Collected, expected: &Collected, estimators: &[Estimator]) {
        let profiled = |collected: &Collected| {
            let profiles = collected.profiles.as_ref().expect("profiles");
            let mut columns = profiles.confidences(estimators).expect("recorded");
            columns.push(profiles.losses().values().to_vec());
            bits(&columns)
        };
        assert_eq!(profiled(found), profiled(expected));
        assert_eq!(bits(&found.confidences), bits(&expected.confidences));
        assert_eq!(found.losses, expected.losses);
        assert_eq!(found.predictions, expected.predictions);
        assert_eq!(found.keys, expected.keys);
        assert_same_in_any_order(found, expected);
    }

    /// What does not depend on the order of the parts.
    fn assert_same_in_any_order(found: &Collected, expected: &Collected) {
        assert_eq!(found.rows, expected.rows);
        assert_eq!(bits(&found.influences), bits(&expected.influences));
        let nll = |collected: &Collected| -> Vec<Option<u64>> {
            collected.nll.iter().map(|nll| nll.map(f64::to_bits)).collect()
        };
        assert_eq!(nll(found), nll(expected));
        assert!(expected.nll[0].is_some());
        assert_eq!(found.fingerprints, expected.fingerprints);
        assert_eq!(found.facts.scale().map(f64::to_bits), expected.facts.scale().map(f64::to_bits));
        assert_eq!(found.sketch, expected.sketch);
        assert_eq!(found.sketch_of_profiles, expected.sketch_of_profiles);
    }

    #[test]
    fn merged_parts_are_the_whole_to_the_bit() {
        for (rows, classes) in [(2500, 5), (1200, 40)] {
            let set = Set::new(rows, classes);
            let plan = ProfilePlan::of(&set.estimators);
            for select in [Select::All, Select::Rows(&set.third)] {
                let wanted = set.wanted(&plan, select);
                let whole = set.pass(wanted, 0..rows, rows).finish();
                for parts in [1, 2, 7] {
                    let mut merged = Pass::new(wanted, classes);
                    let mut shuffled = Pass::new(wanted, classes);
                    let part = |index: usize| {
                        let range = index * rows / parts..(index + 1) * rows / parts;
                        let state = set.pass(wanted, range, 333).into_state();
                        let json = serde_json::to_string(&state).expect("serialises");
                        let state = serde_json::from_str(&json).expect("reads");
                        Pass::resume(wanted, classes, state).expect("the same plan")
                    };
                    for index in 0..parts {
                        merged.merge(part(index)).expect("the same plan");
                        shuffled.merge(part((index * 5 + 3) % parts)).expect("the same plan");
                    }
                    assert_same(&merged.finish(), &whole, &set.estimators);
                    assert_same_in_any_order(&shuffled.finish(), &whole);
                }
            }
        }
    }

    #[test]
    fn passes_that_learn_different_things_do_not_merge() {
        let set = Set::new(50, 5);
        let plan = ProfilePlan::of(&set.estimators);
        let wanted = set.wanted(&plan, Select::All);
        let without = Wanted { profiles: None, ..wanted };
        let fewer = Wanted { nll: &set.estimators[..1], ..wanted };
        for other in [without, fewer] {
            let mut pass = set.pass(wanted, 0..20, 20);
            let merged = pass.merge(set.pass(other, 20..50, 30));
            assert!(matches!(merged, Err(Error::StatesDiffer)));
            let state = set.pass(other, 20..50, 30).into_state();
            assert!(matches!(Pass::resume(wanted, 5, state), Err(Error::StatesDiffer)));
        }
        let mut pass = set.pass(wanted, 0..20, 20);
        assert!(pass.merge(Pass::new(wanted, 6)).is_err());
    }

    /// An artifact of an earlier version knows rows by the hash of all of them in their order.
    #[test]
    fn fingerprints_of_the_first_scheme_are_recognised() {
        let set = Set::new(40, 3);
        let mut artifact = Artifact::new(Estimator::MSP);
        assert!(!Wanted::default().recognised_by(Some(&artifact)).ordered_fingerprint);
        let mut hash = OrderedFingerprint::default();
        hash.update(&set.logits, Some(&set.labels));
        let mut source =
            MemoryRows::zero_one(set.logits.clone(), set.labels.clone()).expect("rows");
        let wanted = Wanted::default().recognised_by(Some(&artifact));
        let rows = collect(&mut source, &wanted).expect("rows").fingerprints;
        assert!(!rows.contain(&hash.with_labels()));
        let certificate = abstain::certify::Certifier::accuracy(0.5, 0.1);
        let curve = abstain::RcCurve::new(&[1.0; 40], &Losses::new(vec![0.0; 40]).expect("losses"));
        let certificate = certificate.certify(&curve.expect("a curve")).expect("losses of 0 and 1");
        let threshold = Threshold::certified(
            certificate.expect("certified"),
            "zero-one".into(),
            Some(hash.with_labels()),
        );
        artifact.rule = Some(threshold.into());
        let wanted = Wanted::default().recognised_by(Some(&artifact));
        let rows = collect(&mut source, &wanted).expect("rows").fingerprints;
        assert!(rows.contain(&hash.with_labels()) && rows.contain(&hash.without_labels()));
        assert!(!rows.contain("0"));
    }
}
