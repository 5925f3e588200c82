//! Which texts were counted before? A bounded cache by content hash: a turn costs only its new text.

use std::{
    borrow::Cow,
    hash::{BuildHasherDefault, Hasher},
};

use hashbrown::HashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::{counter::TokenCounter, tokens::Tokens};

/// Entries per generation; two generations are kept. A conversation of a million tokens has a few thousand texts.
const GENERATION_ENTRIES: usize = 1 << 17;
/// Below this, counting is cheaper than looking up.
const MIN_CACHED_BYTES: usize = 32;

/// Keys are hashes already; their low half spreads as well as any hash of it.
#[derive(Default)]
struct LowHalf(u64);

impl Hasher for LowHalf {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for (at, byte) in bytes.iter().take(8).enumerate() {
            self.0 ^= u64::from(*byte) << (8 * at);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = u64::try_from(key & u128::from(u64::MAX)).unwrap_or_default();
    }
}

type Map = HashMap<u128, u32, BuildHasherDefault<LowHalf>>;

/// Counts by content hash (xxh3, 128 bits). Forgetting an entry costs time, never correctness.
///
/// ```
/// use liveset_tokens::{CountCache, o200k};
/// let mut cache = CountCache::default();
/// let text = "the same long enough text, counted only once";
/// assert_eq!(cache.count(o200k(), text), o200k().count(text));
/// assert_eq!(cache.count(o200k(), text), o200k().count(text));
/// ```
#[derive(Default)]
pub struct CountCache {
    young: Map,
    old: Map,
}

impl std::fmt::Debug for CountCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CountCache").field("entries", &(self.young.len() + self.old.len())).finish()
    }
}

impl CountCache {
    /// Counts a text, or remembers its count.
    pub fn count(&mut self, counter: &dyn TokenCounter, text: &str) -> Tokens {
        if text.len() < MIN_CACHED_BYTES {
            return counter.count(text);
        }
        self.count_hashed(counter, xxh3_128(text.as_bytes()), || Cow::Borrowed(text))
    }

    /// The same for a caller that holds a hash of whatever the text is made from; `text` is asked for only if unknown.
    pub fn count_hashed<'t>(
        &mut self,
        counter: &dyn TokenCounter,
        hash: u128,
        text: impl FnOnce() -> Cow<'t, str>,
    ) -> Tokens {
        let key = hash ^ u128::from(xxh3_64(counter.name().as_bytes()));
        if let Some(&tokens) = self.young.get(&key) {
            return Tokens(u64::from(tokens));
        }
        let known = self.old.get(&key).copied();
        let tokens = known.map_or_else(|| counter.count(&text()), |tokens| Tokens(u64::from(tokens)));
        if self.young.len() >= GENERATION_ENTRIES {
            self.old = std::mem::take(&mut self.young);
        }
        if let Ok(small) = u32::try_from(tokens.0) {
            self.young.insert(key, small);
        }
        tokens
    }
}
