use super::*;

fn fields(names: &[&str]) -> Vec<Field> {
    names.iter().map(|name| Field::scalar(*name, FieldKind::Number)).collect()
}

fn read(names: &[&str], request: &ClassRequest<'_>) -> std::result::Result<Vec<String>, String> {
    let found = class_columns(&fields(names), request).map_err(|error| error.to_string())?;
    assert_eq!(found.names.len(), found.columns.len());
    Ok(found.names)
}

fn plain(names: &[&str]) -> std::result::Result<Vec<String>, String> {
    read(names, &ClassRequest::default())
}

#[test]
fn numbered_columns_are_classes_by_their_numbers() {
    let sorted_by_name = [
        "logit_0", "logit_1", "logit_10", "logit_2", "logit_3", "logit_4", "logit_5", "logit_6",
        "logit_7", "logit_8", "logit_9", "label",
    ];
    let expected: Vec<String> = (0..11).map(|i| format!("logit_{i}")).collect();
    assert_eq!(plain(&sorted_by_name), Ok(expected));
    assert_eq!(plain(&["1", "0", "loss"]).expect("read"), ["0", "1"]);
    assert_eq!(plain(&["c[1]", "c[0]"]).expect("read"), ["c[0]", "c[1]"]);
    assert_eq!(plain(&["1_logit", "0_logit", "y"]).expect("read"), ["0_logit", "1_logit"]);
    let from_one = class_columns(&fields(&["c2", "c1", "c3"]), &ClassRequest::default());
    assert_eq!(from_one.expect("read").numbering, Numbering::Numbers(1));
}

#[test]
fn gaps_and_duplicates_are_refused() {
    let gap = plain(&["logit_0", "logit_1", "logit_3"]).unwrap_err();
    assert!(gap.contains("number 2 is missing"), "{gap}");
    let twice = plain(&["logit_0", "logit_1", "logit_01"]).unwrap_err();
    assert!(twice.contains("'logit_1'") && twice.contains("'logit_01'"), "{twice}");
    assert!(plain(&["3", "7", "label"]).is_err());
    assert!(plain(&["cat", "dog", "cat", "label"]).is_err());
}

#[test]
fn names_of_other_things_are_never_classes() {
    for other in ["loss", "pred", "y_pred", "correct", "entropy", "sample_weight", "score", "id"] {
        assert_eq!(plain(&["cat", other, "dog", "label"]).expect(other), ["cat", "dog"]);
        assert_eq!(plain(&[other, "logit_1", "logit_0"]).expect(other), ["logit_0", "logit_1"]);
    }
    let message = plain(&["prob", "pred", "label"]).unwrap_err();
    assert!(message.contains("no columns of classes"), "{message}");
    let message = plain(&["whatever", "pred", "label"]).unwrap_err();
    assert!(message.contains("only 'whatever'"), "{message}");
}

#[test]
fn groups_that_say_what_they_are_go_before_others() {
    let both = ["prob_0", "prob_1", "logit_0", "logit_1", "feature_0", "feature_1", "foo"];
    assert_eq!(plain(&both).expect("logits"), ["logit_0", "logit_1"]);
    let probabilities = ClassRequest { probabilities: true, ..ClassRequest::default() };
    assert_eq!(read(&both, &probabilities).expect("probabilities"), ["prob_0", "prob_1"]);
    // Numbered alike, with no word of what they are.
    assert!(plain(&["x_0", "x_1", "y_0", "y_1"]).is_err());
    assert!(plain(&["x_0", "x_1", "foo"]).is_err());
    assert_eq!(plain(&["x_0", "x_1", "entropy"]).expect("read"), ["x_0", "x_1"]);
    let words = ["x_0", "logit_cat", "x_1", "logit_dog"];
    assert_eq!(plain(&words).expect("logits"), ["logit_cat", "logit_dog"]);
    assert_eq!(plain(&["mp3", "mp4", "avi"]).expect("words"), ["mp3", "mp4", "avi"]);
}

#[test]
fn names_of_probabilities_are_not_read_as_logits() {
    for names in [["prob_0", "prob_1"], ["prob_cat", "prob_dog"], ["cat_prob", "dog_prob"]] {
        let message = plain(&names).unwrap_err();
        assert!(message.contains("probabilities"), "{message}");
    }
    let list = [Field::list("probs", FieldKind::Float), Field::scalar("label", FieldKind::Integer)];
    assert!(matches!(
        class_columns(&list, &ClassRequest::default()),
        Err(ErrorKind::NamedProbabilities { .. })
    ));
    let probabilities = ClassRequest { probabilities: true, ..ClassRequest::default() };
    assert_eq!(class_columns(&list, &probabilities).expect("read").names, ["probs"]);
}

#[test]
fn words_in_common_are_left_out_of_class_names() {
    let probabilities = ClassRequest { probabilities: true, ..ClassRequest::default() };
    for names in [["prob_cat", "prob_dog", "margin"], ["cat.prob", "dog.prob", "foo"]] {
        let found = class_columns(&fields(&names), &probabilities).expect("read");
        assert_eq!(found.class_names.expect("names"), ["cat", "dog"]);
        assert_eq!(found.numbering, Numbering::Words { certain: true });
        assert_eq!(found.others, names[2..]);
    }
}

#[test]
fn text_labels_decide_which_words_are_classes() {
    let seen: BTreeSet<String> = ["cat", "dog", "time"].map(String::from).into();
    let request = ClassRequest { seen: Some(&seen), ..ClassRequest::default() };
    // A label makes a class of a name that is usually another thing.
    assert_eq!(read(&["time", "dog", "cat"], &request).expect("read"), ["time", "dog", "cat"]);
    let message = read(&["time", "dog", "cat", "spread"], &request).unwrap_err();
    assert!(message.contains("'spread'"), "{message}");
    let message = read(&["dog", "cat"], &request).unwrap_err();
    assert!(message.contains("'time'"), "{message}");
}

#[test]
fn class_names_decide_columns_and_order() {
    let class_names = ["dog", "cat"].map(String::from);
    let request = ClassRequest { class_names: Some(&class_names), ..ClassRequest::default() };
    assert_eq!(read(&["cat", "spread", "dog"], &request).expect("read"), ["dog", "cat"]);
    let probabilities = ClassRequest { probabilities: true, ..request };
    let names = ["prob_cat", "logit_dog", "prob_dog", "logit_cat"];
    assert_eq!(read(&names, &probabilities).expect("read"), ["prob_dog", "prob_cat"]);
    assert_eq!(read(&names, &request).expect("read"), ["logit_dog", "logit_cat"]);
    // Of numbered columns they are names only.
    assert_eq!(read(&["c1", "c0"], &request).expect("read"), ["c0", "c1"]);
}

#[test]
fn requested_names_decide() {
    let request = |name| ClassRequest { name: Some(name), ..ClassRequest::default() };
    let names = ["id", "logit_10", "logit_2", "cat", "dog", "label"];
    assert_eq!(read(&names, &request("dog,cat")).expect("read"), ["dog", "cat"]);
    assert!(read(&names, &request("logit_*")).is_err(), "gaps are refused");
    assert_eq!(
        read(&["logit_1", "logit_0", "logits_mean"], &request("logit_*")).expect("read"),
        ["logit_0", "logit_1"]
    );
    assert!(read(&names, &request("wolf*")).is_err());
    let found = class_columns(&fields(&["p_cat", "p_dog", "x"]), &request("p_*")).expect("read");
    assert_eq!(found.class_names.expect("names"), ["cat", "dog"]);
}

#[test]
fn lists_go_before_columns() {
    let fields = [
        Field::scalar("label", FieldKind::Integer),
        Field::list("embedding", FieldKind::Float),
        Field::list("logits", FieldKind::Float),
        Field::list("probs", FieldKind::Float),
        Field::scalar("logit_0", FieldKind::Float),
    ];
    let found = class_columns(&fields, &ClassRequest::default()).expect("read");
    assert_eq!((found.columns, found.numbering), (vec![2], Numbering::Array));
    // A list of another thing is no list of logits.
    assert!(class_columns(&fields[..2], &ClassRequest::default()).is_err());
    let unknown = [Field::list("a", FieldKind::Float), Field::list("b", FieldKind::Float)];
    assert!(class_columns(&unknown, &ClassRequest::default()).is_err());
    assert_eq!(class_columns(&unknown[..1], &ClassRequest::default()).expect("read").columns, [0]);
}

#[test]
fn integers_among_floats_are_asked_about() {
    let mixed = [
        Field::scalar("cat", FieldKind::Float),
        Field::scalar("dog", FieldKind::Float),
        Field::scalar("cow", FieldKind::Integer),
    ];
    assert!(matches!(
        class_columns(&mixed, &ClassRequest::default()),
        Err(ErrorKind::Ambiguous { .. })
    ));
}
