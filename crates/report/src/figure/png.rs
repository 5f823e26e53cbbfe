//! The sheet as a picture of dots. Texts are outlines of the font that is built in.

use super::FigureError;
use super::canvas::{Anchor, Canvas, Element, Pen};
use super::geometry::Pt;
use super::style::Rgb;
use super::text::{advance, face, width};
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

/// The picture at `scale` dots a point, as the bytes of a PNG file.
pub(super) fn render(canvas: &Canvas, scale: f32) -> Result<Vec<u8>, FigureError> {
    let (width, height) = canvas.size;
    // What is not a size becomes 0, of which there is no picture.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let dots = |length: f64| (length * f64::from(scale)).round() as u32;
    let mut picture = Pixmap::new(dots(width), dots(height)).ok_or_else(|| FigureError::Size {
        width: width.to_string(),
        height: height.to_string(),
        scale: scale.to_string(),
    })?;
    draw(&canvas.elements, &mut picture, Transform::from_scale(scale, scale));
    picture.encode_png().map_err(|error| FigureError::Drawing(error.to_string()))
}

fn draw(elements: &[Element], picture: &mut Pixmap, zoom: Transform) {
    let fill = |picture: &mut Pixmap, path: Option<Path>, colour, opacity, transform| {
        if let Some(path) = path {
            let paint = paint(colour, opacity);
            picture.fill_path(&path, &paint, FillRule::Winding, transform, None);
        }
    };
    let stroke = |picture: &mut Pixmap, path: Option<Path>, pen: &Pen| {
        if let Some(path) = path {
            let paint = paint(pen.colour, pen.opacity);
            picture.stroke_path(&path, &paint, &line(pen), zoom, None);
        }
    };
    for element in elements {
        match element {
            Element::Line { points, pen } => stroke(picture, through(points).finish(), pen),
            Element::Area { points, colour, opacity } => {
                let mut path = through(points);
                path.close();
                fill(picture, path.finish(), *colour, *opacity, zoom);
            }
            Element::Disc { centre, radius, colour, opacity } => {
                fill(picture, circle(*centre, *radius), *colour, *opacity, zoom);
            }
            Element::Circle { centre, radius, pen } => {
                stroke(picture, circle(*centre, *radius), pen);
            }
            Element::Text { at, text, size, anchor, turn, colour } => {
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => 0.5 * width(text, *size),
                    Anchor::End => width(text, *size),
                };
                let place = Transform::from_scale(short(*size), -short(*size))
                    .post_translate(-short(before), 0.0)
                    .post_rotate(short(*turn))
                    .post_translate(short(at.0), short(at.1))
                    .post_concat(zoom);
                fill(picture, outline(text), *colour, 1.0, place);
            }
            Element::Named { content, .. } => draw(content, picture, zoom),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a fraction of a dot")]
fn short(length: f64) -> f32 {
    length as f32
}

fn paint(colour: Rgb, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let mut colour = Color::from_rgba8(colour.0, colour.1, colour.2, u8::MAX);
    colour.apply_opacity(short(opacity));
    paint.set_color(colour);
    paint
}

fn line(pen: &Pen) -> Stroke {
    let dashes = pen.dashes().into_iter().map(short).collect();
    Stroke {
        width: short(pen.width),
        line_join: LineJoin::Round,
        dash: StrokeDash::new(dashes, 0.0),
        ..Stroke::default()
    }
}

fn through(points: &[Pt]) -> PathBuilder {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        let (x, y) = (short(x), short(y));
        if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path
}

fn circle((x, y): Pt, radius: f64) -> Option<Path> {
    PathBuilder::from_circle(short(x), short(y), short(radius))
}

/// A text of size 1 from the origin, y upwards.
fn outline(text: &str) -> Option<Path> {
    let face = face()?;
    let size = 1.0 / f32::from(face.units_per_em());
    let mut outline = Outline { path: PathBuilder::new(), size, left: 0.0 };
    for character in text.chars() {
        // The first glyph stands for what the font lacks.
        face.outline_glyph(face.glyph_index(character).unwrap_or_default(), &mut outline);
        outline.left += short(advance(character));
    }
    outline.path.finish()
}

/// Glyphs side by side.
struct Outline {
    path: PathBuilder,
    /// What a unit of the font is.
    size: f32,
    /// Where the glyph begins.
    left: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.left + self.size * x, self.size * y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
