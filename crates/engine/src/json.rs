//! Where do the values of a JSON text stand, and what do its strings say?
//!
//! Finds values and spans in one pass and decodes single strings; builds no tree, and never writes numbers.

mod outline;
mod strings;

pub use outline::{MAX_BODY_BYTES, MAX_DEPTH, MAX_NODES, Node, NodeIdx, NodeKind, Outline};
pub use strings::{Decoded, decode, encode, string_leaves};
