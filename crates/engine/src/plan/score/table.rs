//! Small hash tables and filters over shingle hashes, exact or on the safe side, and the same on every machine.
//!
//! Keys are hashes already, so nothing is hashed again. Nothing here is iterated.

/// Sub-tables of a [`Table`]. Each grows on its own, so that growing never holds two copies of the whole.
const SHARDS: usize = 64;
const SHARD_BITS: u32 = SHARDS.ilog2();
/// Slots of a sub-table when it gets its first entry.
const FIRST_SLOTS: usize = 16;
/// Slots looked at before a key is given up as absent. At three quarters full a run this long does not happen by chance; texts made to collide
/// then lose entries instead of time.
const MAX_PROBES: usize = 1024;

/// A map from hashes to values; the default value means "absent". Open addressing, at most three quarters full.
pub(super) struct Table<V> {
    shards: Vec<Shard<V>>,
}

struct Shard<V> {
    slots: Vec<Slot<V>>,
    len: usize,
}

/// The key in two halves, so that a slot with a 32-bit value has 12 bytes and not 16.
#[derive(Clone, Copy, Default)]
struct Slot<V> {
    high: u32,
    low: u32,
    value: V,
}

impl<V: Copy + Default + PartialEq> Table<V> {
    pub(super) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Shard { slots: Vec::new(), len: 0 }).collect() }
    }

    /// Gives the value of `hash`, or the default.
    #[inline]
    pub(super) fn value(&self, hash: u64) -> V {
        let Some(shard) = self.shards.get(shard_of(hash)) else { return V::default() };
        shard.find(hash).and_then(|idx| shard.slots.get(idx)).map(|slot| slot.value).unwrap_or_default()
    }

    /// Gives the value of `hash` to change. A new one starts as `first`, which must not be the default.
    #[inline]
    pub(super) fn value_or(&mut self, hash: u64, first: V) -> Option<&mut V> {
        let shard = self.shards.get_mut(shard_of(hash))?;
        if (shard.len + 1) * 4 > shard.slots.len() * 3 {
            shard.grow();
        }
        let idx = shard.find(hash)?;
        let slot = shard.slots.get_mut(idx)?;
        if slot.value == V::default() {
            *slot = Slot { high: (hash >> 32) as u32, low: hash as u32, value: first };
            shard.len += 1;
        }
        Some(&mut slot.value)
    }

    /// Gives the value of `hash` to change, if it is there.
    #[inline]
    pub(super) fn value_mut(&mut self, hash: u64) -> Option<&mut V> {
        let shard = self.shards.get_mut(shard_of(hash))?;
        let idx = shard.find(hash)?;
        shard.slots.get_mut(idx).map(|slot| &mut slot.value).filter(|value| **value != V::default())
    }
}

/// The top bits choose the sub-table, those below them the slot.
fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

impl<V: Copy + Default + PartialEq> Shard<V> {
    /// Finds the slot that holds `hash`, or the free one where it would go.
    #[inline]
    fn find(&self, hash: u64) -> Option<usize> {
        let mut idx = scale(hash << SHARD_BITS, self.slots.len());
        for _ in 0..MAX_PROBES {
            let slot = self.slots.get(idx)?;
            if slot.value == V::default() || (slot.low == hash as u32 && slot.high == (hash >> 32) as u32) {
                return Some(idx);
            }
            idx += 1;
            if idx == self.slots.len() {
                idx = 0;
            }
        }
        None
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() + self.slots.len() / 2).max(FIRST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); slots]);
        for slot in old {
            if slot.value == V::default() {
                continue;
            }
            let hash = u64::from(slot.high) << 32 | u64::from(slot.low);
            match self.find(hash).and_then(|idx| self.slots.get_mut(idx)) {
                Some(free) => *free = slot,
                None => self.len -= 1,
            }
        }
    }
}

/// Maps a hash to `0..slots` by its top bits.
#[inline]
fn scale(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

/// Bits of a filter for each byte of text. A shingle stands for about four bytes, so a filter is one sixteenth full.
const BITS_PER_BYTE: usize = 4;

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

/// Slots of two bits for each byte of text: three quarters of a byte of memory a byte.
const SLOTS_PER_BYTE: usize = 3;
/// Two-bit slots in a word.
const SLOTS_PER_WORD: u64 = 32;

/// Tells which hashes were certainly added at most once. Others were added twice or more, or share their slot with another.
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
    pub(super) fn may_repeat(&self, hash: u64) -> bool {
        let (word, shift) = self.place(hash);
        self.words.get(word).is_some_and(|word| word >> shift & 2 != 0)
    }

    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        (scale(hash, self.words.len()), hash % SLOTS_PER_WORD * 2)
    }
}
