//! `liveset count`: how many tokens, and how far is the figure to be trusted?

use liveset_engine::report::grouped;
use liveset_tokens::{Exactness, TokenCounter, counter, model, o200k, unknown_counter};
use serde_json::json;

use crate::{args::Count, failure::Failure, input, input::Input, output, setup};

pub(crate) fn run(args: &Count) -> Result<u8, Failure> {
    if args.text {
        return count_text(args);
    }
    let input = Input::read(&args.input)?;
    let liveset = setup::liveset(&input, &args.input, &args.policy)?;
    let inspection = liveset.inspect(&input.body).map_err(|error| input.failure(error))?;
    say(args, inspection.tokens.before, &inspection.tokens.counter, inspection.exactness)
}

fn count_text(args: &Count) -> Result<u8, Failure> {
    let (name, bytes) = input::bytes(args.input.file.as_deref())?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Failure::usage(format_args!("invalid UTF-8 at byte {}", error.valid_up_to())).in_file(&name)
    })?;
    let counter: &dyn TokenCounter = match &args.policy.model {
        None => o200k(),
        Some(name) => model(name).map_or_else(unknown_counter, |row| counter(row.family)),
    };
    say(args, counter.count(text).0, counter.name(), counter.exactness())
}

fn say(args: &Count, tokens: u64, name: &str, exactness: Exactness) -> Result<u8, Failure> {
    let band = match exactness {
        Exactness::Exact => None,
        Exactness::Estimated { upper_percent } => Some(upper_percent),
    };
    let text = match (args.json, band) {
        (true, _) => {
            format!("{}\n", json!({"tokens": tokens, "counter": name, "exact": band.is_none(), "band_percent": band}))
        }
        (false, None) => format!("{} tokens ({name}, exact)\n", grouped(tokens)),
        (false, Some(band)) => {
            format!(
                "at most {} tokens ({name}, an estimate: this is its upper edge, {band} % over the middle)\n",
                grouped(tokens)
            )
        }
    };
    output::text(&text)?;
    Ok(0)
}
