//! Sheets like those of a paper, and one like those of nobody.

use abstain::metric::Direction;
use abstain_report::sheet::Align::{Center, Left, Right};
use abstain_report::sheet::{Cell, Group, Heading, Sheet, Value, mark_best};

/// Two classifiers, scores by transforms, the best of each classifier.
pub(crate) fn classifiers() -> Sheet {
    let group = |label: &str, scale: f64| {
        let row = |(i, name): (usize, &str)| {
            let mut row = vec![Cell::text(name)];
            for j in 0..4_usize {
                let mean = scale * (0.31 + 0.013 * i as f64 - 0.041 * j as f64);
                row.push(match (i, j) {
                    (2, 1) => Cell::from(Value::Missing),
                    _ => Cell::spread(mean, 0.0042 - 0.0007 * j as f64, 4),
                });
            }
            row
        };
        let scores = ["MSP", "SoftmaxMargin", "MaxLogit", "LogitsMargin"];
        let mut rows: Vec<Vec<Cell>> = scores.into_iter().enumerate().map(row).collect();
        mark_best(rows.iter_mut().flat_map(|row| &mut row[1..]), Direction::Lower);
        Group { label: Some(label.into()), rows }
    };
    Sheet {
        name: "classifiers".into(),
        caption: "NAURC (mean ± std over 10 random splits) on ImageNet for two classifiers. The \
                  best of each is in bold."
            .into(),
        header: vec![
            vec![Heading::over("", 2), Heading::over("Logit transformation", 4)],
            ["Classifier", "Confidence", "Raw", "TS-NLL", "TS-AURC", "pNorm"]
                .map(Heading::new)
                .into(),
        ],
        align: vec![Left, Left, Right, Right, Right, Right],
        groups: vec![group("EfficientNet-V2-XL", 1.0), group("VGG16", 0.6)],
        notes: vec![],
    }
}

/// Average positive gains: one group, shares and counts beside them.
pub(crate) fn gains() -> Sheet {
    let lines = [
        ("MSP", 0.0, f64::NAN, 0.0),
        ("MSP-TS-AURC", 0.03574, 0.00121, 0.9643),
        ("MaxLogit-pNorm", 0.06863, 0.00193, 0.9881),
        ("MaxLogit-pNorm, p = 5, τ ≤ √C", 0.06858, 0.0021, 1.0),
        ("ETS", -0.00002, 0.0, 0.5),
    ];
    let mut rows: Vec<Vec<Cell>> = lines
        .into_iter()
        .map(|(name, mean, std, share)| {
            let interval =
                Value::Interval { value: mean, low: mean - 0.004, high: mean + 0.004, digits: 3 };
            let mark = if share == 1.0 { "✓" } else { "" };
            vec![
                Cell::text(name),
                Cell::spread(mean, std, 4),
                interval.into(),
                Cell::number(share, 1).percent(),
                Cell::count(50_000),
                Cell::text(mark),
            ]
        })
        .collect();
    for column in [1, 3] {
        mark_best(rows.iter_mut().map(|row| &mut row[column]), Direction::Higher);
    }
    Sheet {
        name: "apg-naurc".into(),
        caption: "Average positive gain over A_j, in NAURC, at α = 5 % — 84 classifiers.".into(),
        header: vec![vec![
            Heading::new("Method"),
            Heading::new("APG ↑"),
            Heading::new("95 % interval"),
            Heading::new("improved"),
            Heading::new("rows"),
            Heading::new("all"),
        ]],
        align: vec![Left, Right, Right, Right, Right, Center],
        groups: vec![Group { label: None, rows }],
        notes: vec!["A gain counts where it is positive; ∞ and NaN never do.".into()],
    }
}

/// A line for each of many models, with their tuned p or that they fell back.
pub(crate) fn models(count: usize) -> Sheet {
    let row = |i: usize| {
        let msp = 0.19 + 0.0021 * (i * 37 % 41) as f64;
        let fell_back = i % 5 == 3;
        let tuned = if fell_back { msp } else { msp - 0.0013 * (i * 17 % 29) as f64 };
        let note = if fell_back { "F".to_string() } else { format!("p* = {}", 2 + i % 7) };
        let mut numbers = [Cell::spread(msp, 0.003, 4), Cell::spread(tuned, 0.0028, 4).noted(note)];
        mark_best(&mut numbers, Direction::Lower);
        let accuracy = Cell::number(0.69 + 0.002 * i as f64, 2).percent();
        let name = format!("model_{i:02}.in1k");
        [Cell::text(name), accuracy].into_iter().chain(numbers).collect()
    };
    let half = count / 2;
    let group = |label: &str, rows: std::ops::Range<usize>| Group {
        label: Some(label.into()),
        rows: rows.map(row).collect(),
    };
    Sheet {
        name: "models".into(),
        caption: "NAURC of all models.".into(),
        header: vec![
            vec![Heading::over("", 3), Heading::over("NAURC ↓", 2)],
            ["Family", "Model", "Accuracy", "MSP", "MaxLogit-pNorm"].map(Heading::new).into(),
        ],
        align: vec![Left, Left, Right, Right, Right],
        groups: vec![group("small", 0..half), group("large", half..count)],
        notes: vec!["p*: the tuned exponent.".into(), "F: fell back to MSP.".into()],
    }
}

/// More columns than a column of a paper has room for.
pub(crate) fn wide() -> Sheet {
    let row = |i: usize| {
        let cells = (0..12).map(|j| Cell::spread(-0.1 * i as f64, 0.01 * f64::from(j), 3));
        [Cell::text(format!("method {i}"))].into_iter().chain(cells).collect()
    };
    let sets = (1..=3).map(|i| Heading::over(format!("Set {i}"), 4));
    let metrics = ["AURC", "NAURC", "AUROC", "SAC"].map(Heading::new);
    let first = || [Heading::new("")].into_iter();
    Sheet {
        name: "wide".into(),
        caption: "All metrics.".into(),
        header: vec![
            first().chain(sets).collect(),
            first().chain(metrics.iter().cycle().take(12).cloned()).collect(),
        ],
        align: vec![],
        groups: vec![Group { label: None, rows: (0..4).map(row).collect() }],
        notes: vec![],
    }
}

/// Names that would break each format if they could.
pub(crate) const HOSTILE: [&str; 8] = [
    "a|b <script>alert(1)</script> [x](javascript:y) ![z](w)",
    "\\end{table}\\input{secret} & % $ # _ { } ~ ^ \\",
    "=HYPERLINK(\"x\") , \"quoted\"",
    "\u{1b}[31mred\u{7}\r\n\n\ttab \u{202e}back",
    "[optional] **bold** `code` $x^2$ -- --- ?` !` '' <<",
    "* star",
    "é ß ą 中文 🎲 e\u{301} τ₁ ‖x‖₂ ½ ≤ √∞ ±",
    "",
];

/// Hostile names in every place.
pub(crate) fn hostile() -> Sheet {
    let cells = |i: usize| {
        let text = |j: usize| HOSTILE[(i + j) % HOSTILE.len()];
        vec![
            Cell::text(text(0)),
            Cell { best: true, ..Cell::text(text(1)).noted(text(2)) },
            Cell::number([1e300, f64::NAN, -0.0][i % 3], 2).noted(text(3)),
        ]
    };
    let group =
        |label: &str| Group { label: Some(label.into()), rows: (0..4).map(cells).collect() };
    let single = |label: &str| Group { label: Some(label.into()), rows: vec![cells(5)] };
    Sheet {
        name: HOSTILE.join(" "),
        caption: HOSTILE.join(" "),
        header: vec![
            HOSTILE.iter().map(|text| Heading::over(*text, 2)).take(3).collect(),
            HOSTILE.iter().map(|text| Heading::new(*text)).skip(4).take(3).collect(),
        ],
        align: vec![Left],
        groups: HOSTILE.iter().map(|text| group(text)).take(2).chain(HOSTILE.map(single)).collect(),
        notes: HOSTILE.map(String::from).into(),
    }
}
