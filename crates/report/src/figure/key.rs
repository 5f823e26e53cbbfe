//! Legends and colour bars.

use super::axis::Span;
use super::canvas::{Anchor, Canvas, Pen};
use super::geometry::{Pt, Rect};
use super::labels::{level, stacked};
use super::shape::sample;
use super::style::{BLACK, GREY, Rgb, viridis};
use super::text::{CAPITAL, LEADING, SMALL, clean, shorten, width, wrap};
use super::{Axis, ColourScale, Layer, Panel, Values};

/// The width of a sample beside its label.
const SAMPLE: f64 = 24.0;
const GAP: f64 = 5.0;
/// Between the columns of a legend.
const BETWEEN: f64 = 16.0;
/// From entry to entry.
const ROW: f64 = 14.0;

/// The thickness of a colour bar, and the length of one below the figure.
const BAR: f64 = 9.0;
const LONGEST: f64 = 300.0;

/// The labels of layers with samples of their looks, in rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key<'a> {
    entries: Vec<(String, &'a Layer)>,
    columns: usize,
    column: f64,
}

impl<'a> Key<'a> {
    /// A legend of these panels no wider than `room`; each label comes once.
    pub(super) fn new(panels: impl IntoIterator<Item = &'a Panel>, room: f64) -> Self {
        let mut entries: Vec<(String, &Layer)> = Vec::new();
        for layer in panels.into_iter().flat_map(|panel| &panel.layers) {
            let (Layer::Line { label, .. }
            | Layer::Points { label, .. }
            | Layer::Bars { label, .. }
            | Layer::Rule { label, .. }) = layer;
            if let Some(label) = label.as_deref().map(clean)
                && !label.is_empty()
                && entries.iter().all(|(known, _)| *known != label)
            {
                entries.push((label, layer));
            }
        }
        let widest = entries.iter().map(|(label, _)| width(label, SMALL)).fold(0.0, f64::max);
        let column = (SAMPLE + GAP + widest).min(room);
        let fit = (1..=entries.len().max(1))
            .take_while(|count| *count as f64 * (column + BETWEEN) - BETWEEN <= room)
            .last()
            .unwrap_or(1);
        // As even as the rows allow: 3 + 3, not 5 + 1.
        let rows = entries.len().div_ceil(fit).max(1);
        let columns = entries.len().div_ceil(rows).max(1);
        Self { entries, columns, column }
    }

    /// The same as one column.
    pub(super) fn upright(&self) -> Self {
        Self { columns: 1, ..self.clone() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn size(&self) -> (f64, f64) {
        let columns = self.columns as f64;
        let rows = self.entries.len().div_ceil(self.columns) as f64;
        (columns * (self.column + BETWEEN) - BETWEEN, rows * ROW)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, (left, top): Pt) {
        for (index, (label, layer)) in self.entries.iter().enumerate() {
            // Row by row, as one reads.
            let (row, column) = (index / self.columns, index % self.columns);
            let x = left + column as f64 * (self.column + BETWEEN);
            let middle = top + (row as f64 + 0.5) * ROW;
            let rect = Rect::new(x, middle - 4.0, SAMPLE, 8.0);
            for shape in sample(layer, &rect) {
                shape.draw(canvas);
            }
            let at = (x + SAMPLE + GAP, middle + CAPITAL * SMALL / 2.0);
            let room = self.column - SAMPLE - GAP + 0.01;
            labelled(canvas, at, label, room, Anchor::Start, 0.0);
        }
    }
}

/// A small text, shortened to the room; the whole is then shown when the pointer is over it.
pub(super) fn labelled(
    canvas: &mut Canvas,
    at: Pt,
    text: &str,
    room: f64,
    anchor: Anchor,
    turn: f64,
) {
    let text = clean(text);
    let short = shorten(&text, SMALL, room);
    let draw = |canvas: &mut Canvas| canvas.text(at, &short, SMALL, anchor, turn, BLACK);
    if short == text { draw(canvas) } else { canvas.named(&text, draw) }
}

/// Labels of a colour bar with their places on it, from 0 to 1.
fn marks(scale: &ColourScale, room: f64, upright: bool) -> Vec<(f64, String)> {
    match &scale.values {
        Values::Between(low, high) => {
            let ends = (low.min(*high), low.max(*high));
            let axis = Axis { range: Some(ends), ..Axis::default() };
            let span = Span::new(&axis, [], false);
            let ticks =
                if upright { stacked(&axis, &span, room) } else { level(&axis, &span, room) };
            let mut marks = ticks.major;
            if low > high {
                for (share, _) in &mut marks {
                    *share = 1.0 - *share;
                }
            }
            marks
        }
        Values::Steps(names) => {
            let each = room / names.len().max(1) as f64;
            let widest = names.iter().map(|name| width(&clean(name), SMALL)).fold(0.0, f64::max);
            let needed = if upright { SMALL * 1.1 } else { widest.min(60.0) + 4.0 };
            // As many as there is room for.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
            let stride = ((needed / each.max(0.01)).ceil() as usize).max(1);
            let place = |index: usize| (index as f64 + 0.5) / names.len() as f64;
            let all = names.iter().enumerate().step_by(stride);
            all.map(|(index, name)| (place(index), shorten(&clean(name), SMALL, 60.0))).collect()
        }
    }
}

/// The coloured parts of a bar: where each begins, from 0 to 1, and its colour.
fn parts(scale: &ColourScale) -> Vec<(f64, Rgb)> {
    let count = match &scale.values {
        Values::Between(..) => 96,
        Values::Steps(names) => names.len(),
    };
    let part = |index: usize| {
        let colour = match &scale.values {
            Values::Between(..) => viridis((index as f64 + 0.5) / count as f64),
            Values::Steps(_) => scale.colour(index as f64).unwrap_or(GREY),
        };
        (index as f64 / count as f64, colour)
    };
    (0..count).map(part).collect()
}

/// The width that an upright colour bar takes.
pub(super) fn upright_width(scale: &ColourScale, height: f64) -> f64 {
    let marks = marks(scale, height, true);
    let widest = marks.iter().map(|(_, label)| width(label, SMALL)).fold(0.0, f64::max);
    let lines = wrap(&clean(&scale.label), SMALL, height, 2).len() as f64;
    10.0 + BAR + 5.0 + widest + 3.0 + lines * SMALL * LEADING
}

/// An upright colour bar to the right of a plot.
pub(super) fn upright(canvas: &mut Canvas, scale: &ColourScale, plot: &Rect) {
    let bar = Rect::new(plot.right + 10.0, plot.top, BAR, plot.height());
    for (from, colour) in parts(scale) {
        // Each part reaches to the end and is painted over by the next: no seams.
        let bottom = bar.bottom - from * bar.height();
        canvas.area(&Rect { bottom, ..bar }.corners(), colour, 1.0);
    }
    outline(canvas, &bar);
    let marks = marks(scale, bar.height(), true);
    let mut widest = 0.0f64;
    for (share, label) in marks {
        let y = bar.bottom - share * bar.height();
        canvas.line(&[(bar.right, y), (bar.right + 2.5, y)], Pen::new(GREY, 0.7));
        let at = (bar.right + 5.0, y + CAPITAL * SMALL / 2.0);
        canvas.text(at, &label, SMALL, Anchor::Start, 0.0, BLACK);
        widest = widest.max(width(&label, SMALL));
    }
    let middle = f64::midpoint(bar.top, bar.bottom);
    let mut x = bar.right + 5.0 + widest + 3.0 + SMALL;
    for line in wrap(&clean(&scale.label), SMALL, bar.height(), 2) {
        canvas.text((x, middle), &line, SMALL, Anchor::Middle, -90.0, BLACK);
        x += SMALL * LEADING;
    }
}

/// The height that a lying colour bar takes.
pub(super) const LYING: f64 = BAR + 5.0 + SMALL;

/// A lying colour bar in the middle of the given width: its label to the left, if that is short.
pub(super) fn lying(canvas: &mut Canvas, scale: &ColourScale, room: &Rect) {
    let label = shorten(&clean(&scale.label), SMALL, room.width() / 2.0);
    let words = width(&label, SMALL) + 8.0;
    // The numbers at its ends reach beyond it.
    let length = (room.width() - words - 60.0).clamp(20.0, LONGEST);
    let left = room.left + (room.width() - words - length) / 2.0;
    let bar = Rect::new(left + words, room.top, length, BAR);
    let base = f64::midpoint(bar.top, bar.bottom) + CAPITAL * SMALL / 2.0;
    canvas.text((left, base), &label, SMALL, Anchor::Start, 0.0, BLACK);
    for (from, colour) in parts(scale) {
        let left = bar.left + from * bar.width();
        canvas.area(&Rect { left, ..bar }.corners(), colour, 1.0);
    }
    outline(canvas, &bar);
    for (share, label) in marks(scale, bar.width(), false) {
        let x = bar.left + share * bar.width();
        canvas.line(&[(x, bar.bottom), (x, bar.bottom + 2.5)], Pen::new(GREY, 0.7));
        let at = (x, bar.bottom + 5.0 + CAPITAL * SMALL);
        canvas.text(at, &label, SMALL, Anchor::Middle, 0.0, BLACK);
    }
}

fn outline(canvas: &mut Canvas, rect: &Rect) {
    let mut corners = rect.corners().to_vec();
    corners.push(corners[0]);
    canvas.line(&corners, Pen::new(GREY, 0.6));
}
