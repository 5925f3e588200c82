//! Which dialect is a body in, and what are its items?
//!
//! Reads by shape and never guesses: a body that fits two formats is an error that asks for one.

mod anthropic_messages;
mod builder;
mod detect;
mod dialect;
mod digests;
mod growing;
mod openai_chat;
mod openai_responses;

pub use detect::detect;
pub(crate) use digests::around_mark;
pub use growing::GrowingBody;

use crate::{
    error::Result,
    json::Outline,
    transcript::{Transcript, WireFormat},
};

/// Reads a body of a known format.
///
/// The body may be a whole request or a bare list of messages (of items, for Responses).
///
/// ```
/// use liveset_engine::{json::Outline, transcript::{ItemKind, WireFormat}, wire};
/// let body = br#"{"messages":[{"role":"user","content":"hi"}]}"#;
/// let transcript = wire::read(WireFormat::Anthropic, &Outline::read(body)?)?;
/// assert_eq!(transcript.items[0].kind, ItemKind::User);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
///
/// # Errors
///
/// A required field is missing or has another type than the format says; unknown parts are opaque items, never errors.
pub fn read<'a>(format: WireFormat, outline: &Outline<'a>) -> Result<Transcript<'a>> {
    dialect::Dialect::of(format).read(outline)
}
