//! Eight numbers at once: with AVX-512, with AVX2, or as a plain array.
//!
//! The loops over classes ([`super::loops`]) are written once, over [`Lanes`]. A sum always runs in
//! the same lanes, and every operation rounds in the same way, so that all three give the same bits;
//! a test compares them. The macro `versions` compiles a loop for each, and picks one at run time.
//!
//! This is the only file of the crate with unsafe code, for two reasons: instructions that not every
//! processor has must not be reached without a check, and intrinsics load through pointers.
#![allow(unsafe_code)]
// What is inlined takes on the instruction set of the version that it is inlined into.
#![allow(clippy::inline_always)]

use super::table::Stretches;
use super::{BATCH, Extent, Scaled, TailTable, loops};
use crate::score::Score;
use std::sync::atomic::{AtomicU8, Ordering};

/// How many numbers there are in [`Lanes`].
pub(super) const LANES: usize = 8;

/// The numbers that a row can be held in; both widen to f64 exactly.
pub(super) trait Element: Copy + Into<f64> + PartialOrd {
    const NEG_INFINITY: Self;
    const INFINITY: Self;
    /// A number that is one of the row's.
    fn of(x: f64) -> Self;
    /// The bits of a magnitude, which are in the order of the magnitudes.
    type Magnitude: Copy + Ord;
    const NO_MAGNITUDE: Self::Magnitude;
    fn magnitude(self) -> Self::Magnitude;
    /// The magnitude as a number; infinite or NaN if one of the row is.
    fn of_magnitude(magnitude: Self::Magnitude) -> f64;
    fn load<L: Lanes>(chunk: &[Self; LANES]) -> L;
}

impl Element for f32 {
    const NEG_INFINITY: Self = f32::NEG_INFINITY;
    const INFINITY: Self = f32::INFINITY;
    type Magnitude = u32;
    const NO_MAGNITUDE: u32 = 0;

    #[inline(always)]
    fn of(x: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "it was widened from single precision")]
        let x = x as f32;
        x
    }

    #[inline(always)]
    fn magnitude(self) -> u32 {
        self.to_bits() & (u32::MAX >> 1)
    }

    fn of_magnitude(magnitude: u32) -> f64 {
        f32::from_bits(magnitude).into()
    }

    #[inline(always)]
    fn load<L: Lanes>(chunk: &[f32; LANES]) -> L {
        L::of_single(chunk)
    }
}

impl Element for f64 {
    const NEG_INFINITY: Self = f64::NEG_INFINITY;
    const INFINITY: Self = f64::INFINITY;
    type Magnitude = u64;
    const NO_MAGNITUDE: u64 = 0;

    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn magnitude(self) -> u64 {
        self.to_bits() & (u64::MAX >> 1)
    }

    fn of_magnitude(magnitude: u64) -> f64 {
        f64::from_bits(magnitude)
    }

    #[inline(always)]
    fn load<L: Lanes>(chunk: &[f64; LANES]) -> L {
        L::of_double(chunk)
    }
}

/// Eight numbers in double precision.
pub(super) trait Lanes: Copy {
    fn splat(x: f64) -> Self;
    fn of_double(chunk: &[f64; LANES]) -> Self;
    /// Widens exactly.
    fn of_single(chunk: &[f32; LANES]) -> Self;
    /// The first numbers of each of eight chunks, then the second ones, and so on.
    fn transposed(chunks: [&[f64; LANES]; LANES]) -> [Self; LANES] {
        std::array::from_fn(|j| Self::of_double(&chunks.map(|chunk| chunk[j])))
    }
    fn store(self, chunk: &mut [f64; LANES]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self · factor + term`, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `if self < other { self } else { other }`.
    fn min(self, other: Self) -> Self;
    /// `if self > other { self } else { other }`.
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// Zero in all lanes from `count` on.
    fn first(self, count: usize) -> Self;
    /// `2^x` from `shifted = x + ROUNDER`: the power of the whole sixteenths of `x`.
    fn sixteenths(shifted: Self) -> Self;
}

/// Adding 1.5 × 2^48 rounds to sixteenths, and leaves their number in the low bits.
const ROUNDER: f64 = 422212465065984.0;

/// `(2^r − 1) / r` for `|r| <= 1/32`, interpolated at six Chebyshev nodes: the relative error of
/// `1 + r q(r)` is 1.5e-17.
const Q: [f64; 6] = [
    0.6931471805599457,
    0.24022650695910075,
    0.0555041086566393,
    0.009618129106919537,
    0.0013333781576784268,
    0.00015403723980749256,
];

/// `2^(k/16)`.
const POWERS: [f64; 16] = [
    1.0,
    1.0442737824274138,
    1.0905077326652577,
    1.1387886347566916,
    1.189207115002721,
    1.241857812073484,
    1.2968395546510096,
    1.3542555469368927,
    std::f64::consts::SQRT_2,
    1.4768261459394993,
    1.5422108254079407,
    1.6104903319492543,
    1.681792830507429,
    1.7562521603732995,
    1.8340080864093424,
    1.9152065613971474,
];

/// The bits of `2^(k/16)` less `k` sixteenths of a unit of the exponent: adding the number of
/// sixteenths to the exponent's place then gives the bits of the power.
const SIXTEENTHS: [u64; 16] = {
    let mut table = [0; 16];
    let mut k = 0;
    while k < 16 {
        table[k] = POWERS[k].to_bits() - ((k as u64) << 48);
        k += 1;
    }
    table
};

/// `2^x` for `x <= 0`, to about one unit in the last place; below -1021 it stays at `2^-1021`.
///
/// `x` is a number of sixteenths, whose power is in a table, and a rest `r` with `|r| <= 1/32`, for
/// which a short polynomial does. `2^0` is exactly 1.
#[inline(always)]
pub(super) fn exp2_of_non_positive<L: Lanes>(x: L) -> L {
    let x = x.max(L::splat(-1021.0));
    let shifted = x.add(L::splat(ROUNDER));
    let r = x.sub(shifted.sub(L::splat(ROUNDER)));
    let mut q = L::splat(Q[5]);
    for &coefficient in Q[..5].iter().rev() {
        q = q.mul_add(r, L::splat(coefficient));
    }
    let power = L::sixteenths(shifted);
    q.mul(r).mul_add(power, power)
}

/// Every processor.
impl Lanes for [f64; LANES] {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        [x; LANES]
    }

    #[inline(always)]
    fn of_double(chunk: &[f64; LANES]) -> Self {
        *chunk
    }

    #[inline(always)]
    fn of_single(chunk: &[f32; LANES]) -> Self {
        chunk.map(f64::from)
    }

    #[inline(always)]
    fn store(self, chunk: &mut [f64; LANES]) {
        *chunk = self;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] + other[i])
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] - other[i])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] * other[i])
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        std::array::from_fn(|i| self[i].mul_add(factor[i], term[i]))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        std::array::from_fn(|i| if self[i] < other[i] { self[i] } else { other[i] })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        std::array::from_fn(|i| if self[i] > other[i] { self[i] } else { other[i] })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f64::abs)
    }

    #[inline(always)]
    fn first(self, count: usize) -> Self {
        std::array::from_fn(|i| if i < count { self[i] } else { 0.0 })
    }

    #[inline(always)]
    fn sixteenths(shifted: Self) -> Self {
        shifted.map(|shifted| {
            let bits = shifted.to_bits();
            f64::from_bits(SIXTEENTHS[(bits & 15) as usize].wrapping_add(bits << 48))
        })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, Lanes, SIXTEENTHS};
    #[allow(clippy::wildcard_imports, reason = "intrinsics")]
    use std::arch::x86_64::*;

    /// AVX-512: one register.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512(__m512d);

    // SAFETY, of every block here: values of this type exist only in functions that are compiled for
    // AVX-512F, which `versions` enters after it has seen that the processor has it. Pointers
    // are those of arrays of the length that is loaded or stored, and need not be aligned.
    impl Lanes for Avx512 {
        #[inline(always)]
        fn splat(x: f64) -> Self {
            Avx512(unsafe { _mm512_set1_pd(x) })
        }

        #[inline(always)]
        fn of_double(chunk: &[f64; LANES]) -> Self {
            Avx512(unsafe { _mm512_loadu_pd(chunk.as_ptr()) })
        }

        #[inline(always)]
        fn of_single(chunk: &[f32; LANES]) -> Self {
            Avx512(unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(chunk.as_ptr())) })
        }

        #[inline(always)]
        fn transposed(chunks: [&[f64; LANES]; LANES]) -> [Self; LANES] {
            let [a, b, c, d, e, f, g, h] = chunks.map(|chunk| Self::of_double(chunk).0);
            unsafe {
                // Pairs of neighbours, then pairs of pairs, then halves.
                let (ab, cd) = (_mm512_unpacklo_pd(a, b), _mm512_unpacklo_pd(c, d));
                let (ef, gh) = (_mm512_unpacklo_pd(e, f), _mm512_unpacklo_pd(g, h));
                let (ab_odd, cd_odd) = (_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(c, d));
                let (ef_odd, gh_odd) = (_mm512_unpackhi_pd(e, f), _mm512_unpackhi_pd(g, h));
                let even =
                    |x, y| (_mm512_shuffle_f64x2::<0x88>(x, y), _mm512_shuffle_f64x2::<0xdd>(x, y));
                // Of each four: columns 0 and 4, then 2 and 6; and the odd ones.
                let ((abcd_04, abcd_26), (efgh_04, efgh_26)) = (even(ab, cd), even(ef, gh));
                let ((abcd_15, abcd_37), (efgh_15, efgh_37)) =
                    (even(ab_odd, cd_odd), even(ef_odd, gh_odd));
                let ((c0, c4), (c2, c6)) = (even(abcd_04, efgh_04), even(abcd_26, efgh_26));
                let ((c1, c5), (c3, c7)) = (even(abcd_15, efgh_15), even(abcd_37, efgh_37));
                [c0, c1, c2, c3, c4, c5, c6, c7].map(Avx512)
            }
        }

        #[inline(always)]
        fn store(self, chunk: &mut [f64; LANES]) {
            unsafe { _mm512_storeu_pd(chunk.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_add_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_sub_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_mul_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, term: Self) -> Self {
            Avx512(unsafe { _mm512_fmadd_pd(self.0, factor.0, term.0) })
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_min_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_max_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn abs(self) -> Self {
            Avx512(unsafe { _mm512_abs_pd(self.0) })
        }

        #[inline(always)]
        fn first(self, count: usize) -> Self {
            let mask = u16::from(u8::MAX) >> (LANES - count.min(LANES));
            #[expect(clippy::cast_possible_truncation, reason = "at most eight bits are set")]
            let mask = mask as u8;
            Avx512(unsafe { _mm512_maskz_mov_pd(mask, self.0) })
        }

        #[inline(always)]
        fn sixteenths(shifted: Self) -> Self {
            // The permutation looks at the low four bits of each lane alone.
            unsafe {
                let table = SIXTEENTHS.as_ptr().cast();
                let (low, high) = (_mm512_loadu_si512(table), _mm512_loadu_si512(table.add(1)));
                let bits = _mm512_castpd_si512(shifted.0);
                let base = _mm512_permutex2var_epi64(low, bits, high);
                let power = _mm512_add_epi64(base, _mm512_slli_epi64::<48>(bits));
                Avx512(_mm512_castsi512_pd(power))
            }
        }
    }

    /// AVX2 with FMA: two registers.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(__m256d, __m256d);

    impl Avx2 {
        #[inline(always)]
        fn each(self, other: Self, f: impl Fn(__m256d, __m256d) -> __m256d) -> Self {
            Avx2(f(self.0, other.0), f(self.1, other.1))
        }
    }

    // SAFETY, of every block here: as above, for AVX2 and FMA.
    impl Lanes for Avx2 {
        #[inline(always)]
        fn splat(x: f64) -> Self {
            let x = unsafe { _mm256_set1_pd(x) };
            Avx2(x, x)
        }

        #[inline(always)]
        fn of_double(chunk: &[f64; LANES]) -> Self {
            let (low, high) = chunk.split_at(4);
            unsafe { Avx2(_mm256_loadu_pd(low.as_ptr()), _mm256_loadu_pd(high.as_ptr())) }
        }

        #[inline(always)]
        fn of_single(chunk: &[f32; LANES]) -> Self {
            let (low, high) = chunk.split_at(4);
            unsafe {
                let (low, high) = (_mm_loadu_ps(low.as_ptr()), _mm_loadu_ps(high.as_ptr()));
                Avx2(_mm256_cvtps_pd(low), _mm256_cvtps_pd(high))
            }
        }

        #[inline(always)]
        fn store(self, chunk: &mut [f64; LANES]) {
            let (low, high) = chunk.split_at_mut(4);
            unsafe {
                _mm256_storeu_pd(low.as_mut_ptr(), self.0);
                _mm256_storeu_pd(high.as_mut_ptr(), self.1);
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self.each(other, |a, b| unsafe { _mm256_add_pd(a, b) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            self.each(other, |a, b| unsafe { _mm256_sub_pd(a, b) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            self.each(other, |a, b| unsafe { _mm256_mul_pd(a, b) })
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, term: Self) -> Self {
            unsafe {
                Avx2(
                    _mm256_fmadd_pd(self.0, factor.0, term.0),
                    _mm256_fmadd_pd(self.1, factor.1, term.1),
                )
            }
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            self.each(other, |a, b| unsafe { _mm256_min_pd(a, b) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            self.each(other, |a, b| unsafe { _mm256_max_pd(a, b) })
        }

        #[inline(always)]
        fn abs(self) -> Self {
            let sign = Self::splat(-0.0);
            sign.each(self, |sign, x| unsafe { _mm256_andnot_pd(sign, x) })
        }

        #[inline(always)]
        fn first(self, count: usize) -> Self {
            const ONES: [f64; 2 * LANES] = {
                let mut ones = [0.0; 2 * LANES];
                let mut i = 0;
                while i < LANES {
                    ones[i] = f64::from_bits(u64::MAX);
                    i += 1;
                }
                ones
            };
            let start = LANES - count.min(LANES);
            let mut mask = [0.0; LANES];
            mask.copy_from_slice(&ONES[start..start + LANES]);
            self.each(Self::of_double(&mask), |a, b| unsafe { _mm256_and_pd(a, b) })
        }

        #[inline(always)]
        fn sixteenths(shifted: Self) -> Self {
            let mut base = [0; LANES];
            let mut bits = [0.0; LANES];
            shifted.store(&mut bits);
            for (base, bits) in base.iter_mut().zip(bits) {
                *base = SIXTEENTHS[(bits.to_bits() & 15) as usize];
            }
            let half = |shifted: __m256d, base: &[u64]| unsafe {
                let base = _mm256_loadu_si256(base.as_ptr().cast());
                let exponent = _mm256_slli_epi64::<48>(_mm256_castpd_si256(shifted));
                _mm256_castsi256_pd(_mm256_add_epi64(base, exponent))
            };
            Avx2(half(shifted.0, &base[..4]), half(shifted.1, &base[4..]))
        }
    }
}

/// The instructions that loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Instructions {
    /// Those of every processor of the architecture.
    Portable = 1,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512F.
    Avx512,
}

impl Instructions {
    /// All of them, the fewest first.
    pub const ALL: [Instructions; 3] =
        [Instructions::Portable, Instructions::Avx2, Instructions::Avx512];

    /// The best that this processor has.
    fn detected() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            // AVX-512F implies the others, but a hypervisor may hide any of them.
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                let wide = is_x86_feature_detected!("avx512f");
                return if wide { Instructions::Avx512 } else { Instructions::Avx2 };
            }
        }
        Instructions::Portable
    }

    /// Uses these from now on, or the best that the processor has if it lacks them, and returns which.
    /// For tests and comparisons of speed: results do not depend on it.
    #[allow(clippy::must_use_candidate, clippy::return_self_not_must_use)]
    pub fn limit(self) -> Self {
        let used = self.min(Self::detected());
        USED.store(used as u8, Ordering::Relaxed);
        used
    }

    #[inline]
    fn used() -> Self {
        match USED.load(Ordering::Relaxed) {
            3 => Instructions::Avx512,
            2 => Instructions::Avx2,
            1 => Instructions::Portable,
            _ => Instructions::Avx512.limit(),
        }
    }
}

/// What is used; 0 before the first use.
static USED: AtomicU8 = AtomicU8::new(0);

/// The logits of a row, in the precision in which they were given or computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slice<'a> {
    /// Single precision.
    Single(&'a [f32]),
    /// Double precision.
    Double(&'a [f64]),
}

/// Announces to the processor that the numbers some distance behind a block will be read soon, so that
/// they come from memory while others are worked on.
#[inline(always)]
pub(super) fn announce<X>(block: &[X]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        /// A piece is looked at before it is worked on, so that the distance is at least a piece.
        const DISTANCE: usize = 64 << 10;
        const LINE: usize = 64;
        let start = block.as_ptr().cast::<i8>().wrapping_add(DISTANCE);
        for offset in (0..size_of_val(block)).step_by(LINE) {
            // SAFETY: a prefetch reads nothing, and an address that is nobody's does no harm.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(offset)) };
        }
    }
}

/// Compiles loops of [`super::loops`] for each instruction set; the functions that result pick one.
/// The first argument of those `of rows` is a row of either precision.
macro_rules! versions {
    ($($visible:vis fn $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {$(
        #[inline]
        $visible fn $name($($argument: $type),*) -> $output {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512($($argument: $type),*) -> $output {
                    loops::$name::<x86::Avx512>($($argument),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($argument: $type),*) -> $output {
                    loops::$name::<x86::Avx2>($($argument),*)
                }
                match Instructions::used() {
                    // SAFETY: `used` is at most what the processor has.
                    Instructions::Avx512 => return unsafe { avx512($($argument),*) },
                    // SAFETY: as above.
                    Instructions::Avx2 => return unsafe { avx2($($argument),*) },
                    Instructions::Portable => {}
                }
            }
            loops::$name::<[f64; LANES]>($($argument),*)
        }
    )*};
    (of rows: $(fn $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {$(
        #[inline]
        pub(super) fn $name(z: Slice<'_>, $($argument: $type),*) -> $output {
            #[inline]
            fn pick<X: Element>(z: &[X], $($argument: $type),*) -> $output {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx512f")]
                    fn avx512<X: Element>(z: &[X], $($argument: $type),*) -> $output {
                        loops::$name::<x86::Avx512, X>(z, $($argument),*)
                    }
                    #[target_feature(enable = "avx2,fma")]
                    fn avx2<X: Element>(z: &[X], $($argument: $type),*) -> $output {
                        loops::$name::<x86::Avx2, X>(z, $($argument),*)
                    }
                    match Instructions::used() {
                        // SAFETY: `used` is at most what the processor has.
                        Instructions::Avx512 => return unsafe { avx512(z, $($argument),*) },
                        // SAFETY: as above.
                        Instructions::Avx2 => return unsafe { avx2(z, $($argument),*) },
                        Instructions::Portable => {}
                    }
                }
                loops::$name::<[f64; LANES], X>(z, $($argument),*)
            }
            match z {
                Slice::Single(z) => pick(z, $($argument),*),
                Slice::Double(z) => pick(z, $($argument),*),
            }
        }
    )*};
}

versions! {
    of rows:
    fn survey() -> loops::Survey;
    fn position(value: f64) -> usize;
    fn rank(label: usize) -> usize;
    fn sum_below(top: f64) -> f64;
    fn sum_exp_below(ceiling: f64, beta: f64) -> f64;
    fn sum_exp_and_moment_below(ceiling: f64, beta: f64) -> (f64, f64);
    fn sum_exp_and_square_below(ceiling: f64, beta: f64) -> (f64, f64);
    fn sum_exp_deviation_below(ceiling: f64, beta: f64, mean: f64) -> f64;
    fn power_sum_whole(deviation: loops::Deviation, p: u32) -> f64;
    fn power_sum_real(deviation: loops::Deviation, p: f64) -> f64;
    fn power_sums(deviation: loops::Deviation) -> [f64; loops::POWERS];
    fn distances_below(ceiling: f64, d: &mut Vec<f64>) -> ();
}

versions! {
    pub(super) fn moments(d: &[f64], beta: f64, active: &[usize; loops::OCTAVES]) -> [[f64; 4]; loops::OCTAVES];
    pub(super) fn confidences_at_scales(score: Score, row: &Scaled) -> [f64; BATCH];
    pub(crate) fn softplus_each(x: &mut [f64; BATCH]) -> ();
    pub(crate) fn sigmoid_each(x: &mut [f64; BATCH]) -> ();
    pub(super) fn interpolate_ends(ends: &[&[f64; 8]; BATCH], stretches: &Stretches, values: &mut [f64; BATCH], slopes: &mut [f64; BATCH]) -> ();
    pub(crate) fn ln_each(x: &mut [f64; BATCH]) -> ();
    pub(crate) fn dots(column: &[f64], others: &[&[f64]], products: &mut [f64]) -> ();
    pub(super) fn interpolate(table: &TailTable, log_betas: &[f64; BATCH], values: &mut [f64; BATCH], slopes: Option<&mut [f64; BATCH]>) -> bool;
    pub(super) fn max_logits_of(extent: &Extent, rests: &[f64; loops::POWERS]) -> [f64; BATCH];
    pub(super) fn norms_of(extent: &Extent, rests: &[f64; loops::POWERS]) -> [(f64, f64); BATCH];
}
