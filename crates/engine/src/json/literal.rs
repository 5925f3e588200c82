//! Where does a string literal end, and what is wrong with it if anything is?
//!
//! Decodes nothing. The fast way is in `scan`; whatever it does not like is read again here, byte by byte.

use super::blocks::{self, BLOCK, FIRST_PRINTABLE};
use super::scan;
#[cfg(target_arch = "x86_64")]
use super::simd;
use crate::error::{Error, Result};

/// Finds the end of the string literal that opens at `open`: the offset after its closing quotation mark.
#[inline]
pub(super) fn string_end(body: &[u8], open: usize) -> Result<usize> {
    match fast_end(body, open) {
        Some(end) => Ok(end),
        None => plain_end(body, open),
    }
}

#[inline]
fn fast_end(body: &[u8], open: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if simd::is_available() {
        return simd::string_end(body, open);
    }
    scan::string_end(body, open, blocks::masks)
}

/// Reads a literal byte by byte, and says what is wrong and where.
#[cold]
fn plain_end(body: &[u8], open: usize) -> Result<usize> {
    let mut at = open + 1;
    while let Some(&byte) = body.get(at) {
        let after = body.get(at + 1..).unwrap_or_default();
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' if !scan::is_escape(after) => {
                return Err(Error::Json { offset: at, expected: "an escape that JSON knows" });
            }
            b'\\' => at += 2,
            control if control < FIRST_PRINTABLE => {
                return Err(Error::Json { offset: at, expected: "an escape instead of a control character" });
            }
            _ => at += 1,
        }
    }
    Err(Error::Json { offset: body.len(), expected: "`\"`" })
}

/// Finds the first backslash at or after `from`, or the end of `bytes`.
#[inline]
pub(super) fn next_backslash(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        let block = bytes.get(at..).and_then(|rest| rest.first_chunk().copied());
        let found = blocks::equal(&block.unwrap_or_else(|| blocks::last_block(bytes, at)), b'\\');
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    bytes.len()
}
