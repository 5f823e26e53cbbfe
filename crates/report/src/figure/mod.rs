//! Figures of a benchmark: plain data in, an SVG file out, and a PNG file of the very same picture.
//!
//! A figure is one column of a paper wide (85 mm) or, with panels side by side, one page (180 mm). At
//! that width no text is below 7 pt. Series differ in colour (Okabe and Ito's palette, which colour-blind
//! readers can tell apart) and also in dash and marker; continuous values are shown in viridis. The same
//! figure gives the same bytes on every machine: text is measured, and drawn into the PNG, with a font
//! that is built in.
//!
//! What cannot be drawn is left out: values that are not finite, and on a logarithmic axis those that are
//! not positive. A line is interrupted there.

mod axis;
mod canvas;
mod geometry;
mod key;
mod labels;
mod layout;
mod panel;
mod png;
mod shape;
mod style;
mod text;
mod ticks;

#[cfg(test)]
mod tests;

pub use style::{Colour, Dash, Marker, Style};

/// A figure of one or more panels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// What the file is called, without its ending; screen readers read it as the title.
    pub name: String,
    /// What is to be seen, for the text below the figure and for screen readers.
    pub caption: String,
    /// The panels, row by row. Several are lettered (a), (b), (c).
    pub panels: Vec<Panel>,
    /// How many panels stand side by side; 0 counts as 1.
    pub columns: usize,
    /// Where the labels of the layers are explained.
    pub legend: Legend,
}

/// Where the labels of the layers are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    /// In each panel: in a corner that is free, or else below it.
    #[default]
    Each,
    /// Once below all panels; a label that comes up again is the same entry. A colour scale that all
    /// panels share is drawn there too.
    Shared,
}

/// A pair of axes with what is drawn on them. Without data it says "no data".
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// Above the panel.
    pub title: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the last on top; areas lie under everything else.
    pub layers: Vec<Layer>,
    /// A short text in a free corner, such as "ρ = 0.98"; above the plot if none is free.
    pub note: Option<String>,
    /// What the colours of marks with values mean.
    pub scale: Option<ColourScale>,
}

/// An axis of a panel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What is measured, and in which unit.
    pub label: String,
    /// How values become lengths.
    pub scale: Scale,
    /// The ends; `None`, or ends that cannot be drawn, means those of the data and 5 % more.
    pub range: Option<(f64, f64)>,
    /// Shows 0.25 as 25 %.
    pub percent: bool,
    /// Names of the values 0, 1, 2, …, instead of numbers. The axis then shows all of them.
    pub categories: Option<Vec<String>>,
}

impl Axis {
    /// A linear axis as wide as the data.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }
}

/// How values become lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// In proportion.
    #[default]
    Linear,
    /// By their logarithm.
    Log,
}

/// Something drawn on the axes.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// Points joined in their order, with markers where there is room for them.
    Line {
        /// Its entry in the legend.
        label: Option<String>,
        /// x and y.
        points: Vec<(f64, f64)>,
        /// The low and the high end of a band at each point.
        band: Option<Vec<(f64, f64)>>,
        /// Its look.
        style: Style,
    },
    /// Marks that are not joined.
    Points {
        /// Their entry in the legend.
        label: Option<String>,
        /// The marks.
        points: Vec<Mark>,
        /// Their look.
        style: Style,
    },
    /// Bars from zero, side by side: a histogram.
    Bars {
        /// Their entry in the legend.
        label: Option<String>,
        /// Where bars begin and end: one more than there are bars.
        edges: Vec<f64>,
        /// How high each bar is.
        heights: Vec<f64>,
        /// Their look.
        style: Style,
    },
    /// A straight line through the whole panel.
    Rule {
        /// Its entry in the legend.
        label: Option<String>,
        /// Where it is.
        at: RuleAt,
        /// Its look; it has no markers.
        style: Style,
    },
}

/// Where a rule is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RuleAt {
    /// Upright at this x.
    X(f64),
    /// Level at this y.
    Y(f64),
    /// Where y = x.
    Diagonal,
}

/// A mark of [`Layer::Points`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    /// Where it is horizontally.
    pub x: f64,
    /// Where it is vertically.
    pub y: f64,
    /// Half the length of a vertical error bar.
    pub error: Option<f64>,
    /// Shown by a browser when the pointer is over the mark.
    pub name: Option<String>,
    /// Its place on the panel's colour scale, for [`Colour::Scaled`].
    pub value: Option<f64>,
}

impl Mark {
    /// A mark without error bar, name or value.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}

/// What the colours of marks with values mean.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourScale {
    /// What the values are.
    pub label: String,
    /// Which values there are.
    pub values: Values,
}

/// The values of a colour scale, from dark to bright.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// All between two ends.
    Between(f64, f64),
    /// A few, by name; the value of a mark is the position of its name, from 0.
    Steps(Vec<String>),
}

/// Why a figure could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// There is nothing to draw.
    #[error("a figure needs a panel")]
    NoPanels,
    /// A band without an entry for each point, or bars without an edge on each side.
    #[error("layer {layer} of panel {panel}: {found} {what} where {wanted} belong")]
    Lengths {
        /// Which panel, from 0.
        panel: usize,
        /// Which layer of it, from 0.
        layer: usize,
        /// What there are too many or too few of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
    /// The picture would have no dots, or too many to hold.
    #[error("a picture of {width} × {height} points cannot be drawn at scale {scale}")]
    Size {
        /// Its width in points.
        width: String,
        /// Its height in points.
        height: String,
        /// Dots a point.
        scale: String,
    },
    /// The picture could not be encoded.
    #[error("drawing failed: {0}")]
    Drawing(String),
}

impl Figure {
    /// The figure as the text of an SVG file.
    pub fn svg(&self) -> Result<String, FigureError> {
        self.check()?;
        Ok(layout::draw(self).svg(&self.name, &self.caption))
    }

    /// The figure as the bytes of a PNG file of `scale` dots a point. At 3 a figure has 300 dots an inch
    /// when it is printed as wide as a column or page.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, FigureError> {
        self.check()?;
        png::render(&layout::draw(self), scale)
    }

    /// Refuses what can only be a mistake of the program that made the figure.
    fn check(&self) -> Result<(), FigureError> {
        if self.panels.is_empty() {
            return Err(FigureError::NoPanels);
        }
        for (panel, content) in self.panels.iter().enumerate() {
            for (layer, content) in content.layers.iter().enumerate() {
                let (what, found, wanted) = match content {
                    Layer::Line { points, band: Some(band), .. } => {
                        ("ends of the band", band.len(), points.len())
                    }
                    Layer::Bars { edges, heights, .. }
                        if !(edges.is_empty() && heights.is_empty()) =>
                    {
                        ("edges", edges.len(), heights.len() + 1)
                    }
                    _ => continue,
                };
                if found != wanted {
                    return Err(FigureError::Lengths { panel, layer, what, found, wanted });
                }
            }
        }
        Ok(())
    }
}
