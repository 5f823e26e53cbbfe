//! The program as a person or a script meets it.

use assert_cmd::Command;
use serde_json::Value;

fn abstain(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("abstain").expect("the program is built");
    command.args(arguments).output().expect("it runs")
}

fn stdout(arguments: &[&str]) -> String {
    let output = abstain(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "data goes to stdout alone");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).expect("valid JSON")
}

#[test]
fn list_names_everything_in_the_registries() {
    let text = stdout(&["list"]);
    let all = json(&["list", "--json"]);
    let mut names = 0;
    for part in ["scores", "transforms", "families", "metrics"] {
        for item in all[part].as_array().expect("a list") {
            let name = item["name"].as_str().expect("a name");
            let summary = item["summary"].as_str().expect("a summary");
            assert!(text.contains(name) && text.contains(summary), "{name} is not in the text");
            names += 1;
        }
        let one = json(&["list", part, "--json"]);
        assert_eq!(one[part], all[part]);
        assert_eq!(one.as_object().map(serde_json::Map::len), Some(1));
    }
    let registered = abstain::Score::ALL.len()
        + abstain::method::TransformKind::ALL.len()
        - 1 // the raw logits have no suffix to list
        + abstain::Method::families().count()
        + abstain::metric::MetricKind::ALL.len()
        + 2; // ECE and NLL, which --metric takes as well
    assert_eq!(names, registered);
    let metrics = stdout(&["list", "metrics"]);
    assert!(metrics.contains("ECE") && metrics.contains("NLL"), "{metrics}");
    let one = stdout(&["list", "families"]);
    assert!(one.contains("BK") && !one.contains("AURC"));
}

/// In the excerpt, a line `…` stands for any number of lines.
#[test]
fn readme_shows_an_excerpt_of_the_demo() {
    let text = stdout(&["demo"]);
    let readme = include_str!("../../../README.md");
    let block = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let excerpt = block.expect("README has a block of text");
    assert!(excerpt.lines().count() > 10, "{excerpt}");
    let mut rest = text.as_str();
    for part in excerpt.split("…\n") {
        let found = rest.split_once(part);
        (_, rest) = found.unwrap_or_else(|| panic!("the demo does not print here:\n{part}"));
    }
}

#[test]
fn the_demo_shows_what_is_broken_and_what_fixes_it() {
    let reports = json(&["demo", "--json"]);
    let line = |set: usize, method: &str| {
        let lines = reports[set]["report"]["methods"].as_array().expect("a list");
        lines.iter().find(|line| line["method"] == method).expect("in the list").clone()
    };
    let naurc = |set, method| {
        line(set, method)["naurc"]["interval"]["estimate"].as_f64().expect("a number")
    };
    // Broken on ImageNet, and fixed. On Fashion-MNIST no score is better, but the classes differ.
    assert!(naurc(0, "MaxLogit-pNorm") < naurc(0, "MSP") - 0.05);
    assert_eq!(line(0, "MaxLogit-pNorm")["estimator"]["p"], 5.0);
    let choice = |set: usize| &reports[set]["report"]["choice"];
    assert_eq!(choice(0)["estimator"]["method"], "Stack");
    assert_eq!(choice(0)["reason"], "confirmed");
    assert_eq!(line(1, "MaxLogit-pNorm")["fell_back"], true);
    assert_eq!(choice(1)["estimator"]["class_offsets"].as_array().map(Vec::len), Some(10));
    assert!(naurc(1, "Stack") < naurc(1, "MSP") - 0.01);
    for report in reports.as_array().expect("a list") {
        let result = &report["report"]["certificate"];
        let (accepted, errors) = (result["accepted"].as_u64(), result["errors"].as_u64());
        assert!(accepted > Some(100) && errors < accepted.map(|n| n / 20), "{result}");
    }
}

/// The names of all commands, from the program's help.
fn commands() -> Vec<String> {
    let help = stdout(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let named = listed.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = named.filter_map(|line| line.split_whitespace().next()).map(String::from);
    let names: Vec<String> = names.filter(|name| name != "help").collect();
    assert!(names.iter().any(|name| name == "study") && names.len() > 10, "{names:?}");
    names
}

/// What `--help` says of every command; a change of an option is a change of this file.
#[test]
#[cfg_attr(
    not(feature = "models"),
    ignore = "the help is that of a program with the feature models"
)]
fn help_is_as_it_was() {
    let mut text = stdout(&["--help"]);
    for command in &commands() {
        text += &["\n$ abstain ", command, " --help\n", &stdout(&[command, "--help"])].concat();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn manual_pages_are_printed_for_every_command() {
    assert!(stdout(&["man"]).contains(".TH abstain 1"));
    for command in commands() {
        let page = stdout(&["man", &command]);
        assert!(page.contains(&format!(".TH abstain-{command} 1")), "{command}");
    }
}

/// Colours are for terminals: none in a pipe, unless they are forced.
#[test]
fn colours_are_for_terminals() {
    let program = assert_cmd::cargo::cargo_bin!("abstain");
    let show = |variable: &str, value: &str| {
        let mut command = std::process::Command::new(program);
        command.args(["show", "MSP"]).env_remove("NO_COLOR").env(variable, value);
        String::from_utf8(command.output().expect("it runs").stdout).expect("UTF-8")
    };
    assert!(!show("TERM", "xterm").contains('\x1b'));
    assert!(show("CLICOLOR_FORCE", "1").contains('\x1b'));
    assert!(!show("NO_COLOR", "1").contains('\x1b'));
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&["completions", shell]).contains("abstain"), "{shell}");
    }
}

#[test]
fn wrong_arguments_exit_with_2_and_say_why() {
    let output = abstain(&["threshol"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("a similar subcommand exists: 'threshold'")
    );
    assert_eq!(abstain(&["list", "nothing"]).status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

/// A reader that stops early, as `head` does, is no error.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};
    let program = assert_cmd::cargo::cargo_bin!("abstain");
    let mut child = Command::new(program)
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
