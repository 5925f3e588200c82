//! Which of the next 64 bytes end a string, escape something, or may not stand in a string?
//!
//! Looks at bytes only, 64 at a time, so that a log with an escape on every line costs no stop per escape. Knows no
//! grammar. This is the form for any machine, and the oracle of the one in `simd`.

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
    /// The letters `n` and `t`: nearly every escape is a line end or a tab, so the others may be looked at one by one.
    pub(super) usual: u64,
    /// Whether any byte of the block is a control character.
    pub(super) holds_control: bool,
}

/// Gives a block that begins with `rest`, less than a block long, and is filled up with spaces.
#[cold]
pub(super) fn last_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    if let Some(place) = block.get_mut(..rest.len()) {
        place.copy_from_slice(rest);
    }
    block
}

/// Gives the bytes of a block that a backslash before them escapes, and carries an escape over the block's end.
///
/// In a run of backslashes the first, third, fifth and so on escape what follows. Adding a run's first bit to the run
/// clears the whole run by carry, which tells the runs that begin at an even place from the others without a loop.
#[inline(always)]
pub(super) fn escaped(backslash: u64, carry: &mut u64) -> u64 {
    let runs = backslash & !*carry;
    let even_starts = runs & !(runs << 1) & EVEN;
    let even_runs = runs & !runs.wrapping_add(even_starts);
    let escapers = (even_runs & EVEN) | (runs & !even_runs & !EVEN);
    let escaped = (escapers << 1) | *carry;
    // Whether the last byte escapes depends on the run it ends, so the next block need not wait for the bits above.
    if backslash != u64::MAX {
        *carry = u64::from(backslash.leading_ones()) & 1;
    }
    escaped
}

/// Gives the bytes from each first mark up to, not including, the next: those inside strings, if the block begins outside.
pub(super) fn between(quote: u64) -> u64 {
    // Bit `i` becomes the parity of the bits up to it.
    [1, 2, 4, 8, 16, 32].iter().fold(quote, |bits, shift| bits ^ (bits << shift))
}

/// Finds what ends or escapes in `block`.
#[inline(always)]
pub(super) fn masks(block: &[u8; BLOCK]) -> Masks {
    Masks {
        quote: equal(block, b'"'),
        backslash: equal(block, b'\\'),
        usual: equal(block, b'n') | equal(block, b't'),
        holds_control: control(block) != 0,
    }
}

/// Finds the bytes of `block` that do not stand for themselves in a string.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn specials(block: &[u8; BLOCK]) -> u64 {
    equal(block, b'"') | equal(block, b'\\') | control(block)
}

/// Finds the control characters: those with no bit at or above that of the first printable one.
#[inline(always)]
pub(super) fn control(block: &[u8; BLOCK]) -> u64 {
    let high_bits = u64::from_ne_bytes([!(FIRST_PRINTABLE - 1); 8]);
    zeros(block, |word| word & high_bits)
}

#[inline(always)]
fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    let pattern = u64::from_ne_bytes([byte; 8]);
    zeros(block, |word| word ^ pattern)
}

/// Finds the bytes that `change` makes zero, eight at a time.
#[inline(always)]
fn zeros(block: &[u8; BLOCK], change: impl Fn(u64) -> u64) -> u64 {
    const LOW_SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // Moves the lowest bit of each byte into the highest byte, in order.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = block.as_chunks::<8>();
    words.iter().rev().fold(0, |mask, word| {
        let word = change(u64::from_le_bytes(*word));
        // The sum sets a byte's high bit if any lower bit is set, and never reaches the next byte.
        let is_zero = !((word & LOW_SEVEN).wrapping_add(LOW_SEVEN) | word | LOW_SEVEN);
        (mask << 8) | ((is_zero >> 7).wrapping_mul(GATHER) >> 56)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Blocks full of the bytes that matter, so that runs of backslashes meet marks and borders.
    pub(crate) fn telling_bytes(len: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            6 => Just(b'\\'),
            3 => Just(b'"'),
            2 => prop::sample::select(b"nt /\x00\x1f\x20\x7f\x80\xff!#[]".to_vec()),
            1 => any::<u8>(),
        ];
        prop::collection::vec(byte, len)
    }

    fn bits(block: &[u8], is_meant: impl Fn(u8) -> bool) -> u64 {
        block.iter().enumerate().map(|(place, byte)| u64::from(is_meant(*byte)) << place).sum()
    }

    fn as_block(bytes: &[u8]) -> [u8; BLOCK] {
        bytes.try_into().unwrap()
    }

    proptest! {
        #[test]
        fn masks_are_what_a_look_at_each_byte_finds(bytes in telling_bytes(BLOCK)) {
            let expected = Masks {
                quote: bits(&bytes, |byte| byte == b'"'),
                backslash: bits(&bytes, |byte| byte == b'\\'),
                usual: bits(&bytes, |byte| byte == b'n' || byte == b't'),
                holds_control: bytes.iter().any(|byte| *byte < 0x20),
            };
            prop_assert_eq!(masks(&as_block(&bytes)), expected);
            prop_assert_eq!(control(&as_block(&bytes)), bits(&bytes, |byte| byte < 0x20));
            prop_assert_eq!(specials(&as_block(&bytes)), bits(&bytes, |byte| byte < 0x20 || byte == b'"' || byte == b'\\'));
        }

        #[test]
        fn escapes_are_what_reading_byte_by_byte_finds(bytes in telling_bytes(3 * BLOCK)) {
            let mut carry = 0;
            let mut is_escaped = false;
            for block in bytes.chunks(BLOCK) {
                let mut expected = 0;
                for (place, byte) in block.iter().enumerate() {
                    expected |= u64::from(is_escaped) << place;
                    is_escaped = *byte == b'\\' && !is_escaped;
                }
                prop_assert_eq!(escaped(masks(&as_block(block)).backslash, &mut carry), expected);
            }
            prop_assert_eq!(carry, u64::from(is_escaped));
        }

        #[test]
        fn between_marks_is_what_reading_bit_by_bit_finds(quote: u64) {
            let mut is_between = false;
            let mut expected = 0;
            for place in 0..64 {
                is_between ^= quote >> place & 1 == 1;
                expected |= u64::from(is_between) << place;
            }
            prop_assert_eq!(between(quote), expected);
        }
    }

    #[test]
    fn an_escape_is_carried_over_a_block_of_backslashes_alone() {
        for start in [0, 1] {
            let mut carry = start;
            escaped(u64::MAX, &mut carry);
            assert_eq!(carry, start);
        }
    }
}
