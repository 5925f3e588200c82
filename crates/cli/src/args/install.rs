//! The words of `liveset completions`, `liveset man` and `liveset doctor`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS_EXAMPLES: &str = "Examples:
  liveset completions bash > ~/.local/share/bash-completion/completions/liveset
  liveset completions zsh > ~/.zfunc/_liveset      with ~/.zfunc in fpath
  liveset completions fish > ~/.config/fish/completions/liveset.fish";

const MAN_EXAMPLES: &str = "Examples:
  liveset man | man -l -                       reads it here
  liveset man policy show | man -l -           the page of one command
  liveset man --dir ~/.local/share/man/man1    every page, for `man liveset-compact`";

const DOCTOR_EXAMPLES: &str = "Examples:
  liveset doctor
  liveset doctor --model claude-sonnet-4-5 --archive originals.liveset --policy mine.toml

Each line says ok, warn or fail. Exits 1 when a check fails.";

/// Arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct Man {
    /// The command whose page is printed [default: liveset itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(crate) of: Vec<String>,
    /// Write every page into this folder instead
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
}

/// Arguments of `doctor`.
#[derive(Args, Debug)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct Doctor {
    /// A model that you use
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The archive that you use; every record of it is read [default: the one of this user]
    #[arg(long, value_name = "PATH")]
    pub(crate) archive: Option<PathBuf>,
    /// The policy file that you use
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
