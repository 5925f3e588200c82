//! The words of `liveset diff`.

use std::path::PathBuf;

use clap::Args;

use super::{AUTO, InputFormat, ReportFormat, input_format};

const EXAMPLES: &str = "Examples:
  liveset diff turn-7.json turn-8.json     bodies: the first item that is not the same
  liveset diff old.report new.report       reports: the first item that only one run cut so
  liveset diff run-1.jsonl run-2.jsonl     logs: the first entry that differs, then as above

Exit codes: 0 equal, 1 they differ, 2 one of them cannot be read.";

/// Arguments of `diff`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diff {
    /// A body, a JSON report, or a log: bodies or reports one after the other, as in JSONL; `-` reads standard input
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// What A is compared with, of the same sort
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Wire format of bodies, or format of traces
    #[arg(long, default_value = AUTO, value_parser = input_format())]
    pub(crate) format: InputFormat,
    /// How the answer is written: `text` or `json`
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, hide_possible_values = true)]
    pub(crate) report_format: ReportFormat,
}
