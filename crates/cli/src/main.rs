//! One binary, `liveset`, with a command for each question: the table of them is in `args`.
//!
//! The only place that reads arguments, files and environment to configure. Decides nothing about what is cut.

mod settings;
mod args;
mod failure;
mod input;
mod output;
mod setup;
mod records;
mod differences;
mod picture;
mod summary;
mod commands;

use std::process::ExitCode;

use clap::{Parser as _, error::ErrorKind};

/// Bodies of megabytes come and go with each request: the system's allocator gives their pages back each time, and takes
/// a third more time for it all.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(not_run(error)),
    };
    match commands::run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => ExitCode::from(failure.report()),
    }
}

/// Prints help and version as asked, and anything else in one line.
fn not_run(error: clap::Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            failure::USAGE
        }
        _ => failure::Failure::from(error).report(),
    }
}
