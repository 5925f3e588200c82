//! The words of `liveset mcp`.

use std::net::SocketAddr;

use clap::Args;

use super::{ArchiveArgs, ScopeArgs};

const EXAMPLES: &str = "Examples:
  liveset mcp --http 127.0.0.1:8788
  claude mcp add liveset -- liveset mcp
  codex mcp add liveset -- liveset mcp

Serves the tools `recall` and `search` over the archive, and its sessions as resources. Without --http it speaks with
the client that started it, over standard input and output.";

/// Arguments of `mcp`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mcp {
    /// Serve streamable HTTP at this address of this machine; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}
