//! Figures that nobody thought of.

use super::super::geometry::Pt;
use super::super::{
    Axis, Colour, ColourScale, Figure, Layer, Legend, Mark, Panel, RuleAt, Scale, Style, Values,
};
use super::{checked, figure};

/// Numbers without a pattern, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        u32::try_from(((self.0 >> 33) * u64::from(end)) >> 31).unwrap()
    }

    fn value(&mut self) -> f64 {
        let size = 10f64.powi(i32::try_from(self.below(9)).unwrap() - 4);
        size * (f64::from(self.below(2001)) / 1000.0 - 0.3)
    }

    fn text(&mut self) -> String {
        let words = self.below(6);
        (0..words).map(|_| "ρlong-ish_Wörd ".repeat(1 + self.below(3) as usize)).collect()
    }

    fn axis(&mut self) -> Axis {
        let names = (0..self.below(40)).map(|k| format!("{}{k}", self.text())).collect();
        Axis {
            label: self.text(),
            scale: if self.below(3) == 0 { Scale::Log } else { Scale::Linear },
            range: (self.below(3) == 0).then(|| (self.value(), self.value())),
            percent: self.below(3) == 0,
            categories: (self.below(4) == 0).then_some(names),
        }
    }

    fn layer(&mut self, index: usize) -> Layer {
        let label = Some(format!("{} {index}", self.text()));
        let style = Style::series(index);
        let count = self.below(60);
        match self.below(4) {
            0 => {
                let points: Vec<Pt> = (0..count).map(|_| (self.value(), self.value())).collect();
                let band = points.iter().map(|(_, y)| (y - 1.0, y + self.value())).collect();
                Layer::Line { label, points, band: Some(band), style }
            }
            1 => {
                let mark =
                    |_| Mark { error: Some(self.value()), ..Mark::new(self.value(), self.value()) };
                let points = (0..count).map(mark).collect();
                Layer::Points { label, points, style: Style { colour: Colour::Scaled, ..style } }
            }
            2 => {
                let edges = (0..=count).map(f64::from).collect();
                let heights = (0..count).map(|_| self.value()).collect();
                Layer::Bars { label, edges, heights, style }
            }
            _ => Layer::Rule { label, at: RuleAt::Diagonal, style },
        }
    }

    fn panel(&mut self) -> Panel {
        let scale = match self.below(3) {
            0 => Some(Values::Between(self.value(), self.value())),
            1 => Some(Values::Steps((0..self.below(14)).map(|k| k.to_string()).collect())),
            _ => None,
        };
        Panel {
            title: Some(self.text()),
            x: self.axis(),
            y: self.axis(),
            layers: (0..self.below(9) as usize).map(|index| self.layer(index)).collect(),
            note: (self.below(2) == 0).then(|| self.text()),
            scale: scale.map(|values| ColourScale { label: self.text(), values }),
        }
    }
}

#[test]
fn figures_without_a_pattern_are_in_order() {
    let mut random = Random(2024);
    for _ in 0..100 {
        let panels = (0..=random.below(5)).map(|_| random.panel()).collect();
        let columns = random.below(5) as usize;
        let legend = if random.below(2) == 0 { Legend::Each } else { Legend::Shared };
        checked(&Figure { panels, columns, legend, ..figure(vec![]) });
    }
}
