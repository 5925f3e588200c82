//! What does a body say that goes on with one that was read before? Only what is new is read.
//!
//! The outcome is that of a full read, whatever the client changed; what is kept saves work and decides nothing.

use super::{dialect::Dialect, read};
use crate::{
    error::Result,
    json::{Outline, Places},
    transcript::{Transcript, WireFormat},
};

/// How many bytes are compared at a time.
const COMPARED_BYTES: usize = 4 << 10;

/// A body, read, and what it takes to read the next one of its conversation from where that goes on.
///
/// ```
/// use liveset_engine::{transcript::WireFormat, wire::GrowingBody};
/// let first = br#"{"messages":[{"role":"user","content":"a"}]}"#;
/// let second = br#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;
/// let kept = GrowingBody::read(WireFormat::Anthropic, first)?.without_text();
/// let grown = kept.extend(first, second)?;
/// assert_eq!(grown.transcript.items.len(), 2);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingBody<'a> {
    /// What it says.
    pub transcript: Transcript<'a>,
    places: Places,
}

impl<'a> GrowingBody<'a> {
    /// Reads a body of which nothing is known.
    ///
    /// # Errors
    ///
    /// As [`Outline::read`] and [`read`].
    pub fn read(format: WireFormat, body: &'a [u8]) -> Result<Self> {
        let outline = Outline::read(body)?;
        Ok(Self { transcript: read(format, &outline)?, places: outline.into_places() })
    }

    /// Reads the next body; `before` is the text of this one.
    ///
    /// # Errors
    ///
    /// As [`GrowingBody::read`].
    pub fn extend<'b>(self, before: &[u8], body: &'b [u8]) -> Result<GrowingBody<'b>> {
        let common = common_bytes(before, body);
        let outline = Outline::read_on(body, self.places, common)?;
        let format = self.transcript.format;
        let grown = Dialect::of(format).read_on(self.transcript, &outline, common);
        let transcript = grown.map_or_else(|| read(format, &outline), Ok)?;
        Ok(GrowingBody { transcript, places: outline.into_places() })
    }

    /// The same without its text, to be kept until the next body comes.
    #[must_use]
    pub fn without_text(self) -> GrowingBody<'static> {
        let Transcript { body: _, format, model, tools, items, units, messages, server_state, digests } =
            self.transcript;
        let transcript = Transcript { body: &[], format, model, tools, items, units, messages, server_state, digests };
        GrowingBody { transcript, places: self.places }
    }
}

/// Counts the bytes that two texts begin with alike.
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(COMPARED_BYTES).zip(other.chunks_exact(COMPARED_BYTES));
    let same = blocks.take_while(|(one, other)| one == other).count() * COMPARED_BYTES;
    let tails = one.get(same..).unwrap_or_default().iter().zip(other.get(same..).unwrap_or_default());
    same + tails.take_while(|(one, other)| one == other).count()
}
