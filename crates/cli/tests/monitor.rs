//! `abstain monitor` and `abstain audit`.

mod common;

use common::{Folder, Lcg, program};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Rows whose answers are right with the probability of their confidence, or less if it was overstated.
struct Stream {
    random: Lcg,
    rows: u64,
}

impl Stream {
    fn new(seed: u64) -> Self {
        Stream { random: Lcg::new(seed), rows: 0 }
    }

    /// The confidence of the next row, and whether its answer is right.
    fn next(&mut self, overstated: f64) -> (f64, bool) {
        self.rows += 1;
        let confidence = 1.0 - self.random.next().powi(3);
        (confidence, self.random.next() < confidence - overstated)
    }

    /// Some rows as records and labels, to be appended to files.
    fn records(&mut self, rows: u64, overstated: f64) -> (String, String) {
        let (mut records, mut labels) = (String::new(), String::new());
        for _ in 0..rows {
            let id = self.rows;
            let (confidence, right) = self.next(overstated);
            writeln!(records, "r{id},{confidence}").expect("a string");
            writeln!(labels, "r{id},{}", u8::from(right)).expect("a string");
        }
        (records, labels)
    }
}

/// A folder with the artifact `judge.json`, certified at a risk of 10 %.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut stream = Stream::new(1);
    let mut text = String::from("confidence,correct\n");
    for _ in 0..2000 {
        let (confidence, right) = stream.next(0.0);
        writeln!(text, "{confidence},{}", u8::from(right)).expect("a string");
    }
    folder.put("judged.csv", text.as_bytes());
    folder.ok(&[
        "certify",
        "Confidence",
        "judged.csv",
        "--target-risk",
        "0.1",
        "-o",
        "judge.json",
        "-q",
    ]);
    folder
}

fn put_stream(folder: &Folder, records: &str, labels: &str) {
    folder.put("records.csv", format!("id,confidence\n{records}").as_bytes());
    folder.put("labels.csv", format!("id,correct\n{labels}").as_bytes());
}

const MONITOR: [&str; 5] = ["monitor", "judge.json", "records.csv", "--labels", "labels.csv"];

fn with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&MONITOR[..], arguments].concat()
}

/// The JSON of a call, and its exit code.
fn json(folder: &Folder, arguments: &[&str]) -> (Value, Option<i32>) {
    let outcome = folder.run(&[arguments, &["--json"]].concat());
    let value = serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{}", outcome.err));
    (value, outcome.code)
}

#[test]
fn good_streams_raise_no_alarm_and_bad_ones_exit_with_1() {
    let folder = folder();
    let mut stream = Stream::new(2);
    let (records, labels) = stream.records(3000, 0.0);
    put_stream(&folder, &records, &labels);
    let text = folder.ok(&MONITOR);
    assert!(text.contains("No alarm: nothing contradicts what was promised."), "{text}");
    let (more, more_labels) = stream.records(1500, 0.25);
    put_stream(&folder, &(records + &more), &(labels + &more_labels));
    let outcome = folder.run(&MONITOR);
    assert_eq!(outcome.code, Some(1), "{}", outcome.out);
    assert!(outcome.err.contains("alarm stands"), "{}", outcome.err);
    assert!(
        outcome
            .out
            .contains("the risk among accepted answers is above the 10 % that were promised")
    );
    let (report, code) = json(&folder, &MONITOR);
    assert_eq!(code, Some(1));
    let alarm = &report["report"]["alarms"][0];
    assert_eq!(alarm["test"], "risk");
    assert!((3000..4000).contains(&alarm["row"].as_u64().expect("a row")), "{alarm}");
    // A stricter level needs more evidence.
    let (strict, _) = json(&folder, &with(&["--alpha", "0.0001"]));
    assert!(strict["report"]["alarms"][0]["row"].as_u64() > alarm["row"].as_u64());
    // Another target is another promise.
    let (lax, code) = json(&folder, &with(&["--target-risk", "0.6"]));
    assert_eq!((code, lax["report"]["risk"]["target"].as_f64()), (Some(0), Some(0.6)));
    let (accuracy, _) = json(&folder, &with(&["--target-accuracy", "0.6"]));
    assert_eq!(accuracy["report"]["risk"]["target"].as_f64(), Some(0.4));
}

#[test]
fn shifts_are_noticed_without_labels() {
    let folder = folder();
    let mut records = Stream::new(2).records(500, 0.0).0;
    for row in 0..600 {
        writeln!(records, "s{row},{}", 0.3 + f64::from(row) / 2000.0).expect("a string");
    }
    folder.put("records.csv", format!("id,confidence\n{records}").as_bytes());
    let (result, code) = json(&folder, &["monitor", "judge.json", "records.csv"]);
    let raised: Vec<&str> = result["report"]["alarms"]
        .as_array()
        .expect("alarms")
        .iter()
        .filter_map(|a| a["test"].as_str())
        .collect();
    assert_eq!(code, Some(1));
    assert!(raised.contains(&"confidences") && raised.contains(&"coverage-low"), "{raised:?}");
    assert!(result["report"]["estimates"]["thresholded_confidence"].as_f64().is_some());
}

#[test]
fn calls_in_steps_find_what_one_call_finds() {
    let folder = folder();
    let mut stream = Stream::new(3);
    let (mut records, mut labels) = (String::new(), String::new());
    for step in 0..5 {
        let (more, more_labels) = stream.records(400, 0.0);
        records += &more;
        if step > 0 {
            labels += &more_labels;
        }
        put_stream(&folder, &records, &labels);
        let stepped = folder.run(&with(&["--state", "watch.json"]));
        assert_eq!(stepped.code, Some(0), "{}", stepped.err);
    }
    let (stepped, _) = json(&folder, &with(&["--state", "watch.json"]));
    assert_eq!((&stepped["new_records"], &stepped["new_labels"]), (&0.into(), &0.into()));
    let (whole, _) = json(&folder, &MONITOR);
    assert_eq!(stepped["report"], whole["report"]);
    assert!(!folder.names().iter().any(|name| name.contains(".tmp")));
    // A file that was replaced is noticed; the next one of the stream is counted.
    folder.put("records.csv", b"id,confidence\nnew,0.99\n");
    let replaced = folder.run(&with(&["--state", "watch.json"]));
    assert_eq!(replaced.code, Some(2));
    assert!(replaced.err.contains("does not begin with the 2000 records"), "{}", replaced.err);
    assert!(replaced.err.contains("--next"), "{}", replaced.err);
    let (next, _) = json(&folder, &with(&["--state", "watch.json", "--next"]));
    assert_eq!(next["report"]["records"], 2001);
    let other = folder.run(&with(&["--state", "watch.json", "--alpha", "0.1"]));
    assert!(other.err.contains("alpha was 0.05 and is 0.1"), "{}", other.err);
    assert!(other.err.contains("give --alpha 0.05, or another --state"), "{}", other.err);
    let other = folder.run(&with(&["--state", "watch.json", "--target-risk", "0.2"]));
    assert!(other.err.contains("leave out --target-risk, or another --state"), "{}", other.err);
    folder.put("watch.json", b"{}");
    let broken = folder.run(&with(&["--state", "watch.json"]));
    assert_eq!(broken.code, Some(2));
    assert!(broken.err.contains("watch.json") && broken.err.contains("not the state of a monitor"));
}

/// A process that is killed while it works leaves the old state or the new one.
#[cfg(unix)]
#[test]
fn killed_processes_lose_and_repeat_nothing() {
    let folder = folder();
    let mut stream = Stream::new(4);
    let mut random = Lcg::new(9);
    let (mut records, mut labels) = (String::new(), String::new());
    let mut killed = 0;
    for _ in 0..40 {
        let (more, more_labels) = stream.records(200, 0.02);
        records += &more;
        labels += &more_labels;
        put_stream(&folder, &records, &labels);
        let mut child = folder
            .command(&with(&["--state", "watch.json", "--quiet"]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        std::thread::sleep(Duration::from_secs_f64(0.06 * random.next()));
        let ended = child.try_wait().expect("a child").is_some();
        child.kill().expect("killed");
        child.wait().expect("ended");
        killed += usize::from(!ended);
    }
    assert!(killed > 0, "no process was still at work");
    let (mut after, _) = json(&folder, &with(&["--state", "watch.json"]));
    let (mut whole, _) = json(&folder, &MONITOR);
    // How many rows a new threshold would accept is counted from the call on in which its tests
    // began, and one call begins them after all records.
    for report in [&mut after["report"], &mut whole["report"]] {
        for certified in report["certified"].as_array_mut().into_iter().flatten() {
            let certified = certified.as_object_mut().expect("an object");
            assert!(certified.remove("rows").is_some() && certified.remove("accepted").is_some());
        }
    }
    assert_eq!(after["report"], whole["report"]);
    assert_eq!(whole["report"]["records"], 8000);
}

/// Standard input is followed: a stream that comes again from its beginning is not counted twice.
#[test]
fn standard_input_is_followed_and_goes_on() {
    let folder = folder();
    let mut stream = Stream::new(5);
    let lines: Vec<String> = (0..300)
        .map(|row| {
            let (confidence, right) = stream.next(0.0);
            format!("{{\"id\": \"r{row}\", \"confidence\": {confidence}, \"correct\": {right}}}\n")
        })
        .collect();
    let follow = |lines: &[String]| {
        let mut child = Command::new(program())
            .args([
                "monitor",
                "judge.json",
                "-",
                "--format",
                "jsonl",
                "--state",
                "watch.json",
                "--json",
            ])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut input = child.stdin.take().expect("a pipe");
        for line in lines {
            input.write_all(line.as_bytes()).expect("written");
        }
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    assert_eq!(follow(&lines[..100])["new_records"], 100);
    let again = follow(&lines);
    assert_eq!((&again["new_records"], &again["report"]["records"]), (&200.into(), &300.into()));
    assert_eq!(again["report"]["labels"], 300);
    let refused = folder.run(&["monitor", "judge.json", "-", "--labels", "-"]);
    assert!(refused.err.contains("cannot both be standard input"), "{}", refused.err);
}

/// Records or labels come through a pipe; a stream that comes again counts labels that came since.
#[test]
fn standard_input_takes_labels() {
    let folder = folder();
    let (records, labels) = Stream::new(5).records(300, 0.0);
    put_stream(&folder, &records, &labels);
    let pipe = |arguments: &[&str], file: &str| {
        let input = std::fs::File::open(folder.path().join(file)).expect("a file");
        let mut command = folder.command(&[arguments, &["--json"]].concat());
        let output = command.stdin(input).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str::<Value>(&text)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let (whole, _) = json(&folder, &MONITOR);
    let streamed = ["monitor", "judge.json", "-", "--format", "csv", "--state", "s.json"];
    let first = pipe(&streamed, "records.csv");
    assert_eq!((&first["new_records"], &first["new_labels"]), (&300.into(), &0.into()));
    let later = pipe(&[&streamed[..], &["--labels", "labels.csv"]].concat(), "records.csv");
    assert_eq!((&later["new_records"], &later["new_labels"]), (&0.into(), &300.into()));
    assert_eq!(later["report"], whole["report"]);
    let piped = pipe(&["monitor", "judge.json", "records.csv", "--labels", "-"], "labels.csv");
    assert_eq!(piped["report"], whole["report"]);
}

/// After a log began anew, labels of rows in the one before still count, where the file can be found.
#[test]
fn labels_of_earlier_files_are_found() {
    let folder = folder();
    let mut stream = Stream::new(12);
    let (old, old_labels) = stream.records(200, 0.0);
    let (new, new_labels) = stream.records(200, 0.0);
    put_stream(&folder, &old, "");
    folder.ok(&with(&["--state", "w.json"]));
    // Another name: it is where it was.
    folder.put("more.csv", format!("id,confidence\n{new}").as_bytes());
    let more = ["monitor", "judge.json", "more.csv", "--labels", "labels.csv", "--state", "w.json"];
    folder.put("labels.csv", format!("id,correct\n{old_labels}").as_bytes());
    let (found, _) = json(&folder, &[&more[..], &["--next"]].concat());
    assert_eq!((&found["new_records"], &found["new_labels"]), (&200.into(), &200.into()));
    // The same name: the old file was renamed.
    let (third, _) = stream.records(100, 0.0);
    std::fs::rename(folder.path().join("more.csv"), folder.path().join("more.1.csv"))
        .expect("moved");
    folder.put("more.csv", format!("id,confidence\n{third}").as_bytes());
    folder.put("labels.csv", format!("id,correct\n{new_labels}").as_bytes());
    let (gone, _) = json(&folder, &[&more[..], &["--next"]].concat());
    assert_eq!((&gone["new_records"], &gone["new_labels"]), (&100.into(), &0.into()));
    assert_eq!(gone["problems"][0]["kind"], "unknown-id");
    // A file that was never counted is not one of the stream.
    folder.put("other.csv", format!("id,confidence\nx,0.9\n{new}").as_bytes());
    let (other, _) = json(&folder, &[&more[..], &["--earlier", "other.csv"]].concat());
    assert_eq!(other["new_labels"], 0);
    let (found, _) = json(&folder, &[&more[..], &["--earlier", "more.1.csv"]].concat());
    assert_eq!((&found["new_records"], &found["new_labels"]), (&0.into(), &200.into()));
    // The whole stream in one file counts the same.
    put_stream(&folder, &(old + &new + &third), &(old_labels + &new_labels));
    let (whole, _) = json(&folder, &MONITOR);
    assert_eq!(found["report"]["risk"]["mean"], whole["report"]["risk"]["mean"]);
}

/// Rows from before a shift certify nothing of those since.
#[test]
fn old_labels_certify_nothing_after_a_shift() {
    let folder = folder();
    let mut stream = Stream::new(21);
    let (mut records, labels) = stream.records(1500, -0.1);
    let timed = (0..).zip(records.lines()).map(|(row, line)| {
        let day = 1 + row / 140;
        line.replace(',', &format!(",2026-03-{day:02}T00:00,")) + "\n"
    });
    records = timed.collect();
    for row in 0..700 {
        let day = 12 + row / 100;
        let confidence = 0.5 + stream.random.next() / 2.0;
        writeln!(records, "s{row},2026-03-{day}T00:00,{confidence}").expect("a string");
    }
    folder.put("records.csv", format!("id,time,confidence\n{records}").as_bytes());
    folder.put("labels.csv", format!("id,correct\n{labels}").as_bytes());
    let outcome = folder.run(&with(&["--state", "w.json", "-o", "anew.json"]));
    assert_eq!(outcome.code, Some(1), "{}", outcome.out);
    assert!(!folder.names().contains(&"anew.json".to_string()));
    assert!(outcome.err.contains("older ones prove nothing"), "{}", outcome.err);
    assert!(outcome.err.contains("--restart-certification"), "{}", outcome.err);
    // One cause is one headline, with its time; what scores say of the accuracy is qualified.
    assert_eq!(outcome.out.matches("ALARM").count(), 1, "{}", outcome.out);
    assert!(outcome.out.contains("inputs changed at about row"), "{}", outcome.out);
    let headline = outcome.out.lines().find(|line| line.contains("ALARM")).expect("a headline");
    // The likeliest row is a few rows before or after the first of 12 March.
    let days = ["2026-03-11T", "2026-03-12T"];
    assert!(days.iter().any(|day| headline.contains(day)), "{headline}");
    assert!(headline.contains("after a shift they are too high"), "{headline}");
    assert!(outcome.out.contains("from 2026-03-01T00:00 to 2026-03-18T00:00"), "{}", outcome.out);
    assert!(!outcome.out.contains("Confirmed") && !outcome.out.contains("Certified anew"));
    assert!(!outcome.out.contains("Estimated without labels, and without"), "{}", outcome.out);
    assert!(outcome.out.contains("is not to be trusted"), "{}", outcome.out);
    assert!(!outcome.out.contains("e-value"), "{}", outcome.out);
    assert!(outcome.out.contains("(id s"), "{}", outcome.out);
}

/// A list of chosen rows of which some have no label: those that have one may be the easy ones.
#[test]
fn lists_that_are_filled_in_part_confirm_and_certify_nothing() {
    let folder = folder();
    let (records, labels) = Stream::new(33).records(4000, -0.1);
    let lines = |every: usize| {
        let lines = labels.lines().enumerate().map(|(row, line)| {
            let (id, flag) = line.split_once(',').expect("two cells");
            let flag = if row % every == 0 { "" } else { flag };
            format!("{id},{flag},0.5\n")
        });
        lines.fold("id,correct,propensity\n".to_string(), |text, line| text + &line)
    };
    folder.put("records.csv", format!("id,confidence\n{records}").as_bytes());
    folder.put("labels.csv", lines(10).as_bytes());
    let anew = with(&["-o", "anew.json", "--min-propensity", "0.5"]);
    let outcome = folder.run(&anew);
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.out, outcome.err);
    assert!(!outcome.out.contains("Confirmed") && !outcome.out.contains("Certified anew"));
    assert!(outcome.out.contains("400 rows that were chosen to be labelled"), "{}", outcome.out);
    assert!(outcome.err.contains("400 rows that were chosen"), "{}", outcome.err);
    assert!(!folder.names().contains(&"anew.json".to_string()));
    folder.put("labels.csv", lines(usize::MAX).replace("r0,,", "r0,1,").as_bytes());
    let outcome = folder.run(&anew);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.err);
    assert!(outcome.out.contains("Certified anew"), "{}", outcome.out);
}

/// Where labels stop coming, those that came are of other times.
#[test]
fn labels_that_stop_coming_speak_of_their_times() {
    let folder = folder();
    let mut stream = Stream::new(35);
    let (first, labels) = stream.records(2000, -0.1);
    put_stream(&folder, &first, &labels);
    let state = ["--state", "watch.json"];
    let outcome = folder.run(&with(&state));
    assert!(
        outcome.out.contains("Confirmed by labels: the risk among accepted rows since the start")
    );
    let (second, _) = stream.records(2000, -0.1);
    put_stream(&folder, &(first + &second), &labels);
    let outcome = folder.run(&with(&state));
    assert!(outcome.out.contains("Labels are of other times than rows"), "{}", outcome.out);
    assert!(!outcome.out.contains("since the start is at most"), "{}", outcome.out);
}

#[test]
fn flags_that_contradict_labels_beside_them_are_refused() {
    let folder = Folder::new();
    folder.put("records.csv", b"id,confidence,prediction\na,0.9,1\nb,0.8,0\nc,0.7,1\n");
    folder.put("judged.csv", b"confidence,correct\n0.9,1\n0.1,0\n");
    let threshold =
        ["threshold", "Confidence", "judged.csv", "--coverage", "1", "-o", "judge.json"];
    folder.ok(&threshold);
    let target = ["--target-risk", "0.5"];
    folder.put("labels.csv", b"id,label,correct\na,1,1\nb,0,1\n");
    let outcome = folder.run(&with(&target));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    folder.put("labels.csv", b"id,label,correct\na,1,1\nb,1,1\n");
    let outcome = folder.run(&with(&target));
    assert_eq!(outcome.code, Some(2), "{}", outcome.out);
    assert!(
        outcome.err.contains("id b: the flag 'true' contradicts the label '1'"),
        "{}",
        outcome.err
    );
}

/// Labels of sure rows only: what they say is not the risk of the accepted rows.
#[test]
fn labels_of_sure_rows_confirm_and_certify_nothing() {
    let folder = folder();
    let (records, labels) = Stream::new(31).records(4000, 0.0);
    let sure = |confidence: f64| confidence >= 0.97;
    let chosen = records.lines().zip(labels.lines()).filter(|(record, _)| {
        record.split(',').nth(1).and_then(|text| text.parse().ok()).is_some_and(sure)
    });
    let chosen: String = chosen.flat_map(|(_, label)| [label, "\n"]).collect();
    put_stream(&folder, &records, &chosen);
    let outcome = folder.run(&with(&["-o", "anew.json"]));
    assert_eq!(outcome.code, Some(1), "{}", outcome.out);
    assert!(!folder.names().contains(&"anew.json".to_string()));
    assert!(outcome.err.contains("not of a random part of the rows"), "{}", outcome.err);
    assert!(outcome.err.contains("propensities"), "{}", outcome.err);
    let seen = "Labels are not of a random part of the accepted rows: 100.0 % of the labels but ";
    assert!(outcome.out.contains(seen), "{}", outcome.out);
    assert!(!outcome.out.contains("Confirmed") && !outcome.out.contains("Certified anew"));
    // The same rows, of which a random part has labels.
    let part: String = labels.lines().step_by(2).flat_map(|label| [label, "\n"]).collect();
    put_stream(&folder, &records, &part);
    let outcome = folder.run(&with(&["-o", "anew.json"]));
    assert!(!outcome.out.contains("random part"), "{}", outcome.out);
    // No abstained row has a label.
    let lacking = folder.run(&with(&["--abstained-labelled", "--target-risk", "0.3"]));
    assert_eq!(lacking.code, Some(0), "{}", lacking.err);
    put_stream(&folder, &records, &chosen);
    let refused = folder.run(&with(&["--abstained-labelled"]));
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains("is of one of the") && refused.err.contains("leave out"));
}

#[test]
fn thresholds_are_certified_anew() {
    let folder = folder();
    let (records, labels) = Stream::new(6).records(6000, 0.0);
    put_stream(&folder, &records, &labels);
    folder.ok(&with(&["-o", "anew.json", "--delta", "0.1"]));
    let artifact = folder.json("anew.json");
    assert_eq!(artifact["rule"]["threshold"]["basis"], "anytime");
    let certificate = &artifact["rule"]["threshold"]["certificate"];
    assert_eq!(certificate["delta"].as_f64(), Some(0.1));
    assert!(certificate["selective_risk"].as_f64() < Some(0.1));
    assert!(folder.ok(&["show", "anew.json"]).contains("valid at any time"));
    // It scores and is watched like any other.
    folder.ok(&["score", "anew.json", "records.csv", "-o", "scores.csv", "-q"]);
    let watched =
        folder.run(&["monitor", "anew.json", "records.csv", "--labels", "labels.csv", "--json"]);
    assert_eq!(watched.code, Some(0), "{}", watched.err);
    // After a restart, old labels prove nothing.
    let restarted = with(&["--state", "w.json", "-o", "none.json"]);
    let first = folder.run(&restarted);
    assert_eq!(first.code, Some(0), "{}", first.err);
    std::fs::remove_file(folder.path().join("none.json")).expect("removed");
    let again = folder.run(&[&restarted[..], &["--restart-certification"]].concat());
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("no threshold is certified"), "{}", again.err);
    assert!(!folder.names().contains(&"none.json".to_string()));
}

#[test]
fn groups_columns_and_formats_are_named() {
    let folder = folder();
    let mut stream = Stream::new(7);
    let (mut records, mut labels) = (String::new(), String::new());
    for row in 0..1500 {
        let night = row % 3 == 0;
        let (confidence, right) = stream.next(if night { 0.3 } else { 0.0 });
        let site = if night { "night" } else { "day" };
        let (when, sure) = (1_700_000_000 + row, confidence);
        writeln!(
            records,
            "{{\"photo_id\": {row}, \"user_id\": 1, \"when\": {when}, \"sure\": {sure}, \"site\": \"{site}\"}}"
        )
        .expect("a string");
        writeln!(labels, "{row},{}", if right { 0.0 } else { 1.0 }).expect("a string");
    }
    folder.put("records.txt", records.as_bytes());
    folder.put("labels.csv", format!("photo_id,damage\n{labels}").as_bytes());
    let base =
        ["monitor", "judge.json", "records.txt", "--format", "jsonl", "--confidence-name", "sure"];
    let named = [
        "--time-name",
        "when",
        "--labels",
        "labels.csv",
        "--losses-name",
        "damage",
        "--group",
        "site",
    ];
    let ambiguous = folder.run(&[&base[..], &named].concat());
    assert_eq!(ambiguous.code, Some(2));
    assert!(ambiguous.err.contains("several columns may be the id"), "{}", ambiguous.err);
    assert!(ambiguous.err.contains("--id-name"), "{}", ambiguous.err);
    let id = ["--id-name", "photo_id"];
    let (result, code) = json(&folder, &[&base[..], &named, &id].concat());
    assert_eq!(code, Some(1));
    let alarms = result["report"]["alarms"].as_array().expect("alarms").clone();
    assert!(alarms.iter().any(|alarm| alarm["group"] == "night"), "{alarms:?}");
    assert!(alarms.iter().all(|alarm| alarm["group"] != "day"), "{alarms:?}");
    // Losses on another scale.
    let scaled = ["--max-loss", "10", "--target-risk", "0.5"];
    let (result, _) = json(&folder, &[&base[..], &named, &id, &scaled].concat());
    assert_eq!(result["report"]["risk"]["target"].as_f64(), Some(0.5));
    assert_eq!(result["report"]["max_loss"].as_f64(), Some(10.0));
    let page =
        [&base[..], &named, &id, &["--page", "watch.html", "--prometheus", "watch.prom"]].concat();
    folder.run(&page);
    let html = folder.read("watch.html");
    assert!(html.contains("The risk of accepted rows in each group") && html.contains("<svg"));
    let metrics = folder.read("watch.prom");
    assert!(metrics.contains("abstain_alarm{test=\"risk\",group=\"night\"} 1"), "{metrics}");
    assert!(metrics.contains("abstain_alarm{test=\"risk\",group=\"day\"} 0"), "{metrics}");
    let printed = folder.run(&[&base[..], &named, &id, &["--prometheus", "-"]].concat());
    assert_eq!(printed.out, metrics);
}

/// Predictions and labels by name, and in a column of any name.
#[test]
fn labels_are_compared_with_predictions() {
    let folder = Folder::with_rows(1200, 5, 1);
    folder.ok(&[
        "certify",
        "MSP",
        "logits.npy",
        "labels.npy",
        "--target-risk",
        "0.3",
        "-o",
        "e.json",
        "-q",
    ]);
    let mut records = String::from("id,answered,confidence\n");
    let mut labels = String::from("id,was\n");
    for row in 0..400 {
        writeln!(records, "{row},{},3.0", row % 5).expect("a string");
        writeln!(labels, "{row},{}", if row % 4 == 0 { (row + 1) % 5 } else { row % 5 })
            .expect("a string");
    }
    folder.put("records.csv", records.as_bytes());
    folder.put("labels.csv", labels.as_bytes());
    let named =
        ["--predictions-name", "answered", "--labels", "labels.csv", "--labels-name", "was"];
    let outcome =
        folder.run(&[&["monitor", "e.json", "records.csv", "--json"][..], &named].concat());
    let result: Value = serde_json::from_str(&outcome.out).expect("JSON");
    assert_eq!(result["report"]["risk"]["mean"].as_f64(), Some(0.25), "{}", outcome.err);
    // Flags beside the records.
    let mut flags = String::from("id,confidence,good\n");
    for row in 0..50 {
        writeln!(flags, "{row},3.0,{}", row % 2).expect("a string");
    }
    folder.put("flags.csv", flags.as_bytes());
    let outcome =
        folder.run(&["monitor", "e.json", "flags.csv", "--correct-name", "good", "--json"]);
    let result: Value = serde_json::from_str(&outcome.out).expect("JSON");
    assert_eq!(result["report"]["risk"]["mean"].as_f64(), Some(0.5), "{}", outcome.err);
    let other = folder.run(&["monitor", "MSP", "records.csv"]);
    assert!(other.err.contains("has no threshold"), "{}", other.err);
    assert!(other.err.contains("abstain certify"), "{}", other.err);
}

#[test]
fn audits_choose_rows_and_monitors_use_their_propensities() {
    let folder = folder();
    let mut stream = Stream::new(8);
    let (records, labels) = stream.records(8000, 0.0);
    put_stream(&folder, &records, &labels);
    let audit = ["audit", "judge.json", "records.csv", "--budget", "800"];
    let text = folder.ok(&[&audit[..], &["-o", "list.csv", "-q"]].concat());
    assert!(text.contains("To notice a risk of 15 %"), "{text}");
    assert!(text.contains("To confirm the threshold at a risk of at most 10 %"), "{text}");
    let list = folder.read("list.csv");
    let chosen: Vec<Vec<&str>> =
        list.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!((700..900).contains(&chosen.len()), "{}", chosen.len());
    let right: std::collections::HashMap<&str, &str> =
        labels.lines().filter_map(|line| line.split_once(',')).collect();
    // Filled in, with the flag in the place of the label.
    let mut filled = String::from("id,propensity,min_propensity,correct\n");
    for row in &chosen {
        writeln!(filled, "{},{},{},{}", row[0], row[4], row[5], right[row[0]]).expect("a string");
    }
    folder.put("filled.csv", filled.as_bytes());
    let monitor = ["monitor", "judge.json", "records.csv", "--labels", "filled.csv"];
    let (sampled, _) = json(&folder, &monitor);
    let (all, _) = json(&folder, &MONITOR);
    let mean = |result: &Value| result["report"]["risk"]["mean"].as_f64().expect("labels");
    assert!((mean(&sampled) - mean(&all)).abs() < 0.03, "{} {}", mean(&sampled), mean(&all));
    assert!(
        sampled["report"]["risk"]["weight"].as_f64()
            < sampled["report"]["risk"]["test"]["observations"].as_f64()
    );
    // Without the column, the smallest is an option.
    let mut without = String::new();
    for line in filled.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        writeln!(without, "{},{},{}", cells[0], cells[1], cells[3]).expect("a string");
    }
    folder.put("filled.csv", without.as_bytes());
    assert_eq!(folder.run(&monitor).code, Some(2));
    let smallest = chosen[0][5];
    let (given, _) = json(&folder, &[&monitor[..], &["--min-propensity", smallest]].concat());
    assert_eq!(given["report"]["risk"], sampled["report"]["risk"]);
    // What options do.
    let chosen_by = |more: &[&str]| folder.ok_json(&[&audit[..], more, &["--json"]].concat());
    let accepted_only = chosen_by(&["--abstained", "0"]);
    assert_eq!(
        accepted_only["accepted"].as_u64(),
        accepted_only["chosen"].as_array().map(|c| c.len() as u64)
    );
    assert_eq!(chosen_by(&["--from-row", "5000"])["rows"], 3000);
    assert_ne!(chosen_by(&["--seed", "1"])["chosen"], chosen_by(&["--seed", "2"])["chosen"]);
    assert_eq!(chosen_by(&["--rise", "0.3"])["notice"][0]["risk"].as_f64(), Some(0.3));
    let median = |more: &[&str]| chosen_by(more)["notice"][0]["median"].as_u64().expect("labels");
    assert!(median(&["--rise", "0.3"]) < median(&["--rise", "0.15"]));
    assert!(median(&["--rise", "0.3", "--alpha", "0.001"]) > median(&["--rise", "0.3"]));
    assert!(median(&["--rise", "0.5", "--target-risk", "0.4"]) > median(&["--rise", "0.5"]));
    let confirm = |more: &[&str]| chosen_by(more)["confirm"]["median"].as_u64().expect("labels");
    assert!(
        confirm(&["--target-accuracy", "0.7", "--delta", "0.001"])
            > confirm(&["--target-accuracy", "0.7"])
    );
    let low = folder.run(&[&audit[..], &["--rise", "0.05"]].concat());
    assert!(low.err.contains("rise"), "{}", low.err);
    folder.ok(&[&audit[..], &["-o", "list.parquet", "-q"]].concat());
    let named = ["audit", "judge.json", "judged.csv", "--budget", "10"];
    assert!(folder.run(&named).err.contains("no column of ids"));
}

/// Every wrong record has a message that names it.
#[test]
fn wrong_records_are_named() {
    let folder = folder();
    let mut text = String::new();
    let mut case = |records: &str, labels: Option<&str>| {
        folder.put("records.csv", records.as_bytes());
        let mut arguments = vec!["monitor", "judge.json", "records.csv", "-q"];
        if let Some(labels) = labels {
            folder.put("labels.csv", labels.as_bytes());
            arguments.extend(["--labels", "labels.csv"]);
        }
        let outcome = folder.run(&arguments);
        let findings: Vec<&str> = outcome
            .out
            .lines()
            .filter(|line| line.contains("label(s)") || line.contains("record(s)"))
            .collect();
        writeln!(text, "{:?}\n{}{}\n", outcome.code, outcome.err, findings.join("\n"))
            .expect("a string");
    };
    let two = "id,confidence\na,0.9\nb,0.8\n";
    case(two, Some("id,correct\nz,1\n"));
    case(two, Some("id,correct\na,1\na,1\n"));
    case(two, Some("id,correct\na,1\na,0\n"));
    case("id,time,confidence\na,2,0.9\nb,1,0.8\n", None);
    case("id,confidence,accept\na,0.99,true\nb,0.98,false\n", None);
    case("id,confidence\na,0.9\na,0.8\n", Some("id,correct\na,1\n"));
    case(two, Some("id,correct\na,perhaps\n"));
    case(two, Some("id,loss\na,7\n"));
    case(two, Some("id,label\na,cat\n"));
    case("confidence\n0.9\n", Some("id,correct\na,1\n"));
    case(two, Some("id,colour\na,red\n"));
    case("id,confidence\na,nan\n", None);
    insta::assert_snapshot!(text);
}
