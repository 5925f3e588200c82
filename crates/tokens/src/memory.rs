//! Was this short piece, or this pair of tokens, met just now?
//!
//! Two small tables that forget on collision. What they hold changes how fast an answer comes, never the answer.

use crate::vocabulary::{MAX_KEY_BYTES, NO_TOKEN, Vocabulary, key_at};

/// Pieces remembered, a power of two: 1 MB a thread, which a second-level cache holds. Few distinct pieces make up most
/// of any text.
const PIECES: usize = 1 << 15;

/// Pairs remembered, a power of two: a run of blanks or dashes has a few dozen.
const PAIRS: usize = 1 << 10;

/// The longest piece that is remembered; words with what stands in front of them are seldom longer.
const MAX_PIECE_BYTES: usize = 2 * MAX_KEY_BYTES;

/// The bytes of a piece as two numbers, with its length and vocabulary.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PieceKey {
    low: u64,
    high: u64,
    kind: u32,
}

impl PieceKey {
    /// Makes the key of `text[from..to]`; a piece of no bytes or many has none.
    #[inline]
    pub(crate) fn of(vocabulary: &Vocabulary, text: &[u8], from: usize, to: usize) -> Option<Self> {
        let len = to.checked_sub(from).filter(|len| (1..=MAX_PIECE_BYTES).contains(len))?;
        let low = key_at(text, from, len.min(MAX_KEY_BYTES));
        let high = match len.checked_sub(MAX_KEY_BYTES) {
            None | Some(0) => 0,
            Some(rest) => key_at(text, from + MAX_KEY_BYTES, rest),
        };
        // Never zero, as an empty entry is.
        let kind = u32::try_from(len).ok()? << 1 | vocabulary.tag;
        Some(Self { low, high, kind })
    }

    #[inline]
    fn place(self) -> usize {
        place_of(self.low ^ self.high.rotate_left(29) ^ u64::from(self.kind) << 56, PIECES)
    }
}

/// The high bits of a product, which every bit of the key reaches.
#[inline]
fn place_of(key: u64, places: usize) -> usize {
    let mixed = (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as usize & (places - 1)
}

/// Token counts of short pieces.
pub(crate) struct PieceMemory(Vec<(PieceKey, u32)>);

impl PieceMemory {
    /// Gives the count of a piece that is remembered.
    #[inline]
    pub(crate) fn count(&self, key: PieceKey) -> Option<u64> {
        let (known, count) = self.0.get(key.place())?;
        (*known == key).then_some(u64::from(*count))
    }

    /// Remembers the count of a piece in place of another.
    pub(crate) fn remember(&mut self, key: PieceKey, count: u64) {
        if let (Some(entry), Ok(count)) = (self.0.get_mut(key.place()), u32::try_from(count)) {
            *entry = (key, count);
        }
    }
}

impl Default for PieceMemory {
    fn default() -> Self {
        Self(vec![(PieceKey::default(), 0); PIECES])
    }
}

/// Ranks of what two tokens together are.
pub(crate) struct PairMemory(Vec<(u64, u32)>);

impl PairMemory {
    /// Gives the rank of two neighbouring tokens, asking `look_up` if it is not remembered.
    #[inline]
    pub(crate) fn rank(
        &mut self,
        vocabulary: &Vocabulary,
        left: u32,
        right: u32,
        look_up: impl FnOnce() -> u32,
    ) -> u32 {
        // Ranks have 18 bits. The topmost bit is set in no empty entry.
        let key = 1 << 63 | u64::from(vocabulary.tag) << 62 | u64::from(left) << 31 | u64::from(right);
        let Some(entry) = self.0.get_mut(place_of(key, PAIRS)) else { return look_up() };
        if entry.0 != key {
            *entry = (key, look_up());
        }
        entry.1
    }
}

impl Default for PairMemory {
    fn default() -> Self {
        Self(vec![(0, NO_TOKEN); PAIRS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{CL100K, O200K};

    #[test]
    fn pieces_that_differ_have_keys_that_differ() {
        let texts: [&[u8]; 9] =
            [b"a", b"a\0", b"\0", b"\0\0", b"aaaaaaaa", b"aaaaaaaa\0", b"aaaaaaaaa", b"aaaaaaaab", b"baaaaaaaa"];
        let keys: Vec<PieceKey> = texts.iter().filter_map(|text| PieceKey::of(&O200K, text, 0, text.len())).collect();
        assert_eq!(keys.len(), texts.len());
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[at + 1..].contains(key));
            assert!(Some(*key) != PieceKey::of(&CL100K, texts[at], 0, texts[at].len()));
            assert!(*key != PieceKey::default());
        }
        assert!(PieceKey::of(&O200K, b"", 0, 0).is_none());
        assert!(PieceKey::of(&O200K, &[b'a'; 17], 0, 17).is_none());
    }

    #[test]
    fn what_is_remembered_comes_back_until_it_is_replaced() {
        let mut memory = PieceMemory::default();
        let keys: Vec<PieceKey> =
            (0..200_000_u32).filter_map(|n| PieceKey::of(&O200K, &n.to_be_bytes(), 0, 4)).collect();
        for (count, key) in (0..).zip(&keys) {
            assert_eq!(memory.count(*key), None);
            memory.remember(*key, count);
            assert_eq!(memory.count(*key), Some(count));
        }
        let kept = (0..).zip(&keys).filter(|(count, key)| memory.count(**key) == Some(*count)).count();
        assert!(kept > PIECES / 2 && kept <= PIECES, "{kept}");
    }

    #[test]
    fn pairs_of_two_vocabularies_are_kept_apart() {
        let mut memory = PairMemory::default();
        for (left, right) in (0..3_000).zip((5_000..8_000).rev()) {
            assert_eq!(memory.rank(&O200K, left, right, || left), left);
            assert_eq!(memory.rank(&O200K, left, right, || 0), left);
            assert_eq!(memory.rank(&CL100K, left, right, || right), right);
            assert_eq!(memory.rank(&O200K, right, left, || 7), 7);
        }
    }
}
