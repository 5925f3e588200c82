//! What may go, and what is sent instead? The pure planner and editor behind Liveset.
//!
//! No files, clock, network, environment, threads or randomness: bytes and settings in, bytes and a report out.

mod span;
mod error;
pub mod json;
pub mod transcript;
pub mod shingles;
pub mod plan;

pub use error::{Error, Result};
pub use span::Span;
