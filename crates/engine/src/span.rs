//! Where something stands in the request body as it arrived.
//!
//! Never holds bytes itself: every place is a pair of offsets into one body.

use std::ops::Range;

/// A byte range in the request body as it arrived. Invariant: `start <= end`.
///
/// Offsets are 32 bits wide, since a body is at most [`crate::json::MAX_BODY_BYTES`] long.
///
/// ```
/// use liveset_engine::Span;
/// let span = Span::new(1, 4);
/// assert_eq!(span.of(b"\"abc\""), b"abc");
/// assert_eq!(span.len(), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Makes the span from `start` up to, not including, `end`; an `end` before `start` gives an empty span.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        Self { start, end: end.max(start) }
    }

    /// Gives the first byte's offset.
    #[must_use]
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Gives the offset after the last byte.
    #[must_use]
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Gives the length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Says whether the span holds no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Says whether `other` lies wholly inside this span.
    #[must_use]
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Gives the span as a range of `usize`.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    /// Gives the bytes of `body` under this span; a span past the end gives the part that exists.
    #[must_use]
    pub fn of(self, body: &[u8]) -> &[u8] {
        let end = self.end().min(body.len());
        body.get(self.start().min(end)..end).unwrap_or_default()
    }
}
