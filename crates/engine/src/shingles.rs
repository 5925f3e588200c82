//! Which runs of eight words does a text hold? The words and shingles by which results and chain are compared.
//!
//! Never stores text: a shingle is a hash and a place. Shingles with equal words have equal hashes; others do not, but for one chance in 2^64.

mod letters;
mod prefix;
pub(crate) mod words;

use words::{Sink, Word, Words, walk};

/// Words in a shingle. Eight are seldom equal by chance in code or prose.
pub const SHINGLE_WORDS: usize = 8;

/// Words of a shingle that must start with a letter, digit or `_`: rulers and brackets are no evidence.
pub const SHINGLE_PLAIN_WORDS: u32 = 4;

/// Eight consecutive words of one text, at least four of them starting with a letter, digit or `_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingle {
    /// A hash of the words, the same on every machine.
    pub hash: u64,
    /// Byte offset in the text of its first word.
    pub start: u32,
    /// Byte offset in the text after its last word.
    pub end: u32,
}

/// Calls `f` with each shingle of `text`, in order. Line numbers, grep places and patch marks are left out.
///
/// ```
/// use liveset_engine::shingles::for_each_shingle;
/// let mut hashes = Vec::new();
/// for_each_shingle("  1\tlet total = price * count + tax;\n", |shingle| hashes.push(shingle.hash));
/// for_each_shingle("let total =\n price * count + tax;", |shingle| hashes.push(shingle.hash));
/// assert_eq!(hashes.len(), 4);
/// assert_eq!(hashes[..2], hashes[2..]);
/// ```
pub fn for_each_shingle(text: &str, mut f: impl FnMut(Shingle)) {
    for_each_batch(text, |batch| batch.iter().copied().for_each(&mut f));
}

/// Calls `f` with the shingles of `text` in order, many at a time: whoever looks them up can have many look-ups under way.
pub(crate) fn for_each_batch(text: &str, f: impl FnMut(&[Shingle])) {
    let mut rolling = Rolling::new(f);
    walk(text, &mut rolling);
    rolling.flush();
}

/// Counts the words of `text`, without the prefixes of its lines.
///
/// ```
/// assert_eq!(liveset_engine::shingles::word_count("src/a.rs:7: x += 1;"), 5);
/// ```
#[must_use]
pub fn word_count(text: &str) -> u32 {
    struct Counter(u32);
    impl Sink for Counter {
        fn words(&mut self, _: &[u8], words: Words) {
            self.0 += words.count_words();
        }
        fn line(&mut self, _: usize) {}
    }
    let mut counter = Counter(0);
    walk(text, &mut counter);
    counter.0
}

/// Odd multiplier of the rolling sum. Changing it changes no decision, only the hashes.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// `BASE` to the power of [`SHINGLE_WORDS`]: the weight of the word that leaves.
const LEAVING: u64 = BASE.wrapping_pow(SHINGLE_WORDS as u32);

/// Whether eight words, one bit each, hold plain ones enough for a shingle: a table, since not all machines count bits in one step.
const IS_PLAIN: [bool; 1 << SHINGLE_WORDS] = {
    let mut table = [false; 1 << SHINGLE_WORDS];
    let mut words = 0;
    while words < table.len() {
        table[words] = words.count_ones() >= SHINGLE_PLAIN_WORDS;
        words += 1;
    }
    table
};

/// Shingles handed on at a time: two kilobytes, far less than the smallest cache.
const BATCH: usize = 128;

/// The last eight words of a walk and the hash over them: the sum of each word's hash times a power of `BASE`, modulo 2^64.
struct Rolling<F> {
    hashes: [u64; SHINGLE_WORDS],
    starts: [u32; SHINGLE_WORDS],
    seen: usize,
    plain: u8,
    sum: u64,
    /// Shingles not handed on yet, `len` of them. Invariant: `len < BATCH`.
    batch: [Shingle; BATCH],
    len: usize,
    f: F,
}

impl<F: FnMut(&[Shingle])> Rolling<F> {
    fn new(f: F) -> Self {
        let batch = [Shingle { hash: 0, start: 0, end: 0 }; BATCH];
        Self { hashes: [0; SHINGLE_WORDS], starts: [0; SHINGLE_WORDS], seen: 0, plain: 0, sum: 0, batch, len: 0, f }
    }

    #[inline(always)]
    fn word(&mut self, bytes: &[u8], word: Word) {
        let hash = hash_word(bytes, word);
        let slot = self.seen % SHINGLE_WORDS;
        let leaving = std::mem::replace(&mut self.hashes[slot], hash);
        self.starts[slot] = word.start as u32;
        self.sum = self.sum.wrapping_mul(BASE).wrapping_add(hash).wrapping_sub(leaving.wrapping_mul(LEAVING));
        self.plain = self.plain << 1 | u8::from(word.is_plain);
        self.seen += 1;
        // Written always and counted only if it is a shingle, which costs less than a branch that no one can predict.
        let start = self.starts[self.seen % SHINGLE_WORDS];
        self.batch[self.len % BATCH] = Shingle { hash: self.sum, start, end: word.end as u32 };
        self.len += usize::from(IS_PLAIN[self.plain as usize] & (self.seen >= SHINGLE_WORDS));
        if self.len == BATCH {
            self.flush();
        }
    }

    #[inline(never)]
    fn flush(&mut self) {
        (self.f)(self.batch.get(..self.len).unwrap_or_default());
        self.len = 0;
    }
}

impl<F: FnMut(&[Shingle])> Sink for Rolling<F> {
    #[inline]
    fn words(&mut self, bytes: &[u8], words: Words) {
        words.each(|word| self.word(bytes, word));
    }

    #[inline]
    fn line(&mut self, _: usize) {}
}

/// A word up to this long is hashed in one go.
const SHORT: usize = 16;

/// For each length of a short word, which bits of sixteen bytes belong to it.
const SHORT_MASKS: [[u64; 2]; SHORT + 1] = {
    let mut masks = [[0; 2]; SHORT + 1];
    let mut len = 1;
    while len <= SHORT {
        let bits = u128::MAX >> (128 - 8 * len);
        masks[len] = [bits as u64, (bits >> 64) as u64];
        len += 1;
    }
    masks
};

/// Hashes one word. A short one goes through one full multiplication, without a branch on its length.
#[inline(always)]
fn hash_word(bytes: &[u8], word: Word) -> u64 {
    let len = word.end - word.start;
    let (Some(masks), Some(window)) = (SHORT_MASKS.get(len), bytes.get(word.start..).and_then(<[u8]>::first_chunk))
    else {
        return hash_any_word(bytes.get(word.start..word.end).unwrap_or_default());
    };
    let [head, tail] = halves(window);
    mix(head & masks[0], tail & masks[1] ^ len as u64)
}

/// Hashes a word that is long or stands at the end of the text: sixteen bytes at a time, the last of them filled up with zeros.
#[cold]
fn hash_any_word(word: &[u8]) -> u64 {
    let (windows, rest) = word.as_chunks::<SHORT>();
    let mut last = [0; SHORT];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let is_exact = rest.is_empty() && !windows.is_empty();
    let last = (!is_exact).then_some(&last);
    windows.iter().chain(last).fold(0, |hash, window| {
        let [head, tail] = halves(window);
        mix(head ^ hash, tail ^ word.len() as u64)
    })
}

#[inline(always)]
fn halves(window: &[u8; SHORT]) -> [u64; 2] {
    let both = u128::from_le_bytes(*window);
    [both as u64, (both >> 64) as u64]
}

/// Mixes eight bytes into a hash; every bit of both reaches the result.
#[inline]
fn mix(octet: u64, hash: u64) -> u64 {
    let product = u128::from(octet ^ 0xa076_1d64_78bd_642f) * u128::from(hash ^ 0xe703_7ed1_a0b4_28db);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shingles(text: &str) -> Vec<Shingle> {
        let mut all = Vec::new();
        for_each_shingle(text, |shingle| all.push(shingle));
        all
    }

    #[test]
    fn seven_words_hold_no_shingle_and_nine_hold_two() {
        assert_eq!(shingles("a b c d e f g"), []);
        let two = shingles("a b c d e f g h i");
        assert_eq!(two.iter().map(|s| (s.start, s.end)).collect::<Vec<_>>(), [(0, 15), (2, 17)]);
        assert_ne!(two[0].hash, two[1].hash);
    }

    #[test]
    fn four_of_eight_words_must_be_plain() {
        assert_eq!(shingles("a b c ( ) [ ] ;").len(), 0);
        assert_eq!(shingles("a b c d ( ) [ ]").len(), 1);
    }

    #[test]
    fn order_and_word_borders_tell_shingles_apart() {
        let hash = |text| shingles(text)[0].hash;
        assert_eq!(hash("a b c d e f g h"), hash("3: a b\n4: c d e f g h"));
        assert_ne!(hash("a b c d e f g h"), hash("b a c d e f g h"));
        assert_ne!(hash("ab c d e f g h i"), hash("a bc d e f g h i"));
    }

    #[test]
    fn the_hash_of_a_word_does_not_depend_on_what_follows() {
        for len in 1..40 {
            let word = "abcdefghij".repeat(4)[..len].to_owned();
            let alone = hash_word(word.as_bytes(), Word { start: 0, end: len, is_plain: true });
            let text = format!("{word} and more text behind it");
            assert_eq!(hash_word(text.as_bytes(), Word { start: 0, end: len, is_plain: true }), alone);
        }
    }
}
