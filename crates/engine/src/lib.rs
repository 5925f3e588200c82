//! What may go, and what is sent instead? The pure planner and editor behind Liveset.
//!
//! No files, clock, network, environment, threads or randomness: bytes and settings in, bytes and a report out.
//! Modules stand in the order of the data flow; each uses only those before it.

mod span;
mod error;
pub mod json;
mod content_id;
pub mod transcript;
mod pairing;
pub mod wire;
pub mod validate;
pub mod counts;
pub mod policy;
pub mod budget;
pub mod tools;
pub mod content;
pub mod tombstone;
pub mod intake;
pub mod shingles;
pub mod summary;
pub mod report;
pub mod edit;
pub mod manifest;
pub mod plan;
pub mod apply;
pub mod verify;

pub use content_id::ContentId;
pub use error::{Error, Result};
pub use span::Span;
