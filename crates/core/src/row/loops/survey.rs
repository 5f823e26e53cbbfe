//! The first look at a row, and places and ranks in it.
// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

use crate::row::simd::{Element, Lanes};

/// Numbers that are compared at once: two AVX-512 registers in single precision, so that a comparison
/// need not wait for the last one.
const WIDTH: usize = 32;

/// What the first look at a row finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Survey {
    /// The largest value.
    pub(crate) top: f64,
    /// The second largest; `-inf` for a single value.
    pub(crate) second: f64,
    /// The smallest.
    pub(crate) smallest: f64,
    /// The largest magnitude; infinite or NaN if one of the values is.
    pub(crate) magnitude: f64,
}

/// The two largest values, the smallest and the largest magnitude of some lanes or numbers.
#[derive(Clone, Copy)]
struct Seen<X: Element> {
    first: X,
    second: X,
    smallest: X,
    magnitude: X::Magnitude,
}

impl<X: Element> Seen<X> {
    const NOTHING: Self = Seen {
        first: X::NEG_INFINITY,
        second: X::NEG_INFINITY,
        smallest: X::INFINITY,
        magnitude: X::NO_MAGNITUDE,
    };

    #[inline(always)]
    fn and(self, x: X) -> Self {
        let smaller = if x < self.first { x } else { self.first };
        Seen {
            first: if x > self.first { x } else { self.first },
            second: if smaller > self.second { smaller } else { self.second },
            smallest: if x < self.smallest { x } else { self.smallest },
            magnitude: self.magnitude.max(x.magnitude()),
        }
    }
}

/// What was seen in each of [`WIDTH`] lanes.
struct SeenInLanes<X: Element> {
    first: [X; WIDTH],
    second: [X; WIDTH],
    smallest: [X; WIDTH],
    magnitude: [X::Magnitude; WIDTH],
}

impl<X: Element> SeenInLanes<X> {
    const NOTHING: Self = SeenInLanes {
        first: [X::NEG_INFINITY; WIDTH],
        second: [X::NEG_INFINITY; WIDTH],
        smallest: [X::INFINITY; WIDTH],
        magnitude: [X::NO_MAGNITUDE; WIDTH],
    };

    /// Takes in a number in each lane: one of `high` for the largest two, one of `low` for the others.
    #[inline(always)]
    fn take(&mut self, high: &[X; WIDTH], low: &[X; WIDTH]) {
        let SeenInLanes { first, second, smallest, magnitude } = self;
        for i in 0..WIDTH {
            let smaller = if high[i] < first[i] { high[i] } else { first[i] };
            first[i] = if high[i] > first[i] { high[i] } else { first[i] };
            second[i] = if smaller > second[i] { smaller } else { second[i] };
            smallest[i] = if low[i] < smallest[i] { low[i] } else { smallest[i] };
            magnitude[i] = magnitude[i].max(low[i].magnitude());
        }
    }

    /// Takes in fewer numbers than lanes.
    #[inline(always)]
    fn take_rest(&mut self, rest: &[X]) {
        let Some(&filler) = rest.first() else { return };
        // A number that is there twice would be the second of itself.
        let (mut high, mut low) = ([X::NEG_INFINITY; WIDTH], [filler; WIDTH]);
        for ((high, low), &x) in high.iter_mut().zip(&mut low).zip(rest) {
            (*high, *low) = (x, x);
        }
        self.take(&high, &low);
    }

    /// All lanes, by halves: one lane after the other would take longer than the loop.
    #[inline(always)]
    fn together(self) -> Seen<X> {
        let SeenInLanes { mut first, mut second, mut smallest, mut magnitude } = self;
        let mut half = WIDTH / 2;
        while half > 0 {
            for i in 0..half {
                let (a, b) = (first[i], first[i + half]);
                let (lower, higher) = if a < b { (a, b) } else { (b, a) };
                let (c, d) = (second[i], second[i + half]);
                let others = if c > d { c } else { d };
                first[i] = higher;
                second[i] = if lower > others { lower } else { others };
                let (a, b) = (smallest[i], smallest[i + half]);
                smallest[i] = if a < b { a } else { b };
                magnitude[i] = magnitude[i].max(magnitude[i + half]);
            }
            half /= 2;
        }
        Seen { first: first[0], second: second[0], smallest: smallest[0], magnitude: magnitude[0] }
    }
}

/// The largest and the smallest values, and whether all are finite.
#[inline(always)]
pub(in crate::row) fn survey<L: Lanes, X: Element>(z: &[X]) -> Survey {
    let (chunks, rest) = z.as_chunks::<WIDTH>();
    let seen = if chunks.is_empty() {
        rest.iter().fold(Seen::NOTHING, |seen, &x| seen.and(x))
    } else {
        let mut lanes = SeenInLanes::NOTHING;
        for chunk in chunks {
            lanes.take(chunk, chunk);
        }
        lanes.take_rest(rest);
        lanes.together()
    };
    Survey {
        top: seen.first.into(),
        second: seen.second.into(),
        smallest: seen.smallest.into(),
        magnitude: X::of_magnitude(seen.magnitude),
    }
}

/// The first place of a value; 0 if it is not there.
#[inline(always)]
pub(in crate::row) fn position<L: Lanes, X: Element>(z: &[X], value: f64) -> usize {
    let value = X::of(value);
    let (chunks, rest) = z.as_chunks::<WIDTH>();
    for (k, chunk) in chunks.iter().enumerate() {
        // Counting has no early end, which would keep the loop from being vectorised.
        if chunk.iter().filter(|&&x| x == value).count() > 0 {
            return k * WIDTH + chunk.iter().position(|&x| x == value).unwrap_or(0);
        }
    }
    rest.iter().position(|&x| x == value).map_or(0, |i| chunks.len() * WIDTH + i)
}

/// How many values come before that of `label` when sorted, ties in class order.
#[inline(always)]
pub(in crate::row) fn rank<L: Lanes, X: Element>(z: &[X], label: usize) -> usize {
    let value = z[label];
    let before = z[..label].iter().filter(|&&x| x >= value).count();
    before + z[label + 1..].iter().filter(|&&x| x > value).count()
}
