//! How are the tables laid out that the build script writes and the counters read?
//!
//! Both sides include this file, so that they cannot disagree.

/// The rank of what is no token: after every rank.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// Tokens up to this length are found by their bytes read as one number.
pub(crate) const MAX_SHORT_BYTES: usize = 8;

/// Bits of a short token's value that hold its rank; its length stands above them.
pub(crate) const ID_BITS: u32 = 18;

/// Bits of a long token's slot that hold its place in the list; a mark from its hash, which spares most comparisons of
/// bytes, stands above them.
pub(crate) const PLACE_BITS: u32 = 18;

/// A slot without a token.
pub(crate) const EMPTY_SLOT: u32 = u32::MAX;

/// Characters that share a page of the class table.
pub(crate) const PAGE_CHARS: usize = 256;

/// A letter, `\p{L}`.
pub(crate) const LETTER: u8 = 1;
/// A number, `\p{N}`.
pub(crate) const NUMBER: u8 = 2;
/// A blank, `\s`.
pub(crate) const BLANK: u8 = 4;
/// What may stand in the upper-case beginning of an o200k word.
pub(crate) const UPPER: u8 = 8;
/// What may stand in the lower-case rest of an o200k word.
pub(crate) const LOWER: u8 = 16;

/// The classes as the vocabularies' patterns write them.
#[allow(dead_code, reason = "only the build script reads the patterns")]
pub(crate) const CLASS_PATTERNS: [(&str, u8); 5] = [
    (r"\p{L}", LETTER),
    (r"\p{N}", NUMBER),
    (r"\s", BLANK),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
];

/// Up to eight bytes as a number, the first one lowest.
#[allow(dead_code, reason = "the counters read the number from the text at once")]
pub(crate) fn short_key(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |key, &byte| key << 8 | u64::from(byte))
}

/// What a short token's entry holds beside its key; the length tells `a` from `a` with a zero byte behind.
#[inline]
pub(crate) fn short_value(len: usize, id: u32) -> u32 {
    let Ok(len) = u32::try_from(len) else { return EMPTY_SLOT };
    len << ID_BITS | id
}

/// Bits of the filter over short tokens: about ten a token, in a quarter of a megabyte.
pub(crate) const FILTER_BITS: usize = 1 << 21;

/// The hash that a short token is found by.
#[inline]
pub(crate) fn short_hash(key: u64, len: usize) -> u64 {
    // The odd factor carries every bit of the key upwards, where the slot is taken from.
    let mixed = (key ^ (len as u64) << 59).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Where the search for a short token begins in a table of `slot_count` entries (a power of two).
#[inline]
pub(crate) fn short_slot(hash: u64, slot_count: usize) -> usize {
    (hash >> 40) as usize & (slot_count - 1)
}

/// The byte and the bit of the filter that say whether there may be a short token with this hash.
#[inline]
pub(crate) fn filter_place(hash: u64) -> (usize, u8) {
    let at = (hash >> 43) as usize & (FILTER_BITS - 1);
    (at / 8, 1 << (at % 8))
}

/// Where the search for a long token begins in a table of `slot_count` slots (a power of two), and its mark.
#[inline]
pub(crate) fn long_slot(bytes: &[u8], slot_count: usize) -> (usize, u32) {
    let hash = xxhash_rust::xxh3::xxh3_64(bytes);
    let [b0, b1, b2, b3, b4, b5, b6, b7] = hash.to_le_bytes();
    let slot = u32::from_le_bytes([b0, b1, b2, b3]) as usize & (slot_count - 1);
    (slot, u32::from_le_bytes([b4, b5, b6, b7]) >> PLACE_BITS)
}
