//! The words of `liveset replay`.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{TypedValueParser, ValueParser},
};
use liveset_eval::strategies::Choice;

use super::InputArgs;

const EXAMPLES: &str = "Examples:
  liveset replay session.jsonl
  liveset replay session.jsonl --window 60000 --strategy balanced --strategy clear-keep-3 --strategy 'exec:my-filter'
  liveset replay session.jsonl --report replay.json

Tokens are o200k's for every strategy. The price is that of a cache that never goes cold. What was served is the share of
text that the agent quoted while it stood in the request before; it says nothing of what an agent would have done without.";

/// Arguments of `replay`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// What to replay: a name of the table, or `exec:COMMAND` (a body in, a body out); may be repeated
    #[arg(long, value_name = "NAME", value_parser = strategy())]
    pub(crate) strategy: Vec<Choice>,
    /// Tokens of a request at most [default: half of the largest request of the trace]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..=liveset_engine::budget::MAX_TOKENS))]
    pub(crate) window: Option<u64>,
    /// Price of a million tokens of plain input, in dollars [default: the model's, where it is known]
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) input_price: Option<f64>,
    /// Where everything that was measured goes, request by request, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

fn strategy() -> ValueParser {
    let names = Choice::all().iter().map(Choice::name).collect::<Vec<_>>().join(", ");
    let known = move |asked: String| Choice::named(&asked).ok_or_else(|| format!("there are: {names}, exec:COMMAND"));
    ValueParser::new(clap::builder::StringValueParser::new().try_map(known))
}
