//! The sheet that is drawn on: strokes, areas and texts in their order, and these as an SVG file.

use super::geometry::{Pt, Rect};
use super::style::{Dash, Rgb, WHITE};
use super::text::{FAMILIES, clean};
use std::fmt::{self, Display, Write};

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Rgb,
    pub(super) width: f64,
    pub(super) dash: Dash,
    pub(super) opacity: f64,
}

impl Pen {
    pub(super) fn new(colour: Rgb, width: f64) -> Self {
        Self { colour, width, dash: Dash::Solid, opacity: 1.0 }
    }

    /// The lengths of dashes and gaps, in proportion to the width of the line; none of a solid one.
    pub(super) fn dashes(&self) -> Vec<f64> {
        let pattern: &[f64] = match self.dash {
            Dash::Solid => &[],
            Dash::Dashed => &[4.0, 2.0],
            Dash::Dotted => &[1.2, 1.6],
            Dash::DashDot => &[5.0, 1.8, 1.2, 1.8],
        };
        // Thin lines would otherwise look grey.
        let unit = self.width.max(1.0);
        pattern.iter().map(|part| part * unit).collect()
    }
}

/// Which part of a text is at the point given for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Something on the sheet. Lengths are in points.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Element {
    Line { points: Vec<Pt>, pen: Pen },
    Area { points: Vec<Pt>, colour: Rgb, opacity: f64 },
    Disc { centre: Pt, radius: f64, colour: Rgb, opacity: f64 },
    Circle { centre: Pt, radius: f64, pen: Pen },
    Text { at: Pt, text: String, size: f64, anchor: Anchor, turn: f64, colour: Rgb },
    Named { name: String, content: Vec<Element> },
}

/// A picture in the making.
#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) size: (f64, f64),
    pub(super) elements: Vec<Element>,
}

impl Canvas {
    /// A white sheet of this size in points.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut canvas = Self { size: (width, height), elements: Vec::new() };
        canvas.area(&Rect::new(0.0, 0.0, width, height).corners(), WHITE, 1.0);
        canvas
    }

    /// A line through the points.
    pub(super) fn line(&mut self, points: &[Pt], pen: Pen) {
        self.elements.push(Element::Line { points: points.to_vec(), pen });
    }

    /// A filled area.
    pub(super) fn area(&mut self, points: &[Pt], colour: Rgb, opacity: f64) {
        self.elements.push(Element::Area { points: points.to_vec(), colour, opacity });
    }

    /// A disc.
    pub(super) fn disc(&mut self, centre: Pt, radius: f64, colour: Rgb, opacity: f64) {
        self.elements.push(Element::Disc { centre, radius, colour, opacity });
    }

    /// A circle around a centre.
    pub(super) fn circle(&mut self, centre: Pt, radius: f64, pen: Pen) {
        self.elements.push(Element::Circle { centre, radius, pen });
    }

    /// A line of text with its baseline at the point, turned clockwise by an angle in degrees.
    pub(super) fn text(
        &mut self,
        at: Pt,
        text: &str,
        size: f64,
        anchor: Anchor,
        turn: f64,
        colour: Rgb,
    ) {
        let text = clean(text);
        if !text.is_empty() {
            self.elements.push(Element::Text { at, text, size, anchor, turn, colour });
        }
    }

    /// What is drawn inside, with a name that browsers show when the pointer is over it.
    pub(super) fn named(&mut self, name: &str, draw: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.elements);
        draw(self);
        let content = std::mem::replace(&mut self.elements, outer);
        self.elements.push(Element::Named { name: name.into(), content });
    }

    /// The picture as the text of an SVG file.
    pub(super) fn svg(&self, title: &str, description: &str) -> String {
        let (width, height) = self.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}pt\" \
             height=\"{height}pt\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{}</title>\n<desc>{}</desc>\n\
             <g stroke-linejoin=\"round\" font-family=\"{FAMILIES}\">\n{}</g>\n</svg>\n",
            escape(title),
            escape(description),
            self.elements.iter().map(Element::svg).collect::<String>()
        )
    }
}

impl Element {
    fn svg(&self) -> String {
        match self {
            Element::Line { points, pen } => {
                format!("<polyline points=\"{}\" {}/>\n", coordinates(points), stroke(pen))
            }
            Element::Area { points, colour, opacity } => {
                let fill = fill(*colour, *opacity);
                format!("<polygon points=\"{}\" {fill}/>\n", coordinates(points))
            }
            Element::Disc { centre, radius, colour, opacity } => {
                format!("<circle {} {}/>\n", round(*centre, *radius), fill(*colour, *opacity))
            }
            Element::Circle { centre, radius, pen } => {
                format!("<circle {} {}/>\n", round(*centre, *radius), stroke(pen))
            }
            Element::Text { at: (x, y), text, size, anchor, turn, colour } => {
                let (x, y, text) = (Short(*x), Short(*y), escape(text));
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let turn = match turn {
                    0.0 => String::new(),
                    turn => format!(" transform=\"rotate({turn} {x} {y})\""),
                };
                format!(
                    "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
                     {}{turn}>{text}</text>\n",
                    fill(*colour, 1.0)
                )
            }
            Element::Named { name, content } => {
                let content: String = content.iter().map(Element::svg).collect();
                format!("<g><title>{}</title>\n{content}</g>\n", escape(name))
            }
        }
    }
}

/// A length to a hundredth of a point, in as few digits as it takes.
struct Short(f64);

impl Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding 0 turns −0 into 0.
        ((self.0 * 100.0).round() / 100.0 + 0.0).fmt(f)
    }
}

fn coordinates(points: &[Pt]) -> String {
    let points: Vec<String> =
        points.iter().map(|(x, y)| format!("{},{}", Short(*x), Short(*y))).collect();
    points.join(" ")
}

fn round((x, y): Pt, radius: f64) -> String {
    format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", Short(x), Short(y), Short(radius))
}

fn fill(colour: Rgb, opacity: f64) -> String {
    format!("fill=\"{colour}\"{}", transparency(opacity))
}

fn stroke(pen: &Pen) -> String {
    let mut attributes = format!(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}",
        pen.colour,
        Short(pen.width),
        transparency(pen.opacity)
    );
    let dashes: Vec<String> =
        pen.dashes().into_iter().map(|length| Short(length).to_string()).collect();
    if !dashes.is_empty() {
        let _ = write!(attributes, " stroke-dasharray=\"{}\"", dashes.join(" "));
    }
    attributes
}

fn transparency(opacity: f64) -> String {
    if opacity == 1.0 { String::new() } else { format!(" opacity=\"{opacity}\"") }
}

/// Text as it may stand between tags.
fn escape(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
