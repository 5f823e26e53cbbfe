//! The `abstain` command: arguments in, calls to the library, text out. No arithmetic.

mod demo;
mod list;

use clap::{CommandFactory, Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;

/// Tells you when your classifier is wrong.
#[derive(Parser)]
#[command(name = "abstain", version, about, max_term_width = 100, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Tune, compare and certify on real logits that come with the program
    ///
    /// Two classifiers: an ImageNet network whose maximum softmax probability (MSP) is a poor
    /// confidence, and a Fashion-MNIST network whose MSP is fine. Methods are tuned on one half of
    /// the rows and measured on the other.
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
}

fn run(command: &Command, out: &mut impl Write) -> anyhow::Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(arguments, out),
        Command::List(arguments) => list::run(arguments, out),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "abstain", &mut script);
            Ok(out.write_all(&script)?)
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = run(&arguments.command, &mut out).and_then(|()| Ok(out.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads us has seen enough, as with `| head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
