//! Keeps an LLM agent's context inside its window by rule: one call, all stages.
//!
//! [`Liveset::compact`] takes the JSON body of a model request and hands out a body that fits: what the agent's
//! reasoning still points at stays, what is stale becomes one line, and every byte outside those edits is what it was.
//! The same input gives the same output, on any machine.
//!
//! ```
//! use liveset::{Liveset, Policy};
//!
//! let body = br#"{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
//! let liveset = Liveset::new(Policy::default());
//! let compaction = liveset.compact(body)?;
//! assert_eq!(compaction.body(), body);
//! # Ok::<(), liveset::Error>(())
//! ```
//!
//! # Words
//!
//! An *item* is a text, a piece of reasoning, a call, a result or a picture. A *unit* is one assistant message with the
//! results that answer it. A *tombstone* is the line left where a result was, a *gap* the line left inside one that is
//! partly kept. A *sweep* is one batched clearing; between two sweeps everything already sent stays as it was sent.
//!
//! # What it does not do
//!
//! It calls no model (but a [`Summarizer`] that is handed in, and asked for), starts no thread, reads no file of yours and sends nothing anywhere. With an
//! [`Archive`] it stores what it cuts, before it hands the body out; a [`SqliteArchive`] has a thread that writes.

mod error;
mod compaction;
mod reading;
mod release;
mod summarizer;
mod compact;
mod inspection;
mod shape;
mod sizes;
mod restore;
pub mod recall;
mod session;
mod summaries;

pub use compact::{Liveset, MessageOptions, Thoroughness};
pub use compaction::Compaction;
pub use error::{Error, Result};
pub use inspection::Inspection;
pub use session::Session;
pub use shape::{RecallOffer, ShapePin, ShapeRequest, Shaped, ToolOutcome};
pub use sizes::{ItemSize, Sizes};
pub use summarizer::{Summarizer, SummaryError};

pub use liveset_archive::{Archive, MemoryArchive, SqliteArchive};
pub use liveset_engine::{
    plan::SessionEvent,
    policy::{
        ArchiveUse, ArgumentRules, Dispatch, DispatchOrder, Intake, IntakeRow, Policy, Preset, ReasoningGuard,
        RecallRoute, SpillFolder, Strategy, Summary, SummaryKind,
    },
    report::{EditKind, OutcomeKind, Report},
    transcript::WireFormat,
};
