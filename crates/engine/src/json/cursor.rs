//! Where in its literal does a place of a decoded text stand?
//!
//! Walks once, forward; never decodes into a buffer.

use super::specials::Specials;
use super::strings::escape_at;

/// A walk through a string literal that turns offsets of its decoded text into offsets of the literal.
///
/// Offsets must not decrease from call to call; one that does gives the place last reached. An offset inside a character
/// that is written as an escape gives the escape's start.
///
/// ```
/// use liveset_engine::json::RawCursor;
/// let mut cursor = RawCursor::new(br#""a\nb""#);
/// assert_eq!(cursor.raw_at(1), 2); // the backslash
/// assert_eq!(cursor.raw_at(2), 4); // the letter b
/// assert_eq!(cursor.raw_at(3), 5); // the closing quotation mark
/// ```
#[derive(Clone, Debug)]
pub struct RawCursor<'a> {
    literal: &'a [u8],
    specials: Specials<'a>,
    /// Offset of the closing quotation mark.
    end: usize,
    /// A place reached, in the literal and in the text.
    raw: usize,
    decoded: usize,
    /// First backslash at or after `raw`, or `end`.
    escape: usize,
}

impl<'a> RawCursor<'a> {
    /// Begins at the first character of a valid literal, quotation marks included.
    #[must_use]
    pub fn new(literal: &'a [u8]) -> Self {
        let end = literal.len().saturating_sub(1);
        let inside = literal.get(..end).unwrap_or_default();
        let raw = end.min(1);
        let mut specials = Specials::new(inside, raw);
        let escape = specials.next(raw);
        Self { literal: inside, specials, end, raw, decoded: 0, escape }
    }

    /// Gives the offset, from the opening quotation mark, of the character at `decoded`; past the end, that of the closing mark.
    pub fn raw_at(&mut self, decoded: usize) -> usize {
        loop {
            let ahead = decoded.saturating_sub(self.decoded);
            let run = self.escape - self.raw;
            if ahead <= run {
                self.raw += ahead;
                self.decoded += ahead;
                return self.raw;
            }
            self.raw = self.escape;
            self.decoded += run;
            if self.raw >= self.end {
                return self.end;
            }
            let (said, raw_len) = escape_at(self.literal, self.raw);
            if decoded < self.decoded + said.len() {
                return self.raw;
            }
            self.decoded += said.len();
            self.raw = (self.raw + raw_len).min(self.end);
            self.escape = self.specials.next(self.raw);
        }
    }
}
