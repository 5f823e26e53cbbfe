//! Risk-coverage curves in the characters of a terminal.

use super::ansi::{BASELINE, GOOD, styled};
use crate::figure::{Figure, Layer};
use crate::words::{percent, significant};
use anstyle::Style;
use std::fmt::Write;

const WIDTH: usize = 72;
const HEIGHT: usize = 14;

/// Below this coverage a curve rests on a handful of rows and is noisy; it does not set the scale.
const STEADY: f64 = 0.05;

/// The looks of the curves in their order: the baseline, then the chosen estimator.
const LOOKS: [(Style, &str); 2] = [(BASELINE, "○"), (GOOD, "●")];

/// A curve and its name.
struct Curve<'a> {
    name: &'a str,
    points: &'a [(f64, f64)],
}

impl Curve<'_> {
    /// The highest risk of the part that sets the scale.
    fn top(&self) -> f64 {
        let steady = self.points.iter().filter(|(coverage, _)| *coverage >= STEADY);
        steady.map(|(_, risk)| *risk).fold(0.0, f64::max)
    }

    /// The risk at a coverage, straight between points.
    fn risk_at(&self, coverage: f64) -> f64 {
        let next = self.points.partition_point(|(at, _)| *at < coverage);
        let last = self.points.len() - 1;
        if next == 0 {
            return self.points[0].1;
        }
        let ((from, low), (to, high)) = (self.points[next - 1], self.points[next.min(last)]);
        let share = if to > from { (coverage - from) / (to - from) } else { 0.0 };
        low + share.clamp(0.0, 1.0) * (high - low)
    }
}

/// The first two lines of a figure of risk-coverage curves, with axes and a legend.
pub(super) fn lines(figure: &Figure, colour: bool) -> String {
    let layers = figure.panels.iter().flat_map(|panel| &panel.layers);
    let curves: Vec<Curve<'_>> = layers
        .filter_map(|layer| match layer {
            Layer::Line { label, points, .. } if !points.is_empty() => {
                Some(Curve { name: label.as_deref().unwrap_or_default(), points })
            }
            _ => None,
        })
        .take(LOOKS.len())
        .collect();
    let in_percent = figure.panels.first().is_some_and(|panel| panel.y.percent);
    draw(&curves, in_percent, colour)
}

fn draw(curves: &[Curve<'_>], in_percent: bool, colour: bool) -> String {
    // Where errors are counted the risk is a share; where they cost something, a number.
    let shown = |risk: f64| if in_percent { percent(risk) } else { significant(risk) };
    let sign = |look: usize| {
        let (style, sign) = LOOKS[look];
        if colour { styled(style, sign) } else { sign.to_string() }
    };
    let highest = curves.iter().map(Curve::top).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest } else { 0.01 };
    let cells = cells(curves, top);
    let risk =
        if in_percent { "wrong among the answers given" } else { "mean loss of the answers given" };
    let mut text = format!(" selective risk: {risk}\n");
    for (index, row) in cells.iter().enumerate() {
        let label = match index {
            0 => shown(top),
            _ if index == HEIGHT / 2 => {
                shown(top * (HEIGHT - 1 - index) as f64 / (HEIGHT - 1) as f64)
            }
            _ if index == HEIGHT - 1 => if in_percent { "0 %" } else { "0" }.to_string(),
            _ => String::new(),
        };
        let _ = write!(text, "{label:>8} ┤");
        for look in row {
            text += &look.map_or(" ".to_string(), sign);
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    let _ = writeln!(text, "{:>8} └{}", "", "─".repeat(WIDTH));
    let _ = writeln!(text, "{:>10}0 %{:>33}{:>36}", "", "50 %", "100 %");
    let legend: Vec<String> = curves
        .iter()
        .enumerate()
        .map(|(look, curve)| format!("{} {}", sign(look), curve.name))
        .collect();
    let coverage = "coverage: the share of inputs that are answered";
    let _ = writeln!(text, "{:>10}{coverage}      {}", "", legend.join("   "));
    text
}

/// Which curve is seen in each cell: the last of those that go through it.
fn cells(curves: &[Curve<'_>], top: f64) -> [[Option<usize>; WIDTH]; HEIGHT] {
    let mut cells = [[None; WIDTH]; HEIGHT];
    for (look, curve) in curves.iter().enumerate() {
        let mut last: Option<usize> = None;
        for column in 0..WIDTH {
            let coverage = (column as f64 + 1.0) / WIDTH as f64;
            let share = (curve.risk_at(coverage) / top).clamp(0.0, 1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row")]
            let row = HEIGHT - 1 - (share * (HEIGHT - 1) as f64).round() as usize;
            // Steep parts are joined, so that the line is one line.
            let from = last.map_or(row, |last| if last < row { last + 1 } else { last.max(row) });
            let (low, high) = (from.min(row), from.max(row));
            for cells in &mut cells[low..=high.min(HEIGHT - 1)] {
                cells[column] = Some(look);
            }
            last = Some(row);
        }
    }
    cells
}
