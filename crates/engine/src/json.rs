//! Where do the values of a JSON text stand, and what do its strings say?
//!
//! Finds values and spans in one pass and decodes single strings; builds no tree, and never writes numbers.

mod blocks;
mod scan;
#[cfg(target_arch = "x86_64")]
mod simd;
mod specials;
mod quotes;
mod strings;
mod node;
mod resume;
mod reader;
mod outline;
mod cursor;
mod leaves;

pub use cursor::RawCursor;
pub use leaves::{Leaf, string_leaves};
pub use node::{MAX_DEPTH, MAX_NODES, Node, NodeKind};
pub use outline::{MAX_BODY_BYTES, NodeIdx, Outline, Places};
pub use strings::{Decoded, decode, encode, encode_inner};
