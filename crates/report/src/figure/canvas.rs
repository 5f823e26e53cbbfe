//! The sheet that is drawn on: plotters' SVG backend, and what it lacks.
//!
//! plotters counts in whole units, knows no dashes, no angles but right ones, no tooltips and no groups. So
//! a unit is a hundredth of a point here, and each stroke is drawn by itself and put into a group that
//! carries what is missing. Nothing else in this crate knows plotters, but for its colours.

use super::FigureError;
use super::geometry::{Pt, Rect};
use super::style::{Dash, WHITE};
use super::text::{FAMILIES, clean};
use plotters::backend::DrawingBackend;
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};
use std::fmt::{Display, Write};

/// Units a point.
const UNITS: f64 = 100.0;

/// plotters' sizes of fonts are this times those of the SVG.
const FONT: f64 = 1.24;

/// plotters puts the baseline this share of the size below the top of a text.
const RISE: f64 = 0.76;

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: RGBColor,
    pub(super) width: f64,
    pub(super) dash: Dash,
    pub(super) opacity: f64,
}

impl Pen {
    pub(super) fn new(colour: RGBColor, width: f64) -> Self {
        Self { colour, width, dash: Dash::Solid, opacity: 1.0 }
    }
}

/// Which part of a text is at the point given for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG file in the making.
#[derive(Debug)]
pub(super) struct Canvas {
    body: String,
    size: (f64, f64),
    failed: Option<String>,
}

impl Canvas {
    /// A white sheet of this size in points.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut canvas = Self { body: String::new(), size: (width, height), failed: None };
        canvas.area(&Rect::new(0.0, 0.0, width, height).corners(), WHITE, 1.0);
        canvas
    }

    /// A line through the points.
    pub(super) fn line(&mut self, points: &[Pt], pen: Pen) {
        let style = shape(pen.colour, pen.opacity, pen.width);
        let dashes = dashes(pen.dash, pen.width);
        let wrap = dashes.map(|dashes| format!("<g stroke-dasharray=\"{dashes}\">"));
        self.stroke(wrap, |backend| backend.draw_path(points.iter().map(units), &style));
    }

    /// A filled area.
    pub(super) fn area(&mut self, points: &[Pt], colour: RGBColor, opacity: f64) {
        let style = shape(colour, opacity, 0.0);
        self.stroke(None, |backend| backend.fill_polygon(points.iter().map(units), &style));
    }

    /// A disc.
    pub(super) fn disc(&mut self, centre: Pt, radius: f64, colour: RGBColor, opacity: f64) {
        let style = shape(colour, opacity, 0.0);
        self.stroke(None, |backend| {
            backend.draw_circle(units(&centre), length(radius), &style, true)
        });
    }

    /// A circle around a centre.
    pub(super) fn circle(&mut self, centre: Pt, radius: f64, pen: Pen) {
        let style = shape(pen.colour, pen.opacity, pen.width);
        self.stroke(None, |backend| {
            backend.draw_circle(units(&centre), length(radius), &style, false)
        });
    }

    /// A line of text with its baseline at the point, turned clockwise by an angle in degrees.
    pub(super) fn text(
        &mut self,
        at: Pt,
        text: &str,
        size: f64,
        anchor: Anchor,
        turn: f64,
        colour: RGBColor,
    ) {
        let text = clean(text);
        if text.is_empty() {
            return;
        }
        let horizontal = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let family = FontFamily::Name(FAMILIES);
        let font = FontDesc::new(family, size * UNITS * FONT, FontStyle::Normal);
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(horizontal, VPos::Top));
        let wrap = (turn != 0.0).then(|| {
            let (x, y) = units(&at);
            format!("<g transform=\"rotate({turn} {x} {y})\">")
        });
        let top = (at.0, at.1 - RISE * size);
        self.stroke(wrap, |backend| backend.draw_text(&text, &style, units(&top)));
    }

    /// What is drawn inside, with a name that browsers show when the pointer is over it.
    pub(super) fn named(&mut self, name: &str, draw: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<g><title>{}</title>", escape(name));
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// The file.
    pub(super) fn finish(self, title: &str, description: &str) -> Result<String, FigureError> {
        if let Some(why) = self.failed {
            return Err(FigureError::Drawing(why));
        }
        let (width, height) = self.size;
        let (across, down) = units(&self.size);
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}pt\" \
             height=\"{height}pt\" viewBox=\"0 0 {across} {down}\">\n\
             <title>{}</title>\n<desc>{}</desc>\n<g stroke-linejoin=\"round\">\n{}</g>\n</svg>\n",
            escape(title),
            escape(description),
            self.body
        ))
    }

    /// Has plotters draw something, and puts it into the group that `wrap` opens.
    fn stroke<E: Display>(
        &mut self,
        wrap: Option<String>,
        draw: impl FnOnce(&mut SVGBackend<'_>) -> Result<(), E>,
    ) {
        let mut whole = String::new();
        // The size does not matter: only what is between the outer tags is used.
        let drawn = draw(&mut SVGBackend::with_string(&mut whole, (1, 1)));
        let inner = whole
            .split_once(">\n")
            .and_then(|(_, rest)| rest.strip_suffix("</svg>\n"))
            .ok_or_else(|| "plotters wrote no SVG".to_string());
        match drawn.map_err(|error| error.to_string()).and(inner) {
            Ok(inner) => {
                let close = if wrap.is_some() { "</g>\n" } else { "" };
                let _ = write!(self.body, "{}{inner}{close}", wrap.unwrap_or_default());
            }
            Err(why) => self.failed = Some(why),
        }
    }
}

/// Text as it may stand between tags.
fn escape(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A point in plotters' units.
#[expect(clippy::cast_possible_truncation, reason = "everything is clipped to the sheet before")]
fn units(&(x, y): &Pt) -> (i32, i32) {
    ((x * UNITS).round() as i32, (y * UNITS).round() as i32)
}

/// A length in plotters' units.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small length")]
fn length(length: f64) -> u32 {
    (length * UNITS).round() as u32
}

fn shape(colour: RGBColor, opacity: f64, width: f64) -> ShapeStyle {
    ShapeStyle { color: colour.mix(opacity), filled: true, stroke_width: length(width) }
}

/// The lengths of dashes and gaps in units, in proportion to the width of the line.
fn dashes(dash: Dash, width: f64) -> Option<String> {
    let pattern: &[f64] = match dash {
        Dash::Solid => return None,
        Dash::Dashed => &[4.0, 2.0],
        Dash::Dotted => &[1.2, 1.6],
        Dash::DashDot => &[5.0, 1.8, 1.2, 1.8],
    };
    // Thin lines would otherwise look grey.
    let unit = width.max(1.0);
    let lengths: Vec<String> = pattern.iter().map(|part| length(part * unit).to_string()).collect();
    Some(lengths.join(" "))
}
