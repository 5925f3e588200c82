//! Where does each string end, for whoever reads a text from beginning to end?
//!
//! Looks ahead over many strings at a time; where anything there is wrong it reads one by one. Decodes nothing.

use super::blocks::{self, BLOCK};
use super::scan::Scan;
#[cfg(target_arch = "x86_64")]
use super::simd;
use super::specials::string_end;
use crate::error::Result;

/// Blocks looked at in one go: 4 KB, which are still in the processor's nearest cache when they are read. Bounds the
/// list of places whatever the body.
const BLOCKS_AHEAD: usize = 64;

/// The quotation marks of a text, found ahead of whoever reads it in order.
pub(super) struct Quotes<'a> {
    body: &'a [u8],
    scan: Scan,
    /// How many of the places found were given.
    given: usize,
    /// Whether the look ahead met something wrong.
    is_broken: bool,
}

impl<'a> Quotes<'a> {
    /// Begins at the beginning of `body`, whose length fits 32 bits.
    pub(super) fn new(body: &'a [u8]) -> Self {
        let most = body.len().min(BLOCKS_AHEAD * BLOCK);
        Self { body, scan: Scan::new(most), given: 0, is_broken: false }
    }

    /// Gives the offset after the string that opens at `open`. Strings must be asked for in order, none left out.
    #[inline(always)]
    pub(super) fn end(&mut self, open: usize) -> Result<usize> {
        match self.next_end(open) {
            Some(end) => Ok(end),
            None => self.far_end(open),
        }
    }

    #[inline(always)]
    fn next_end(&mut self, open: usize) -> Option<usize> {
        let [first, last] = self.scan.found().get(self.given..)?.first_chunk()?;
        if *first as usize != open {
            return None;
        }
        self.given += 2;
        Some(*last as usize + 1)
    }

    #[inline(never)]
    fn far_end(&mut self, open: usize) -> Result<usize> {
        while !self.is_broken && self.scan.found().len() < self.given + 2 && self.scan.at < self.body.len() {
            self.look_ahead();
            if let Some(end) = self.next_end(open) {
                return Ok(end);
            }
        }
        // What was found ahead is no longer in step with what is read.
        self.is_broken = true;
        string_end(self.body, open)
    }

    fn look_ahead(&mut self) {
        self.scan.forget();
        self.given = 0;
        let rest = self.body.get(self.scan.at..).unwrap_or_default();
        let (blocks, rest) = rest.get(..BLOCKS_AHEAD * BLOCK).unwrap_or(rest).as_chunks();
        let outcome = if blocks.is_empty() {
            look_ahead(&mut self.scan, self.body, &[blocks::last_block(rest)])
        } else {
            look_ahead(&mut self.scan, self.body, blocks)
        };
        self.is_broken = outcome.is_none();
    }
}

fn look_ahead(scan: &mut Scan, body: &[u8], blocks: &[[u8; BLOCK]]) -> Option<()> {
    #[cfg(target_arch = "x86_64")]
    if let Some(outcome) = simd::look_ahead(scan, body, blocks) {
        return outcome;
    }
    scan.look_ahead(body, blocks, blocks::masks)
}
