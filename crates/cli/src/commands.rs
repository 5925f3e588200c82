//! One file a command; the table of them is here.

mod archive;
mod check;
mod compact;
mod completions;
mod count;
mod diff;
mod doctor;
mod eval;
mod explain;
mod inspect;
mod man;
mod mcp;
mod policy;
mod proxy;
mod recall;
mod replay;
mod restore;
mod search;
mod shape;

use crate::{
    args::{Arguments, Command, SchemaOf},
    failure::Failure,
    output,
};

/// Runs the command and gives its exit code.
pub(crate) fn run(arguments: Arguments) -> Result<u8, Failure> {
    match arguments.command {
        Command::Compact(args) => compact::run(&args),
        Command::Shape(args) => shape::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Count(args) => count::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Recall(args) => recall::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Archive(command) => archive::run(&command),
        Command::Proxy(args) => proxy::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Eval(command) => eval::run(&command),
        Command::Replay(args) => replay::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Policy(command) => policy::run(&command),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Schema(args) => {
            let schema = match args.of {
                SchemaOf::Report => liveset::Report::json_schema(),
                SchemaOf::Policy => liveset::Policy::json_schema(),
                SchemaOf::Proxy => liveset_proxy::ProxyConfig::json_schema(),
            };
            output::text(&(schema + "\n")).map(|()| 0)
        }
    }
}
