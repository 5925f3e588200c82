//! Who writes summaries of old units: flags of `compact` and `proxy`.

use std::path::PathBuf;

use clap::Args;

/// The model that writes summaries, where one is to.
#[derive(Args, Debug)]
#[command(next_help_heading = "Summaries by a model")]
pub(crate) struct SummaryArgs {
    /// Where the model is served: the base address of an OpenAI-compatible endpoint; means --summary model
    #[arg(long, value_name = "URL", requires = "summary_model")]
    pub(crate) summary_url: Option<String>,
    /// The model's name there
    #[arg(long, value_name = "NAME", requires = "summary_url")]
    pub(crate) summary_model: Option<String>,
    /// What the model is told, in this file: {max_words} becomes the length that it may write, {text} what it sums up
    /// [default: built in]
    #[arg(long, value_name = "FILE", requires = "summary_url")]
    pub(crate) summary_prompt: Option<PathBuf>,
    /// The endpoint's key, in this file [default: none is sent]
    #[arg(long, value_name = "FILE", requires = "summary_url")]
    pub(crate) summary_key_file: Option<PathBuf>,
    /// Seconds that an answer may take; then an extract stands for the units, for good [default: 60]
    #[arg(long, value_name = "SECONDS", requires = "summary_url", value_parser = clap::value_parser!(u64).range(1..=290))]
    pub(crate) summary_timeout: Option<u64>,
}
