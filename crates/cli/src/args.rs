//! Which words does the command line understand? Flags as data, each in one place.

mod archive;
mod diff;
mod eval;
mod examples;
mod install;
mod mcp;
mod policy;
mod proxy;
mod replay;
mod shape;
mod summary;

pub(crate) use archive::{
    ArchiveArgs, ArchiveCommand, ArchiveExport, ArchiveGc, ArchiveImport, ArchiveLs, ArchivePurge, ArchiveVerify,
    Recall, ScopeArgs, Search, ViewArgs, content_id,
};
pub(crate) use diff::Diff;
pub(crate) use eval::{EvalCommand, EvalIrbench, EvalProtocol};
pub(crate) use install::{Completions, Doctor, Man};
pub(crate) use mcp::Mcp;
pub(crate) use policy::{PolicyCheck, PolicyCommand, PolicyExplain, PolicyShow};
pub(crate) use proxy::Proxy;
pub(crate) use replay::Replay;
pub(crate) use shape::Shape;
pub(crate) use summary::SummaryArgs;

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use liveset::{Preset, RecallRoute, SummaryKind, WireFormat};
use liveset_archive::DEFAULT_CAPACITY_BYTES;
use liveset_traces::TraceFormat;

use crate::settings;

/// Keeps the context of an LLM agent inside its window, by rule.
#[derive(Debug, Parser)]
#[command(
    name = "liveset",
    version,
    about,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 1 a check found defects, 2 bad usage or input, 3 cannot fit, 4 archive or output failed."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Makes a body fit its window: body or trace in, body out, report to standard error
    Compact(Compact),
    /// Shapes one tool result before it is sent: what a limit leaves of it, original stored
    Shape(Shape),
    /// Shows where the tokens are: by kind and tool, largest, repeated, stale and said
    Inspect(Inspect),
    /// Says for each change what went, in which step, and why
    Explain(Explain),
    /// Counts the tokens of a body or text
    Count(Count),
    /// Finds what a provider would refuse in a body
    Check(Check),
    /// Gives back the body that a compacted one was made from, byte for byte
    Restore(Restore),
    /// Shows an original that was cut: whole, in outline, by lines or by what stands in them
    Recall(Recall),
    /// Finds originals by their words
    Search(Search),
    /// Lists, checks, purges and copies what is stored
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Stands between an agent and its model: requests leave smaller, nothing else changes
    Proxy(Proxy),
    /// Serves recall and search to an agent as MCP tools
    Mcp(Mcp),
    /// Measures what a cut costs an agent: outcome and interaction cost, for any strategy
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Runs strategies over a trace: what each sends, costs and serves
    Replay(Replay),
    /// Says where two bodies, reports or logs first differ, and why
    Diff(Diff),
    /// Shows, explains and checks settings
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Looks for what keeps liveset from working here
    Doctor(Doctor),
    /// Prints a published JSON schema
    Schema(Schema),
    /// Prints what a shell needs to complete commands and flags
    Completions(Completions),
    /// Prints a manual page, or writes all of them to a folder
    Man(Man),
}

/// Where a body comes from.
#[derive(Args, Debug)]
pub(crate) struct InputArgs {
    /// Request body or trace; `-` or nothing reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Wire format of a body, or format of a trace
    #[arg(long, default_value = AUTO, value_parser = input_format())]
    pub(crate) format: InputFormat,
    /// In a trace: the request point, counted from 0 [default: the last]
    #[arg(long, value_name = "POINT")]
    pub(crate) at: Option<usize>,
    /// In a trace: which agent, or which of many conversations by number or id [default: main]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Tokens of system text and tools that a trace lacks
    #[arg(long, value_name = "TOKENS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=liveset_engine::budget::MAX_TOKENS))]
    pub(crate) overhead: u64,
}

/// The value of `--format` that finds the format by shape.
const AUTO: &str = "auto";

/// How the input is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// By its shape.
    Auto,
    /// As a request body.
    Wire(WireFormat),
    /// As a trace.
    Trace(TraceFormat),
}

impl InputFormat {
    fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let wire = WireFormat::ALL.into_iter().map(|format| (format.name(), Self::Wire(format)));
        let trace = TraceFormat::ALL.into_iter().map(|format| (format.name(), Self::Trace(format)));
        std::iter::once((AUTO, Self::Auto)).chain(wire).chain(trace)
    }

    /// Names what a user can say instead of leaving it open.
    pub(crate) fn names() -> Vec<&'static str> {
        Self::all().filter(|(_, format)| *format != Self::Auto).map(|(name, _)| name).collect()
    }
}

fn input_format() -> impl TypedValueParser<Value = InputFormat> {
    PossibleValuesParser::new(InputFormat::all().map(|(name, _)| name)).map(|asked| {
        // The parser lets only listed names through.
        InputFormat::all().find(|(name, _)| *name == asked).map_or(InputFormat::Auto, |(_, format)| format)
    })
}

fn preset() -> impl TypedValueParser<Value = Preset> {
    let values = settings::presets().iter().map(|preset| preset.name.as_str());
    PossibleValuesParser::new(values).map(|asked| {
        // The parser lets only listed names through.
        settings::preset_named(&asked).unwrap_or_default()
    })
}

fn summary_kind() -> impl TypedValueParser<Value = SummaryKind> {
    PossibleValuesParser::new(SummaryKind::ALL.map(SummaryKind::name)).map(|asked| {
        // The parser lets only listed names through.
        SummaryKind::ALL.into_iter().find(|kind| kind.name() == asked).unwrap_or_default()
    })
}

/// Settings that a flag may override.
#[derive(Args, Debug)]
pub(crate) struct PolicyArgs {
    /// Policy file (TOML); flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Order of sacrifice; `liveset policy explain preset` describes each
    #[arg(long, value_name = "NAME", value_parser = preset())]
    pub(crate) preset: Option<Preset>,
    /// Counts and limits as for this model, whatever the body names
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Context window in tokens [default: the model's]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u64>,
    /// Window for models that the table does not know
    #[arg(long, value_name = "TOKENS")]
    pub(crate) default_window: Option<u64>,
    /// Tokens kept free for the reply [default: the model's, or an eighth of --window]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) reserve: Option<u64>,
    /// A sweep starts over this share of window less reserve [default: 92]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) trigger: Option<u32>,
    /// A sweep ends at this share [default: 60]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) target: Option<u32>,
    /// Tokens that each edit saves at least [default: 32]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) min_gain: Option<u64>,
    /// Share of the window that a sweep frees at least [default: 5]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) min_sweep_gain: Option<u32>,
    /// Pictures in results that a sweep leaves [default: 2]
    #[arg(long, value_name = "COUNT")]
    pub(crate) keep_media: Option<u32>,
    /// How the agent gets back what is cut: none, tool, mcp, shell or spill:RELATIVE [default: none]
    #[arg(long, value_name = "ROUTE", value_parser = clap::value_parser!(RecallRoute))]
    pub(crate) recall_route: Option<RecallRoute>,
    /// Who sums up the oldest units where the other steps are not enough: none, extractive or model [default: none]
    #[arg(long, value_name = "KIND", value_parser = summary_kind(), hide_possible_values = true)]
    pub(crate) summary: Option<SummaryKind>,
    /// Never touch the result of this call; may be repeated
    #[arg(long, value_name = "CALL_ID")]
    pub(crate) pin: Vec<String>,
}

/// Arguments of `compact`.
#[derive(Args, Debug)]
#[command(after_help = examples::COMPACT)]
pub(crate) struct Compact {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Where the body goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Where the report goes [default: standard error]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) report_format: ReportFormat,
    /// Only report: write no body and store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) archive: ArchiveUseArgs,
    #[command(flatten)]
    pub(crate) summarizer: SummaryArgs,
    /// Where nothing fits, write the smallest lawful body all the same
    #[arg(long)]
    pub(crate) best_effort: bool,
    /// Read and count the whole output a second time before it goes out
    #[arg(long)]
    pub(crate) paranoid: bool,
}

/// Where originals go, if anywhere.
#[derive(Args, Debug)]
pub(crate) struct ArchiveUseArgs {
    /// Store originals and manifest in this file before the body goes out [default: the archive of this user]
    #[arg(long, value_name = "PATH", conflicts_with = "no_archive")]
    pub(crate) archive: Option<PathBuf>,
    /// Store nothing: what is cut cannot be had back from here
    #[arg(long)]
    pub(crate) no_archive: bool,
    /// A body points only at what its own conversation stored: for archives that many share
    #[arg(long, conflicts_with = "no_archive")]
    pub(crate) strict_sessions: bool,
    /// Bytes that the archive may take; what no living conversation points at goes first
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_CAPACITY_BYTES, hide_default_value = true)]
    pub(crate) archive_capacity: u64,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Text,
    /// For programs; `liveset schema report` prints its schema
    Json,
}

/// Arguments of `inspect`.
#[derive(Args, Debug)]
#[command(after_help = examples::INSPECT)]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// How many of the largest results are listed
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
#[command(after_help = examples::EXPLAIN)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Only this item: its passages with their scores, and the text that stands in its place
    #[arg(long, value_name = "ITEM")]
    pub(crate) item: Option<u32>,
    /// Explain what `compact --no-archive` does
    #[arg(long)]
    pub(crate) no_archive: bool,
}

/// Arguments of `count`.
#[derive(Args, Debug)]
#[command(after_help = examples::COUNT)]
pub(crate) struct Count {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// The input is plain text, not a body
    #[arg(long)]
    pub(crate) text: bool,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
#[command(after_help = examples::CHECK)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Find only what this body does not have, and what changed that may not change
    #[arg(long, value_name = "ORIGINAL")]
    pub(crate) against: Option<PathBuf>,
    /// ORIGINAL was sent earlier in this conversation; only this run's report may declare that its items changed since
    #[arg(long, value_name = "REPORT", requires = "against", conflicts_with = "undeclared")]
    pub(crate) report: Option<PathBuf>,
    /// ORIGINAL was sent earlier in this conversation, and nothing declares a change since: its items must be the same
    #[arg(long, requires = "against")]
    pub(crate) undeclared: bool,
}

/// Arguments of `restore`.
#[derive(Args, Debug)]
#[command(after_help = examples::RESTORE)]
pub(crate) struct Restore {
    /// A body that `compact` wrote; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
    /// Where the body goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(after_help = examples::SCHEMA)]
pub(crate) struct Schema {
    /// Which schema
    #[arg(value_enum)]
    pub(crate) of: SchemaOf,
}

/// The published schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The report of `compact --report-format json`
    Report,
    /// Policy files
    Policy,
    /// Settings files of the proxy
    Proxy,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use liveset::Policy;

    use super::*;

    #[test]
    fn the_help_names_the_defaults_of_the_policy() {
        let mut command = Arguments::command();
        let compact = command.find_subcommand_mut("compact").unwrap();
        let help = |id: &str| {
            let flag = compact.get_arguments().find(|flag| flag.get_id() == id);
            flag.and_then(|flag| flag.get_help()).map(ToString::to_string).unwrap()
        };
        let policy = Policy::default();
        let defaults = [
            ("trigger", u64::from(policy.trigger)),
            ("target", u64::from(policy.target)),
            ("min_gain", policy.min_gain),
            ("min_sweep_gain", u64::from(policy.min_sweep_gain)),
            ("keep_media", u64::from(policy.keep_media)),
        ];
        for (flag, default) in defaults {
            assert!(help(flag).ends_with(&format!("[default: {default}]")), "{flag}: {}", help(flag));
        }
        assert!(help("recall_route").ends_with(&format!("[default: {}]", policy.recall_route)));
    }

    #[test]
    fn no_two_formats_share_a_name() {
        let names: std::collections::BTreeSet<&str> = InputFormat::all().map(|(name, _)| name).collect();
        assert_eq!(names.len(), InputFormat::all().count());
    }

    #[test]
    fn the_table_of_flags_is_sound() {
        Arguments::command().debug_assert();
    }
}
