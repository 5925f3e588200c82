//! The words of `liveset eval`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use liveset_eval::irbench::{Condition, Profile, Regime, SEEDS, TURNS};
use liveset_eval::protocol::CostClass;

const IRBENCH_EXAMPLES: &str = "Examples:
  liveset eval irbench -o report                       all conditions, both regimes, 100 seeds
  liveset eval irbench --seeds 20 --regime high --condition 'sliding 5' --condition 'balanced 5 + recall'
  liveset eval irbench --condition 'exec 5:./my-compactor'

A condition is `full`, `sliding R`, `sliding R + D*` (R*, DR*), `summary R`, `once B=265 typeaware`, a preset and R with or
without ` + recall`, `keep-last R`, `keep-last-N`, `masking-N`, `protect R` or `exec R:COMMAND`; R is a ratio like 5 or 1.7.
The agent is the reference agent, a fixed rule: its figures test harness and operators, not a model.";

const PROTOCOL_EXAMPLES: &str = "Examples:
  liveset eval protocol full/ compacted/
  liveset eval protocol full/ compacted/ restored/ --class go=navigation --class look=retrieval

Traces are paired by file name (task and seed). `outcomes.csv` in each folder has a line `FILE,COMPLETION` for each run,
completion in percent, and a third cell for the turns that it had. What has no partner or no outcome is refused and listed.";

/// Arguments of `eval`.
#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Plays a scheduling world under every strategy: tasks done, look-ups paid, with intervals
    Irbench(EvalIrbench),
    /// Compares paired runs of any agent, from traces: outcome and cost in one table
    Protocol(EvalProtocol),
}

/// Arguments of `eval irbench`.
#[derive(Args, Debug)]
#[command(after_help = IRBENCH_EXAMPLES)]
pub(crate) struct EvalIrbench {
    /// Seeds from 1 to this one
    #[arg(long, value_name = "COUNT", default_value_t = SEEDS, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) seeds: u64,
    /// Threads that play; the figures are the same with any number [default: as many as the machine has]
    #[arg(long, value_name = "COUNT")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Only this regime; may be repeated
    #[arg(long, value_name = "NAME", value_parser = regime())]
    pub(crate) regime: Vec<Regime>,
    /// Only this condition and what it is compared with; may be repeated
    #[arg(long, value_name = "NAME", value_parser = clap::value_parser!(Condition))]
    pub(crate) condition: Vec<Condition>,
    /// Traits of the reference agent
    #[arg(long, value_name = "NAME", default_value = Profile::STANDARD.name, value_parser = profile())]
    pub(crate) profile: Profile,
    /// Turns of a run
    #[arg(long, value_name = "COUNT", default_value_t = TURNS, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) turns: u64,
    /// Write plan, results (CSV, JSON), runs, call logs and report (Markdown, HTML) to this folder
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `eval protocol`.
#[derive(Args, Debug)]
#[command(after_help = PROTOCOL_EXAMPLES)]
pub(crate) struct EvalProtocol {
    /// Traces of runs to compare with
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// Traces of the same tasks under another strategy
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Traces of B with what was dropped restored: how much of the added look-ups does that remove?
    #[arg(value_name = "RESTORED")]
    pub(crate) restored: Option<PathBuf>,
    /// What a tool's calls are: retrieval, execution or navigation; may be repeated
    #[arg(long, value_name = "TOOL=CLASS", value_parser = class)]
    pub(crate) class: Vec<(String, CostClass)>,
}

fn class(text: &str) -> Result<(String, CostClass), String> {
    let named = |name: &str| CostClass::ALL.into_iter().find(|class| class.name() == name);
    let found = text.rsplit_once('=').and_then(|(tool, class)| Some((tool.to_owned(), named(class)?)));
    found.ok_or_else(|| "a class is said as TOOL=retrieval, TOOL=execution or TOOL=navigation".to_owned())
}

fn regime() -> impl TypedValueParser<Value = Regime> {
    PossibleValuesParser::new(Regime::ALL.map(Regime::name)).map(|asked| {
        // The parser lets only listed names through.
        Regime::ALL.into_iter().find(|regime| regime.name() == asked).unwrap_or(Regime::High)
    })
}

fn profile() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.map(|profile| profile.name)).map(|asked| {
        // The parser lets only listed names through.
        Profile::ALL.into_iter().find(|profile| profile.name == asked).unwrap_or(Profile::STANDARD)
    })
}
