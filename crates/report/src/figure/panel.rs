//! One panel: what its axes show, and its drawing.

use super::axis::Span;
use super::canvas::{Anchor, Canvas, Pen};
use super::geometry::{Pt, Rect};
use super::labels::Labels;
use super::shape::{Frame, Shape, is_empty, shapes};
use super::style::{GREY, PALE};
use super::text::{CAPITAL, LARGE, width};
use super::{Layer, Panel, RuleAt};

/// How far texts inside a plot stay away from its edges and from data.
const INSET: f64 = 5.0;

const NO_DATA: &str = "no data";

/// What the panel's axes show.
pub(super) fn spans(panel: &Panel) -> (Span, Span) {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let (mut across, mut up) = (Vec::new(), Vec::new());
    let mut grounded = false;
    for layer in &panel.layers {
        match layer {
            Layer::Line { points: line, band, .. } => {
                points.extend(line);
                for ((x, _), (low, high)) in line.iter().zip(band.iter().flatten()) {
                    points.extend([(*x, *low), (*x, *high)]);
                }
            }
            Layer::Points { points: marks, .. } => {
                for mark in marks {
                    let error = mark.error.unwrap_or(0.0);
                    points.extend([-error, 0.0, error].map(|by| (mark.x, mark.y + by)));
                }
            }
            Layer::Bars { edges, heights, .. } => {
                grounded = true;
                for (pair, height) in edges.windows(2).zip(heights) {
                    points.extend([(pair[0], *height), (pair[1], *height), (pair[0], 0.0)]);
                }
            }
            Layer::Rule { at: RuleAt::X(x), .. } => across.push(*x),
            Layer::Rule { at: RuleAt::Y(y), .. } => up.push(*y),
            Layer::Rule { at: RuleAt::Diagonal, .. } => {}
        }
    }
    // A point that cannot be drawn for one of its values does not stretch the other axis.
    let any = (Span::new(&panel.x, [], false), Span::new(&panel.y, [], false));
    points.retain(|(x, y)| any.0.place(*x).is_some() && any.1.place(*y).is_some());
    across.extend(points.iter().map(|(x, _)| *x));
    let x = Span::new(&panel.x, across, false);
    // Nor does one that is outside the requested range.
    let seen = |x_: f64| x.place(x_).is_some_and(|share| (-1e-9..=1.0 + 1e-9).contains(&share));
    up.extend(points.iter().filter(|(x, _)| seen(*x)).map(|(_, y)| *y));
    (x, Span::new(&panel.y, up, grounded))
}

/// Draws grid, layers and axes.
pub(super) fn draw(canvas: &mut Canvas, panel: &Panel, frame: &Frame) {
    let plot = frame.rect;
    let below = Labels::below(&panel.x, &frame.x, plot.width());
    let beside = Labels::beside(&panel.y, &frame.y, plot.height());
    let pale = Pen::new(PALE, 0.6);
    for (share, _) in &below.ticks.major {
        let x = plot.left + share * plot.width();
        canvas.line(&[(x, plot.top), (x, plot.bottom)], pale);
    }
    for (share, _) in &beside.ticks.major {
        let y = plot.bottom - share * plot.height();
        canvas.line(&[(plot.left, y), (plot.right, y)], pale);
    }
    let axes = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)];
    canvas.line(&axes, Pen::new(GREY, 0.8));
    below.draw_below(canvas, &plot);
    beside.draw_beside(canvas, &plot);
    for shape in shapes(panel, frame) {
        shape.draw(canvas);
    }
    if let Some(room) = no_data(panel, frame) {
        canvas.text((room.left, room.bottom), NO_DATA, LARGE, Anchor::Start, 0.0, GREY);
    }
}

/// The room for the words in the middle of a panel where nothing but rules is to be seen.
pub(super) fn no_data(panel: &Panel, frame: &Frame) -> Option<Rect> {
    let (wide, high) = (width(NO_DATA, LARGE), CAPITAL * LARGE);
    let left = f64::midpoint(frame.rect.left, frame.rect.right - wide);
    let top = f64::midpoint(frame.rect.top, frame.rect.bottom - high);
    is_empty(panel, frame).then(|| Rect::new(left, top, wide, high))
}

/// A place of this size inside the plot that is free of shapes and of what is `taken`.
pub(super) fn free_place(
    (width, height): (f64, f64),
    plot: &Rect,
    shapes: &[Shape],
    taken: &[Rect],
) -> Option<Pt> {
    let (left, right) = (plot.left + INSET, plot.right - INSET - width);
    let (top, bottom) = (plot.top + INSET, plot.bottom - INSET - height);
    if left > right || top > bottom {
        return None;
    }
    let (middle, centre) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
    let places = [
        (right, top),
        (left, top),
        (right, bottom),
        (left, bottom),
        (middle, top),
        (right, centre),
        (left, centre),
        (middle, bottom),
    ];
    places.into_iter().find(|(x, y)| {
        let rect = Rect::new(*x, *y, width, height).grown(INSET - 1.0);
        shapes.iter().all(|shape| !shape.meets(&rect))
            && taken.iter().all(|taken| !taken.meets(&rect))
    })
}
