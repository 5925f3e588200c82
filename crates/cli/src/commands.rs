//! One file a command; the table of them is here.

mod check;
mod compact;
mod count;
mod explain;
mod inspect;
mod restore;

use crate::{
    args::{Arguments, Command, SchemaOf},
    failure::Failure,
    output,
};

/// Runs the command and gives its exit code.
pub(crate) fn run(arguments: Arguments) -> Result<u8, Failure> {
    match arguments.command {
        Command::Compact(args) => compact::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Count(args) => count::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Schema(args) => {
            let schema = match args.of {
                SchemaOf::Report => liveset::Report::json_schema(),
                SchemaOf::Policy => liveset::Policy::json_schema(),
            };
            output::text(&(schema + "\n")).map(|()| 0)
        }
    }
}
