//! The marks of a block, found with the vectors of x86-64.
//!
//! The only unsafe code of the crate: calls of what the processor is known to have, and loads from arrays of the right
//! length. The oracle is `blocks`.

#![expect(unsafe_code, reason = "what the processor can do is only known when the program runs")]

use super::blocks::{BLOCK, FIRST_PRINTABLE, Masks};
use super::scan::Scan;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
};

/// Finds the bytes of `block` that do not stand for themselves in a string.
#[inline(always)]
pub(super) fn specials(block: &[u8; BLOCK]) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { sse2_specials(block) }
}

/// Does what [`Scan::look_ahead`] does, where the processor has AVX2; `None` where it has not.
pub(super) fn look_ahead(scan: &mut Scan, body: &[u8], blocks: &[[u8; BLOCK]]) -> Option<Option<()>> {
    let is_able = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    if !is_able {
        return None;
    }
    // SAFETY: the features were found.
    Some(unsafe { avx2_look_ahead(scan, body, blocks) })
}

#[target_feature(enable = "avx2,bmi1,lzcnt,popcnt")]
fn avx2_look_ahead(scan: &mut Scan, body: &[u8], blocks: &[[u8; BLOCK]]) -> Option<()> {
    scan.look_ahead(body, blocks, |block| avx2_masks(block))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn avx2_masks(block: &[u8; BLOCK]) -> Masks {
    let (low, high) = block.split_at(BLOCK / 2);
    let (low, high) = (avx2_load(low), avx2_load(high));
    let usual = |half| _mm256_or_si256(avx2_equal(half, b'n'), avx2_equal(half, b't'));
    let last_control = _mm256_set1_epi8(FIRST_PRINTABLE.cast_signed() - 1);
    let smaller = _mm256_min_epu8(low, high);
    // A byte is at most `last_control` where the smaller of both is the byte itself.
    let control = _mm256_cmpeq_epi8(_mm256_min_epu8(smaller, last_control), smaller);
    Masks {
        quote: avx2_join(avx2_equal(low, b'"'), avx2_equal(high, b'"')),
        backslash: avx2_join(avx2_equal(low, b'\\'), avx2_equal(high, b'\\')),
        usual: avx2_join(usual(low), usual(high)),
        holds_control: _mm256_movemask_epi8(control) != 0,
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_load(half: &[u8]) -> __m256i {
    let half = half.first_chunk::<32>().unwrap_or(&[0; 32]);
    // SAFETY: the array holds the 32 bytes that the load reads; it needs no alignment.
    unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_equal(half: __m256i, byte: u8) -> __m256i {
    _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_join(low: __m256i, high: __m256i) -> u64 {
    let bits = |half| u64::from(_mm256_movemask_epi8(half).cast_unsigned());
    bits(low) | (bits(high) << 32)
}

#[inline]
#[target_feature(enable = "sse2")]
fn sse2_specials(block: &[u8; BLOCK]) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    quarters.iter().rev().fold(0, |mask, quarter| (mask << 16) | sse2_quarter(quarter))
}

#[inline]
#[target_feature(enable = "sse2")]
fn sse2_quarter(quarter: &[u8; 16]) -> u64 {
    // SAFETY: the array holds the 16 bytes that the load reads; it needs no alignment.
    let bytes: __m128i = unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) };
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
    let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(FIRST_PRINTABLE.cast_signed() - 1)), bytes);
    let specials = _mm_or_si128(_mm_or_si128(quote, backslash), control);
    u64::from(_mm_movemask_epi8(specials).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{self, tests::telling_bytes};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_find_what_the_plain_form_finds(bytes in telling_bytes(BLOCK)) {
            let block: [u8; BLOCK] = bytes.try_into().unwrap();
            prop_assert_eq!(specials(&block), blocks::specials(&block));
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the feature was found.
                prop_assert_eq!(unsafe { avx2_masks(&block) }, blocks::masks(&block));
            } else {
                eprintln!("no AVX2 here: its marks are NOT tested");
            }
        }
    }
}
