//! One binary: `liveset compact | inspect | explain | count | check | restore | schema`.
//!
//! The only place that reads arguments, files and environment to configure. Decides nothing about what is cut.

mod failure;
mod args;
mod input;
mod output;
mod setup;
mod picture;
mod commands;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { failure::USAGE } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match commands::run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => ExitCode::from(failure.report()),
    }
}
