//! Flags of `shape`.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use liveset::{RecallRoute, Strategy};

use super::{ArchiveUseArgs, examples};

/// Arguments of `shape`.
#[derive(Args, Debug)]
#[command(after_help = examples::SHAPE)]
pub(crate) struct Shape {
    /// What the tool put out; `-` or nothing reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The tool, as the agent calls it
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: String,
    /// The file that the call is about
    #[arg(long, value_name = "PATH", conflicts_with = "arguments")]
    pub(crate) path: Option<String>,
    /// The arguments of the call, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) arguments: Option<String>,
    /// Leave it whole
    #[arg(long)]
    pub(crate) pin: bool,
    /// The tool failed: its error lines come first
    #[arg(long)]
    pub(crate) failed: bool,
    /// Policy file (TOML); flags override its table `intake`
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// What stays of a result over a limit; `liveset policy explain intake` describes each
    #[arg(long, value_name = "NAME", value_parser = strategy())]
    pub(crate) strategy: Option<Strategy>,
    /// Characters that stay at most; without --strategy and a policy, by type
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_chars: Option<u64>,
    /// Lines that stay at most, gaps counted
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_lines: Option<u64>,
    /// How the agent gets back what is cut: none, tool, mcp, shell or spill:RELATIVE [default: none]
    #[arg(long, value_name = "ROUTE", value_parser = clap::value_parser!(RecallRoute))]
    pub(crate) recall_route: Option<RecallRoute>,
    /// The model that will read it: sizes are in its tokens
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Where the text goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) archive: ArchiveUseArgs,
}

fn strategy() -> impl TypedValueParser<Value = Strategy> {
    PossibleValuesParser::new(Strategy::ALL.map(Strategy::name)).map(|asked| {
        // The parser lets only listed names through.
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == asked).unwrap_or_default()
    })
}
