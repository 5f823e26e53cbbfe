//! The `abstain` command: arguments in, calls to the library, text out. No arithmetic.

mod audit;
mod bench;
mod certify;
mod demo;
mod eval;
mod export;
mod failure;
mod hints;
#[cfg(feature = "models")]
mod images;
mod input;
mod list;
#[cfg(feature = "models")]
mod logits;
mod monitor;
mod notes;
mod options;
mod output;
mod page;
#[cfg(feature = "models")]
mod predict;
mod progress;
mod records;
mod score;
mod show;
mod study;
mod threshold;
mod tune;
mod zoo;

use clap::{CommandFactory, Parser, Subcommand};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Tells you when your classifier is wrong.
///
/// From the logits and labels of held-out rows it finds the best confidence estimator, says what
/// that buys, certifies a threshold, and writes an artifact that scores anywhere.
#[derive(Parser)]
#[command(
    name = "abstain",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Begin with `abstain demo`, or with your rows: `abstain tune logits.npy labels.npy`.\n\
        Data go to standard output, everything else to standard error; with --json, errors to both.\n\
        Exit codes: 0 done, 1 refused (such as a target that cannot be certified) or an alarm stands, 2 error, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Tune every method on held-out rows, measure each, and write the recommended estimator
    Tune(Box<tune::Arguments>),
    /// Measure an estimator on labelled rows, on one set or several, against MSP
    Eval(Box<eval::Arguments>),
    /// Give every row its prediction, its confidence, and whether to trust it
    Score(score::Arguments),
    /// Find the threshold that guarantees an accuracy, on fresh labelled rows
    Certify(certify::Arguments),
    /// Set a threshold without a guarantee: by coverage, by accuracy, or by hand
    Threshold(threshold::Arguments),
    /// Write the confidence into an ONNX model, which then decides by itself wherever it runs
    Export(export::Arguments),
    /// Watch a deployment: whether what was promised still holds, with every label that arrives
    Monitor(Box<monitor::Arguments>),
    /// Choose which rows to have labelled, and say what so many labels can show
    Audit(audit::Arguments),
    /// Run image classifiers over images, and write their logits as a zoo
    #[cfg(feature = "models")]
    Logits(Box<logits::Arguments>),
    /// Run a classifier over images and say which answers to trust
    #[cfg(feature = "models")]
    Predict(Box<predict::Arguments>),
    /// Run image classifiers over images (not in this build)
    #[cfg(not(feature = "models"))]
    Logits(NotBuilt),
    /// Run a classifier over images and say which answers to trust (not in this build)
    #[cfg(not(feature = "models"))]
    Predict(NotBuilt),
    /// Explain an artifact in words
    Show(show::Arguments),
    /// Compare many models: a zoo at a glance, by the paper's protocol
    Bench(Box<bench::Arguments>),
    /// Run the paper's experiments on many models: tables, figures and numbers in one folder
    Study(Box<study::Arguments>),
    /// Tune, compare and certify on real logits that come with the program
    ///
    /// Two classifiers: an ImageNet network whose maximum softmax probability (MSP) is a poor
    /// confidence, and a Fashion-MNIST network whose MSP no other score improves. Methods are tuned on
    /// some of the rows, and measured and certified on the others.
    Demo(demo::Arguments),
    /// List the scores, transforms, families and metrics
    List(list::Arguments),
    /// Print the completions of a shell
    #[command(
        after_help = "Example: abstain completions bash > ~/.local/share/bash-completion/completions/abstain"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of the program or of one of its commands
    #[command(after_help = "Example: abstain man tune | man -l -")]
    Man {
        /// The command
        command: Option<String>,
    },
}

/// A command that needs a part of the program that was not built.
#[cfg(not(feature = "models"))]
#[derive(clap::Args)]
struct NotBuilt {
    /// Whatever the command would take
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

#[cfg(not(feature = "models"))]
impl NotBuilt {
    #[expect(clippy::unused_self, reason = "of the command")]
    fn refuse(&self) -> anyhow::Result<()> {
        Err(failure::hinted(
            "this program was built without the runtimes of image classifiers",
            "build it with them: cargo install --path crates/cli --features models",
        ))
    }
}

fn run(command: &Command, out: &mut impl Write) -> anyhow::Result<()> {
    match command {
        Command::Tune(arguments) => tune::run(arguments, out),
        Command::Eval(arguments) => eval::run(arguments, out),
        Command::Score(arguments) => score::run(arguments),
        Command::Certify(arguments) => certify::run(arguments, out),
        Command::Threshold(arguments) => threshold::run(arguments, out),
        Command::Export(arguments) => export::run(arguments, out),
        Command::Monitor(arguments) => monitor::run(arguments, out),
        Command::Audit(arguments) => audit::run(arguments, out),
        #[cfg(feature = "models")]
        Command::Logits(arguments) => logits::run(arguments, out),
        #[cfg(feature = "models")]
        Command::Predict(arguments) => predict::run(arguments),
        #[cfg(not(feature = "models"))]
        Command::Logits(missing) | Command::Predict(missing) => missing.refuse(),
        Command::Show(arguments) => show::run(arguments, out),
        Command::Bench(arguments) => bench::run(arguments, out),
        Command::Study(arguments) => study::run(arguments, out),
        Command::Demo(arguments) => demo::run(arguments, out),
        Command::List(arguments) => list::run(arguments, out),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "abstain", &mut script);
            Ok(out.write_all(&script)?)
        }
        Command::Man { command } => manual(command.as_deref(), out),
    }
}

fn manual(name: Option<&str>, out: &mut impl Write) -> anyhow::Result<()> {
    let mut program = Arguments::command().disable_help_subcommand(true);
    // So that the pages of commands know their full names.
    program.build();
    let page = match name {
        None => program,
        Some(name) => {
            let found =
                program.get_subcommands().find(|command| command.get_name() == name).cloned();
            let known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
            let command = found.ok_or_else(|| {
                anyhow::anyhow!("no command is called '{name}'; there are {}", known.join(", "))
            })?;
            // As `man` names the pages of subcommands.
            command.name(format!("abstain-{name}"))
        }
    };
    clap_mangen::Man::new(page).render(out)?;
    Ok(())
}

/// Standard output, and whether anything was written to it.
struct Counted<W> {
    inner: W,
    any: bool,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.any |= !bytes.is_empty();
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    #[cfg(feature = "parquet")]
    abstain_io::quiet_guarded_panics();
    // Half-written files go with the program, whoever stops it.
    let _ = ctrlc::set_handler(|| {
        abstain_io::remove_temporary_files();
        if io::stderr().is_terminal() {
            // Half a bar is no way to leave.
            eprint!("\r\x1b[K");
        }
        std::process::exit(130);
    });
    let mut out = Counted { inner: io::BufWriter::new(anstream::stdout().lock()), any: false };
    let result = run(&arguments.command, &mut out).and_then(|()| Ok(out.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // What was found before the refusal is still worth reading.
            let _ = out.flush();
            let json = !out.any && std::env::args_os().any(|argument| argument == "--json");
            failure::report(&error, json.then_some(&mut out as &mut dyn Write))
        }
    }
}
