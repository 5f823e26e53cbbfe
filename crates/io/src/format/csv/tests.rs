use crate::ReadOptions;
use crate::format::tests::{LABELS, ROWS, Sample, gzip, labels, named, put, rows};

pub(super) fn samples() -> Vec<Sample> {
    let labels = LABELS.map(|label| format!("{label}\n")).concat().into_bytes();
    [text(",", None), text(",", Some("a,b,c,d"))]
        .map(|logits| Sample { logits, labels: labels.clone(), open_ended: true })
        .into()
}

/// Text, with a line of names or without.
fn text(delimiter: &str, names: Option<&str>) -> Vec<u8> {
    let mut text = names.map_or(String::new(), |names| format!("{names}\n"));
    for row in ROWS {
        let row: Vec<String> = row.iter().map(f64::to_string).collect();
        text += &row.join(delimiter);
        text.push('\n');
    }
    text.into_bytes()
}

#[test]
fn any_delimiter_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, data) in [
        ("tabs.tsv", text("\t", Some("a\tb\tc\td"))),
        ("semicolons.csv", text(";", None)),
        ("savetxt.txt", text(" ", Some("# a comment"))),
    ] {
        let path = put(folder.path(), name, &data);
        assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS, "{name}");
    }
}

#[test]
fn labels_are_found_by_name_or_as_the_only_column() {
    let folder = tempfile::tempdir().expect("a folder");
    for text in [
        format!("id,label\n{}", LABELS.map(|x| format!("7,{x}\n")).concat()),
        format!("whatever\n{}", LABELS.map(|x| format!("{x}\n")).concat()),
        LABELS.map(|x| format!("{x}.0\n")).concat(),
    ] {
        let path = put(folder.path(), "labels.csv", text.as_bytes());
        let found = labels(&path, &ReadOptions::default()).expect("read");
        assert_eq!(found, LABELS.map(u32::from), "{text}");
    }
}

#[test]
fn text_that_is_not_text_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let utf16: Vec<u8> = "1,2\n3,4\n".bytes().flat_map(|byte| [byte, 0]).collect();
    let path = put(folder.path(), "utf16.csv", &utf16);
    let error = rows(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("not a sound csv file: it has zero bytes: it is not text"), "{error}");
}

#[test]
fn utf16_is_read_by_its_mark() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("a\tb\n{}", "1.5\t2.5\n3\t4\n".repeat(3000));
    for big_endian in [false, true] {
        let bytes = |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        let data: Vec<u8> = units.flat_map(bytes).collect();
        let path = put(folder.path(), "excel.csv", &data);
        let found = rows(&path, &ReadOptions::default()).expect("read");
        assert_eq!((found.len(), &found[5999][..]), (6000, &[3.0, 4.0][..]));
        let path = put(folder.path(), "cut.csv", &data[..data.len() - 1]);
        assert!(rows(&path, &ReadOptions::default()).is_err());
    }
}

#[test]
fn tables_keep_labels_and_logits_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut table = String::from(",logit_0,logit_1,logit_2,logit_3,label\n");
    for (i, (row, label)) in ROWS.iter().zip(LABELS).enumerate() {
        let row = row.map(|x| x.to_string()).join(",");
        table += &[i.to_string(), row, label.to_string() + "\n"].join(",");
    }
    let path = put(folder.path(), "pandas.csv", table.as_bytes());
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), ROWS);
    assert_eq!(labels(&path, &ReadOptions::default()).expect("read"), LABELS.map(u32::from));
    // By name, whatever else there is.
    let table = table.replace(",label", ",truth");
    let path = put(folder.path(), "other.csv", table.as_bytes());
    let options = named(Some("logit_*"), Some("truth"));
    assert_eq!(rows(&path, &options).expect("read"), ROWS);
    assert_eq!(labels(&path, &options).expect("read"), LABELS.map(u32::from));
    assert_eq!(rows(&path, &named(None, Some("truth"))).expect("read"), ROWS);
}

/// A line is one of names only if it cannot be one of numbers, and no row is lost without a word.
#[test]
fn the_first_line_of_text_is_names_or_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |text: &str| {
        rows(&put(folder.path(), "table.csv", text.as_bytes()), &ReadOptions::default())
            .map_err(|error| error.kind.to_string())
    };
    let both = vec![vec![1.5, 2.0], vec![3.0, 4.0]];
    for text in [
        "1.5,2\n3,4\n",
        "a,b\n1.5,2\n3,4\n",
        // pandas: columns that are numbers, an index without a name, both.
        "0,1\n1.5,2.0\n3.0,4.0\n",
        ",0,1\n0,1.5,2\n1,3,4\n",
        "0,1,label\n1.5,2,0\n3,4,1\n",
        // From 1 on, and in another order.
        "1,2,label\n1.5,2,0\n3,4,1\n",
        "1,label,0\n2.0,0,1.5\n4,1,3\n",
        // A delimiter after the last number; columns that are aligned.
        "1.5,2,\n3,4,\n",
        "   1.5   2\n  3     4  \n",
        "a b\n1.5 2\n3 4\n",
        // Decimal commas, per cent, thousands.
        "a;b\n1,5;2\n3;4,0\n",
        "a;b\n150 %;200 %\n300%;400%\n",
        "a,b\n\"1.5\",\"2\"\n3,4\n",
    ] {
        assert_eq!(read(text), Ok(both.clone()), "{text}");
    }
    assert_eq!(read("3,1,2\n0.5,1.5,2.5\n"), Ok(vec![vec![1.5, 2.5, 0.5]]));
    // A row of two such numbers is not rare.
    assert_eq!(read("1,2\n0.5,1.5\n"), Ok(vec![vec![1.0, 2.0], vec![0.5, 1.5]]));
    // Votes and one-hot rows begin like names, and are none.
    let whole = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
    for text in ["0,1\n1,0\n", "0.0,1.0\n1.0,0.0\n"] {
        assert_eq!(read(text), Ok(whole.clone()), "{text}");
    }
    for (text, message) in [
        ("1.0,NA,3.0\n2,1,0.5\n", "row 0 (line 1), column 1: 'NA' is not a number"),
        ("1.0,,3.0\n2,1,0.5\n", "row 0, column 1: the value is missing"),
        ("1,2\n3,\n", "row 1, column 1: the value is missing"),
        ("a;b\n1,234;2\n", "commas in its numbers may be decimal points or between thousands"),
        ("a,b\nV,V\n1.5,2\n", "its first two lines are names"),
        ("foo,l0,l1\n7,1,2\n", "which of 'l0', 'foo' holds the logits?"),
        ("a,b\n1.5,2\n# 3,4\n", "row 1 (line 3), column 'a': '# 3' is not a number"),
        ("{\"a\": 1}\n", "not a sound csv file: it looks like JSON"),
    ] {
        assert_eq!(read(text), Err(message.to_string()), "{text}");
    }
    let path = put(folder.path(), "id.csv", b"id,cat,dog\n7,1.5,2\n8,3,4\n");
    for options in [ReadOptions::default(), named(Some("cat,dog"), None)] {
        assert_eq!(rows(&path, &options).expect("read"), both);
    }
    // A long comment before the first line, through a pipe's buffer.
    let comment = format!("# {}\n1.5\t2\n3\t4\n", "x".repeat(5000));
    let path = put(folder.path(), "comment.tsv.gz", &gzip(comment.as_bytes()));
    assert_eq!(rows(&path, &ReadOptions::default()).expect("read"), both);
    // Labels beside an index; a name with a blank.
    for text in [",0\n0,3\n1,1\n", "my label\n3\n1\n"] {
        let path = put(folder.path(), "labels.csv", text.as_bytes());
        assert_eq!(labels(&path, &ReadOptions::default()).expect("read"), [3, 1], "{text}");
    }
}

#[test]
fn names_in_a_comment_are_names() {
    let folder = tempfile::tempdir().expect("a folder");
    // As numpy.savetxt writes a header; its order is not that of the classes.
    let text = "# written by numpy\n# logit_1 logit_0 label\n2 1.5 0\n4 3 1\n";
    let path = put(folder.path(), "savetxt.txt", text.as_bytes());
    let options = ReadOptions::default();
    assert_eq!(rows(&path, &options).expect("read"), [[1.5, 2.0], [3.0, 4.0]]);
    assert_eq!(labels(&path, &options).expect("read"), [0, 1]);
    // A comment of other words names nothing.
    let path = put(folder.path(), "plain.txt", b"# run 7\n1.5 2\n3 4\n");
    assert_eq!(rows(&path, &options).expect("read"), [[1.5, 2.0], [3.0, 4.0]]);
}

#[test]
fn cells_may_hold_lists() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |text: &str| {
        let path = put(folder.path(), "lists.csv", text.as_bytes());
        rows(&path, &ReadOptions::default()).map_err(|error| error.kind.to_string())
    };
    let both = vec![vec![1.5, 2.0], vec![3.0, 4e-1]];
    // As Python's lists, and as numpy's arrays over several lines.
    for text in [
        "id,logits,label\n7,\"[1.5, 2]\",0\n8,\"[3, 4e-1]\",1\n",
        "logits\n[1.5 2.]\n\"[3.\n 0.4]\"\n",
        "logits\n\"[np.float64(1.5), np.float64(2.0)]\"\n\"[np.float64(3.0), np.float64(0.4)]\"\n",
        "logits\n\"array([1.5, 2. ], dtype=float32)\"\n\"array([3. , 0.4], dtype=float32)\"\n",
        "logits\n\"tensor([[1.5, 2.0]])\"\n\"tensor([[3.0, 0.4]])\"\n",
    ] {
        assert_eq!(read(text), Ok(both.clone()), "{text}");
    }
    let short = read("logits\n[1.5 ... 2.]\n").unwrap_err();
    assert!(short.contains("shortened"), "{short}");
    let ragged = read("logits\n[1.5 2.]\n[1]\n").unwrap_err();
    assert_eq!(ragged, "row 1 (line 3): 1 values where 2 were expected");
    let word = read("logits\n[1.5 2.]\n[1 x]\n").unwrap_err();
    assert_eq!(word, "row 1 (line 3), column 'logits': '[1 x]' is not a number");
}

#[test]
fn columns_without_names_that_are_no_classes_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |text: &str, options: &ReadOptions| {
        let path = put(folder.path(), "bare.csv", text.as_bytes());
        rows(&path, options).map_err(|error| error.kind.to_string())
    };
    let index = "0,1.5,2\n1,3,4\n2,0.5,1\n";
    let message = read(index, &ReadOptions::default()).unwrap_err();
    assert_eq!(message, "column 0 counts the rows: is it an index, and no class?");
    let labelled = "0.5,1.5,1\n1.5,3,0\n2.5,0.5,1\n.1,.2,0\n.3,.1,0\n";
    let message = read(labelled, &ReadOptions::default()).unwrap_err();
    assert!(message.starts_with("column 2 has whole numbers only"), "{message}");
    let chosen = read(labelled, &named(Some("0,1"), None)).expect("chosen");
    assert_eq!(chosen[0], [0.5, 1.5]);
    let path = put(folder.path(), "bare.csv", labelled.as_bytes());
    assert_eq!(labels(&path, &named(None, Some("2"))).expect("labels"), [1, 0, 1, 0, 0]);
}

#[test]
fn labels_that_are_empty_lists_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = put(folder.path(), "labels.csv", b"label\n[]\n");
    let error = labels(&path, &ReadOptions::default()).unwrap_err().kind.to_string();
    assert_eq!(error, "row 0: one-hot labels have one 1 and else 0");
}
