//! Bit sets over shingle hashes that answer "certainly not" or "perhaps", the same on every machine.
//!
//! Keys are hashes already, so nothing is hashed again. Never grows: each is made for a known amount of text.

use super::table::scale;

/// Hashes looked up at a time, one bit each in a `u64`.
const LOOKED_UP: usize = 64;

/// Calls `f` with the place and value of each of `hashes` for which `may` is true.
///
/// The answers of many are gathered before any is acted upon: the processor then waits for the memory of all of them at once.
#[inline(always)]
pub(super) fn select(hashes: &[u64], may: impl Fn(u64) -> bool, mut f: impl FnMut(usize, u64)) {
    for (group, chunk) in hashes.chunks(LOOKED_UP).enumerate() {
        let mut hits = 0_u64;
        for (place, hash) in chunk.iter().enumerate() {
            hits |= u64::from(may(*hash)) << place;
        }
        while hits != 0 {
            let place = hits.trailing_zeros() as usize;
            hits &= hits - 1;
            if let Some(hash) = chunk.get(place) {
                f(group * LOOKED_UP + place, *hash);
            }
        }
    }
}

/// Bits of a filter for each byte of text. A shingle stands for five to ten bytes, so a filter is a tenth full at most, mostly far less.
const BITS_PER_BYTE: usize = 2;

/// Tells which hashes were certainly never added. Others were added, or share their bit with one that was.
pub(super) struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// Makes an empty filter for the shingles of `bytes` bytes of text.
    pub(super) fn for_text(bytes: usize) -> Self {
        Self { words: vec![0; bytes * BITS_PER_BYTE / 64 + 1] }
    }

    pub(super) fn add(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The top bits choose the word, the lowest ones the bit.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        (scale(hash, self.words.len()), 1 << (hash % 64))
    }
}

/// Slots of two bits for each byte of text, half a byte of memory a byte. A tenth of them is taken, so few shingles share one.
const SLOTS_PER_BYTE: usize = 2;
/// Two-bit slots in a word.
const SLOTS_PER_WORD: u64 = 32;

/// Tells which hashes were certainly never added, and which at most once. Of the others, some share their slot with another.
pub(super) struct Sightings {
    words: Vec<u64>,
}

impl Sightings {
    /// Makes an empty register for the shingles of `bytes` bytes of text.
    pub(super) fn for_text(bytes: usize) -> Self {
        Self { words: vec![0; bytes * SLOTS_PER_BYTE / SLOTS_PER_WORD as usize + 1] }
    }

    #[inline]
    pub(super) fn add(&mut self, hash: u64) {
        let (word, shift) = self.place(hash);
        if let Some(word) = self.words.get_mut(word) {
            // The low bit of a slot says "once", the high bit "again".
            let once = *word >> shift & 1;
            *word |= (1 + once) << shift;
        }
    }

    #[inline]
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let (word, shift) = self.place(hash);
        self.words.get(word).is_some_and(|word| word >> shift & 1 != 0)
    }

    #[inline]
    pub(super) fn may_repeat(&self, hash: u64) -> bool {
        let (word, shift) = self.place(hash);
        self.words.get(word).is_some_and(|word| word >> shift & 2 != 0)
    }

    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        (scale(hash, self.words.len()), hash % SLOTS_PER_WORD * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(count: u64) -> Vec<u64> {
        (1..=count).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    }

    #[test]
    fn select_finds_what_a_plain_filter_finds() {
        for count in [0, 1, 63, 64, 65, 200] {
            let hashes = hashes(count);
            let mut found = Vec::new();
            select(&hashes, |hash| hash % 3 == 0, |place, hash| found.push((place, hash)));
            let plain = hashes.iter().copied().enumerate().filter(|(_, hash)| hash % 3 == 0);
            assert_eq!(found, plain.collect::<Vec<_>>());
        }
    }

    #[test]
    fn filters_forget_nothing_and_refuse_most_of_the_rest() {
        let (all, bytes) = (hashes(4_000), 12_000);
        let (added, others) = all.split_at(2_000);
        let (mut filter, mut sightings) = (Filter::for_text(bytes), Sightings::for_text(bytes));
        for (n, hash) in added.iter().enumerate() {
            filter.add(*hash);
            sightings.add(*hash);
            if n % 2 == 0 {
                sightings.add(*hash);
            }
        }
        assert!(added.iter().all(|hash| filter.may_hold(*hash) && sightings.may_hold(*hash)));
        assert!(added.iter().step_by(2).all(|hash| sightings.may_repeat(*hash)));
        let wrong = |may: &dyn Fn(u64) -> bool, hashes: &[u64]| hashes.iter().filter(|hash| may(**hash)).count();
        assert!(wrong(&|hash| filter.may_hold(hash), others) < 400);
        assert!(wrong(&|hash| sightings.may_hold(hash), others) < 400);
        assert!(wrong(&|hash| sightings.may_repeat(hash), others) < 400);
    }

    #[test]
    fn filters_for_no_text_answer_too() {
        let (mut filter, mut sightings) = (Filter::for_text(0), Sightings::for_text(0));
        filter.add(5);
        sightings.add(5);
        assert!(filter.may_hold(5) && sightings.may_hold(5) && !sightings.may_repeat(5));
    }
}
