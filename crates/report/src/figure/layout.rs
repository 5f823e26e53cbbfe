//! Where everything is on the sheet.

use super::axis::Span;
use super::canvas::{Anchor, Canvas};
use super::geometry::{Pt, Rect};
use super::key::{self, Key};
use super::labels::Labels;
use super::panel::{self, free_place, no_data, spans};
use super::shape::{Frame, shapes};
use super::style::{BLACK, WHITE};
use super::text::{CAPITAL, LARGE, LEADING, SMALL, clean, shorten, width, wrap};
use super::{ColourScale, Figure, Legend, Panel};

/// The widths of figures in points: at 340 on a column of 85 mm and at 720 on a page of 180 mm, text of
/// 10 pt becomes 7.1 pt.
const COLUMN: f64 = 340.0;
const TWO: f64 = 600.0;
const PAGE: f64 = 720.0;
/// More names than this on an axis need a page.
const MANY: usize = 24;

/// No plot is narrower; a figure with so much beside its plots is wider than a page.
const NARROWEST: f64 = 80.0;

const EDGE: f64 = 5.0;
/// Between panels.
const BETWEEN: f64 = 14.0;
/// Above a legend.
const ABOVE_KEY: f64 = 6.0;

/// A panel with what has been decided on it.
struct Plan<'a> {
    panel: &'a Panel,
    x: Span,
    y: Span,
    title: Vec<String>,
    key: Key<'a>,
    /// Where in the plot the legend is; below if nowhere.
    key_at: Option<Pt>,
    note: Vec<String>,
    /// Where in the plot the note is; above if nowhere.
    note_at: Option<Pt>,
}

/// Draws the figure, which has a panel.
pub(super) fn draw(figure: &Figure) -> Canvas {
    let columns = figure.columns.clamp(1, figure.panels.len());
    let many = |panel: &Panel| panel.x.categories.as_ref().is_some_and(|names| names.len() > MANY);
    let wanted = match columns {
        1 if figure.panels.iter().any(many) => PAGE,
        1 => COLUMN,
        2 => TWO,
        _ => PAGE,
    };
    let inner = wanted - 2.0 * EDGE - BETWEEN * (columns as f64 - 1.0);
    let cell = exact(inner / columns as f64 - 1.0 / 16.0);
    let height = exact((0.56 * cell).clamp(120.0, 240.0));

    let common = common_scale(figure);
    let columns = line_up(figure, columns, cell, height, common.is_none());
    let sheet = columns.last().map_or(wanted, |last| last.start + last.cell + EDGE).ceil();
    let plans: Vec<Plan<'_>> = figure
        .panels
        .iter()
        .enumerate()
        .map(|(index, panel)| plan(figure, index, panel, &columns[index % columns.len()], height))
        .collect();

    let shared = match figure.legend {
        Legend::Shared => Key::new(&figure.panels, sheet - 2.0 * EDGE),
        Legend::Each => Key::new([], 0.0),
    };
    let rows: Vec<Row> = plans.chunks(columns.len()).map(|row| Row::new(row, &columns)).collect();
    let mut total = 2.0 * EDGE + rows.iter().map(|row| row.top + height + row.bottom).sum::<f64>();
    total += BETWEEN * (rows.len() as f64 - 1.0);
    if !shared.is_empty() {
        total += ABOVE_KEY + shared.size().1;
    }
    if common.is_some() {
        total += ABOVE_KEY + key::LYING;
    }

    let mut canvas = Canvas::new(sheet, total.ceil());
    let mut y = EDGE;
    for (row, plans) in rows.iter().zip(plans.chunks(columns.len())) {
        for (column, plan) in columns.iter().zip(plans) {
            let rect = column.plot(y + row.top, height);
            plan.draw(&mut canvas, rect, common.is_none(), column, row.labels);
        }
        y += row.top + height + row.bottom + BETWEEN;
    }
    y += ABOVE_KEY - BETWEEN;
    if !shared.is_empty() {
        let (wide, high) = shared.size();
        shared.draw(&mut canvas, ((sheet - wide) / 2.0, y));
        y += high + ABOVE_KEY;
    }
    if let Some(scale) = common {
        key::lying(&mut canvas, scale, &Rect::new(EDGE, y, sheet - 2.0 * EDGE, key::LYING));
    }
    canvas
}

/// The length, or up to a sixteenth of a point more. Sums and differences of such lengths are exact: labels
/// are chosen once to find the room for them and once to draw them, and that must be the same choice.
fn exact(length: f64) -> f64 {
    (length * 16.0).ceil() / 16.0
}

/// The colour scale of all panels that have one, if it can be drawn once below them.
fn common_scale(figure: &Figure) -> Option<&ColourScale> {
    let mut scales = figure.panels.iter().filter_map(|panel| panel.scale.as_ref());
    let first = scales.next()?;
    (figure.legend == Legend::Shared && scales.all(|scale| scale == first)).then_some(first)
}

/// A column of panels, whose plots are in line.
struct Column {
    start: f64,
    cell: f64,
    /// Room beside the plots.
    left: f64,
    right: f64,
}

impl Column {
    fn plot_width(&self) -> f64 {
        self.cell - self.left - self.right
    }

    /// The plot of a panel.
    fn plot(&self, top: f64, height: f64) -> Rect {
        Rect::new(self.start + self.left, top, self.plot_width(), height)
    }
}

/// Finds columns with room for all labels. They are `cell` wide, unless that leaves too little for a plot.
fn line_up(figure: &Figure, columns: usize, cell: f64, height: f64, bars: bool) -> Vec<Column> {
    let mut margins = vec![(0.0f64, 2.0f64); columns];
    // Narrower plots have longer labels beside them, and the other way round: a few rounds settle it.
    for _ in 0..3 {
        for (index, panel) in figure.panels.iter().enumerate() {
            let (left, right) = &mut margins[index % columns];
            let (x, y) = spans(panel);
            let length = (cell - *left - *right).max(NARROWEST);
            let below = Labels::below(&panel.x, &x, length);
            let beside = Labels::beside(&panel.y, &y, height);
            let bar = panel.scale.as_ref().filter(|_| bars);
            let bar = bar.map_or(0.0, |scale| key::upright_width(scale, height));
            *left = exact(left.max(beside.room()).max(below.before));
            *right = exact(right.max(below.after).max(bar));
        }
    }
    let mut start = EDGE;
    let column = |(left, right): (f64, f64)| {
        let column = Column { start, cell: cell.max(left + right + NARROWEST), left, right };
        start += column.cell + BETWEEN;
        column
    };
    margins.into_iter().map(column).collect()
}

/// Decides where in a panel its texts are.
fn plan<'a>(
    figure: &Figure,
    index: usize,
    panel: &'a Panel,
    column: &Column,
    height: f64,
) -> Plan<'a> {
    // As if it were at the top of the sheet.
    let plot = &column.plot(0.0, height);
    let cell = column.cell;
    let letter = if figure.panels.len() > 1 { letter(index) } else { String::new() };
    let title = clean(panel.title.as_deref().unwrap_or_default());
    let title = wrap(&format!("{letter} {title}"), LARGE, cell - column.left, 2);
    let (x, y) = spans(panel);
    let frame = Frame { rect: *plot, x, y };
    let drawn = shapes(panel, &frame);
    let mut taken: Vec<Rect> = no_data(panel, &frame).into_iter().collect();

    let key = match figure.legend {
        Legend::Each => Key::new([panel], cell),
        Legend::Shared => Key::new([], cell),
    };
    let (wide, high) = key.upright().size();
    let small = !key.is_empty() && wide < 0.7 * plot.width() && high < 0.7 * plot.height();
    let key_at = small.then(|| free_place((wide, high), plot, &drawn, &taken)).flatten();
    taken.extend(key_at.map(|(left, top)| Rect::new(left, top, wide, high)));

    let note: Vec<String> = panel.note.iter().flat_map(|note| note.lines()).map(clean).collect();
    let note: Vec<String> =
        note.iter().map(|line| shorten(line, SMALL, plot.width() - 20.0)).collect();
    let note_at = free_place(size(&note), plot, &drawn, &taken);
    let from_corner = |(left, top): Pt| (left - plot.left, top - plot.top);
    Plan {
        panel,
        x,
        y,
        title,
        key,
        key_at: key_at.map(from_corner),
        note,
        note_at: note_at.map(from_corner),
    }
}

/// (a), (b), … (z), (27), …
fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(small @ 0..26) => format!("({})", char::from(b'a' + small)),
        _ => format!("({})", index + 1),
    }
}

/// How large lines of small text are.
fn size(lines: &[String]) -> (f64, f64) {
    let wide = lines.iter().map(|line| width(line, SMALL)).fold(0.0, f64::max);
    (wide, lines.len() as f64 * SMALL * LEADING)
}

/// The room above and below the plots of a row.
struct Row {
    top: f64,
    /// Of the labels of the axes.
    labels: f64,
    bottom: f64,
}

impl Row {
    fn new(plans: &[Plan<'_>], columns: &[Column]) -> Self {
        let most = |of: &dyn Fn(&Column, &Plan<'_>) -> f64| {
            columns.iter().zip(plans).map(|(column, plan)| of(column, plan)).fold(0.0, f64::max)
        };
        let top = most(&|_, plan| {
            let note = if plan.note_at.is_none() { size(&plan.note).1 } else { 0.0 };
            let title = match plan.title.len() {
                0 => CAPITAL * SMALL / 2.0,
                lines => lines as f64 * LARGE * LEADING + 3.0,
            };
            title + note
        });
        let labels =
            most(&|column, plan| Labels::below(&plan.panel.x, &plan.x, column.plot_width()).room());
        let key = most(&|_, plan| match plan.key_at {
            None if !plan.key.is_empty() => ABOVE_KEY + plan.key.size().1,
            _ => 0.0,
        });
        Self { top: exact(top), labels: exact(labels), bottom: exact(labels + key) }
    }
}

impl Plan<'_> {
    /// Draws the panel with its plot at `rect`, and its legend below `labels` if that is not inside.
    fn draw(&self, canvas: &mut Canvas, rect: Rect, bars: bool, column: &Column, labels: f64) {
        let panel = self.panel;
        panel::draw(canvas, panel, &Frame { rect, x: self.x, y: self.y });
        let note = size(&self.note);
        let above = if self.note_at.is_none() { note.1 } else { 0.0 };
        let mut base = rect.top - above - 3.0 - 0.25 * LARGE;
        base -= (self.title.len() as f64 - 1.0) * LARGE * LEADING;
        for line in &self.title {
            canvas.text((rect.left, base), line, LARGE, Anchor::Start, 0.0, BLACK);
            base += LARGE * LEADING;
        }
        let at = match self.note_at {
            Some((x, y)) => (rect.left + x, rect.top + y),
            None => (rect.right - note.0, rect.top - note.1),
        };
        if self.note_at.is_some() && !self.note.is_empty() {
            let back = Rect::new(at.0, at.1, note.0, note.1).grown(1.5);
            canvas.area(&back.corners(), WHITE, 0.85);
        }
        for (index, line) in self.note.iter().enumerate() {
            let base = at.1 + index as f64 * SMALL * LEADING + SMALL;
            canvas.text((at.0, base), line, SMALL, Anchor::Start, 0.0, BLACK);
        }
        if let Some(scale) = panel.scale.as_ref().filter(|_| bars) {
            key::upright(canvas, scale, &rect);
        }
        if self.key.is_empty() {
            return;
        }
        if let Some((x, y)) = self.key_at {
            let key = self.key.upright();
            let at = (rect.left + x, rect.top + y);
            let back = Rect::new(at.0, at.1, key.size().0, key.size().1).grown(1.5);
            canvas.area(&back.corners(), WHITE, 0.85);
            key.draw(canvas, at);
        } else {
            let x = column.start + (column.cell - self.key.size().0) / 2.0;
            self.key.draw(canvas, (x, rect.bottom + labels + ABOVE_KEY));
        }
    }
}
