//! Whether the classes of labels are in another order than those of the rows.
//!
//! Names of classes whose order nothing states are taken in the order of the alphabet. Where that is wrong,
//! labels and predictions still agree, but by another assignment of names to numbers. A classifier that is
//! often wrong must not be mistaken for it: one that favours some classes agrees with no order well, because
//! an assignment gives each predicted class a different label.

use abstain::Labels;

/// Rows below which nothing is said.
const FEW: usize = 20;

/// Classes above which the table of predictions and labels takes too much memory.
const MOST_CLASSES: usize = 2048;

/// Standard errors by which another order must fit better: a chance below 1 in 700 of two classes, which
/// have one other order, and below 1 in 30,000 of several, which have many.
const FAR_OF_TWO: f64 = 3.0;
const FAR: f64 = 4.0;

/// Rows of each class that agree in another order, below which a class is not moved alone.
const ROWS_OF_A_CLASS: u32 = 3;

/// Agreement beyond chance (Cohen's kappa) that another order has at least.
const KAPPA: f64 = 0.2;

/// An order of the classes in which predictions agree with the labels far more often.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OtherOrder {
    /// The label that each predicted class stands for.
    pub(crate) label_of: Vec<usize>,
    /// How often they agree as they are.
    pub(crate) accuracy: f64,
    /// How often they agree in this order.
    pub(crate) reordered: f64,
}

/// An order of the classes in which predictions agree with the labels far more often, if there is one.
pub(crate) fn other_order(
    labels: &Labels,
    predictions: &[usize],
    classes: usize,
) -> Option<OtherOrder> {
    let rows = predictions.len();
    if rows < FEW || labels.len() != rows || !(2..=MOST_CLASSES).contains(&classes) {
        return None;
    }
    let pairs =
        predictions.iter().copied().zip(labels.values().iter().map(|&label| label as usize));
    let all = Table::of(pairs.clone(), classes);
    let label_of = match classes {
        2 => all.is_reversed().then(|| vec![1, 0]),
        _ => all.cycles().or_else(|| {
            let half = |first: usize| pairs.clone().skip(first).step_by(2);
            let held_out = Table::of(half(1), classes);
            held_out.confirms(&Table::of(half(0), classes).matching()).then(|| all.matching())
        }),
    }?;
    let agreement = |order: &mut dyn Iterator<Item = usize>| {
        let agree = order.enumerate().map(|(class, label)| u64::from(all.count(class, label)));
        agree.sum::<u64>() as f64 / rows as f64
    };
    let (accuracy, reordered) =
        (agreement(&mut (0..classes)), agreement(&mut label_of.iter().copied()));
    (reordered > accuracy).then_some(OtherOrder { label_of, accuracy, reordered })
}

/// How often each class is predicted for each label.
struct Table {
    counts: Vec<u32>,
    classes: usize,
}

impl Table {
    fn of(pairs: impl Iterator<Item = (usize, usize)>, classes: usize) -> Self {
        let mut counts = vec![0; classes * classes];
        pairs.for_each(|(class, label)| counts[class * classes + label] += 1);
        Table { counts, classes }
    }

    fn count(&self, class: usize, label: usize) -> u32 {
        self.counts[class * self.classes + label]
    }

    /// Whether two classes agree with the labels less often than by chance. The odds ratio depends neither
    /// on how rare a class is nor on how much the classifier favours one.
    fn is_reversed(&self) -> bool {
        let cell = |class, label| f64::from(self.count(class, label)) + 0.5;
        let cells = [cell(0, 0), cell(1, 1), cell(0, 1), cell(1, 0)];
        let log_odds = (cells[0] * cells[1] / (cells[2] * cells[3])).ln();
        let error = cells.iter().map(|cell| cell.recip()).sum::<f64>().sqrt();
        log_odds < -FAR_OF_TWO * error
    }

    /// The label that each class is most often predicted for, if it is also the class that is most often
    /// predicted for the label.
    fn mutual(&self) -> Vec<Option<usize>> {
        let classes = self.classes;
        let most = |counts: &mut dyn Iterator<Item = u32>| {
            let mut best = (0, 0);
            for (place, count) in counts.enumerate() {
                if count > best.1 {
                    best = (place, count);
                }
            }
            best.0
        };
        let class_of: Vec<usize> = (0..classes)
            .map(|label| most(&mut (0..classes).map(|class| self.count(class, label))))
            .collect();
        let label = |class: usize| {
            let label = most(&mut (0..classes).map(|label| self.count(class, label)));
            (class_of[label] == class && self.count(class, label) > 0).then_some(label)
        };
        (0..classes).map(label).collect()
    }

    /// Classes that stand for each other's labels, as where two are swapped, if that is beyond chance. The
    /// other classes stay.
    fn cycles(&self) -> Option<Vec<usize>> {
        let mutual = self.mutual();
        let next = |class: usize| {
            let label = mutual[class].filter(|&label| label != class)?;
            (self.count(class, label) >= ROWS_OF_A_CLASS).then_some(label)
        };
        let mut label_of: Vec<usize> = (0..self.classes).collect();
        for start in 0..self.classes {
            // Each label belongs to one class: a path that does not end returns to where it began.
            let path: Vec<usize> =
                std::iter::successors(Some(start), |&class| next(class).filter(|&to| to != start))
                    .take(self.classes)
                    .collect();
            let closed =
                path.len() > 1 && path.last().is_some_and(|&last| next(last) == Some(start));
            if closed {
                for &class in &path {
                    label_of[class] = mutual[class].unwrap_or(class);
                }
            }
        }
        (self.is_far(&label_of) && self.kappa(&label_of) >= KAPPA).then_some(label_of)
    }

    /// One label for each class: mutual ones, and whatever is left over.
    fn matching(&self) -> Vec<usize> {
        let mut label_of = self.mutual();
        let mut taken = vec![false; self.classes];
        label_of.iter().flatten().for_each(|&label| taken[label] = true);
        for class in 0..self.classes {
            if label_of[class].is_none() && !std::mem::replace(&mut taken[class], true) {
                label_of[class] = Some(class);
            }
        }
        let mut free = (0..self.classes).filter(|&label| !taken[label]);
        label_of.into_iter().map(|label| label.or_else(|| free.next()).unwrap_or(0)).collect()
    }

    /// Whether an order that other rows suggest agrees with these far better than the order as it is.
    fn confirms(&self, label_of: &[usize]) -> bool {
        let as_it_is: Vec<usize> = (0..self.classes).collect();
        let (here, there) = (self.kappa(&as_it_is), self.kappa(label_of));
        there >= KAPPA && there >= 2.0 * here && self.is_far(label_of)
    }

    /// Whether the rows of the classes that an order moves agree with it more often than as they are, beyond
    /// chance.
    fn is_far(&self, label_of: &[usize]) -> bool {
        let moved = label_of.iter().enumerate().filter(|(class, label)| class != *label);
        let (mut here, mut there) = (0.0, 0.0);
        for (class, &label) in moved {
            here += f64::from(self.count(class, class));
            there += f64::from(self.count(class, label));
        }
        there - here >= FAR * f64::sqrt(here + there) && there > 0.0
    }

    /// Agreement in an order beyond what chance makes of the shares of the classes.
    fn kappa(&self, label_of: &[usize]) -> f64 {
        let of_class =
            |class| (0..self.classes).map(move |label| self.count(class, label)).sum::<u32>();
        let of_label =
            |label| (0..self.classes).map(move |class| self.count(class, label)).sum::<u32>();
        let (mut agree, mut chance, mut rows) = (0.0, 0.0, 0.0);
        for (class, &label) in label_of.iter().enumerate() {
            agree += f64::from(self.count(class, label));
            chance += f64::from(of_class(class)) * f64::from(of_label(label));
            rows += f64::from(of_class(class));
        }
        let (agree, chance) = (agree / rows, chance / (rows * rows));
        if chance < 1.0 { (agree - chance) / (1.0 - chance) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The order that fits better, of so many rows of each pair of a predicted class and a label.
    fn order_of(counts: &[&[usize]]) -> Option<Vec<usize>> {
        let classes = counts.len();
        let (mut predictions, mut labels) = (Vec::new(), Vec::new());
        for (class, row) in counts.iter().enumerate() {
            for (label, &count) in row.iter().enumerate() {
                predictions.extend(std::iter::repeat_n(class, count));
                labels.extend(std::iter::repeat_n(label, count));
            }
        }
        let labels = Labels::new(&labels, classes).expect("labels");
        other_order(&labels, &predictions, classes).map(|order| order.label_of)
    }

    #[test]
    fn two_classes_are_reversed_where_they_agree_less_than_by_chance() {
        assert_eq!(order_of(&[&[11, 89], &[89, 11]]), Some(vec![1, 0]));
        assert_eq!(order_of(&[&[89, 11], &[11, 89]]), None);
        // 2 % positives and a classifier that takes a fifth of all rows for them: fewer of those that it
        // names are positive than not, in either order.
        assert_eq!(order_of(&[&[5, 780], &[15, 200]]), Some(vec![1, 0]));
        assert_eq!(order_of(&[&[780, 5], &[200, 15]]), None);
        // Chance, and a classifier that always gives one answer.
        assert_eq!(order_of(&[&[48, 52], &[52, 48]]), None);
        assert_eq!(order_of(&[&[0, 0], &[900, 100]]), None);
        assert_eq!(order_of(&[&[1, 7], &[7, 1]]), None, "too few rows");
    }

    #[test]
    fn swapped_classes_of_several_are_found() {
        let swapped: [&[usize]; 4] =
            [&[40, 2, 3, 1], &[2, 4, 35, 2], &[1, 38, 3, 2], &[3, 1, 2, 41]];
        assert_eq!(order_of(&swapped), Some(vec![0, 2, 1, 3]));
        let turned: [&[usize]; 3] = [&[2, 30, 1], &[3, 1, 25], &[28, 2, 2]];
        assert_eq!(order_of(&turned), Some(vec![1, 2, 0]));
    }

    #[test]
    fn biased_classifiers_are_not_mistaken_for_another_order() {
        // Nearly everything is called class 0.
        let favours: [&[usize]; 4] =
            [&[24, 21, 20, 22], &[1, 4, 0, 1], &[0, 0, 5, 0], &[0, 0, 0, 2]];
        assert_eq!(order_of(&favours), None);
        // A class that is never right takes most rows of two others.
        let dead: [&[usize]; 3] = [&[0, 45, 40], &[0, 40, 5], &[0, 5, 45]];
        assert_eq!(order_of(&dead), None);
        // Labels of other rows, which no order fits.
        let unrelated: [&[usize]; 4] =
            [&[0, 24, 23, 23], &[24, 0, 23, 23], &[23, 23, 0, 24], &[23, 23, 24, 0]];
        assert_eq!(order_of(&unrelated), None);
        // Two classes that are taken for each other as often as for themselves.
        let alike: [&[usize]; 3] = [&[50, 0, 0], &[0, 26, 25], &[0, 24, 25]];
        assert_eq!(order_of(&alike), None);
    }

    #[test]
    fn many_classes_with_few_rows_each_are_matched_on_other_rows() {
        let classes = 200;
        let right = |row: usize| !row.is_multiple_of(7);
        let predictions: Vec<usize> = (0..4 * classes).map(|row| row / 4).collect();
        let of = |order: &dyn Fn(usize) -> usize| -> Option<OtherOrder> {
            let wrong = |row: usize| (row * 7919) % classes;
            let label = |row: usize| order(if right(row) { row / 4 } else { wrong(row) });
            let labels: Vec<usize> = (0..4 * classes).map(label).collect();
            other_order(&Labels::new(&labels, classes).expect("labels"), &predictions, classes)
        };
        assert_eq!(of(&|class| class), None);
        let found = of(&|class| (class * 37 + 11) % classes).expect("another order");
        assert!(found.accuracy < 0.05 && found.reordered > 0.8, "{found:?}");
    }

    /// Predictions and labels of real classifiers, if their folder is there.
    fn real(folder: &Path) -> Option<(Vec<usize>, Labels, usize)> {
        let path = [folder.join("logits.npy"), folder.join("probs.npy")];
        let path = path.into_iter().find(|path| path.exists())?;
        let options = abstain_io::ReadOptions::default();
        let logits = abstain_io::Source::new(&path);
        let mut reader = abstain_io::LogitsReader::open(&logits, &options).expect("logits");
        let (classes, mut predictions) = (reader.classes(), Vec::new());
        while let Some((_, chunk)) = reader.next_chunk().expect("rows") {
            predictions.extend(chunk.predictions());
        }
        let labels = abstain_io::Source::new(folder.join("labels.npy"));
        let labels = abstain_io::read_labels(&labels, &options, classes).expect("labels");
        Some((predictions, labels, classes))
    }

    #[test]
    fn real_classifiers_are_in_their_order() {
        let Some(data) = std::env::var_os("ABSTAIN_DATA") else {
            eprintln!("ABSTAIN_DATA is not set: skipped");
            return;
        };
        let folders = std::fs::read_dir(data).expect("a folder");
        for folder in folders.map(|folder| folder.expect("a folder").path()) {
            let Some((predictions, labels, classes)) = real(&folder) else { continue };
            for rows in [50, 200, 1000, predictions.len()] {
                let rows = rows.min(predictions.len());
                let of = |order: &[usize]| {
                    let labels: Vec<usize> = labels.values()[..rows]
                        .iter()
                        .map(|&label| order[label as usize])
                        .collect();
                    let labels = Labels::new(&labels, classes).expect("labels");
                    other_order(&labels, &predictions[..rows], classes)
                };
                let mut order: Vec<usize> = (0..classes).collect();
                assert_eq!(of(&order), None, "{}, {rows} rows", folder.display());
                order.rotate_left(1);
                let found = of(&order).is_some();
                eprintln!("{}, {rows} rows, turned: {found}", folder.display());
            }
        }
    }
}
