//! Generated agent transcripts and law checks for Liveset's own tests.
//!
//! Answers two questions of bodies: *what could a client send?* (generators: realistic and nasty conversations in every wire
//! format) and *was the answer lawful?* (oracles: one check per law). The oracles read JSON on their own and share no
//! code with the engine, so that one mistake cannot hide in both. Beside them stands a third: *what if one write fails?*
//! (a disk that does, once). Nothing here is shipped.

mod arguments;
mod body;
mod budget;
mod conversation;
mod damage;
mod dice;
mod events;
#[cfg(target_os = "linux")]
mod failing_disk;
mod format;
mod json_writer;
pub mod laws;
mod oracle;
mod picture;
mod pieces;
mod render;
mod skipped;
mod words;

pub use budget::{Budget, budgets};
pub use conversation::{Ids, conversations};
pub use damage::{ArbitraryBody, arbitrary_bodies};
pub use events::{
    AssistantMessage, Call, Conversation, Event, Marks, Media, Part, Reasoning, ResultBatch, Shape, System, ToolResult,
    UserMessage,
};
#[cfg(target_os = "linux")]
pub use failing_disk::{Failure, Outcome, Step, on_failing_disk};
pub use format::Format;
pub use json_writer::{Escapes, Json, Spacing, Style};
pub use skipped::skipped;
