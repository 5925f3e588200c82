//! Where are the next bytes that do not stand for themselves in a string?
//!
//! Walks one text forward, and finds the end of one string that way, or what is wrong with it. Decodes nothing.

#[cfg(not(target_arch = "x86_64"))]
use super::blocks::specials;
use super::blocks::{self, BLOCK};
use super::scan;
#[cfg(target_arch = "x86_64")]
use super::simd::specials;
use crate::error::{Error, Result};

/// A walk over the quotation marks, backslashes and control characters of a text.
#[derive(Clone, Debug)]
pub(super) struct Specials<'a> {
    bytes: &'a [u8],
    /// Offset of the block that `mask` is of.
    at: usize,
    mask: u64,
}

impl<'a> Specials<'a> {
    /// Begins at `start`.
    pub(super) fn new(bytes: &'a [u8], start: usize) -> Self {
        let mut walk = Self { bytes, at: start, mask: 0 };
        walk.look();
        walk
    }

    /// Gives the first place at or after `from`, or the text's end. From call to call `from` must not decrease.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> usize {
        loop {
            let done = from.saturating_sub(self.at);
            let ahead = if done < BLOCK { self.mask & (u64::MAX << done) } else { 0 };
            if ahead != 0 {
                return self.at + ahead.trailing_zeros() as usize;
            }
            self.at += BLOCK;
            if self.at >= self.bytes.len() {
                return self.bytes.len();
            }
            self.look();
        }
    }

    #[inline]
    fn look(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.mask = rest.first_chunk().map_or_else(|| specials(&blocks::last_block(rest)), specials);
    }
}

/// Finds the offset after the string that opens at `open`, or says what is wrong with it and where.
pub(super) fn string_end(bytes: &[u8], open: usize) -> Result<usize> {
    let mut specials = Specials::new(bytes, open + 1);
    let mut from = open + 1;
    loop {
        let at = specials.next(from);
        let after = bytes.get(at + 1..).unwrap_or_default();
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') if scan::is_escape(after) => from = at + 2,
            Some(b'\\') => return Err(Error::Json { offset: at, expected: "an escape that JSON knows" }),
            Some(_) => return Err(Error::Json { offset: at, expected: "an escape instead of a control character" }),
            None => return Err(Error::Json { offset: bytes.len(), expected: "`\"`" }),
        }
    }
}
