//! The agent asks for its original: an MCP server over an archive, with the tools `recall` and `search`.
//!
//! It reads and never writes what is stored, decides nothing about what is cut, and asks no model. Answers are bounded:
//! what is longer comes in pages. Protocol and transports are those of the official Rust SDK, `rmcp`.
//!
//! - [`Server`] answers calls and lists sessions as resources.
//! - [`serve_stdio`] talks to the one client that started the process.
//! - [`serve_http`] talks streamable HTTP to clients of this machine.

mod error;
mod page;
mod listing;
mod arguments;
mod open_views;
mod recall_tool;
mod search_tool;
mod sessions;
mod server;
mod transports;

pub use arguments::{RECALL, SEARCH};
pub use error::{Error, Result};
pub use page::MAX_ANSWER_BYTES;
pub use server::Server;
pub use transports::{HTTP_PATH, Listener, serve_http, serve_stdio};
