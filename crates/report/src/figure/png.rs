//! An SVG file as a picture of dots, with no font but the one that is built in.

use super::FigureError;
use super::text::font;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Source;
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

const FAMILY: &str = "DejaVu Sans";

/// CSS has 96 dots where there are 72 points.
const DOTS_A_POINT: f32 = 96.0 / 72.0;

/// The picture of the file at `scale` dots a point.
pub(super) fn render(svg: &str, scale: f32) -> Result<Vec<u8>, FigureError> {
    let mut options = Options { font_family: FAMILY.into(), ..Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_font_source(Source::Binary(Arc::new(font())));
    fonts.set_sans_serif_family(FAMILY);
    let failed = |error: &dyn std::fmt::Display| FigureError::Drawing(error.to_string());
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;

    let zoom = scale / DOTS_A_POINT;
    let (width, height) = (tree.size().width(), tree.size().height());
    // What is not a size becomes 0, of which there is no picture.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let dots = |length: f32| (length * zoom).round() as u32;
    let points = |length: f32| format!("{:.0}", length / DOTS_A_POINT);
    let mut picture = Pixmap::new(dots(width), dots(height)).ok_or_else(|| FigureError::Size {
        width: points(width),
        height: points(height),
        scale: scale.to_string(),
    })?;
    resvg::render(&tree, Transform::from_scale(zoom, zoom), &mut picture.as_mut());
    picture.encode_png().map_err(|error| failed(&error))
}
