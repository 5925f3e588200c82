//! Where does a valid string end? The loop over blocks, for any way to find the marks in one.
//!
//! Never says what is wrong with a string: `literal` does, byte by byte.

use super::blocks::{self, BLOCK, Masks};

/// Finds the offset after the closing quotation mark of the literal that opens at `open`; `None` if anything is wrong.
#[inline(always)]
pub(super) fn string_end(body: &[u8], open: usize, masks: impl Fn(&[u8; BLOCK]) -> Masks) -> Option<usize> {
    let mut at = open + 1;
    let mut carry = 0;
    loop {
        let rest = body.get(at..)?;
        let found = match rest.first_chunk() {
            Some(block) => masks(block),
            None if rest.is_empty() => return None,
            None => masks(&blocks::last_block(body, at)),
        };
        let escaped = blocks::escaped(found.backslash, &mut carry);
        let closing = found.quote & !escaped;
        // All bits below the lowest closing quotation mark; all 64 if there is none.
        let inside = (closing & closing.wrapping_neg()).wrapping_sub(1);
        let unusual = escaped & inside & !(found.quote | found.backslash | found.usual);
        if found.holds_control || unusual != 0 {
            check(body, at, inside, unusual)?;
        }
        if closing != 0 {
            return Some(at + closing.trailing_zeros() as usize + 1);
        }
        at += BLOCK;
    }
}

/// Looks closer at a block that holds a control character or an escape that is not among the usual ones.
#[inline(never)]
fn check(body: &[u8], at: usize, inside: u64, mut unusual: u64) -> Option<()> {
    let rest = body.get(at..)?;
    let len = (!inside).trailing_zeros() as usize;
    if rest.iter().take(len).any(|&byte| byte < blocks::FIRST_PRINTABLE) {
        return None;
    }
    while unusual != 0 {
        if !is_escape(rest.get(unusual.trailing_zeros() as usize..)?) {
            return None;
        }
        unusual &= unusual - 1;
    }
    Some(())
}

/// Says whether a backslash before these bytes makes an escape that JSON knows.
pub(super) fn is_escape(after: &[u8]) -> bool {
    match after {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => true,
        [b'u', digits @ ..] => digits.first_chunk::<4>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        _ => false,
    }
}
