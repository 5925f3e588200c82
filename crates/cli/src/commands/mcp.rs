//! `liveset mcp`: recall and search as tools of an agent.

use std::sync::Arc;

use liveset_archive::SqliteArchive;
use liveset_mcp::{Error, Listener, Server, serve_http, serve_stdio};

use crate::{args::Mcp, failure::Failure, output, setup};

pub(crate) fn run(args: &Mcp) -> Result<u8, Failure> {
    // A client may start the server before anything was stored: then the archive is made here.
    let path = setup::archive_place(args.archive.archive.as_deref())?;
    let archive = SqliteArchive::open(path)?;
    let server = Server::new(Arc::new(args.scope.of(archive)));
    let served = match args.http {
        None => serve_stdio(server),
        Some(address) => {
            let token = args.token_file.as_deref().map(setup::token).transpose()?;
            Listener::bind(address).and_then(|listener| {
                output::note(&format!("liveset: MCP server at {}\n", listener.url()));
                let listener = match token {
                    Some(token) => listener.with_token(token),
                    None => {
                        output::note(
                            "note: every user of this machine can ask it; --token-file FILE asks for a token\n",
                        );
                        listener
                    }
                };
                serve_http(&server, listener, setup::asked_to_end())
            })
        }
    };
    served.map_err(failure)?;
    Ok(0)
}

fn failure(error: Error) -> Failure {
    match error {
        Error::NotLocal { .. } => {
            Failure::usage(error).hint("listen on 127.0.0.1, and let a tunnel or proxy that knows its users lead there")
        }
        Error::Listen { .. } => Failure::usage(error).hint("take another port, or port 0 for any free one"),
        Error::Handshake { .. } => Failure::usage(error)
            .hint("an MCP client starts this command; `liveset mcp --help` shows how to tell it to"),
        _ => Failure::store(error),
    }
}
