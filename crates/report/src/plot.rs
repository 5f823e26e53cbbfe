//! Risk-coverage curves in the characters of a terminal.

use crate::words::{GOOD, percent, significant, styled};
use abstain_lab::Curve;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

const WIDTH: usize = 72;
const HEIGHT: usize = 14;

/// Below this coverage a curve rests on a handful of rows and jumps about; it does not set the scale.
const STEADY: f64 = 0.05;

const BEFORE: Style = AnsiColor::Yellow.on_default();

/// A cell of the picture: which curves go through it.
#[derive(Clone, Copy, Default)]
struct Cell {
    before: bool,
    after: bool,
}

/// The curve of MSP and, unless it is the same, that of the choice, with axes and a legend.
pub(crate) fn risk_coverage(
    before: &Curve,
    after: Option<(&str, &Curve)>,
    zero_one: bool,
) -> String {
    // Where errors are counted the risk is a share; where they cost something, a number.
    let shown = |risk: f64| if zero_one { percent(risk) } else { significant(risk) };
    let curves = [Some(before), after.map(|(_, curve)| curve)];
    let steady = |curve: &&Curve| {
        let points = curve.coverage.iter().zip(&curve.selective_risk);
        points
            .filter(|(coverage, _)| **coverage >= STEADY)
            .map(|(_, risk)| *risk)
            .fold(0.0, f64::max)
    };
    let highest = curves.iter().flatten().map(steady).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest } else { 0.01 };
    let mut cells = [[Cell::default(); WIDTH]; HEIGHT];
    for (index, curve) in curves.iter().enumerate() {
        let Some(curve) = curve else { continue };
        let mut last: Option<usize> = None;
        for column in 0..WIDTH {
            let coverage = (column as f64 + 1.0) / WIDTH as f64;
            let share = (risk_at(curve, coverage) / top).clamp(0.0, 1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row")]
            let row = HEIGHT - 1 - (share * (HEIGHT - 1) as f64).round() as usize;
            // Steep parts are joined, so that the line is one line.
            let from = last.map_or(row, |last| if last < row { last + 1 } else { last.max(row) });
            let (low, high) = (from.min(row), from.max(row));
            for cells in &mut cells[low..=high.min(HEIGHT - 1)] {
                let cell = &mut cells[column];
                if index == 0 { cell.before = true } else { cell.after = true }
            }
            last = Some(row);
        }
    }
    let what =
        if zero_one { "wrong among the answers given" } else { "mean loss of the answers given" };
    let mut text = format!(" selective risk: {what}\n");
    for (index, row) in cells.iter().enumerate() {
        let label = match index {
            0 => shown(top),
            _ if index == HEIGHT / 2 => {
                shown(top * (HEIGHT - 1 - index) as f64 / (HEIGHT - 1) as f64)
            }
            _ if index == HEIGHT - 1 => if zero_one { "0 %" } else { "0" }.to_string(),
            _ => String::new(),
        };
        let _ = write!(text, "{label:>8} ┤");
        for cell in row {
            text += &match (cell.after, cell.before) {
                (true, _) => styled(GOOD, "●"),
                (false, true) => styled(BEFORE, "○"),
                (false, false) => " ".to_string(),
            };
        }
        while text.ends_with(' ') {
            text.pop();
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{:>8} └{}", "", "─".repeat(WIDTH));
    let _ = writeln!(text, "{:>10}0 %{:>33}{:>36}", "", "50 %", "100 %");
    let _ = write!(text, "{:>10}coverage: the share of inputs that are answered", "");
    let legend = match after {
        Some((name, _)) => format!("{} MSP   {} {name}", styled(BEFORE, "○"), styled(GOOD, "●")),
        None => format!("{} MSP", styled(BEFORE, "○")),
    };
    text + &format!("      {legend}\n")
}

/// The risk at a coverage, straight between points.
fn risk_at(curve: &Curve, coverage: f64) -> f64 {
    let k = curve.coverage.partition_point(|&own| own < coverage);
    let last = curve.coverage.len() - 1;
    if k == 0 {
        return curve.selective_risk[0];
    }
    let (a, b) = (k - 1, k.min(last));
    let width = curve.coverage[b] - curve.coverage[a];
    let share = if width > 0.0 { (coverage - curve.coverage[a]) / width } else { 0.0 };
    let (low, high) = (curve.selective_risk[a], curve.selective_risk[b]);
    low + share.clamp(0.0, 1.0) * (high - low)
}
