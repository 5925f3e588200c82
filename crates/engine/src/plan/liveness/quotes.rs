//! Which results does the agent quote? A distinctive run of words, found by hash and verified by comparison.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    chain::{Chain, ChainText},
    results::OwnText,
};
use crate::{
    plan::state::State,
    shingles::{
        Shingle, for_each_shingle,
        words::{Sink, Word, Words, walk},
    },
    transcript::ItemIdx,
};

/// Results beyond which a run that they share is boilerplate: a licence, a prompt, a log's frame.
const MAX_HOLDERS: u32 = 3;

/// A run of the agent's own words and the newest place it stands at.
#[derive(Clone, Copy)]
struct Said {
    /// Place in the chain's texts.
    text: usize,
    shingle: Shingle,
}

/// A run that a result shares with the agent.
struct Shared<'r> {
    ordinal: usize,
    part: &'r str,
    said: Said,
    shingle: Shingle,
}

/// Finds the results of which a later assistant message holds a run of words that few results hold, and that neither
/// system nor user text before the result holds.
pub(super) fn quoted(state: &State, chain: &Chain<'_>, results: &[OwnText<'_>]) -> BTreeSet<usize> {
    let said = newest(&chain.said);
    let filter = Filter::of(said.keys().copied());
    let given = oldest(&chain.given, &filter);
    let mut holders: BTreeMap<u64, u32> = BTreeMap::new();
    let mut shared = Vec::new();
    for held in results {
        let mut seen = BTreeSet::new();
        for part in &held.parts {
            for_each_shingle(part, |shingle| {
                if !filter.may_hold(shingle.hash) {
                    return;
                }
                if let Some(&said) = said.get(&shingle.hash).filter(|_| seen.insert(shingle.hash)) {
                    *holders.entry(shingle.hash).or_default() += 1;
                    shared.push(Shared { ordinal: held.ordinal, part, said, shingle });
                }
            });
        }
    }
    let mut quoted = BTreeSet::new();
    for run in shared {
        let Some(result) = state.results.get(run.ordinal) else { continue };
        let is_rare = holders.get(&run.shingle.hash).is_some_and(|&holders| holders <= MAX_HOLDERS);
        let is_given = given.get(&run.shingle.hash).is_some_and(|&item| item < result.item);
        let said = chain.said.get(run.said.text).filter(|said| said.item > result.item);
        if !is_rare || is_given || quoted.contains(&run.ordinal) {
            continue;
        }
        let Some(said) = said else { continue };
        if words_of(&said.text, run.said.shingle) == words_of(run.part, run.shingle) {
            quoted.insert(run.ordinal);
        }
    }
    quoted
}

/// Of equal runs only the newest is kept: it is later than any result that an older one is later than.
fn newest(texts: &[ChainText<'_>]) -> BTreeMap<u64, Said> {
    let mut said = BTreeMap::new();
    for (text, chain) in texts.iter().enumerate() {
        for_each_shingle(&chain.text, |shingle| {
            said.insert(shingle.hash, Said { text, shingle });
        });
    }
    said
}

fn oldest(texts: &[ChainText<'_>], filter: &Filter) -> BTreeMap<u64, ItemIdx> {
    let mut given = BTreeMap::new();
    for chain in texts {
        for_each_shingle(&chain.text, |shingle| {
            if filter.may_hold(shingle.hash) {
                given.entry(shingle.hash).or_insert(chain.item);
            }
        });
    }
    given
}

/// Gives the words of a run, as they are compared. The whole text is walked, since what a line's prefix is depends on it.
fn words_of(text: &str, run: Shingle) -> Vec<&[u8]> {
    struct Collector<'t> {
        text: &'t [u8],
        run: Shingle,
        words: Vec<&'t [u8]>,
    }
    impl Sink for Collector<'_> {
        fn words(&mut self, _: &[u8], words: Words) {
            words.each(|Word { start, end, .. }| {
                if start >= self.run.start as usize && end <= self.run.end as usize {
                    self.words.extend(self.text.get(start..end));
                }
            });
        }
        fn line(&mut self, _: usize) {}
    }
    let mut collector = Collector { text: text.as_bytes(), run, words: Vec::new() };
    walk(text, &mut collector);
    collector.words
}

/// Bits per hash of the filter: one look-up in sixteen goes on in vain.
const FILTER_BITS: usize = 16;

/// Says of nearly every run that the agent has not said it, without a look into the map.
struct Filter {
    bits: Vec<u64>,
}

impl Filter {
    fn of(hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let words = (hashes.len() * FILTER_BITS / 64).next_power_of_two();
        let mut filter = Self { bits: vec![0; words] };
        for hash in hashes {
            let (word, bit) = filter.place(hash);
            if let Some(word) = filter.bits.get_mut(word) {
                *word |= bit;
            }
        }
        filter
    }

    fn place(&self, hash: u64) -> (usize, u64) {
        let word = (hash >> 6) & (self.bits.len() as u64 - 1);
        (usize::try_from(word).unwrap_or(0), 1 << (hash & 63))
    }

    fn may_hold(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_the_same_words_with_and_without_line_numbers() {
        let (plain, numbered) =
            ("let total = price *\n count + tax;", "x\n     7\tlet total = price *\n     8\t count + tax;\n");
        let run = |text: &str| {
            let mut all = Vec::new();
            for_each_shingle(text, |shingle| all.push(shingle));
            *all.last().unwrap()
        };
        let (first, second) = (run(plain), run(numbered));
        assert_eq!(first.hash, second.hash);
        assert_eq!(words_of(plain, first), words_of(numbered, second));
        assert_eq!(words_of(plain, first).len(), 8);
    }

    #[test]
    fn the_filter_holds_what_was_put_in() {
        let filter = Filter::of([3_u64, 1 << 40, u64::MAX].into_iter());
        assert!([3, 1 << 40, u64::MAX].into_iter().all(|hash| filter.may_hold(hash)));
        assert!(!Filter::of([].into_iter()).may_hold(7));
    }
}
