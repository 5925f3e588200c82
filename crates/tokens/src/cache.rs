//! Which texts were counted before? A bounded cache by content hash: a turn costs only its new text.

use std::{
    borrow::Cow,
    hash::{BuildHasherDefault, Hasher},
};

use hashbrown::HashMap;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::{counter::TokenCounter, marks::LineMarks, tokens::Tokens};

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
pub struct CountCache {
    young: Map,
    old: Map,
    /// Entries per generation.
    generation: usize,
}

impl Default for CountCache {
    fn default() -> Self {
        Self { young: Map::default(), old: Map::default(), generation: GENERATION_ENTRIES }
    }
}

impl std::fmt::Debug for CountCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CountCache").field("entries", &self.len()).finish()
    }
}

impl CountCache {
    fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Counts a text, or remembers its count.
    pub fn count(&mut self, counter: &dyn TokenCounter, text: &str) -> Tokens {
        if text.len() < MIN_CACHED_BYTES {
            return counter.count(text);
        }
        self.count_keyed(key(counter, Hashed::Text, xxh3_128(text.as_bytes())), counter, || Cow::Borrowed(text))
    }

    /// The same for a caller that holds a hash of whatever the text is made from; `text` is asked for only if unknown.
    ///
    /// Such hashes are kept apart from those of texts: the JSON literal `a\nb` and the text `a\nb` are the same bytes and
    /// count differently.
    pub fn count_hashed<'t>(
        &mut self,
        counter: &dyn TokenCounter,
        hash: u128,
        text: impl FnOnce() -> Cow<'t, str>,
    ) -> Tokens {
        self.count_keyed(key(counter, Hashed::Source, hash), counter, text)
    }

    /// The same, noting how many tokens stand before the text's lines where it is counted now; what is remembered has
    /// no notes.
    pub fn count_hashed_marked<'t>(
        &mut self,
        counter: &dyn TokenCounter,
        hash: u128,
        marks: &mut LineMarks,
        text: impl FnOnce() -> Cow<'t, str>,
    ) -> Tokens {
        self.remembered(key(counter, Hashed::Source, hash), text, |text| counter.count_marked(text, marks))
    }

    fn count_keyed<'t>(
        &mut self,
        key: u128,
        counter: &dyn TokenCounter,
        text: impl FnOnce() -> Cow<'t, str>,
    ) -> Tokens {
        self.remembered(key, text, |text| counter.count(text))
    }

    fn remembered<'t>(
        &mut self,
        key: u128,
        text: impl FnOnce() -> Cow<'t, str>,
        count: impl FnOnce(&str) -> Tokens,
    ) -> Tokens {
        if let Some(&tokens) = self.young.get(&key) {
            return Tokens(u64::from(tokens));
        }
        let tokens = match self.old.get(&key) {
            Some(&tokens) => Tokens(u64::from(tokens)),
            None => {
                let text = text();
                let tokens = count(&text);
                if text.len() < MIN_CACHED_BYTES {
                    return tokens;
                }
                tokens
            }
        };
        if self.young.len() >= self.generation {
            self.old = std::mem::take(&mut self.young);
        }
        if let Ok(small) = u32::try_from(tokens.0) {
            self.young.insert(key, small);
        }
        tokens
    }
}

/// What a hash was taken over.
#[derive(Clone, Copy)]
enum Hashed {
    Text,
    Source,
}

fn key(counter: &dyn TokenCounter, hashed: Hashed, hash: u128) -> u128 {
    let seed = match hashed {
        Hashed::Text => 0,
        Hashed::Source => 1,
    };
    hash ^ u128::from(xxh3_64_with_seed(counter.name().as_bytes(), seed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, counter, o200k};

    const TEXT: &str = "a text that is long enough to be worth remembering";

    #[test]
    fn a_literal_and_a_text_of_the_same_bytes_are_kept_apart() {
        let literal = r"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight";
        let decoded = literal.replace(r"\n", "\n");
        let mut cache = CountCache::default();
        let as_text = cache.count(o200k(), literal);
        let as_literal = cache.count_hashed(o200k(), xxh3_128(literal.as_bytes()), || Cow::Borrowed(&decoded));
        assert_eq!((as_text, as_literal), (o200k().count(literal), o200k().count(&decoded)));
    }

    #[test]
    fn one_counter_never_answers_for_another() {
        let mut cache = CountCache::default();
        for family in [Family::O200k, Family::Cl100k, Family::Claude, Family::ClaudeNext] {
            assert_eq!(cache.count(counter(family), TEXT), counter(family).count(TEXT));
        }
    }

    #[test]
    fn a_known_hash_is_not_decoded_again() {
        let mut cache = CountCache::default();
        let first = cache.count_hashed(o200k(), 7, || Cow::Borrowed(TEXT));
        assert_eq!(cache.count_hashed(o200k(), 7, || panic!("it is known")), first);
    }

    #[test]
    fn short_texts_take_no_room() {
        let mut cache = CountCache::default();
        cache.count(o200k(), "ok");
        cache.count_hashed(o200k(), 1, || Cow::Borrowed("ok"));
        assert_eq!(cache.len(), 0);
    }

    #[test]
    fn it_stays_within_two_generations_and_right() {
        let mut cache = CountCache { generation: 4, ..CountCache::default() };
        for number in (0..50).chain(0..50) {
            let text = format!("{TEXT} number {number}");
            assert_eq!(cache.count(o200k(), &text), o200k().count(&text));
            assert!(cache.len() <= 8);
        }
    }

    #[test]
    fn what_is_asked_for_again_outlives_a_generation() {
        let mut cache = CountCache { generation: 4, ..CountCache::default() };
        cache.count_hashed(o200k(), 7, || Cow::Borrowed(TEXT));
        for number in 0..50 {
            cache.count_hashed(o200k(), 7, || panic!("forgotten before text {number}"));
            cache.count(o200k(), &format!("{TEXT} number {number}"));
        }
    }
}
