//! Layers as lines, areas and marks on the sheet.

use super::axis::Span;
use super::canvas::{Canvas, Pen};
use super::geometry::{Pt, Rect};
use super::style::{GREY, Rgb, WHITE};
use super::{Colour, Dash, Layer, Mark, Marker, Panel, RuleAt, Style};

/// How much of a band's colour is seen.
const BAND: f64 = 0.17;
/// How much of a bar's colour is seen.
const BAR: f64 = 0.45;
/// Markers on a line that are closer than this, in points, are thinned out to `APART`.
const CLOSE: f64 = 9.0;
const APART: f64 = 28.0;

/// The axes as they lie on the sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) rect: Rect,
    pub(super) x: Span,
    pub(super) y: Span,
}

impl Frame {
    pub(super) fn across(&self, x: f64) -> Option<f64> {
        self.x.place(x).map(|share| self.rect.left + far(share) * self.rect.width())
    }

    pub(super) fn down(&self, y: f64) -> Option<f64> {
        self.y.place(y).map(|share| self.rect.bottom - far(share) * self.rect.height())
    }

    fn at(&self, (x, y): (f64, f64)) -> Option<Pt> {
        self.across(x).zip(self.down(y))
    }

    /// Where the low end of a bar or band is: a logarithmic axis has no zero, so it is below all of it.
    fn floor(&self, y: f64) -> Option<f64> {
        self.down(y).or((self.y.log && y <= 0.0).then_some(self.rect.bottom))
    }
}

/// Values far off the axis are brought nearer, where they cannot be seen to be, lest numbers overflow.
fn far(share: f64) -> f64 {
    share.clamp(-1e6, 1e6)
}

/// Something to draw.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Line { points: Vec<Pt>, pen: Pen },
    Area { points: Vec<Pt>, colour: Rgb, opacity: f64 },
    Mark { at: Pt, look: Look, name: Option<String> },
}

/// The look of a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    marker: Marker,
    radius: f64,
    colour: Rgb,
    opacity: f64,
    /// Around a filled mark, so that those that overlap can be counted.
    edge: Rgb,
}

impl Look {
    fn new(style: &Style, colour: Rgb) -> Self {
        // Bright colours of a scale need a dark edge to be seen on white.
        let edge = if style.colour == Colour::Scaled { GREY } else { WHITE };
        let radius = 2.0 * style.stroke();
        Self { marker: style.marker, radius, colour, opacity: style.solidity(), edge }
    }

    /// Of marks that are not on a line, and so must not be missing.
    fn of_points(style: &Style, colour: Rgb) -> Self {
        let look = Self::new(style, colour);
        if look.marker == Marker::None { Self { marker: Marker::Circle, ..look } } else { look }
    }
}

impl Shape {
    /// Whether any of it is inside the rectangle.
    pub(super) fn meets(&self, rect: &Rect) -> bool {
        match self {
            Shape::Line { points, .. } => {
                points.windows(2).any(|pair| rect.clip_segment(pair[0], pair[1]).is_some())
            }
            Shape::Area { points, .. } => rect.clip_area(points).len() > 2,
            Shape::Mark { at, look, .. } => rect.grown(look.radius).contains(*at),
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas) {
        match self {
            Shape::Line { points, pen } => canvas.line(points, *pen),
            Shape::Area { points, colour, opacity } => canvas.area(points, *colour, *opacity),
            Shape::Mark { at, look, name: Some(name) } => {
                canvas.named(name, |canvas| mark(canvas, *at, look));
            }
            Shape::Mark { at, look, name: None } => mark(canvas, *at, look),
        }
    }
}

/// All layers of a panel, areas first. Data that cannot be drawn, or lie outside the axes, are left out.
pub(super) fn shapes(panel: &Panel, frame: &Frame) -> Vec<Shape> {
    let mut shapes: Vec<Shape> =
        (0..panel.layers.len()).flat_map(|index| layer(panel, index, frame)).collect();
    shapes.sort_by_key(|shape| !matches!(shape, Shape::Area { .. }));
    shapes
}

/// Whether nothing but rules is to be seen.
pub(super) fn is_empty(panel: &Panel, frame: &Frame) -> bool {
    panel.layers.iter().enumerate().all(|(index, content)| {
        matches!(content, Layer::Rule { .. }) || layer(panel, index, frame).is_empty()
    })
}

/// The layer with this index.
fn layer(panel: &Panel, index: usize, frame: &Frame) -> Vec<Shape> {
    match &panel.layers[index] {
        Layer::Line { points, band, style, .. } => {
            let mut shapes = match band {
                Some(band) => bands(points, band, style, frame),
                None => Vec::new(),
            };
            shapes.extend(line(points, style, frame, index));
            shapes
        }
        Layer::Points { points, style, .. } => {
            points.iter().flat_map(|mark| point(mark, style, panel, frame)).collect()
        }
        Layer::Bars { edges, heights, style, .. } => {
            let bars = edges.windows(2).zip(heights);
            bars.flat_map(|(pair, height)| bar((pair[0], pair[1]), *height, style, frame)).collect()
        }
        Layer::Rule { at, style, .. } => rule(*at, style, frame),
    }
}

fn pen(style: &Style) -> Pen {
    Pen {
        colour: style.colour(None, None),
        width: style.stroke(),
        dash: style.dash,
        opacity: style.solidity(),
    }
}

/// Neighbours that are all there, together.
fn runs<T: Copy>(items: impl IntoIterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut runs = vec![Vec::new()];
    for item in items {
        match (item, runs.last_mut()) {
            (Some(item), Some(run)) => run.push(item),
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn line(points: &[(f64, f64)], style: &Style, frame: &Frame, index: usize) -> Vec<Shape> {
    let pen = pen(style);
    let runs = runs(points.iter().map(|point| frame.at(*point)));
    let mut shapes = Vec::new();
    for run in &runs {
        let pieces = frame.rect.clip_line(run);
        shapes.extend(pieces.into_iter().map(|points| Shape::Line { points, pen }));
    }
    let crowded = points.len() as f64 * CLOSE > frame.rect.width();
    // Lines that run together have their markers at different places.
    let mut next = if crowded { frame.rect.left + APART * (index % 4) as f64 / 4.0 } else { 0.0 };
    for run in &runs {
        for &at in run {
            let alone = run.len() == 1;
            if !frame.rect.grown(0.1).contains(at) || (crowded && at.0 < next && !alone) {
                continue;
            }
            next = at.0 + APART;
            let mut look = Look::new(style, pen.colour);
            if style.marker == Marker::None {
                // A point without neighbours is no line, yet should be seen.
                if !alone {
                    continue;
                }
                look = Look { marker: Marker::Circle, radius: pen.width, ..look };
            }
            shapes.push(Shape::Mark { at, look, name: None });
        }
    }
    shapes
}

fn bands(points: &[(f64, f64)], band: &[(f64, f64)], style: &Style, frame: &Frame) -> Vec<Shape> {
    let ends = points.iter().zip(band).map(|(&(x, y), &(low, high))| {
        frame.at((x, y))?;
        Some((frame.across(x)?, frame.floor(low)?, frame.down(high)?))
    });
    let mut shapes = Vec::new();
    for run in runs(ends) {
        let low = run.iter().map(|&(x, low, _)| (x, low));
        let high = run.iter().rev().map(|&(x, _, high)| (x, high));
        let points = frame.rect.clip_area(&low.chain(high).collect::<Vec<Pt>>());
        if points.len() > 2 {
            let opacity = BAND * style.solidity();
            shapes.push(Shape::Area { points, colour: style.colour(None, None), opacity });
        }
    }
    shapes
}

fn point(mark: &Mark, style: &Style, panel: &Panel, frame: &Frame) -> Vec<Shape> {
    let Some(at) = frame.at((mark.x, mark.y)) else { return Vec::new() };
    if !frame.rect.grown(0.1).contains(at) {
        return Vec::new();
    }
    let colour = style.colour(mark.value, panel.scale.as_ref());
    let look = Look::of_points(style, colour);
    let mut shapes = Vec::new();
    if let Some(error) = mark.error.map(f64::abs)
        && let (Some(low), Some(high)) = (frame.floor(mark.y - error), frame.down(mark.y + error))
        // Shorter ones are behind the mark, and only their ends would look out.
        && low - high > 2.0 * look.radius
    {
        let pen = Pen { opacity: style.solidity(), ..Pen::new(colour, 0.7 * style.stroke()) };
        let cap = 1.6 * style.stroke();
        let strokes = [
            [(at.0, low), (at.0, high)],
            [(at.0 - cap, low), (at.0 + cap, low)],
            [(at.0 - cap, high), (at.0 + cap, high)],
        ];
        let room = frame.rect.grown(0.1);
        for stroke in strokes.iter().flat_map(|stroke| room.clip_line(stroke)) {
            shapes.push(Shape::Line { points: stroke, pen });
        }
    }
    shapes.push(Shape::Mark { at, look, name: mark.name.clone() });
    shapes
}

fn bar(edges: (f64, f64), height: f64, style: &Style, frame: &Frame) -> Vec<Shape> {
    let ends = frame.across(edges.0).zip(frame.across(edges.1));
    let Some(((left, right), (foot, top))) = ends.zip(frame.floor(0.0).zip(frame.down(height)))
    else {
        return Vec::new();
    };
    let corners = [(left, foot), (left, top), (right, top), (right, foot)];
    let points = frame.rect.clip_area(&corners);
    if points.len() < 3 {
        return Vec::new();
    }
    let pen = Pen { width: 0.6 * style.stroke(), ..pen(style) };
    let mut shapes =
        vec![Shape::Area { points, colour: pen.colour, opacity: BAR * style.solidity() }];
    // The outlines of empty bars would hide the axis.
    if height != 0.0 {
        let outline = frame.rect.clip_line(&corners);
        shapes.extend(outline.into_iter().map(|points| Shape::Line { points, pen }));
    }
    shapes
}

fn rule(at: RuleAt, style: &Style, frame: &Frame) -> Vec<Shape> {
    let Rect { left, top, right, bottom } = frame.rect;
    let points: Vec<Pt> = match at {
        RuleAt::X(x) => frame.across(x).map(|x| vec![(x, top), (x, bottom)]).unwrap_or_default(),
        RuleAt::Y(y) => frame.down(y).map(|y| vec![(left, y), (right, y)]).unwrap_or_default(),
        // Straight if both axes are of a kind, and bent otherwise.
        RuleAt::Diagonal => (0..=100)
            .filter_map(|step| {
                let value = frame.x.value(f64::from(step) / 100.0);
                frame.at((value, value))
            })
            .collect(),
    };
    let pieces = frame.rect.clip_line(&points);
    pieces.into_iter().map(|points| Shape::Line { points, pen: pen(style) }).collect()
}

/// What stands for a layer in the legend, inside the rectangle.
pub(super) fn sample(layer: &Layer, rect: &Rect) -> Vec<Shape> {
    let middle = f64::midpoint(rect.top, rect.bottom);
    let centre = (f64::midpoint(rect.left, rect.right), middle);
    let stroke = vec![(rect.left, middle), (rect.right, middle)];
    match layer {
        Layer::Line { style, band, .. } => {
            let pen = pen(style);
            let mut shapes = Vec::new();
            if band.is_some() {
                let opacity = BAND * style.solidity();
                let points = rect.corners().to_vec();
                shapes.push(Shape::Area { points, colour: pen.colour, opacity });
            }
            shapes.push(Shape::Line { points: stroke, pen });
            if style.marker != Marker::None {
                shapes.push(Shape::Mark {
                    at: centre,
                    look: Look::new(style, pen.colour),
                    name: None,
                });
            }
            shapes
        }
        Layer::Points { style, .. } => {
            let look = Look::of_points(style, style.colour(None, None));
            vec![Shape::Mark { at: centre, look, name: None }]
        }
        Layer::Bars { style, .. } => {
            let pen = Pen { width: 0.6 * style.stroke(), ..pen(style) };
            let points = rect.corners().to_vec();
            let mut outline = points.clone();
            outline.push(points[0]);
            let opacity = BAR * style.solidity();
            vec![
                Shape::Area { points, colour: pen.colour, opacity },
                Shape::Line { points: outline, pen },
            ]
        }
        Layer::Rule { style, .. } => vec![Shape::Line { points: stroke, pen: pen(style) }],
    }
}

/// Draws a mark, whichever it is.
fn mark(canvas: &mut Canvas, (x, y): Pt, look: &Look) {
    let Look { marker, radius: r, colour, opacity, edge } = *look;
    let thin = Pen { colour: edge, width: 0.5, dash: Dash::Solid, opacity: 0.9 * opacity };
    let line = Pen { colour, width: 0.45 * r, dash: Dash::Solid, opacity };
    let hollow = matches!(
        marker,
        Marker::HollowCircle
            | Marker::HollowSquare
            | Marker::HollowTriangle
            | Marker::HollowDiamond
    );
    // Shapes of one radius look equally large if their areas are alike.
    let corners: Vec<Pt> = match marker {
        Marker::None => return,
        Marker::Circle | Marker::HollowCircle => {
            if hollow {
                canvas.disc((x, y), 0.85 * r, WHITE, opacity);
                canvas.circle((x, y), 0.85 * r, line);
            } else {
                canvas.disc((x, y), r, colour, opacity);
                canvas.circle((x, y), r, thin);
            }
            return;
        }
        Marker::Cross | Marker::Plus => {
            let arms = if marker == Marker::Plus {
                [[(x - r, y), (x + r, y)], [(x, y - r), (x, y + r)]]
            } else {
                let s = 0.8 * r;
                [[(x - s, y - s), (x + s, y + s)], [(x - s, y + s), (x + s, y - s)]]
            };
            let bold = Pen { width: 0.55 * r, ..line };
            for arm in &arms {
                canvas.line(arm, bold);
            }
            return;
        }
        Marker::Square | Marker::HollowSquare => {
            Rect::new(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r).corners().to_vec()
        }
        Marker::Triangle | Marker::HollowTriangle => {
            vec![(x, y - 1.2 * r), (x + 1.1 * r, y + 0.75 * r), (x - 1.1 * r, y + 0.75 * r)]
        }
        Marker::TriangleDown => {
            vec![(x, y + 1.2 * r), (x + 1.1 * r, y - 0.75 * r), (x - 1.1 * r, y - 0.75 * r)]
        }
        Marker::Diamond | Marker::HollowDiamond => {
            let s = 1.22 * r;
            vec![(x, y - s), (x + s, y), (x, y + s), (x - s, y)]
        }
    };
    let mut outline = corners.clone();
    // One corner more than the round makes all corners alike.
    outline.extend_from_slice(&corners[..2]);
    canvas.area(&corners, if hollow { WHITE } else { colour }, opacity);
    canvas.line(&outline, if hollow { line } else { thin });
}
