//! The words of `liveset policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PolicyArgs;

const SHOW_EXAMPLES: &str = "Examples:
  liveset policy show                        every setting with its default
  liveset policy show --policy mine.toml     what a run with this file works with
  liveset policy show > mine.toml            a policy file to start from";

const EXPLAIN_EXAMPLES: &str = "Examples:
  liveset policy explain target
  liveset policy explain preset";

const CHECK_EXAMPLES: &str = "Examples:
  liveset policy check mine.toml

Prints one fault a line, as FILE:LINE:COLUMN, and exits 1 when there are any.";

/// What to do with the policy.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Prints the policy that a run would work with, as a policy file
    Show(PolicyShow),
    /// Says what a setting does, what it may be and what it is
    Explain(PolicyExplain),
    /// Finds what is wrong in a policy file
    Check(PolicyCheck),
}

/// Arguments of `policy show`.
#[derive(Args, Debug)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct PolicyShow {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `policy explain`.
#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct PolicyExplain {
    /// The setting's name, as in a policy file
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// Arguments of `policy check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct PolicyCheck {
    /// Policy file (TOML); `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
