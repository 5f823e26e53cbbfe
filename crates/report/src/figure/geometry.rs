//! Points, rectangles, and what of a line or an area lies inside a rectangle.

/// A point in points of 1/72 inch, y downwards.
pub(super) type Pt = (f64, f64);

/// A rectangle whose sides are level and upright.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) fn new(left: f64, top: f64, width: f64, height: f64) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The same with each side moved outwards.
    pub(super) fn grown(&self, by: f64) -> Self {
        Self {
            left: self.left - by,
            top: self.top - by,
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }

    pub(super) fn contains(&self, (x, y): Pt) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    pub(super) fn meets(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub(super) fn corners(&self) -> [Pt; 4] {
        [
            (self.left, self.top),
            (self.right, self.top),
            (self.right, self.bottom),
            (self.left, self.bottom),
        ]
    }

    /// The part of a segment that is inside, after Liang and Barsky.
    pub(super) fn clip_segment(&self, (x, y): Pt, to: Pt) -> Option<(Pt, Pt)> {
        let (dx, dy) = (to.0 - x, to.1 - y);
        let (mut from, mut until) = (0.0f64, 1.0f64);
        for (step, room) in
            [(-dx, x - self.left), (dx, self.right - x), (-dy, y - self.top), (dy, self.bottom - y)]
        {
            if step == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if step < 0.0 {
                from = from.max(room / step);
            } else {
                until = until.min(room / step);
            }
        }
        // The ends themselves are kept exact, so that pieces of a line can be joined again.
        let at = |share: f64| (x + share * dx, y + share * dy);
        let start = if from == 0.0 { (x, y) } else { at(from) };
        let end = if until == 1.0 { to } else { at(until) };
        (from <= until).then_some((start, end))
    }

    /// The pieces of a line that are inside.
    pub(super) fn clip_line(&self, points: &[Pt]) -> Vec<Vec<Pt>> {
        let mut pieces: Vec<Vec<Pt>> = Vec::new();
        for pair in points.windows(2) {
            let Some((start, end)) = self.clip_segment(pair[0], pair[1]) else { continue };
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&start) => piece.push(end),
                _ => pieces.push(vec![start, end]),
            }
        }
        pieces
    }

    /// The part of an area that is inside, after Sutherland and Hodgman. Empty if there is none.
    pub(super) fn clip_area(&self, area: &[Pt]) -> Vec<Pt> {
        let mut area = area.to_vec();
        // How far a point is inside each side.
        let sides: [&dyn Fn(Pt) -> f64; 4] =
            [&|p| p.0 - self.left, &|p| self.right - p.0, &|p| p.1 - self.top, &|p| {
                self.bottom - p.1
            }];
        for inside in sides {
            let mut inner = Vec::with_capacity(area.len() + 4);
            for (index, &end) in area.iter().enumerate() {
                let start = area[(index + area.len() - 1) % area.len()];
                let (a, b) = (inside(start), inside(end));
                if (a < 0.0) != (b < 0.0) {
                    let share = a / (a - b);
                    inner.push((
                        start.0 + share * (end.0 - start.0),
                        start.1 + share * (end.1 - start.1),
                    ));
                }
                if b >= 0.0 {
                    inner.push(end);
                }
            }
            area = inner;
        }
        area
    }
}
