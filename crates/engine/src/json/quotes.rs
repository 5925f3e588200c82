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
    /// Begins at an offset of `body` outside of strings. The body's length fits 32 bits.
    pub(super) fn new(body: &'a [u8], start: usize) -> Self {
        let most = body.len().saturating_sub(start).min(BLOCKS_AHEAD * BLOCK);
        Self { body, scan: Scan::new(start, most), given: 0, is_broken: false }
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

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::telling_bytes;
    use super::*;
    use proptest::prelude::*;

    /// Asks for each string of a text in order, skipping what stands between, and stops at the first wrong one.
    fn ends(body: &[u8], mut end: impl FnMut(usize) -> Result<usize>) -> Vec<Result<usize>> {
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(open) = body.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'"')) {
            let outcome = end(at + open);
            all.push(outcome.clone());
            match outcome {
                Ok(after) => at = after,
                Err(_) => break,
            }
        }
        all
    }

    fn assert_agree(body: &[u8]) {
        let mut quotes = Quotes::new(body, 0);
        assert_eq!(ends(body, |open| quotes.end(open)), ends(body, |open| string_end(body, open)));
    }

    /// Strings of all lengths around one and two blocks, with runs of escapes in them.
    fn strings() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            prop::collection::vec(prop::sample::select(b"abn\xc3 ".to_vec()), 0..70),
            (0..70_usize).prop_map(|count| br"\\".repeat(count)),
            prop::sample::select(vec![&br#"\""#[..], br"\n", br"\u0041", br"\/", br"\x", b"\x01", br"\u00"])
                .prop_map(Vec::from),
        ];
        let string =
            prop::collection::vec(piece, 0..6).prop_map(|pieces| [&b"\""[..], &pieces.concat(), b"\","].concat());
        prop::collection::vec(string, 0..40).prop_map(|strings| strings.concat())
    }

    proptest! {
        #[test]
        fn looking_ahead_finds_what_reading_one_by_one_finds(body in strings()) {
            assert_agree(&body);
        }

        #[test]
        fn both_stop_at_the_same_wrong_string(bytes in telling_bytes(0..300)) {
            // Outside strings a backslash ends the reading before anyone asks for a further string.
            let body = [&b"\""[..], &bytes].concat();
            let mut quotes = Quotes::new(&body, 0);
            assert_eq!(quotes.end(0), string_end(&body, 0));
        }
    }

    #[test]
    fn strings_longer_than_the_look_ahead_end_where_they_end() {
        for len in (BLOCKS_AHEAD * BLOCK - 3..BLOCKS_AHEAD * BLOCK + 3).chain([5 * BLOCKS_AHEAD * BLOCK]) {
            let body = format!("\"{}\",\"b\"", "a".repeat(len));
            let mut quotes = Quotes::new(body.as_bytes(), 0);
            assert_eq!(quotes.end(0), Ok(len + 2));
            assert_eq!(quotes.end(len + 3), Ok(body.len()));
            assert!(!quotes.is_broken, "a valid text of {len} bytes was read one by one, which is slow");
        }
    }

    #[test]
    fn a_control_character_between_strings_is_no_error() {
        assert_agree(b"\"a\",\n\t\"b\"\n");
        let mut quotes = Quotes::new(b"\"a\",\n\"b\"", 0);
        assert_eq!((quotes.end(0), quotes.end(5)), (Ok(3), Ok(8)));
        assert!(!quotes.is_broken);
    }

    #[test]
    fn a_string_asked_for_out_of_order_is_found_all_the_same() {
        let body = br#""a","b","c""#;
        let mut quotes = Quotes::new(body, 0);
        assert_eq!(quotes.end(4), Ok(7));
        assert_eq!(quotes.end(0), Ok(3));
    }
}
