//! Which of the next 64 bytes end a string, escape something, or may not stand in a string?
//!
//! Looks at bytes only, 64 at a time, so that a log with an escape on every line costs no stop per escape. Knows no grammar.
//! The vector form has a plain twin that the tests hold it against.

/// Bytes looked at in one step: one bit each in a `u64`.
pub(super) const BLOCK: usize = 64;

/// First byte that may stand in a string unescaped.
pub(super) const FIRST_PRINTABLE: u8 = 0x20;

/// Bits of the even places in a block.
const EVEN: u64 = 0x5555_5555_5555_5555;

/// What stands where in one block; bit `i` is byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    /// Quotation marks.
    pub(super) quote: u64,
    /// Backslashes.
    pub(super) backslash: u64,
    /// The letter `n`: nearly every escape is a line end, so the others may be looked at one by one.
    pub(super) letter_n: u64,
    /// Whether any byte of the block is a control character.
    pub(super) holds_control: bool,
}

/// Gives the block that begins at `at`, filled up with spaces past the end of `bytes`.
#[inline]
pub(super) fn block_at(bytes: &[u8], at: usize) -> [u8; BLOCK] {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(block) = rest.first_chunk::<BLOCK>() {
        return *block;
    }
    let mut block = [b' '; BLOCK];
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    block
}

/// Gives the bytes of a block that a backslash before them escapes, and carries an escape over the block's end.
///
/// In a run of backslashes the first, third, fifth and so on escape what follows. Adding a run's first bit to the run
/// clears the whole run by carry, which tells the runs that begin at an even place from the others without a loop.
#[inline]
pub(super) fn escaped(backslash: u64, carry: &mut u64) -> u64 {
    let runs = backslash & !*carry;
    let even_starts = runs & !(runs << 1) & EVEN;
    let even_runs = runs & !runs.wrapping_add(even_starts);
    let escapers = (even_runs & EVEN) | (runs & !even_runs & !EVEN);
    let escaped = (escapers << 1) | *carry;
    *carry = escapers >> 63;
    escaped
}

/// The form for any machine, and the oracle for the other.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) mod plain {
    use super::{BLOCK, FIRST_PRINTABLE, Masks};

    fn bits(block: &[u8; BLOCK], is_meant: impl Fn(u8) -> bool) -> u64 {
        block.iter().rev().fold(0, |mask, &byte| (mask << 1) | u64::from(is_meant(byte)))
    }

    /// Finds what ends or escapes in `block`.
    pub(crate) fn masks(block: &[u8; BLOCK]) -> Masks {
        Masks {
            quote: bits(block, |byte| byte == b'"'),
            backslash: bits(block, |byte| byte == b'\\'),
            letter_n: bits(block, |byte| byte == b'n'),
            holds_control: control(block) != 0,
        }
    }

    /// Finds the control characters in `block`.
    pub(crate) fn control(block: &[u8; BLOCK]) -> u64 {
        bits(block, |byte| byte < FIRST_PRINTABLE)
    }
}
