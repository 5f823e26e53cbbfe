//! The words along an axis, and the room that they take.

use super::Axis;
use super::axis::Span;
use super::canvas::{Anchor, Canvas, Pen};
use super::geometry::Rect;
use super::key::labelled;
use super::style::{BLACK, GREY};
use super::text::{CAPITAL, LARGE, LEADING, SMALL, clean, shorten, width, wrap};
use super::ticks::{Ticks, ticks};

/// Tick marks, and the gap to their labels.
const TICK: f64 = 3.0;
const GAP: f64 = 3.5;
/// Between the labels of ticks and that of the axis.
const APART: f64 = 4.0;
/// Names of categories are cut to this.
const LONGEST: f64 = 110.0;

/// The labels of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Labels {
    pub(super) ticks: Ticks,
    /// In degrees anticlockwise; long names are turned.
    turn: f64,
    /// How far the labels of ticks reach away from the axis.
    depth: f64,
    /// How far they reach beyond its start and end.
    pub(super) before: f64,
    pub(super) after: f64,
    /// The label of the axis itself.
    title: Vec<String>,
}

impl Labels {
    /// The labels of a horizontal axis of this length.
    pub(super) fn below(axis: &Axis, span: &Span, length: f64) -> Self {
        let (ticks, turn) = match &axis.categories {
            Some(names) => turned(names, length),
            None => (level(axis, span, length), 0.0),
        };
        let (sin, cos) = f64::to_radians(turn).sin_cos();
        let high = CAPITAL * SMALL;
        let (mut depth, mut before, mut after) = (high, 0.0f64, 0.0f64);
        for (share, label) in &ticks.major {
            let (wide, at) = (wide(label), share * length);
            if turn == 0.0 {
                before = before.max(wide / 2.0 - at);
                after = after.max(at + wide / 2.0 - length);
            } else {
                before = before.max(wide * cos + high * sin - at);
                depth = depth.max(wide * sin + high * cos);
            }
        }
        Self { ticks, turn, depth, before, after, title: title(axis, length) }
    }

    /// The labels of a vertical axis of this length.
    pub(super) fn beside(axis: &Axis, span: &Span, length: f64) -> Self {
        let ticks = match &axis.categories {
            Some(names) => named(names, sparse(length / names.len().max(1) as f64)),
            None => stacked(axis, span, length),
        };
        let depth = ticks.major.iter().map(|(_, label)| wide(label)).fold(0.0, f64::max);
        let half = CAPITAL * SMALL / 2.0;
        Self { ticks, turn: 0.0, depth, before: half, after: half, title: title(axis, length) }
    }

    /// How far everything reaches away from the axis.
    pub(super) fn room(&self) -> f64 {
        let title = match self.title.len() {
            0 => 0.0,
            lines => APART + lines as f64 * LARGE * LEADING,
        };
        TICK + GAP + self.depth + title
    }

    /// Draws them below a plot.
    pub(super) fn draw_below(&self, canvas: &mut Canvas, plot: &Rect) {
        let across = |share: f64| plot.left + share * plot.width();
        let pen = Pen::new(GREY, 0.8);
        for share in &self.ticks.minor {
            let x = across(*share);
            canvas.line(&[(x, plot.bottom), (x, plot.bottom + TICK / 2.0)], pen);
        }
        let high = CAPITAL * SMALL;
        let (sin, cos) = self.turn.to_radians().sin_cos();
        for (share, label) in &self.ticks.major {
            let x = across(*share);
            canvas.line(&[(x, plot.bottom), (x, plot.bottom + TICK)], pen);
            let top = plot.bottom + TICK + GAP;
            let (at, anchor) = if self.turn == 0.0 {
                ((x, top + high), Anchor::Middle)
            } else {
                // The upper right corner of the word is below the tick.
                ((x + high * sin / 2.0, top + high * cos), Anchor::End)
            };
            labelled(canvas, at, label, LONGEST, anchor, -self.turn);
        }
        let mut base = plot.bottom + TICK + GAP + self.depth + APART + LARGE;
        for line in &self.title {
            let at = (f64::midpoint(plot.left, plot.right), base);
            canvas.text(at, line, LARGE, Anchor::Middle, 0.0, BLACK);
            base += LARGE * LEADING;
        }
    }

    /// Draws them to the left of a plot.
    pub(super) fn draw_beside(&self, canvas: &mut Canvas, plot: &Rect) {
        let down = |share: f64| plot.bottom - share * plot.height();
        let pen = Pen::new(GREY, 0.8);
        for share in &self.ticks.minor {
            let y = down(*share);
            canvas.line(&[(plot.left - TICK / 2.0, y), (plot.left, y)], pen);
        }
        for (share, label) in &self.ticks.major {
            let y = down(*share);
            canvas.line(&[(plot.left - TICK, y), (plot.left, y)], pen);
            let at = (plot.left - TICK - GAP, y + CAPITAL * SMALL / 2.0);
            labelled(canvas, at, label, LONGEST, Anchor::End, 0.0);
        }
        let lines = self.title.len() as f64;
        let mut base = plot.left - TICK - GAP - self.depth - APART - 2.0;
        base -= (lines - 1.0) * LARGE * LEADING;
        for line in &self.title {
            let at = (base, f64::midpoint(plot.top, plot.bottom));
            canvas.text(at, line, LARGE, Anchor::Middle, -90.0, BLACK);
            base += LARGE * LEADING;
        }
    }
}

/// The axis's label in lines.
fn title(axis: &Axis, length: f64) -> Vec<String> {
    wrap(&clean(&axis.label), LARGE, length, 2)
}

/// How wide the label of a tick is when it is drawn.
fn wide(label: &str) -> f64 {
    width(&shorten(label, SMALL, LONGEST), SMALL)
}

/// Names side by side if they fit, else turned as little as possible, else only some of them.
fn turned(names: &[String], length: f64) -> (Ticks, f64) {
    let each = length / names.len().max(1) as f64;
    let widest = names.iter().map(|name| wide(&clean(name))).fold(0.0, f64::max);
    if widest + 6.0 <= each {
        return (named(names, 1), 0.0);
    }
    let enough = |turn: &f64| each * turn.to_radians().sin() >= SMALL * 1.05;
    match [45.0, 60.0].into_iter().find(enough) {
        Some(turn) => (named(names, 1), turn),
        None => (named(names, sparse(each)), 90.0),
    }
}

/// Every how many-th line of text has room if each gets so much.
fn sparse(each: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let stride = (SMALL * 1.05 / each.max(0.01)).ceil() as usize;
    stride.max(1)
}

/// Ticks at all names, of which every `stride`-th is shown.
fn named(names: &[String], stride: usize) -> Ticks {
    let place = |index: usize| (index as f64 + 0.5) / names.len() as f64;
    let major = names.iter().enumerate().step_by(stride);
    let major = major.map(|(index, name)| (place(index), clean(name))).collect();
    let minor = if stride > 1 { (0..names.len()).map(place).collect() } else { Vec::new() };
    Ticks { major, minor }
}

/// As many numbers as look well above each other.
pub(super) fn stacked(axis: &Axis, span: &Span, length: f64) -> Ticks {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
    ticks(span, ((length / 30.0) as usize).clamp(2, 7), axis.percent)
}

/// As many numbers as fit side by side.
pub(super) fn level(axis: &Axis, span: &Span, length: f64) -> Ticks {
    let fits = |ticks: &Ticks| {
        ticks.major.windows(2).all(|pair| {
            let needed = f64::midpoint(width(&pair[0].1, SMALL), width(&pair[1].1, SMALL)) + 9.0;
            (pair[1].0 - pair[0].0) * length >= needed
        })
    };
    let mut fewest = ticks(span, 2, axis.percent);
    let found = (2..=7).rev().map(|most| ticks(span, most, axis.percent)).find(fits);
    found.unwrap_or_else(|| {
        fewest.major.truncate(1);
        fewest
    })
}
