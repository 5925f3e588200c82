//! How is this repository checked, measured and kept fresh? `cargo xtask test | bench | replay | gen`.
//!
//! Needs nothing but cargo. Never publishes, never touches the network itself, never edits a source file other than
//! the generated ones listed in `generated.rs`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who started it")]

mod repository;
mod tally;
mod generated;
mod readme;
mod checks;
mod benches;
mod replay;
mod replay_intake;
mod record;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask <chore>
  test              everything that must hold before a commit lands
  bench [NAME]      all benches of the workspace, or those whose name matches; release build
  replay            the long Claude Code traces request by request, at windows of 50k and 100k
  replay presets    every preset on every long trace, at 60 % and 30 % of its largest request
  replay intake [N] what intake keeps of long results, by kind of content; with how N results of each kind begin
  record            plays the scripted agent and writes examples/session.json
  gen [--check]     writes the generated files; with --check only tells whether they are fresh";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(&words).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(words: &[&str]) -> Result<ExitCode> {
    match words {
        ["test"] => checks::run_all(),
        ["bench"] => benches::run("*"),
        ["bench", name] => benches::run(name),
        ["replay"] => replay::run(),
        ["replay", "presets"] => replay::run_presets(),
        ["replay", "intake"] => replay_intake::run(0),
        ["replay", "intake", samples] => replay_intake::run(samples.parse().context("how many samples?")?),
        ["record"] => record::run(),
        ["gen"] => generated::write_all(),
        ["gen", "--check"] => generated::check_all(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("unknown chore\n{USAGE}"),
    }
}
