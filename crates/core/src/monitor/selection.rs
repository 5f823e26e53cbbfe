//! Whether the rows with labels are a random part of the rows.
//!
//! What labels say of a risk is about the rows that have them. If these are chosen by anything that goes
//! with the risk, such as the confidence, it is not the risk of the others. So rows with labels are compared
//! with all accepted ones (with all rows, where those that were not accepted are labelled, too): by
//! confidence, predicted class and group within blocks of time, and by time.
//!
//! **The test.** While labels are a random part of each block, their confidences are drawn from those of its
//! rows without replacement. By Hoeffding's inequality an exponential sum of such draws has at most the mean
//! of one with replacement: so for weights `w` of the bins, `Π w(label) / Π mean of w in its block` is an
//! e-value, and so is the same of the rows without labels. An average over sets of bins (all from an edge
//! on, or a single class or group) that are labelled more or less often is compared with the inverse of the
//! level. Rows are compared when there are a quarter more labels than the last time; the `k`-th time at the
//! part `1 / (k (k + 1))` of the level, so that all times together have it.
//!
//! Nothing but counts is kept. Blocks double their width as a stream grows.

use super::reference::Ranks;
use super::{MOST_ROWS, log_of_mean};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All comparisons together fire without a cause with this probability at most.
pub(super) const LEVEL: f64 = 0.01;

/// Comparisons that share it: confidences, predicted classes, groups and times.
const COMPARISONS: f64 = 4.0;

/// The most blocks of time, and the rows of the first ones.
const BLOCKS: usize = 8;
const ROWS_OF_A_BLOCK: u64 = 64;

/// The most bins of confidences, and of classes, which share a bin where there are more.
const BINS: usize = 12;
const CLASSES: usize = 64;

/// Rows whose confidences make the bins where there is no reference.
const FIRST_ROWS: usize = 200;

/// Labels at the first comparison, and how many times as many there are at the next.
const FIRST_LABELS: u64 = 20;
const GROWTH: f64 = 1.25;

/// How many times as often a set of bins is labelled as the others, for some sets.
const RATIOS: [f64; 4] = [0.125, 0.5, 2.0, 8.0];

/// Rows, and those of them with a label.
type Count = [u64; 2];

/// What labels were found to depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SelectedBy {
    /// The confidence.
    Confidences,
    /// The predicted class.
    Predictions,
    /// The group.
    Groups,
    /// The time. Labels may come late: this alone is no mistake, but labels then speak of other times.
    Times,
}

/// A set of rows that have labels more or less often than others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Selected {
    /// What tells the rows apart.
    pub by: SelectedBy,
    /// Rows of at least this confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Rows of this predicted class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<u32>,
    /// Rows of this group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Rows from this one on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// The share of the labels that these rows have.
    pub of_labels: f64,
    /// The share of the rows that they are.
    pub of_rows: f64,
}

/// Whether labels are of a random part of the rows, as far as that shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SelectionReport {
    /// Whether nothing is compared, because labels have propensities or counts are not complete.
    pub not_compared: bool,
    /// The probability that anything is found where labels are a random part.
    pub level: f64,
    /// What was found.
    pub found: Vec<Selected>,
    /// Whether something other than the time was found before the last restart.
    pub found_before: bool,
    /// Whether labels are too few to be compared.
    pub too_few: bool,
    /// Rows that were chosen with a known propensity and have no label yet: until they have, the labels are
    /// those of a part of the choice, which anything may have decided.
    pub unfilled: u64,
}

impl SelectionReport {
    /// Whether labels may stand for the rows, as far as that shows.
    pub fn may_stand_for_rows(&self) -> bool {
        self.unfilled == 0 && !self.too_few && !self.found_before && self.against().next().is_none()
    }

    /// What was found and speaks against labels as evidence: anything but the time.
    pub fn against(&self) -> impl Iterator<Item = &Selected> {
        self.found.iter().filter(|found| found.by != SelectedBy::Times)
    }
}

/// A row, as far as it is compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub row: u64,
    pub confidence: f64,
    pub class: Option<u32>,
    pub group: Option<&'a str>,
}

/// Counts of rows and labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectionTest {
    /// The level of each comparison.
    level: f64,
    /// Where bins of confidences begin, but the first. None until enough rows were seen.
    edges: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    first: Vec<f64>,
    /// The first row that is compared, and the rows of a block.
    from: u64,
    width: u64,
    blocks: Vec<Block>,
    /// Whether labels with propensities came, or counts are not complete: then nothing is compared.
    ended: bool,
    /// The most groups that are counted separately.
    groups: u32,
    looks: u32,
    /// The labels at the next comparison.
    next: u64,
    /// The rows at the next comparison, if no labels come.
    #[serde(default)]
    next_rows: u64,
    #[serde(default)]
    unfilled: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    found: Vec<Selected>,
    found_before: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    confidences: Vec<Count>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    predictions: Vec<Count>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    groups: BTreeMap<String, Count>,
}

impl Block {
    fn merge(&mut self, other: &Block) {
        fn add(mine: &mut Vec<Count>, other: &[Count]) {
            mine.resize(mine.len().max(other.len()), [0, 0]);
            mine.iter_mut().zip(other).for_each(|(mine, other)| plus(mine, *other));
        }
        fn plus(mine: &mut Count, other: Count) {
            *mine = [mine[0] + other[0], mine[1] + other[1]];
        }
        add(&mut self.confidences, &other.confidences);
        add(&mut self.predictions, &other.predictions);
        for (name, count) in &other.groups {
            plus(self.groups.entry(name.clone()).or_default(), *count);
        }
    }

    fn total(&self) -> Count {
        self.confidences.iter().fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]])
    }
}

impl SelectionTest {
    /// Compares rows of at least the confidence `lowest`, in bins of a reference if there is one.
    pub(super) fn new(ranks: Option<&Ranks>, lowest: f64, groups: u32, looks: f64) -> Self {
        let edges = ranks.map(|ranks| {
            let edges = ranks.edges.iter().map(|edge| edge.at);
            thinned(edges.filter(|at| at.is_finite() && *at > lowest).collect())
        });
        SelectionTest {
            level: LEVEL / COMPARISONS / looks,
            edges,
            first: Vec::new(),
            from: 0,
            width: ROWS_OF_A_BLOCK,
            blocks: Vec::new(),
            ended: false,
            groups,
            looks: 0,
            next: FIRST_LABELS,
            next_rows: 0,
            unfilled: 0,
            found: Vec::new(),
            found_before: false,
        }
    }

    /// Counts a row.
    pub(super) fn record(&mut self, place: &Place<'_>) {
        if self.edges.is_none() {
            self.first.push(place.confidence.clamp(f64::MIN, f64::MAX));
            self.from = self.from.max(place.row.saturating_add(1));
            if self.first.len() >= FIRST_ROWS {
                let mut numbers = std::mem::take(&mut self.first);
                numbers.sort_unstable_by(f64::total_cmp);
                numbers.dedup();
                let least = numbers[0];
                numbers.retain(|number| *number > least);
                self.edges = Some(thinned(numbers));
            }
            return;
        }
        self.count(place, 0);
    }

    /// Counts a label; `sampled` if the row was chosen with a known propensity.
    pub(super) fn label(&mut self, place: &Place<'_>, sampled: bool) {
        if place.row < self.from || self.edges.is_none() {
            return;
        }
        self.ended |= sampled;
        self.count(place, 1);
    }

    fn count(&mut self, place: &Place<'_>, what: usize) {
        let Place { row, confidence, class, group } = *place;
        let Some(after) = row.checked_sub(self.from) else { return };
        while after / self.width >= BLOCKS as u64 {
            self.widen();
        }
        let Some(edges) = &self.edges else { return };
        #[expect(clippy::cast_possible_truncation, reason = "fewer than the blocks")]
        let index = (after / self.width) as usize;
        if self.blocks.len() <= index {
            self.blocks.resize(index + 1, Block::default());
        }
        let block = &mut self.blocks[index];
        block.confidences.resize(edges.len() + 1, [0, 0]);
        block.confidences[edges.partition_point(|edge| *edge <= confidence)][what] += 1;
        if let Some(class) = class {
            let bin = class as usize % CLASSES;
            let bins = block.predictions.len().max(bin + 1);
            block.predictions.resize(bins, [0, 0]);
            block.predictions[bin][what] += 1;
        }
        if let Some(group) = group {
            if !block.groups.contains_key(group) && block.groups.len() < self.groups as usize {
                block.groups.insert(group.to_string(), [0, 0]);
            }
            if let Some(count) = block.groups.get_mut(group) {
                count[what] += 1;
            }
        }
    }

    /// Doubles the rows of a block.
    fn widen(&mut self) {
        self.width *= 2;
        let merged = self.blocks.chunks(2).map(|pair| {
            let mut block = pair[0].clone();
            pair.iter().skip(1).for_each(|other| block.merge(other));
            block
        });
        self.blocks = merged.collect();
    }

    /// Compares only rows from this one on, or from the next block on.
    pub(super) fn restart(&mut self, row: u64) {
        let whole = row.saturating_sub(self.from).div_ceil(self.width);
        let gone = self.blocks.len().min(usize::try_from(whole).unwrap_or(usize::MAX));
        self.blocks.drain(..gone);
        // Where rows since then were seen, blocks keep their borders.
        let border = self.from.saturating_add(whole.saturating_mul(self.width));
        (self.from, self.width) = match self.blocks.len() {
            0 => (self.from.max(row), ROWS_OF_A_BLOCK),
            _ => (border, self.width),
        };
        self.found_before |= self.is_against();
        self.found.clear();
        self.ended = false;
        (self.next, self.next_rows) = (FIRST_LABELS, 0);
    }

    /// Says how many rows were chosen with a propensity and have no label yet.
    pub(super) fn set_unfilled(&mut self, rows: u64) {
        self.unfilled = rows;
    }

    /// Whether something other than the time was found since the last restart.
    pub(super) fn is_against(&self) -> bool {
        self.found.iter().any(|found| found.by != SelectedBy::Times)
    }

    /// Whether some of the rows that were chosen have no label yet.
    pub(super) fn is_unfilled(&self) -> bool {
        self.unfilled > 0
    }

    fn total(&self) -> Count {
        self.blocks.iter().map(Block::total).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]])
    }

    /// Compares labels with rows if there are enough new ones of either: labels that stop coming are those of
    /// other times. Which labels have come must not depend on the
    /// order of a list of them: a look is for the end of one.
    pub(super) fn look(&mut self) {
        let [rows, labels] = self.total();
        let Some(edges) = &self.edges else { return };
        let enough = labels >= self.next || (labels >= FIRST_LABELS && rows >= self.next_rows);
        if self.ended || !enough {
            return;
        }
        self.looks = self.looks.saturating_add(1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let next = |count: u64| ((count as f64 * GROWTH).ceil() as u64).max(count + 1);
        (self.next, self.next_rows) = (next(labels), next(rows));
        let look = f64::from(self.looks);
        let enough = -(self.level / (look * (look + 1.0))).ln();
        let confidences: Vec<_> =
            self.blocks.iter().map(|block| block.confidences.clone()).collect();
        let classes: Vec<_> = self.blocks.iter().map(|block| block.predictions.clone()).collect();
        let names: Vec<&String> = {
            let mut names: Vec<_> =
                self.blocks.iter().flat_map(|block| block.groups.keys()).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let of_groups = |block: &Block| {
            names.iter().map(|name| block.groups.get(*name).copied().unwrap_or_default()).collect()
        };
        let groups: Vec<Vec<Count>> = self.blocks.iter().map(of_groups).collect();
        let times = vec![self.blocks.iter().map(Block::total).collect::<Vec<_>>()];
        let mut found = Vec::new();
        let mut add = |by: SelectedBy,
                       strata: &[Vec<Count>],
                       sets: Sets,
                       name: &dyn Fn(usize, &mut Selected)| {
            let (log_e_value, set) = evidence(strata, sets);
            if log_e_value >= enough {
                let mut selected = shares(by, strata, sets, set);
                name(set, &mut selected);
                found.push(selected);
            }
        };
        add(SelectedBy::Confidences, &confidences, Sets::From, &|set, selected| {
            selected.confidence = edges.get(set - 1).copied();
        });
        let most = classes.iter().map(Vec::len).max().unwrap_or(0);
        add(SelectedBy::Predictions, &classes, Sets::Single, &|set, selected| {
            // Where all bins are in use, classes may share them.
            selected.class = u32::try_from(set).ok().filter(|_| most < CLASSES);
        });
        add(SelectedBy::Groups, &groups, Sets::Single, &|set, selected| {
            selected.group = names.get(set).map(|name| (*name).clone());
        });
        add(SelectedBy::Times, &times, Sets::From, &|set, selected| {
            selected.row = Some(self.from + set as u64 * self.width);
        });
        for selected in found {
            self.found.retain(|known| known.by != selected.by);
            self.found.push(selected);
        }
    }

    pub(super) fn report(&self) -> SelectionReport {
        SelectionReport {
            not_compared: self.ended,
            level: LEVEL,
            found: self.found.clone(),
            found_before: self.found_before,
            too_few: !self.ended && (1..FIRST_LABELS).contains(&self.total()[1]),
            unfilled: self.unfilled,
        }
    }

    /// Adds another part of the stream. Parts whose rows are counted in other bins, or from other rows on, are
    /// not compared any more.
    pub(super) fn merge(&mut self, other: &SelectionTest) {
        self.found_before |= other.found_before;
        self.unfilled += other.unfilled;
        self.looks = self.looks.max(other.looks);
        for selected in &other.found {
            if !self.found.iter().any(|known| known.by == selected.by) {
                self.found.push(selected.clone());
            }
        }
        if (&self.edges, self.from) != (&other.edges, other.from) || self.edges.is_none() {
            self.ended = true;
            return;
        }
        self.ended |= other.ended;
        let mut other = other.clone();
        while self.width < other.width {
            self.widen();
        }
        while other.width < self.width {
            other.widen();
        }
        self.blocks.resize(self.blocks.len().max(other.blocks.len()), Block::default());
        self.blocks.iter_mut().zip(&other.blocks).for_each(|(mine, other)| mine.merge(other));
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let rising = |edges: &Vec<f64>| edges.windows(2).all(|pair| pair[0] < pair[1]);
        let edges = self.edges.as_ref().is_none_or(|edges| edges.len() < BINS && rising(edges));
        let bins = self.edges.as_ref().map_or(0, |edges| edges.len() + 1);
        let counts = |block: &Block| {
            let all = block.confidences.iter().chain(&block.predictions);
            all.chain(block.groups.values()).flatten().all(|count| *count <= MOST_ROWS / 1024)
                && block.confidences.len() <= bins
                && block.predictions.len() <= CLASSES
        };
        let valid = edges
            && self.first.iter().all(|x| x.is_finite())
            && self.first.len() <= FIRST_ROWS
            && self.level > 0.0
            && self.level < 1.0
            && (1..=MOST_ROWS).contains(&self.width)
            && self.from <= MOST_ROWS
            && self.blocks.len() <= BLOCKS
            && self.blocks.iter().all(counts);
        if valid { Ok(()) } else { Err("the counts of labels are not valid".into()) }
    }
}

/// Some of rising numbers, evenly spread, as edges of bins.
fn thinned(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.dedup();
    let (most, count) = (BINS - 1, numbers.len());
    if count <= most {
        return numbers;
    }
    (0..most).map(|place| numbers[(place + 1) * count / (most + 1)]).collect()
}

/// The sets of bins that may be labelled more or less often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sets {
    /// All bins from one on, but the first.
    From,
    /// Each bin alone.
    Single,
}

impl Sets {
    fn has(self, set: usize, bin: usize) -> bool {
        match self {
            Sets::From => bin >= set,
            Sets::Single => bin == set,
        }
    }
}

/// The rows and the labels of a set in a block.
fn of_set(block: &[Count], sets: Sets, set: usize) -> Count {
    let inside = block.iter().enumerate().filter(|(bin, _)| sets.has(set, *bin));
    inside.fold([0, 0], |sum, (_, count)| [sum[0] + count[0], sum[1] + count[1]])
}

/// The logarithm of the evidence that labels are not a random part of each block, and the set that shows it
/// best.
fn evidence(strata: &[Vec<Count>], sets: Sets) -> (f64, usize) {
    let bins = strata.iter().map(Vec::len).max().unwrap_or(0);
    let all = match sets {
        Sets::From => 1..bins,
        Sets::Single => 0..bins,
    };
    let mut logs = Vec::new();
    let mut best = (f64::NEG_INFINITY, 0);
    for set in all {
        for ratio in RATIOS {
            let mut sides = [0.0; 2];
            for block in strata {
                let [rows, labels] = block
                    .iter()
                    .fold([0, 0], |sum: Count, count| [sum[0] + count[0], sum[1] + count[1]]);
                let [inside, labelled] = of_set(block, sets, set);
                // A label that came twice is no further row.
                let (rows, labels, labelled) = (rows as f64, labels as f64, labelled as f64);
                if rows == 0.0 || labels > rows || labelled > inside as f64 {
                    continue;
                }
                let mean = ((ratio - 1.0) * inside as f64 / rows).ln_1p();
                sides[0] += labelled * ratio.ln() - labels * mean;
                sides[1] += (inside as f64 - labelled) * ratio.ln() - (rows - labels) * mean;
            }
            logs.extend(sides);
            let highest = sides[0].max(sides[1]);
            if highest > best.0 {
                best = (highest, set);
            }
        }
    }
    if logs.is_empty() { (f64::NEG_INFINITY, 0) } else { (log_of_mean(logs.into_iter()), best.1) }
}

fn shares(by: SelectedBy, strata: &[Vec<Count>], sets: Sets, set: usize) -> Selected {
    let sum = |sum: Count, count: Count| [sum[0] + count[0], sum[1] + count[1]];
    let inside = strata.iter().map(|block| of_set(block, sets, set)).fold([0, 0], sum);
    let all = strata.iter().flatten().copied().fold([0, 0], sum);
    let share = |what: usize| inside[what] as f64 / all[what].max(1) as f64;
    let (of_rows, of_labels) = (share(0), share(1));
    let (confidence, class, group, row) = (None, None, None, None);
    Selected { by, confidence, class, group, row, of_labels, of_rows }
}
