//! The marks of a block, found with SSE2.
//!
//! The only unsafe code of the crate. It takes no pointers: what is unsafe is only the promise that the processor has
//! SSE2. The oracle is `blocks::plain`.

#![expect(
    unsafe_code,
    reason = "intrinsics may only be called where the processor has them, which the compiler does not derive from the target"
)]

use super::blocks::{BLOCK, FIRST_PRINTABLE, Masks};
use std::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
};

/// Finds what ends or escapes in `block`.
#[inline]
pub(super) fn masks(block: &[u8; BLOCK]) -> Masks {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { sse2_masks(block) }
}

/// Finds the control characters in `block`.
#[inline]
pub(super) fn control(block: &[u8; BLOCK]) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { sse2_control(block) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn sse2_masks(block: &[u8; BLOCK]) -> Masks {
    let parts = quarters(block);
    let [a, b, c, d] = control_parts(parts);
    let any = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
    Masks {
        quote: equal(parts, b'"'),
        backslash: equal(parts, b'\\'),
        letter_n: equal(parts, b'n'),
        holds_control: _mm_movemask_epi8(any) != 0,
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn sse2_control(block: &[u8; BLOCK]) -> u64 {
    join(control_parts(quarters(block)))
}

#[inline]
#[target_feature(enable = "sse2")]
fn quarters(block: &[u8; BLOCK]) -> [__m128i; 4] {
    let (words, _) = block.as_chunks::<8>();
    let word = |idx: usize| words.get(idx).map_or(0, |bytes| i64::from_le_bytes(*bytes));
    [
        _mm_set_epi64x(word(1), word(0)),
        _mm_set_epi64x(word(3), word(2)),
        _mm_set_epi64x(word(5), word(4)),
        _mm_set_epi64x(word(7), word(6)),
    ]
}

#[inline]
#[target_feature(enable = "sse2")]
fn join([a, b, c, d]: [__m128i; 4]) -> u64 {
    let [a, b, c, d] = [_mm_movemask_epi8(a), _mm_movemask_epi8(b), _mm_movemask_epi8(c), _mm_movemask_epi8(d)]
        .map(|bits| u64::from(bits.cast_unsigned()));
    a | (b << 16) | (c << 32) | (d << 48)
}

#[inline]
#[target_feature(enable = "sse2")]
fn equal([a, b, c, d]: [__m128i; 4], byte: u8) -> u64 {
    let wanted = _mm_set1_epi8(byte.cast_signed());
    join([_mm_cmpeq_epi8(a, wanted), _mm_cmpeq_epi8(b, wanted), _mm_cmpeq_epi8(c, wanted), _mm_cmpeq_epi8(d, wanted)])
}

#[inline]
#[target_feature(enable = "sse2")]
fn control_parts([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let last = _mm_set1_epi8(FIRST_PRINTABLE.cast_signed() - 1);
    // At most `last` is what the smaller of both equals.
    [
        _mm_cmpeq_epi8(_mm_min_epu8(a, last), a),
        _mm_cmpeq_epi8(_mm_min_epu8(b, last), b),
        _mm_cmpeq_epi8(_mm_min_epu8(c, last), c),
        _mm_cmpeq_epi8(_mm_min_epu8(d, last), d),
    ]
}
