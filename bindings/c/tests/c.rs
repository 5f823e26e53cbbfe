//! The library as programs in C and C++ use it: compiled against the installed header, linked with
//! both libraries, and run. Without a C compiler the tests are skipped, and say so.

mod jobs;

use abstain::{Artifact, Logits};
use jobs::Job;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// What rustc prints for `--print native-static-libs` on Linux; README.md has the same.
const NATIVE: [&str; 7] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

/// The library, installed as users install it, and a compiler.
struct Kit {
    prefix: PathBuf,
}

/// The kit, made once; nothing where there is no C compiler.
fn kit() -> Option<&'static Kit> {
    static KIT: OnceLock<Option<Kit>> = OnceLock::new();
    let kit = KIT.get_or_init(Kit::new).as_ref();
    if kit.is_none() {
        println!("skipped: no C compiler, or no shell");
    }
    kit
}

fn has(program: &str) -> bool {
    runs(Command::new(program).arg("--version"))
}

fn runs(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A check of memory: a program that runs others, or options of the compiler.
enum Checker {
    Valgrind,
    AddressSanitizer,
}

impl Kit {
    fn new() -> Option<Self> {
        if cfg!(windows) || !has("cc") || !has("bash") {
            return None;
        }
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
        // Cargo has built the libraries beside this test, because they are of the same package.
        let test = std::env::current_exe().expect("a path");
        let built = test.parent().expect("a folder");
        let install = Command::new("bash")
            .arg(Path::new(HERE).join("install"))
            .args([&prefix, built])
            .status();
        assert!(install.expect("bash runs").success(), "installs");
        Some(Kit { prefix })
    }

    /// Compiles a source in C or C++ to a program that finds the shared library.
    fn compile(&self, source: &str, name: &str) -> PathBuf {
        let library = self.prefix.join("lib");
        let mut rpath = std::ffi::OsString::from("-Wl,-rpath,");
        rpath.push(&library);
        let link = [OsStr::new("-L"), library.as_os_str(), OsStr::new("-labstain_c"), &rpath];
        self.compile_with(source, name, &link)
    }

    /// The same with the static library.
    fn compile_statically(&self, source: &str, name: &str, options: &[&str]) -> PathBuf {
        let library = self.prefix.join("lib/libabstain_c.a");
        let native: &[&str] = if cfg!(target_os = "linux") { &NATIVE } else { &["-lpthread"] };
        let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        arguments.push(library.as_os_str());
        arguments.extend(native.iter().map(OsStr::new));
        self.compile_with(source, name, &arguments)
    }

    fn compile_with(&self, source: &str, name: &str, link: &[&OsStr]) -> PathBuf {
        let program = self.prefix.join(name);
        let is_cpp = Path::new(source).extension() == Some(OsStr::new("cpp"));
        let (compiler, standard) = if is_cpp { ("c++", "-std=c++17") } else { ("cc", "-std=c11") };
        let compiled = Command::new(compiler)
            .args([standard, "-D_POSIX_C_SOURCE=200809L", "-g"])
            .args(["-Wall", "-Wextra", "-pedantic", "-Werror"])
            .arg(concat!("-DVERSION=\"", env!("CARGO_PKG_VERSION"), "\""))
            .arg("-I")
            .arg(self.prefix.join("include"))
            .arg(Path::new(HERE).join(source))
            .arg("-o")
            .arg(&program)
            .args(link)
            .args(["-lm", "-lpthread"])
            .output()
            .expect("the compiler runs");
        assert!(compiled.status.success(), "{source}: {}", text(&compiled.stderr));
        program
    }

    /// A program whose use of memory is checked, and how to start it.
    fn checked(&self, source: &str, name: &str) -> Option<Command> {
        let checker = if has("valgrind") {
            Checker::Valgrind
        } else if self.sanitizes() {
            Checker::AddressSanitizer
        } else {
            println!("skipped: neither valgrind nor AddressSanitizer");
            return None;
        };
        Some(match checker {
            Checker::Valgrind => {
                let mut command = Command::new("valgrind");
                command
                    .args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
                    .arg(self.compile(source, name));
                command
            }
            Checker::AddressSanitizer => {
                Command::new(self.compile_statically(source, name, &["-fsanitize=address"]))
            }
        })
    }

    /// Whether the compiler has AddressSanitizer with its library.
    fn sanitizes(&self) -> bool {
        let source = self.prefix.join("empty.c");
        std::fs::write(&source, "int main(void) { return 0; }\n").expect("writes");
        let (compiler, program) = (&mut Command::new("cc"), self.prefix.join("empty"));
        runs(compiler.arg("-fsanitize=address").arg(&source).arg("-o").arg(program))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a program to its end.
fn run(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_string();
    let writer = std::thread::spawn(move || {
        // A program that fails may not read all of it.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("ends");
    writer.join().expect("writes");
    output
}

/// Runs a program that must succeed; returns what it prints.
fn succeed(command: &mut Command, input: &str) -> String {
    let output = run(command, input);
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{:?}: {printed}{errors}", output.status);
    printed
}

/// A folder of artifacts for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn header_and_shared_library_agree() {
    let Some(kit) = kit() else { return };
    let program = kit.compile("tests/programs/interface.c", "interface");
    succeed(&mut Command::new(program), "");
}

#[test]
fn header_and_static_library_agree() {
    let Some(kit) = kit() else { return };
    let readme = std::fs::read_to_string(Path::new(HERE).join("README.md")).expect("a file");
    assert!(readme.contains(&NATIVE.join(" ")), "README.md has the same line");
    let program = kit.compile_statically("tests/programs/interface.c", "interface-static", &[]);
    succeed(&mut Command::new(program), "");
}

/// The names of the functions in a text: `abstain_` up to the parenthesis.
fn functions(text: &str) -> BTreeSet<&str> {
    let names = text.match_indices("abstain_").filter_map(|(start, _)| {
        let (name, _) = text[start..].split_once('(')?;
        name.chars().all(|letter| letter.is_alphanumeric() || letter == '_').then_some(name)
    });
    names.collect()
}

#[test]
fn every_function_is_declared_and_tested() {
    let read = |path: &str| std::fs::read_to_string(Path::new(HERE).join(path)).expect("a source");
    let (header, source) = (read("include/abstain.h"), read("src/ffi.rs"));
    let tests = read("tests/programs/interface.c");
    let code: String =
        header.split("/*").map(|part| part.split("*/").last().unwrap_or("")).collect();
    let declared = functions(&code);
    let mut defined: BTreeSet<&str> = source
        .split("extern \"C\" fn ")
        .skip(1)
        .filter_map(|part| part.split('(').next())
        .filter(|name| name.starts_with("abstain_"))
        .collect();
    let scores = source.lines().filter_map(|line| line.strip_prefix("score!(abstain_"));
    let scores: Vec<String> =
        scores.map(|rest| format!("abstain_{}", rest.split(',').next().unwrap_or(""))).collect();
    defined.extend(scores.iter().map(String::as_str));
    assert_eq!(declared, defined);
    assert_eq!(declared.difference(&functions(&tests)).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn results_equal_the_core_to_the_bit() {
    let Some(kit) = kit() else { return };
    let folder = folder("golden");
    let jobs = jobs::all();
    assert!(jobs.len() > 4000, "{} jobs", jobs.len());
    let program = kit.compile("tests/programs/jobs.c", "jobs");
    let printed = succeed(&mut Command::new(program), &jobs::input(&jobs, &folder));
    let refused = jobs::compare(&jobs, &printed);
    // Numbers of some cases are too large for the smaller types.
    assert!(refused > 50 && refused < jobs.len() / 4, "{refused} of {} jobs", jobs.len());
}

#[test]
fn memory_is_used_as_it_should_be() {
    let Some(kit) = kit() else { return };
    let folder = folder("checked");
    let Some(mut command) = kit.checked("tests/programs/jobs.c", "jobs-checked") else { return };
    let jobs: Vec<Job> = jobs::all().into_iter().step_by(23).collect();
    let printed = succeed(&mut command, &jobs::input(&jobs, &folder));
    jobs::compare(&jobs, &printed);
    if let Some(mut command) = kit.checked("tests/programs/errors.c", "errors-checked") {
        succeed(command.current_dir(jobs::damaged(&folder)), "");
    }
}

#[test]
fn errors_have_code_place_and_words() {
    let Some(kit) = kit() else { return };
    let folder = jobs::damaged(&folder("errors"));
    let program = kit.compile("tests/programs/errors.c", "errors");
    insta::assert_snapshot!(succeed(Command::new(program).current_dir(folder), ""));
}

#[test]
fn threads_share_an_estimator() {
    let Some(kit) = kit() else { return };
    let artifact = folder("threads").join("stack.json");
    jobs::write(&jobs::stack(false), &artifact);
    let program = kit.compile("tests/programs/threads.c", "threads");
    succeed(Command::new(program).arg(artifact), "");
}

/// What the examples print of two rows, except that in C.
const PRINTED: &str = "MSP\n0 2.525923 accept\n0 -0.039387 abstain\n";

/// The artifact of the examples.
fn example() -> PathBuf {
    let artifact = folder("examples").join("estimator.json");
    jobs::write(&jobs::named_classes(), &artifact);
    artifact
}

#[test]
fn example_in_c_scores_rows() {
    let Some(kit) = kit() else { return };
    let program = kit.compile("examples/score.c", "example");
    let rows = "4.0 1.0 0.5\n2.0 1.9 0.0\n";
    let printed = succeed(Command::new(program).arg(example()), rows);
    assert_eq!(printed, "cat 2.525923 accept\ncat -0.039387 abstain\n");
}

#[test]
fn example_in_cpp_scores_rows() {
    let Some(kit) = kit() else { return };
    if !has("c++") {
        println!("skipped: no C++ compiler");
        return;
    }
    let program = kit.compile("examples/score.cpp", "example-cpp");
    assert_eq!(succeed(Command::new(&program).arg(example()), ""), PRINTED);
    let missing = run(Command::new(program).arg("missing.json"), "");
    assert!(text(&missing.stderr).starts_with("missing.json: "), "{}", text(&missing.stderr));
}

#[test]
fn example_in_go_scores_rows() {
    let Some(kit) = kit() else { return };
    if !runs(Command::new("go").arg("version")) || !has("pkg-config") {
        println!("skipped: no Go, or no pkg-config");
        return;
    }
    let mut command = Command::new("go");
    command
        .arg("run")
        .arg(Path::new(HERE).join("examples/score.go"))
        .arg(example())
        .env("GOCACHE", folder("go"))
        .env("PKG_CONFIG_PATH", kit.prefix.join("lib/pkgconfig"))
        .env("LD_LIBRARY_PATH", kit.prefix.join("lib"));
    assert_eq!(succeed(&mut command, ""), PRINTED);
}

/// `ABSTAIN_JNA` may name the file of JNA; that of Debian is found.
#[test]
fn example_in_java_scores_rows() {
    let Some(kit) = kit() else { return };
    let jna = std::env::var_os("ABSTAIN_JNA").map(PathBuf::from);
    let jna = jna.unwrap_or_else(|| "/usr/share/java/jna.jar".into());
    if !has("javac") || !jna.exists() {
        println!("skipped: no Java, or no JNA");
        return;
    }
    let classes = folder("java");
    let source = Path::new(HERE).join("examples/Score.java");
    succeed(Command::new("javac").arg("-cp").arg(&jna).arg("-d").arg(&classes).arg(source), "");
    let path = std::env::join_paths([&jna, &classes]).expect("paths");
    let library = format!("-Djna.library.path={}", kit.prefix.join("lib").display());
    let mut command = Command::new("java");
    // That of Debian has its native part in a folder of the system.
    command.args([&library, "-Djna.nosys=false", "-cp"]).arg(path).arg("Score").arg(example());
    assert_eq!(succeed(&mut command, ""), PRINTED);
}

#[test]
fn pkg_config_finds_the_library() {
    let Some(kit) = kit() else { return };
    if !has("pkg-config") {
        println!("skipped: no pkg-config");
        return;
    }
    let query = |options: &[&str]| {
        let command = &mut Command::new("pkg-config");
        let command = command.env("PKG_CONFIG_PATH", kit.prefix.join("lib/pkgconfig"));
        succeed(command.args(options).arg("abstain"), "")
    };
    let flags = query(&["--cflags", "--libs"]);
    let prefix = kit.prefix.display();
    for part in [format!("-I{prefix}/include"), format!("-L{prefix}/lib"), "-labstain_c".into()] {
        assert!(flags.contains(&part), "{part} in {flags}");
    }
    assert_eq!(query(&["--modversion"]).trim(), env!("CARGO_PKG_VERSION"));
}

/// What the interface costs beside the core, which works on one thread here as the interface does.
/// In release: `cargo test --release -p abstain-c -- --ignored --nocapture cost`.
#[test]
#[ignore = "measures, and asserts only that the results are equal"]
fn cost_of_the_interface() {
    const ROWS: usize = 2000;
    let Some(kit) = kit() else { return };
    let program = kit.compile("tests/programs/cost.c", "cost");
    println!("estimator, classes, batch: rows/s through C, of the core on one thread, ratio");
    let estimators = [("MSP", 1000), ("MaxLogit-pNorm(p=5)", 1000), ("MSP", 10)];
    for ((text, classes), batch) in estimators.into_iter().flat_map(|e| [(e, 1), (e, 1000)]) {
        let mut artifact = Artifact::new(text.parse().expect("an estimator"));
        artifact.classes = Some(classes);
        let path = folder("cost").join("estimator.json");
        jobs::write(&artifact, &path);
        let logits = jobs::uniform(ROWS * classes);
        // By turns, and the fastest of each: other programs disturb some of them.
        let (mut through_c, mut direct) = (0.0_f64, 0.0_f64);
        for _ in 0..10 {
            let arguments = [classes, ROWS, batch].map(|n| n.to_string());
            let printed = succeed(Command::new(&program).arg(&path).args(arguments), "");
            let (speed, c_sum) = printed.trim().split_once(' ').expect("two numbers");
            through_c = through_c.max(speed.parse().expect("a number"));
            let (speed, sum) = speed_of_core(&artifact, &logits, batch);
            direct = direct.max(speed);
            assert_eq!(c_sum, format!("{:016x}", sum.to_bits()), "{text}");
        }
        let ratio = through_c / direct;
        println!("{text}, {classes}, {batch}: {through_c:.0}, {direct:.0}, {ratio:.2}");
    }
}

/// Rows per second of the core on one thread, in the fastest of several rounds, and the sum of the
/// confidences.
fn speed_of_core(artifact: &Artifact, logits: &[f32], batch: usize) -> (f64, f64) {
    let classes = artifact.classes.expect("known");
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let score = || {
        let mut sum = 0.0;
        for rows in logits.chunks(batch * classes) {
            let rows = Logits::new(rows, classes).expect("valid");
            let answers = artifact.answers(&rows).expect("as many classes");
            sum = answers.iter().fold(sum, |sum, answer| sum + answer.confidence);
        }
        sum
    };
    one_thread.install(|| {
        let (mut fastest, mut sum) = (0.0_f64, 0.0);
        for _ in 0..30 {
            let start = Instant::now();
            sum = score();
            let rows = (logits.len() / classes) as f64;
            fastest = fastest.max(rows / start.elapsed().as_secs_f64());
        }
        (fastest, sum)
    })
}
