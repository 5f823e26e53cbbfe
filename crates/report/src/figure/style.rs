//! How layers look.

use super::{ColourScale, Values};
use std::fmt;

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

/// The palette of Okabe and Ito without its yellow, which is hard to see on white. Neighbours differ most.
const PALETTE: [Rgb; 7] = [
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(230, 159, 0),
    Rgb(86, 180, 233),
    Rgb(0, 0, 0),
];

pub(super) const BLACK: Rgb = Rgb(0, 0, 0);
pub(super) const GREY: Rgb = Rgb(110, 110, 110);
pub(super) const PALE: Rgb = Rgb(228, 228, 228);
pub(super) const WHITE: Rgb = Rgb(255, 255, 255);

/// A colour that most eyes can distinguish from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// That of the series with this index; there are seven, then they come again.
    Series(usize),
    /// Black.
    Black,
    /// A dark grey.
    Grey,
    /// That of each mark's value on the panel's colour scale; grey for marks without one.
    Scaled,
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    /// Not at all.
    Solid,
    /// Into dashes.
    Dashed,
    /// Into dots.
    Dotted,
    /// Into dashes and dots in turn.
    DashDot,
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// No mark; on [`super::Layer::Points`] a circle.
    None,
    /// ●
    Circle,
    /// ■
    Square,
    /// ▲
    Triangle,
    /// ◆
    Diamond,
    /// ×
    Cross,
    /// ▼
    TriangleDown,
    /// +
    Plus,
    /// ○
    HollowCircle,
    /// □
    HollowSquare,
    /// △
    HollowTriangle,
    /// ◇
    HollowDiamond,
}

/// The markers of series, in their order.
const MARKERS: [Marker; 11] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
    Marker::TriangleDown,
    Marker::Plus,
    Marker::HollowCircle,
    Marker::HollowSquare,
    Marker::HollowTriangle,
    Marker::HollowDiamond,
];

const DASHES: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDot];

/// The look of a layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Of lines, marks and bars.
    pub colour: Colour,
    /// Of lines and the outlines of bars.
    pub dash: Dash,
    /// Of marks.
    pub marker: Marker,
    /// Of lines, in points; marks are four times as wide.
    pub width: f64,
    /// 1 hides what is below, 0 is invisible.
    pub opacity: f64,
}

impl Default for Style {
    fn default() -> Self {
        Self::series(0)
    }
}

impl Style {
    /// The usual look of the series with this index: neighbours differ in colour, dash and marker, and no
    /// two of the first 28 have the same colour and dash, nor the same colour and marker.
    pub fn series(index: usize) -> Self {
        Self {
            colour: Colour::Series(index),
            dash: DASHES[index % DASHES.len()],
            marker: MARKERS[index % MARKERS.len()],
            width: 1.4,
            opacity: 1.0,
        }
    }

    /// A thin line in grey, for bounds and other help to the eye.
    pub fn rule(dash: Dash) -> Self {
        Self { colour: Colour::Grey, dash, marker: Marker::None, width: 1.0, opacity: 1.0 }
    }

    /// The same without marks.
    #[must_use]
    pub fn unmarked(self) -> Self {
        Self { marker: Marker::None, ..self }
    }

    /// The line's width if it can be drawn, and otherwise the usual one.
    pub(super) fn stroke(self) -> f64 {
        if self.width.is_finite() && self.width > 0.0 { self.width.min(20.0) } else { 1.4 }
    }

    /// The opacity, of which nonsense counts as 1.
    pub(super) fn solidity(self) -> f64 {
        if self.opacity.is_nan() { 1.0 } else { self.opacity.clamp(0.0, 1.0) }
    }

    /// The colour of a mark with this value.
    pub(super) fn colour(self, value: Option<f64>, scale: Option<&ColourScale>) -> Rgb {
        match self.colour {
            Colour::Series(index) => PALETTE[index % PALETTE.len()],
            Colour::Black => BLACK,
            Colour::Grey => GREY,
            Colour::Scaled => {
                value.zip(scale).and_then(|(value, scale)| scale.colour(value)).unwrap_or(GREY)
            }
        }
    }
}

impl ColourScale {
    /// The colour of a value, or `None` of one that is not on the scale.
    pub(super) fn colour(&self, value: f64) -> Option<Rgb> {
        let share = match &self.values {
            Values::Between(low, high) if high != low => (value - low) / (high - low),
            Values::Between(..) => 0.5,
            Values::Steps(names) => {
                let last = names.len().checked_sub(1)? as f64;
                let value = value.round();
                if !(0.0..=last).contains(&value) {
                    return None;
                }
                value / last.max(1.0)
            }
        };
        share.is_finite().then(|| viridis(share.clamp(0.0, 1.0)))
    }
}

/// Viridis at equal steps.
const VIRIDIS: [Rgb; 8] = [
    Rgb(68, 1, 84),
    Rgb(70, 50, 127),
    Rgb(54, 92, 141),
    Rgb(39, 127, 143),
    Rgb(31, 162, 136),
    Rgb(74, 194, 110),
    Rgb(160, 219, 57),
    Rgb(254, 232, 37),
];

/// Viridis from 0 to 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
pub(super) fn viridis(share: f64) -> Rgb {
    let place = share * (VIRIDIS.len() - 1) as f64;
    let (from, to) = (VIRIDIS[place.floor() as usize], VIRIDIS[place.ceil() as usize]);
    let mix = |from: u8, to: u8| {
        let share = place.fract();
        ((1.0 - share) * f64::from(from) + share * f64::from(to)).round() as u8
    };
    Rgb(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}
