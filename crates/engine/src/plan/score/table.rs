//! A hash table over shingle hashes, the same on every machine.
//!
//! Keys are hashes already, so nothing is hashed again. It is never iterated.

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
pub(super) fn scale(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_table_says_what_a_tree_map_says() {
        let (mut table, mut plain) = (Table::new(), BTreeMap::new());
        let mut hash = 1_u64;
        for step in 1..20_000_u32 {
            hash = hash.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Every third key comes back: a known one keeps its value and may be changed.
            let key = if step % 3 == 0 { hash & 0xff00_0000_0000_000f } else { hash };
            let fast = table.value_or(key, step).map(|value| std::mem::replace(value, step));
            assert_eq!(fast, Some(plain.insert(key, step).unwrap_or(step)));
            assert_eq!(table.value(!key), plain.get(&!key).copied().unwrap_or(0));
            assert_eq!(table.value_mut(key).copied(), Some(step));
        }
        assert!(plain.iter().all(|(key, value)| table.value(*key) == *value));
    }

    #[test]
    fn keys_made_to_collide_are_lost_and_the_others_stay() {
        let mut table = Table::new();
        let known: Vec<u64> = (0..100).map(|n| n << 57).collect();
        known.iter().for_each(|key| assert_eq!(table.value_or(*key, 7).copied(), Some(7)));
        let lost = (0..5_000).filter(|n| table.value_or(0x1234_5678_0000_0000 + n, 1).is_none()).count();
        assert!(lost > 1_000, "{lost}");
        assert_eq!(table.value(0x1234_5678_0000_0000 + 4_999), 0);
        assert!(known.iter().all(|key| table.value(*key) == 7));
    }
}
