//! The same over HTTP: a proxy between an agent and its model that changes only the bytes it means to.
//!
//! A request comes in as the client wrote it and leaves as it came, but for the edits that the rules make in its body.
//! The answer streams back frame by frame. Where there is any doubt the original goes out, and the answer's headers say
//! so. It decides nothing about what is cut, keeps no credential and writes no content to a log.
//!
//! - [`ProxyConfig`] holds every setting.
//! - [`Proxy`] is what serves: [`Proxy::bind`], then [`Proxy::serve`].

mod error;
mod config;
mod routes;
mod headers;
mod upstream;
mod sender;
mod buffers;
mod request;
mod named_policy;
mod reacquisition;
mod last_body;
mod chain;
mod cache_lifetime;
mod conversation;
mod conversations;
mod ledger;
mod rules;
mod judgement;
mod compaction;
mod observe;
mod metrics;
mod log;
mod capture;
mod answer;
mod retry;
mod pages;
mod exchange;
mod connection;
mod server;
pub mod clients;

pub use config::{Doubt, Effect, ProxyConfig, UpstreamConfig};
pub use error::{Error, Result};
pub use rules::Rules;
pub use server::Proxy;
