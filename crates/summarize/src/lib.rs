//! What if rules are not enough? Summaries of old units, written by a model behind an OpenAI-compatible endpoint.
//!
//! Sends what the engine says a summary is needed of, and nothing else; keeps nothing: answers are stored by `liveset`,
//! under a hash of their input.
//!
//! ```no_run
//! use std::sync::Arc;
//! use liveset::{Liveset, MemoryArchive, Policy, SummaryKind};
//! use liveset_summarize::{Endpoint, ModelSummarizer};
//!
//! let endpoint = Endpoint::new("http://127.0.0.1:8080/v1", "small")?;
//! let mut policy = Policy::default();
//! policy.summary.kind = SummaryKind::Model;
//! let liveset = Liveset::new(policy)
//!     .with_archive(Arc::new(MemoryArchive::new()))
//!     .with_summarizer(Arc::new(ModelSummarizer::new(endpoint)?));
//! # drop(liveset);
//! # Ok::<(), liveset_summarize::Error>(())
//! ```
//!
//! # What it does not do
//!
//! It streams nothing, calls no tool, follows no redirect and never looks into the environment. An answer that was cut off,
//! refused or came too late is an error, and no part of it is used.

mod endpoint;
mod answer;
mod sender;
mod summarizer;

pub use endpoint::{DEFAULT_PROMPT, DEFAULT_TIMEOUT, Endpoint, Error};
pub use summarizer::ModelSummarizer;
