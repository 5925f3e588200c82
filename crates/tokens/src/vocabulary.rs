//! Is this run of bytes a token, and of which rank?
//!
//! Reads the tables of a byte-pair vocabulary where they lie in the program: nothing is loaded or built at run time.

pub(crate) use crate::layout::NO_TOKEN;
use crate::layout::{
    EMPTY_SLOT, ID_BITS, MAX_SHORT_BYTES, PLACE_BITS, filter_place, long_slot, short_hash, short_slot, short_value,
};

/// Bytes that one number holds.
pub(crate) const MAX_KEY_BYTES: usize = 8;

/// No token of these vocabularies is longer (128 blanks); a test holds this to the tables.
const MAX_TOKEN_BYTES: usize = 128;

/// The tables of one vocabulary.
pub(crate) struct Vocabulary {
    /// Tells the vocabularies apart where something is remembered of both.
    pub(crate) tag: u32,
    /// The rank of each pair of bytes.
    pairs: &'static [[u8; 4]],
    /// Short tokens: the bytes as a number, then length and rank.
    short: &'static [[u8; 12]],
    /// One bit for each short token, by hash: most runs of bytes are no token, and this small table tells so.
    filter: &'static [u8],
    /// Long tokens: mark and place in `entries`, found by hash.
    slots: &'static [[u8; 4]],
    /// Of each long token, where it begins in `bytes`, and its rank.
    entries: &'static [[u8; 8]],
    bytes: &'static [u8],
}

macro_rules! vocabulary {
    ($name:literal, $tag:literal) => {
        Vocabulary {
            tag: $tag,
            pairs: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs")).as_chunks().0,
            short: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".short")).as_chunks().0,
            filter: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".filter")),
            slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")).as_chunks().0,
            entries: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".entries")).as_chunks().0,
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bytes")),
        }
    };
}

/// `o200k_base`: GPT-4o and later.
pub(crate) static O200K: Vocabulary = vocabulary!("o200k", 0);

/// `cl100k_base`: GPT-3.5 and GPT-4.
pub(crate) static CL100K: Vocabulary = vocabulary!("cl100k", 1);

impl Vocabulary {
    /// Gives the rank of the token that is `text[from..to]`, or `NO_TOKEN`.
    ///
    /// The whole text is asked for because eight bytes are read at once where it has them.
    #[inline]
    pub(crate) fn rank(&self, text: &[u8], from: usize, to: usize) -> u32 {
        let Some(len) = to.checked_sub(from) else { return NO_TOKEN };
        match len {
            2 => self.pair_rank(text, from),
            1..=MAX_SHORT_BYTES => self.short_rank(key_at(text, from, len), len),
            0 => NO_TOKEN,
            _ => text.get(from..to).map_or(NO_TOKEN, |bytes| self.long_rank(bytes)),
        }
    }

    /// Gives the rank of the two bytes at `from`.
    #[inline]
    pub(crate) fn pair_rank(&self, text: &[u8], from: usize) -> u32 {
        let Some(&[first, second]) = text.get(from..).and_then(|rest| rest.first_chunk()) else { return NO_TOKEN };
        let at = usize::from(u16::from_be_bytes([first, second]));
        self.pairs.get(at).map_or(NO_TOKEN, |rank| u32::from_le_bytes(*rank))
    }

    #[inline]
    fn short_rank(&self, key: u64, len: usize) -> u32 {
        let hash = short_hash(key, len);
        let (byte, bit) = filter_place(hash);
        if self.filter.get(byte).is_none_or(|bits| bits & bit == 0) {
            return NO_TOKEN;
        }
        let mut at = short_slot(hash, self.short.len());
        // A quarter of the slots is empty, so the search always ends.
        while let Some([k0, k1, k2, k3, k4, k5, k6, k7, v0, v1, v2, v3]) = self.short.get(at) {
            let value = u32::from_le_bytes([*v0, *v1, *v2, *v3]);
            if value == EMPTY_SLOT {
                return NO_TOKEN;
            }
            let found = u64::from_le_bytes([*k0, *k1, *k2, *k3, *k4, *k5, *k6, *k7]);
            if found == key && value >> ID_BITS == short_value(len, 0) >> ID_BITS {
                return value & ((1 << ID_BITS) - 1);
            }
            at = (at + 1) & (self.short.len() - 1);
        }
        NO_TOKEN
    }

    fn long_rank(&self, wanted: &[u8]) -> u32 {
        if wanted.len() > MAX_TOKEN_BYTES {
            return NO_TOKEN;
        }
        let (mut at, mark) = long_slot(wanted, self.slots.len());
        while let Some(slot) = self.slots.get(at).map(|slot| u32::from_le_bytes(*slot)) {
            if slot == EMPTY_SLOT {
                return NO_TOKEN;
            }
            if slot >> PLACE_BITS == mark {
                let (bytes, rank) = self.long_token(slot as usize & ((1 << PLACE_BITS) - 1));
                if bytes == wanted {
                    return rank;
                }
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        NO_TOKEN
    }

    fn long_token(&self, place: usize) -> (&'static [u8], u32) {
        let entry = |at: usize| {
            let [s0, s1, s2, s3, r0, r1, r2, r3] = self.entries.get(at).copied().unwrap_or([u8::MAX; 8]);
            (u32::from_le_bytes([s0, s1, s2, s3]) as usize, u32::from_le_bytes([r0, r1, r2, r3]))
        };
        let ((start, rank), (end, _)) = (entry(place), entry(place + 1));
        (self.bytes.get(start..end).unwrap_or_default(), rank)
    }
}

/// Reads `len` bytes, one to eight, as a number.
#[inline]
pub(crate) fn key_at(text: &[u8], from: usize, len: usize) -> u64 {
    let rest = text.get(from..).unwrap_or_default();
    let eight = match rest.first_chunk() {
        Some(eight) => *eight,
        None => std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0)),
    };
    u64::from_le_bytes(eight) & (u64::MAX >> (64 - 8 * len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_under_its_own_rank() {
        for (vocabulary, count) in [(&O200K, 199_998), (&CL100K, 100_256)] {
            let mut ranks = Vec::new();
            for entry in vocabulary.short {
                let (key, value) = (&entry[..8], u32::from_le_bytes(entry[8..].try_into().unwrap()));
                if value != EMPTY_SLOT {
                    let (len, id) = (value as usize >> ID_BITS, value & ((1 << ID_BITS) - 1));
                    assert_eq!(vocabulary.rank(&key[..len], 0, len), id);
                    ranks.push(id);
                }
            }
            for place in 0..vocabulary.entries.len() - 1 {
                let (bytes, rank) = vocabulary.long_token(place);
                assert!(bytes.len() > MAX_SHORT_BYTES && bytes.len() <= MAX_TOKEN_BYTES);
                assert_eq!(vocabulary.rank(bytes, 0, bytes.len()), rank);
                ranks.push(rank);
            }
            ranks.sort_unstable();
            assert_eq!(ranks, (0..count).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_token_is_found_at_any_place_and_a_strange_word_nowhere() {
        let text = b"xqzzyq the\0the";
        for vocabulary in [&O200K, &CL100K] {
            assert_eq!(vocabulary.rank(text, 6, 10), vocabulary.rank(b" the", 0, 4));
            assert_eq!(vocabulary.rank(text, 11, 14), vocabulary.rank(b"the", 0, 3));
            assert_ne!(vocabulary.rank(text, 11, 14), NO_TOKEN);
            for (from, to) in [(0, 6), (7, 11), (3, 3), (3, 2), (10, 99)] {
                assert_eq!(vocabulary.rank(text, from, to), NO_TOKEN, "{from} to {to}");
            }
        }
    }

    #[test]
    fn every_byte_is_a_token() {
        for byte in 0..=u8::MAX {
            assert_ne!(O200K.rank(&[byte], 0, 1), NO_TOKEN);
            assert_ne!(CL100K.rank(&[byte], 0, 1), NO_TOKEN);
        }
    }
}
