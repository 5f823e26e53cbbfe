//! What happens to files when things go wrong in the middle.
#![cfg(unix)]

mod common;

use common::{Folder, classifier, npy_f32, program};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run of `score` that has begun to write and waits for more rows.
fn half_written(folder: &Folder, output: &str) -> (Child, std::process::ChildStdin) {
    let (logits, _) = classifier(200_000, 20, 1);
    let input = npy_f32(&logits, 20);
    let mut child = folder
        .command(&["score", "MSP", "-", "-q", "-o", output])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // All but the last rows: it has written most of its output and waits.
    pipe.write_all(&input[..input.len() - 800]).expect("written");
    let limit = Instant::now() + Duration::from_mins(1);
    while !folder.names().iter().any(|name| name.contains(".tmp")) {
        assert!(Instant::now() < limit, "nothing was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    (child, pipe)
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

#[test]
fn killed_in_the_middle_the_earlier_file_is_intact() {
    for output in ["scores.csv", "scores.npy", "scores.parquet", "scores.jsonl"] {
        let folder = Folder::new();
        folder.put(output, b"the earlier file");
        let (mut child, pipe) = half_written(&folder, output);
        signal(&child, "-KILL");
        child.wait().expect("it ends");
        drop(pipe);
        assert_eq!(folder.read(output), "the earlier file");
    }
}

#[test]
fn interrupted_it_leaves_nothing_behind() {
    for (name, output) in [("-INT", "scores.csv"), ("-TERM", "scores.npy")] {
        let folder = Folder::new();
        folder.put(output, b"the earlier file");
        let (mut child, pipe) = half_written(&folder, output);
        signal(&child, name);
        let status = child.wait().expect("it ends");
        drop(pipe);
        assert_eq!(status.code(), Some(130));
        assert_eq!(folder.read(output), "the earlier file");
        assert_eq!(folder.names(), [output], "half a file was left");
    }
}

#[test]
fn input_that_ends_too_early_leaves_the_earlier_file() {
    let folder = Folder::new();
    folder.put("scores.csv", b"the earlier file");
    let (child, pipe) = half_written(&folder, "scores.csv");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("cut short"), "{message}");
    assert_eq!(folder.read("scores.csv"), "the earlier file");
    assert_eq!(folder.names(), ["scores.csv"]);
}

/// A device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let folder = Folder::with_rows(20_000, 5, 1);
    for format in ["csv", "npy", "parquet", "jsonl"] {
        let to = ["-o", "/dev/full", "--output-format", format];
        let output = folder.run(&[&["score", "MSP", "logits.npy", "-q"], &to[..]].concat());
        assert_eq!(output.code, Some(2), "{format}: {}", output.err);
        assert!(output.err.contains("no space left on the disk"), "{format}: {}", output.err);
    }
    let tune = ["tune", "logits.npy", "labels.npy", "--method", "MSP", "-q", "-o", "/dev/full"];
    let output = folder.run(&tune);
    assert_eq!(output.code, Some(2));
    assert!(
        output.err.starts_with("error: /dev/full: no space left on the disk"),
        "{}",
        output.err
    );
}

/// A file system of 64 kB, in a separate name space; where that is not allowed, the test says so.
#[cfg(target_os = "linux")]
#[test]
fn a_small_disk_keeps_the_earlier_file() {
    let folder = Folder::with_rows(20_000, 5, 1);
    let script = "mkdir small && mount -t tmpfs -o size=64k none small || exit 77; \
        echo earlier > small/scores.csv; \"$0\" score MSP logits.npy -q -o small/scores.csv; \
        code=$?; cat small/scores.csv; ls -A small; exit $code";
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script])
        .arg(program())
        .current_dir(folder.path())
        .output();
    match output {
        Ok(output) if output.status.code() == Some(2) => {
            let output = common::outcome(&output);
            assert!(
                output.err.contains("small/scores.csv: no space left on the disk"),
                "{}",
                output.err
            );
            assert!(
                output.err.contains("an earlier file of that name is unchanged"),
                "{}",
                output.err
            );
            assert_eq!(output.out, "earlier\nscores.csv\n");
        }
        other => {
            if let Ok(output) = &other {
                let output = common::outcome(output);
                assert!(!output.err.contains("error:"), "{}", output.err);
            }
            let code = other.ok().and_then(|output| output.status.code());
            // 77: no mount; 1 without a word of ours: no name space.
            assert!(matches!(code, None | Some(1 | 77)), "exit code {code:?}");
            eprintln!("skipped: no small file system can be mounted here");
        }
    }
}

/// As root every folder can be written to, so the program is run as nobody then.
#[test]
fn a_folder_that_cannot_be_written_to_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_rows(100, 5, 1);
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).expect("made");
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
    };
    mode(folder.path(), 0o755);
    mode(&closed, 0o555);
    let arguments = ["score", "MSP", "logits.npy", "-q", "-o", "closed/scores.csv"];
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    let output = if root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program());
        command.args(arguments).current_dir(folder.path()).output()
    } else {
        folder.command(&arguments).output()
    };
    let Ok(output) = output else {
        eprintln!("skipped: there is no setpriv");
        return;
    };
    let output = common::outcome(&output);
    if root && output.code != Some(2) {
        eprintln!("skipped: nobody cannot run the program here: {}", output.err);
        return;
    }
    assert_eq!(output.code, Some(2), "{}", output.err);
    assert_eq!(output.err, "error: closed/scores.csv: permission denied\n");
}

#[test]
fn a_missing_folder_is_said_before_any_work() {
    let folder = Folder::with_rows(100, 5, 1);
    let output = folder.run(&["score", "MSP", "logits.npy", "-q", "-o", "no/such/scores.csv"]);
    assert_eq!(output.code, Some(2));
    assert_eq!(output.err, "error: no/such/scores.csv: no such file or folder\n");
    let output = folder.run(&["tune", "logits.npy", "labels.npy", "-o", "no/such/e.json"]);
    assert_eq!((output.out.as_str(), output.code), ("", Some(2)));
    assert_eq!(output.err, "error: no/such/e.json: no such file or folder\n");
    std::fs::create_dir(folder.path().join("folder")).expect("made");
    let output =
        folder.run(&["tune", "logits.npy", "labels.npy", "--method", "MSP", "-q", "-o", "folder"]);
    assert_eq!(output.err, "error: folder: this is a folder, not a file\n");
}

/// A pipe is written to once, when there is something to write.
#[test]
fn an_artifact_may_go_through_a_pipe() {
    let folder = Folder::new();
    let script = format!(
        "mkfifo pipe && (cat pipe > copy.json &) && '{}' threshold MSP --at 1 -q -o pipe && sleep 0.2",
        program().display()
    );
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output();
    assert!(output.expect("it runs").status.success());
    assert_eq!(folder.json("copy.json")["rule"]["threshold"]["at"], 1.0);
}
