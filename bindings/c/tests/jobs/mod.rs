//! Rows to score, and what the core says of them.

use abstain::half::{bf16, f16};
use abstain::{
    Artifact, Encoding, Error, Estimator, Rule, Threshold, artifact::ModelInfo, logits::Values,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The types of numbers.
const TYPES: [&str; 4] = ["f64", "f32", "f16", "bf16"];

/// Some rows, and what scores them.
pub(crate) struct Job {
    artifact: Artifact,
    kind: &'static str,
    values: Values<'static>,
    columns: usize,
    /// Numbers between two rows.
    padding: usize,
    extra: Option<Vec<f64>>,
}

/// The score of a row: prediction, confidence, value, acceptance.
type Score = (i64, f64, f64, i64);

impl Job {
    fn new(artifact: &Artifact, kind: &'static str, numbers: &[f64], columns: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the rows are rounded")]
        let values = match kind {
            "f64" => numbers.to_vec().into(),
            "f32" => numbers.iter().map(|&x| x as f32).collect::<Vec<_>>().into(),
            "f16" => numbers.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>().into(),
            _ => numbers.iter().map(|&x| bf16::from_f64(x)).collect::<Vec<_>>().into(),
        };
        Job { artifact: artifact.clone(), kind, values, columns, padding: 0, extra: None }
    }

    fn padded(self, padding: usize) -> Self {
        Job { padding, ..self }
    }

    fn with_extra(self, extra: &[f64]) -> Self {
        Job { extra: Some(extra.to_vec()), ..self }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// The arrays that are requested: all that there are.
    fn wanted(&self) -> &'static str {
        match (self.artifact.input, &self.artifact.rule) {
            (Encoding::Confidence, _) => "ca",
            (_, Some(_)) => "pcva",
            _ => "pcv",
        }
    }

    /// The numbers as bits.
    fn bits(&self) -> Vec<u64> {
        match &self.values {
            Values::F64(values) => values.iter().map(|x| x.to_bits()).collect(),
            Values::F32(values) => values.iter().map(|x| x.to_bits().into()).collect(),
            Values::F16(values) => values.iter().map(|x| x.to_bits().into()).collect(),
            Values::BF16(values) => values.iter().map(|x| x.to_bits().into()).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// What the core says of all rows at once.
    fn expected(&self) -> Result<Vec<Score>, Error> {
        let artifact = &self.artifact;
        if artifact.input == Encoding::Confidence {
            let mut numbers = vec![0.0; self.values.len()];
            self.values.copy_to(&mut numbers);
            let decide = |rule: &Rule, x| i64::from(rule.decide(x, None, None).is_accept());
            let accept = |x| artifact.rule.as_ref().map_or(-1, |rule| decide(rule, x));
            return Ok(numbers.iter().map(|&x| (-1, x, 0.0, accept(x))).collect());
        }
        let mut logits = artifact.input.logits(self.values.clone(), self.columns)?;
        if let Some(extra) = &self.extra {
            logits = logits.with_extra(extra)?;
        }
        let classes = logits.classes();
        let answers = artifact.answers(&logits)?;
        let scores = answers.iter().map(|answer| {
            let value = artifact.estimator.value(answer.confidence, classes);
            let accept = answer.accept.map_or(-1, i64::from);
            (answer.prediction.into(), answer.confidence, value, accept)
        });
        Ok(scores.collect())
    }
}

/// Writes an artifact.
pub(crate) fn write(artifact: &Artifact, path: &Path) {
    let json = serde_json::to_vec(artifact).expect("serialises");
    std::fs::write(path, json).expect("writes");
}

/// Jobs as the program reads them; their artifacts are written to a folder.
pub(crate) fn input(jobs: &[Job], folder: &Path) -> String {
    let mut text = String::new();
    for (number, job) in jobs.iter().enumerate() {
        let path = folder.join(format!("{number}.json"));
        write(&job.artifact, &path);
        let (rows, columns, stride) = (job.rows(), job.columns, job.columns + job.padding);
        let (kind, wanted, extra) = (job.kind, job.wanted(), u8::from(job.extra.is_some()));
        let path = path.display();
        writeln!(text, "{path} {kind} {rows} {columns} {stride} {wanted} {extra}").expect("fits");
        for (k, row) in job.bits().chunks(columns).enumerate() {
            // What lies between the rows would be refused: all bits are set, which is NaN.
            let padding = if k + 1 < rows { job.padding } else { 0 };
            for bits in row.iter().chain(&vec![u64::MAX; padding]) {
                write!(text, "{bits:x} ").expect("fits");
            }
        }
        for x in job.extra.iter().flatten() {
            write!(text, "{:x} ", x.to_bits()).expect("fits");
        }
        text.push('\n');
    }
    text
}

/// Compares what the program prints with what the core says; returns how many jobs both refuse.
pub(crate) fn compare(jobs: &[Job], printed: &str) -> usize {
    let mut lines = printed.lines();
    let mut refused = 0;
    for (number, job) in jobs.iter().enumerate() {
        let about = || {
            let (estimator, kind) = (&job.artifact.estimator, job.kind);
            format!("job {number}: {estimator}, {}, {kind}", job.artifact.input)
        };
        let status = lines.next().unwrap_or_else(|| panic!("{}: no answer", about()));
        match job.expected() {
            Ok(scores) => {
                assert_eq!(status, "0 -1 -1", "{}", about());
                for (row, (prediction, confidence, value, accept)) in scores.iter().enumerate() {
                    let (confidence, value) = (confidence.to_bits(), value.to_bits());
                    let wanted = format!("{prediction} {confidence:016x} {value:016x} {accept}");
                    assert_eq!(lines.next(), Some(&wanted[..]), "{}, row {row}", about());
                }
            }
            Err(error) => {
                refused += 1;
                let place = match error {
                    Error::NotFinite { row, column, .. }
                    | Error::TooLarge { row, column, .. }
                    | Error::NotAProbability { row, column, .. } => format!("{row} {column}"),
                    Error::ProbabilitySum { row, .. } => format!("{row} -1"),
                    other => panic!("{}: {other}", about()),
                };
                assert_eq!(status, format!("5 {place}"), "{}", about());
            }
        }
    }
    assert_eq!(lines.next(), None);
    refused
}

/// The golden corpus in every type, packed and with numbers between the rows, and what it does not have:
/// other encodings, stacks, extra columns and many classes.
pub(crate) fn all() -> Vec<Job> {
    let mut jobs = golden();
    jobs.extend(others());
    jobs
}

fn golden() -> Vec<Job> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden.toml");
    let corpus: Table = std::fs::read_to_string(path).expect("a file").parse().expect("TOML");
    let tables = |parent: &Table, key: &str| -> Vec<Table> {
        parent[key].clone().try_into().expect("an array of tables")
    };
    let mut jobs = Vec::new();
    for case in tables(&corpus, "case") {
        let rows: Vec<Vec<f64>> = case["rows"].clone().try_into().expect("numbers");
        let (columns, numbers) = (rows[0].len(), rows.concat());
        let input = if case["kind"].as_str() == Some("probabilities") {
            let floor = case.get("floor").and_then(Value::as_float);
            Encoding::Probabilities { floor, tolerance: None }
        } else if case.contains_key("masked") {
            Encoding::Masked
        } else {
            Encoding::Logits
        };
        for estimator in tables(&case, "estimator") {
            let estimator: Estimator =
                estimator["name"].as_str().expect("a name").parse().expect("an estimator");
            let mut artifact = Artifact::new(estimator);
            (artifact.classes, artifact.input) = (Some(columns), input);
            let logits = input.logits(&numbers[..], columns).expect("valid rows");
            let mut confidences = artifact.estimator.confidences(&logits);
            confidences.sort_by(f64::total_cmp);
            let at = confidences[confidences.len() / 2];
            artifact.rule = Some(Threshold::given(at).into());
            for kind in TYPES {
                let job = || Job::new(&artifact, kind, &numbers, columns);
                jobs.extend([job(), job().padded(3)]);
            }
        }
    }
    jobs
}

fn others() -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut push = |artifact: &Artifact, numbers: &[f64], columns: usize, extra: Option<&[f64]>| {
        for (padding, kind) in [0, 2].into_iter().flat_map(|n| TYPES.map(|kind| (n, kind))) {
            let job = Job::new(artifact, kind, numbers, columns).padded(padding);
            jobs.push(match extra {
                Some(extra) => job.with_extra(extra),
                None => job,
            });
        }
    };
    let of = |text: &str, input| {
        let mut artifact = Artifact::new(text.parse().expect("an estimator"));
        artifact.input = input;
        artifact
    };
    let numbers = noise(120 * 40);
    let probabilities: Vec<f64> = noise(200).iter().map(|x| 0.5 + x / 20.0).collect();
    let floored = Encoding::BinaryProbability { floor: Some(1e-6), tolerance: None };
    push(&of("MSP", floored), &probabilities, 1, None);
    push(&of("MSP-TS(T=2)", Encoding::BinaryLogit), &numbers[..200], 1, None);
    let mut confidence = of("Extra", Encoding::Confidence);
    confidence.rule = Some(Threshold::given(0.25).into());
    push(&confidence, &numbers[..200], 1, None);
    push(&stack(false), &numbers[..100 * 37], 37, None);
    push(&stack(true), &numbers[..100 * 37], 37, Some(&noise(100)));
    // Many rows, many classes, and a row that is longer than a piece.
    for text in ["MSP", "MaxLogit-pNorm(p=5)", "GEN(gamma=0.5, M=10)", "LogitGap(N=3)", "CMD(T=2)"]
    {
        push(&of(text, Encoding::Logits), &numbers, 3, None);
        push(&of(text, Encoding::Logits), &numbers, 240, None);
    }
    push(&of("MSP", Encoding::Logits), &noise(9000), 9000, None);
    push(&of("MaxLogit-pNorm(p=2.5)", Encoding::Masked), &noise(18000), 9000, None);
    jobs
}

/// Numbers from −8 to 8.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / f64::from(1 << 20) - 8.0
    };
    (0..count).map(|_| next()).collect()
}

/// A stack for 37 classes, perhaps with an extra column.
pub(crate) fn stack(extra: bool) -> Artifact {
    let term = |estimator: &str, weight: f64| {
        format!(
            r#"{{"estimator": {estimator}, "mean": 0.5, "deviation": 1.5, "weight": {weight}}}"#
        )
    };
    let mut terms = vec![
        term(r#"{"method": "MSP"}"#, 1.0),
        term(r#"{"method": "MaxLogit-pNorm", "p": 4}"#, 0.5),
        term(r#"{"method": "LogitsMargin"}"#, -0.25),
    ];
    terms.extend(extra.then(|| term(r#"{"method": "Extra"}"#, 2.0)));
    let offsets: Vec<f64> = (0..37).map(|k| f64::from(k) / 100.0).collect();
    let json = format!(
        r#"{{"method": "Stack", "soft_clip": 2.0, "intercept": 0.1, "terms": [{}], "class_offsets": {offsets:?}}}"#,
        terms.join(", ")
    );
    let mut artifact = Artifact::from_json(&json).expect("a stack");
    artifact.classes = Some(37);
    artifact.rule = Some(Threshold::given(0.0).into());
    artifact
}

/// MSP of three classes with names, and a threshold.
pub(crate) fn named_classes() -> Artifact {
    let mut artifact = Artifact::new(Estimator::MSP);
    artifact.classes = Some(3);
    artifact.class_names = Some(["cat", "dog", "owl"].map(String::from).to_vec());
    artifact.rule = Some(Threshold::given(1.0).into());
    artifact
}

/// A folder with artifacts, some of them damaged.
pub(crate) fn damaged(folder: &Path) -> PathBuf {
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).expect("writes");
    };
    let mut three = Artifact::new(Estimator::MSP);
    three.classes = Some(3);
    three.model = Some(ModelInfo {
        name: "resnet50".into(),
        version: Some("v2".into()),
        ..ModelInfo::default()
    });
    let json = serde_json::to_string(&three).expect("serialises");
    put("three.json", json.as_bytes());
    put("empty.json", b"");
    put("cut.json", &json.as_bytes()[..json.len() / 2]);
    put("not-text.json", b"\xff\xfe\x00");
    put("future.json", json.replace("\"version\":2", "\"version\":99").as_bytes());
    put("unknown-field.json", json.replace("\"classes\"", "\"clases\"").as_bytes());
    put("contradiction.json", json.replace("\"classes\":3", "\"classes\":1").as_bytes());
    let by_group = "\"rule\":{\"by_group\":{\"north\":null}}";
    put("table.json", json.replace("\"rule\":null", by_group).as_bytes());
    put("bare.json", br#"{"method": "MSP"}"#);
    put("extra.json", br#"{"method": "Extra"}"#);
    let with = |name: &str, input: Encoding| {
        let estimator =
            if input == Encoding::Confidence { Estimator::Extra } else { Estimator::MSP };
        let mut artifact = Artifact::new(estimator);
        artifact.input = input;
        artifact.rule = Some(Threshold::given(0.25).into());
        write(&artifact, &folder.join(name));
    };
    let floor = Some(0.4);
    with("probabilities.json", Encoding::Probabilities { floor, tolerance: None });
    with("tolerance.json", Encoding::Probabilities { floor, tolerance: Some(2.0) });
    with("masked.json", Encoding::Masked);
    with("binary.json", Encoding::BinaryLogit);
    with("confidence.json", Encoding::Confidence);
    folder.into()
}

/// The numbers of cost.c.
pub(crate) fn uniform(count: usize) -> Vec<f32> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / (1 << 20) as f32
    };
    (0..count).map(|_| next()).collect()
}
