//! Where do strings begin and end? The loop over blocks, for any way to find the marks in one.
//!
//! Knows strings, no other grammar, and never says what is wrong with one: `quotes` does, byte by byte.

use super::blocks::{self, BLOCK, Masks};

/// Places written at a time, wanted or not: nearly every block with any marks has no more, and how many it has is then
/// no branch to guess.
const PLACES_AT_ONCE: usize = 8;

/// How far a scan has come, and what it found.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    /// Offset of the next block.
    pub(super) at: usize,
    /// 1 if a backslash before `at` escapes the byte there.
    carry: u64,
    /// All ones if `at` lies in a string.
    inside: u64,
    /// Places of the quotation marks that begin or end a string; those after the first `len` mean nothing.
    found: Vec<u32>,
    len: usize,
}

impl Scan {
    /// Begins at an offset outside of strings; `most` bytes will be looked at in one go.
    pub(super) fn new(at: usize, most: usize) -> Self {
        Self { at, carry: 0, inside: 0, found: vec![0; most + BLOCK + 1], len: 0 }
    }

    /// Gives what was found.
    #[inline(always)]
    pub(super) fn found(&self) -> &[u32] {
        self.found.get(..self.len).unwrap_or_default()
    }

    /// Forgets all places found but the last, where that one begins a string whose end is yet to be found.
    pub(super) fn forget(&mut self) {
        let last = self.found().last().copied();
        self.len = 0;
        if let Some(open) = last.filter(|_| self.inside != 0) {
            self.push(open);
        }
    }

    fn push(&mut self, place: u32) {
        if let Some(to) = self.found.get_mut(self.len) {
            *to = place;
            self.len += 1;
        }
    }

    /// Notes the marks `quote` of the block that begins at `at`.
    #[inline(always)]
    fn note(&mut self, at: u32, mut quote: u64) -> Option<()> {
        let count = quote.count_ones() as usize;
        let mut from = self.len;
        self.len += count;
        while from < self.len {
            for to in self.found.get_mut(from..)?.first_chunk_mut::<PLACES_AT_ONCE>()? {
                *to = at + quote.trailing_zeros();
                quote &= quote.wrapping_sub(1);
            }
            from += PLACES_AT_ONCE;
        }
        if count % 2 == 1 {
            self.inside = !self.inside;
        }
        Some(())
    }

    /// Notes the quotation marks that begin or end a string in the next `blocks` of `body`; `None` if a string holds
    /// what none may hold.
    ///
    /// After a backslash outside a string the marks may be wrong, but whoever reads the text in order stops there.
    #[inline(always)]
    pub(super) fn look_ahead(
        &mut self,
        body: &[u8],
        blocks: &[[u8; BLOCK]],
        masks: impl Fn(&[u8; BLOCK]) -> Masks,
    ) -> Option<()> {
        let mut carry = self.carry;
        let mut at = u32::try_from(self.at).ok()?;
        for block in blocks {
            let marks = masks(block);
            let escaped = blocks::escaped(marks.backslash, &mut carry);
            let quote = marks.quote & !escaped;
            let unusual = escaped & !(marks.quote | marks.backslash | marks.usual);
            if (marks.holds_control && holds_control_inside(block, quote, self.inside))
                || (unusual != 0 && !are_escapes(body, at as usize, unusual))
            {
                return None;
            }
            if quote != 0 {
                self.note(at, quote)?;
            }
            at = at.wrapping_add(64);
        }
        self.at = at as usize;
        self.carry = carry;
        Some(())
    }
}

/// Says whether a control character of `block` stands in a string.
#[cold]
#[inline(never)]
fn holds_control_inside(block: &[u8; BLOCK], quote: u64, inside: u64) -> bool {
    blocks::control(block) & (blocks::between(quote) ^ inside) != 0
}

/// Says whether the bytes at the places `escaped`, counted from `at`, may follow a backslash.
#[cold]
#[inline(never)]
fn are_escapes(body: &[u8], at: usize, mut escaped: u64) -> bool {
    while escaped != 0 {
        let after = body.get(at + escaped.trailing_zeros() as usize..).unwrap_or_default();
        if !is_escape(after) {
            return false;
        }
        escaped &= escaped - 1;
    }
    true
}

/// Says whether a backslash before these bytes makes an escape that JSON knows.
pub(super) fn is_escape(after: &[u8]) -> bool {
    match after {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => true,
        [b'u', digits @ ..] => digits.first_chunk::<4>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        _ => false,
    }
}
