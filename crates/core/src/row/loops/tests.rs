use super::*;
use crate::row::Extent;
use crate::row::simd::{self, Instructions, Slice};

#[test]
fn exp2_agrees_with_the_standard_library() {
    let exp2 = |x: f64| exp2_of_non_positive([x; LANES])[0];
    let mut worst: f64 = 0.0;
    for i in 0..2_000_000 {
        let x = -f64::from(i) * 5e-4;
        worst = worst.max((exp2(x) / x.exp2() - 1.0).abs());
    }
    assert!(worst < 4.5e-16, "relative error {worst:e}");
    assert_eq!(exp2(0.0), 1.0);
    assert_eq!(exp2(-1.0), 0.5);
    assert_eq!(exp2(-1e300), 2.0 * f64::MIN_POSITIVE);
    assert_eq!(exp2(f64::NEG_INFINITY), 2.0 * f64::MIN_POSITIVE);
}

/// Lengths around the sizes of lanes and blocks, so that every remainder is met.
fn lengths() -> impl Iterator<Item = i32> {
    (1..80).chain([127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1001])
}

fn row(n: i32) -> (Vec<f64>, Vec<f32>) {
    let z: Vec<f64> = (0..n).map(|i| f64::from((i * 7919) % 101) * 0.1 - 4.0).collect();
    #[expect(clippy::cast_possible_truncation)]
    let single = z.iter().map(|&x| x as f32).collect();
    (z, single)
}

fn deviation(top: f64) -> Deviation {
    Deviation { top, ceiling: 3.0, offset: top + 0.5, inverse_unit: 1.0 / 6.0 }
}

#[test]
fn loops_agree_with_their_plain_forms_at_every_length() {
    for n in lengths() {
        let (z, _) = row(n);
        let slice = Slice::Double(&z);
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 2e-13 * b.abs(), "{n}: {a} {b}");
        let mut sorted = z.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let survey = simd::survey(slice);
        let first = sorted[0];
        assert_eq!(survey.top, first);
        assert_eq!(survey.second, sorted.get(1).copied().unwrap_or(f64::NEG_INFINITY));
        assert_eq!(survey.smallest, sorted[sorted.len() - 1]);
        assert_eq!(survey.magnitude, z.iter().fold(0.0, |m, x| x.abs().max(m)));
        let place = z.iter().position(|&x| x == first).expect("the largest is there");
        assert_eq!(simd::position(slice, first), place);
        for label in 0..z.len() {
            let plain = z
                .iter()
                .enumerate()
                .filter(|&(j, &x)| x > z[label] || (x == z[label] && j < label));
            assert_eq!(simd::rank(slice, label), plain.count());
        }
        close(simd::sum_below(slice, first), z.iter().map(|x| x - first).sum());
        let d: Vec<f64> = z.iter().map(|x| x.min(3.0) - 3.0).collect();
        let w: Vec<f64> = d.iter().map(|d| (0.7 * d).exp()).collect();
        close(simd::sum_exp_below(slice, 3.0, 0.7), w.iter().sum());
        let (sum, moment) = simd::sum_exp_and_moment_below(slice, 3.0, 0.7);
        close(sum, w.iter().sum());
        close(moment, d.iter().zip(&w).map(|(d, w)| d * w).sum());
        let (sum, squares) = simd::sum_exp_and_square_below(slice, 3.0, 0.7);
        close(sum, w.iter().sum());
        close(squares, w.iter().map(|w| w * w).sum());
        close(
            simd::sum_exp_deviation_below(slice, 3.0, 0.7, 0.3),
            w.iter().map(|w| (w - 0.3).powi(2)).sum(),
        );
        let powers = simd::power_sums(slice, deviation(first));
        for p in 1..12_u16 {
            let plain = z.iter().map(|x| ((x.min(3.0) + 0.5) / 6.0).abs().powi(p.into())).sum();
            close(simd::power_sum_whole(slice, deviation(first), p.into()), plain);
            close(simd::power_sum_real(slice, deviation(first), p.into()), plain);
            if let Some(&sum) = powers.get(usize::from(p) - 1) {
                close(sum, plain);
            }
        }
        let mut found = Vec::new();
        simd::distances_below(slice, 3.0, &mut found);
        assert_eq!(found, d);
        let sums = simd::moments(&d, 0.7, &[d.len(); OCTAVES]);
        for (octave, sums) in (0..).zip(sums) {
            let power = 2_f64.powi(octave);
            let plain =
                |k: i32| d.iter().zip(&w).map(|(d, w)| d.powi(k) * w.powf(power)).sum::<f64>();
            for (k, sum) in (0..).zip(sums) {
                // Each squaring doubles the relative error.
                let (a, b) = (sum, plain(k));
                assert!((a - b).abs() <= 1e-13 * power * b.abs(), "{n}, {octave}: {a} {b}");
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_are_seen_wherever_they_are() {
    for n in [1, 7, 8, 31, 32, 33, 64, 65, 100] {
        for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for place in 0..n {
                let mut single = vec![0.5_f32; n];
                single[place] = bad;
                let double: Vec<f64> = single.iter().map(|&x| x.into()).collect();
                for slice in [Slice::Single(&single), Slice::Double(&double)] {
                    assert!(!simd::survey(slice).magnitude.is_finite(), "{n} {bad} {place}");
                }
            }
        }
    }
}

/// A column with six others that are made of it.
fn products(column: &[f64]) -> [f64; 6] {
    let others: [Vec<f64>; 6] = std::array::from_fn(|k| {
        column.iter().zip(0..).map(|(x, i)| x.sin() + f64::from(i % 5) * k as f64).collect()
    });
    let mut products = [0.0; 6];
    simd::dots(column, &others.each_ref().map(|other| &other[..]), &mut products);
    for (other, product) in others.iter().zip(products) {
        let plain: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
        assert!((plain - product).abs() <= 1e-9 * plain.abs().max(1.0), "{plain} {product}");
    }
    products
}

/// All results of all loops, as bits.
fn bits(slice: Slice<'_>) -> Vec<u64> {
    let survey = simd::survey(slice);
    let top = survey.top;
    let mut out = vec![survey.second, survey.smallest, survey.magnitude, top];
    out.push(simd::sum_below(slice, top));
    for (ceiling, beta) in [(3.0, 0.7), (top, 1.0), (survey.smallest, 30.0), (top, 1e-3)] {
        out.push(simd::sum_exp_below(slice, ceiling, beta));
        let (a, b) = simd::sum_exp_and_moment_below(slice, ceiling, beta);
        let (c, d) = simd::sum_exp_and_square_below(slice, ceiling, beta);
        out.extend([a, b, c, d, simd::sum_exp_deviation_below(slice, ceiling, beta, 0.3)]);
        let mut distances = Vec::new();
        simd::distances_below(slice, ceiling, &mut distances);
        let active = std::array::from_fn(|octave| distances.len() * (OCTAVES - octave) / OCTAVES);
        out.extend(simd::moments(&distances, beta, &active).concat());
        out.extend(products(&distances));
    }
    for p in 1..12_u16 {
        out.push(simd::power_sum_whole(slice, deviation(top), p.into()));
        out.push(simd::power_sum_real(slice, deviation(top), f64::from(p) + 0.5));
    }
    let sums = simd::power_sums(slice, deviation(top));
    out.extend(sums);
    // The top class deviates most, and another does.
    for largest in [2.5, 6.0] {
        let extent = Extent { top: 2.5, second: 2.0, largest };
        out.extend(simd::max_logits_of(&extent, &sums));
        out.extend(simd::norms_of(&extent, &sums).iter().flat_map(|&(norm, share)| [norm, share]));
    }
    let mut out: Vec<u64> = out.into_iter().map(f64::to_bits).collect();
    out.push(simd::position(slice, top) as u64);
    out.push(simd::rank(slice, simd::position(slice, survey.smallest)) as u64);
    out
}

/// Other tests may run meanwhile: nothing depends on the instructions, as this one shows.
#[test]
fn all_instruction_sets_and_precisions_give_the_same_bits() {
    for n in lengths() {
        let (_, mut single) = row(n);
        // Zeros of both signs, numbers that are not normal, and some whose exponentials vanish.
        let hard = [-0.0, 0.0, 1e-40, -1e-45, -3e3, -1e30];
        for (x, hard) in single.iter_mut().skip(3).step_by(7).zip(hard) {
            *x = hard;
        }
        let double: Vec<f64> = single.iter().map(|&x| x.into()).collect();
        let mut found = Vec::new();
        for set in Instructions::ALL {
            if set.limit() == set {
                found.push((set, bits(Slice::Single(&single)), bits(Slice::Double(&double))));
            }
        }
        Instructions::Avx512.limit();
        for (set, of_single, of_double) in &found {
            assert_eq!(of_single, &found[0].1, "{n}: {set:?}");
            assert_eq!(of_double, &found[0].1, "{n}: {set:?}");
        }
    }
}
