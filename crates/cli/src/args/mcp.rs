//! The words of `liveset mcp`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{ArchiveArgs, ScopeArgs};

const EXAMPLES: &str = "Examples:
  liveset mcp --http 127.0.0.1:8788
  claude mcp add liveset -- liveset mcp
  codex mcp add liveset -- liveset mcp

Serves the tools `recall` and `search` over the archive, and its sessions as resources.
Without --http it speaks with the client that started it, over standard input and output.
With --http every user of this machine can ask, unless --token-file names a file with a token:
then requests carry it as `Authorization: Bearer TOKEN`.";

/// Arguments of `mcp`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mcp {
    /// Serve streamable HTTP at this address of this machine; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<SocketAddr>,
    /// Answer over HTTP only who knows the token in this file
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}
