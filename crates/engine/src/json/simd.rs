//! The marks of a block, found with AVX2.
//!
//! The only unsafe code of the crate: calls behind a check of the processor, and loads from arrays of the right length.
//! The oracle is `blocks::masks`.

#![expect(unsafe_code, reason = "whether the processor has AVX2 is only known when the program runs")]

use super::blocks::{BLOCK, FIRST_PRINTABLE, Masks};
use super::scan;
use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8,
};

/// Says whether the processor has what this module needs.
#[inline(always)]
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1")
}

/// Does what [`scan::string_end`] does; `None` also where the module is not available.
#[inline(always)]
pub(super) fn string_end(body: &[u8], open: usize) -> Option<usize> {
    #[target_feature(enable = "avx2,bmi1")]
    fn inner(body: &[u8], open: usize) -> Option<usize> {
        scan::string_end(body, open, |block| masks(block))
    }
    // SAFETY: the features were found.
    if is_available() { unsafe { inner(body, open) } } else { None }
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn masks(block: &[u8; BLOCK]) -> Masks {
    let halves = load(block);
    let [low, high] = halves;
    let smaller = _mm256_min_epu8(low, high);
    let last_control = _mm256_set1_epi8(FIRST_PRINTABLE.cast_signed() - 1);
    // A byte is at most `last_control` where the smaller of both is the byte itself.
    let control = _mm256_cmpeq_epi8(_mm256_min_epu8(smaller, last_control), smaller);
    let letter_n = equal(halves, b'n');
    let letter_t = equal(halves, b't');
    Masks {
        quote: join(equal(halves, b'"')),
        backslash: join(equal(halves, b'\\')),
        usual: join([_mm256_or_si256(letter_n[0], letter_t[0]), _mm256_or_si256(letter_n[1], letter_t[1])]),
        holds_control: _mm256_movemask_epi8(control) != 0,
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn load(block: &[u8; BLOCK]) -> [__m256i; 2] {
    let (low, high) = block.split_at(32);
    // SAFETY: each half holds the 32 bytes that the load reads; it needs no alignment.
    unsafe { [_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())] }
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn equal([low, high]: [__m256i; 2], byte: u8) -> [__m256i; 2] {
    let wanted = _mm256_set1_epi8(byte.cast_signed());
    [_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted)]
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn join([low, high]: [__m256i; 2]) -> u64 {
    let bits = |half| u64::from(_mm256_movemask_epi8(half).cast_unsigned());
    bits(low) | (bits(high) << 32)
}
