//! How often files are read: passes over the logits, and openings of every file.

use abstain::RowSource;
use abstain_io::{FileRows, LossArgument, ReadCounter, ReadOptions, RowFiles, Source};
use abstain_kit::{npy_f64, npy_labels};
use abstain_lab::{
    CertifyRequest, EvaluateRequest, Target, TuneRequest, certify, evaluate, tune, tune_with_test,
};

/// Rows of a classifier that is right more often the larger its margin, and what counts the reading of
/// their logits and labels.
fn counted_rows(count: u64, seed: u64) -> (FileRows<'static>, [ReadCounter; 2]) {
    let noise =
        |i: u64| (i.wrapping_mul(6_364_136_223_846_793_005) >> 33) as f64 / 2.0_f64.powi(31);
    let value = |i: u64| {
        let (row, class) = (i / 4, i % 4);
        let signal = if class == row % 4 { 4.0 * noise(row + 17 * seed) } else { 0.0 };
        signal + 2.0 * noise(i + 1_000_003 * seed)
    };
    let logits: Vec<f64> = (0..4 * count).map(value).collect();
    let labels: Vec<u32> = (0..count).map(|i| u32::try_from(i % 4).expect("a class")).collect();
    let (logits, labels) = (npy_f64(&logits, &format!("({count}, 4)")), npy_labels(&labels));
    let logits = Source::bytes("logits.npy", logits);
    let labels = Source::bytes("labels.npy", labels);
    let counters = [logits.counter(), labels.counter()];
    let rows = FileRows::open(RowFiles {
        logits,
        labels: Some(labels),
        options: ReadOptions::default(),
        loss: LossArgument::default(),
        group: None,
        fold_group: None,
    });
    (rows.expect("rows"), counters)
}

fn rows(count: u64, seed: u64) -> FileRows<'static> {
    counted_rows(count, seed).0
}

fn request() -> TuneRequest {
    TuneRequest {
        methods: TuneRequest::methods_by_name(&["MaxLogit-pNorm", "Stack"]).expect("methods"),
        target: Some(Target::Accuracy(0.8)),
        ..TuneRequest::default()
    }
}

#[test]
fn tune_with_a_page_reads_its_file_once() {
    let mut source = rows(800, 1);
    let result = tune(&request(), &mut source, &mut |_| {}).expect("tuned");
    result.picture().expect("a picture");
    assert!(result.provenance.tuned_on.fingerprint.is_some());
    assert_eq!(source.passes(), 1);
    let request = TuneRequest { splits: 3, ..request() };
    let (mut source, counters) = counted_rows(800, 1);
    tune(&request, &mut source, &mut |_| {}).expect("tuned");
    assert_eq!(source.passes(), 4, "one more than there are splits");
    assert_eq!(counters.map(|counter| counter.opens()), [4, 1]);
}

#[test]
fn tune_with_test_rows_reads_each_file_once() {
    let (mut source, mut test) = (rows(800, 1), rows(600, 2));
    tune_with_test(&request(), &mut source, &mut test, &mut |_| {}).expect("tuned");
    assert_eq!((source.passes(), test.passes()), (1, 1));
}

#[test]
fn certify_and_evaluate_read_their_file_once() {
    let mut source = rows(800, 1);
    let artifact = tune(&request(), &mut source, &mut |_| {}).expect("tuned").artifact;
    let (mut fresh, counters) = counted_rows(900, 3);
    let wanted =
        CertifyRequest { delta: Some(0.1), ..CertifyRequest::uncertified(Target::Risk(0.4)) };
    certify(&artifact, &wanted, &mut fresh).expect("certified");
    assert_eq!(fresh.passes(), 1);
    // The header, and eight bytes for each logit and label.
    let read = counters.map(|counter| (counter.opens(), counter.bytes()));
    assert_eq!(read, [(1, 128 + 900 * 4 * 8), (1, 128 + 900 * 8)]);
    let (mut fresh, counters) = counted_rows(900, 3);
    let evaluated = EvaluateRequest::default();
    let result =
        evaluate("fresh", Some(&artifact), &mut fresh, Vec::new(), &evaluated, &mut |_, _| {});
    result.expect("measured").picture(1, None).expect("a picture");
    assert_eq!((fresh.passes(), fresh.rows()), (1, Some(900)));
    assert_eq!(counters.map(|counter| counter.opens()), [1, 1]);
}
