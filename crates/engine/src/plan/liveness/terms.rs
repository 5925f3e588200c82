//! Which results does the agent paraphrase? Rare names, paths, numbers and codes that a result and a later message share.
//!
//! Plain words are no evidence, nor is what system, user or the result's own call had named before.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    chain::{Chain, argument_texts},
    results::OwnText,
};
use crate::{
    error::Result,
    plan::{desk::Desk, state::State},
    transcript::ItemIdx,
};

/// What a term weighs that one result alone holds. It divides by all numbers of holders that count.
const WEIGHT: u32 = 12;
/// Results beyond which a term that they share tells of none of them.
const MAX_HOLDERS: u32 = 4;
/// What is enough: three terms that no other result holds, or twelve that four hold. Two are shared by chance: an agent
/// that picks one path from a list names the path and, in its text, the file.
const ENOUGH: u32 = 3 * WEIGHT;
/// Bytes below which a term is too short to be rare.
const MIN_TERM_BYTES: usize = 4;
/// Bytes beyond which it is data: an encoded picture, a key.
const MAX_TERM_BYTES: usize = 200;
/// Digits below which a number is a count, a line or a column.
const MIN_NUMBER_DIGITS: usize = 4;

/// Finds the results of which one later assistant message shares rare terms enough.
pub(super) fn paraphrased(
    desk: &Desk<'_, '_>,
    state: &State,
    chain: &Chain<'_>,
    results: &[OwnText<'_>],
) -> Result<BTreeSet<usize>> {
    let mut said: BTreeMap<u64, Vec<(ItemIdx, u32)>> = BTreeMap::new();
    for text in &chain.said {
        for term in terms(&text.text) {
            let places = said.entry(hash(term)).or_default();
            if places.last().is_none_or(|last| last.1 != text.number) {
                places.push((text.item, text.number));
            }
        }
    }
    let mut given: BTreeMap<u64, ItemIdx> = BTreeMap::new();
    for text in &chain.given {
        for term in terms(&text.text) {
            given.entry(hash(term)).or_insert(text.item);
        }
    }
    let mut holders: BTreeMap<u64, u32> = BTreeMap::new();
    let mut shared: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for held in results {
        let hashes = held.parts.iter().flat_map(|part| terms(part)).map(hash);
        let all: BTreeSet<u64> = hashes.filter(|term| said.contains_key(term)).collect();
        all.iter().for_each(|&term| *holders.entry(term).or_default() += 1);
        shared.insert(held.ordinal, all);
    }
    let mut live = BTreeSet::new();
    for &ordinal in &state.alive {
        let (Some(result), Some(shared)) = (state.results.get(ordinal), shared.get(&ordinal)) else { continue };
        let own = own_terms(desk, result.item)?;
        let mut weights: BTreeMap<u32, u32> = BTreeMap::new();
        for term in shared {
            let count = holders.get(term).copied().unwrap_or(u32::MAX);
            let is_known = own.contains(term) || given.get(term).is_some_and(|&item| item < result.item);
            if count > MAX_HOLDERS || is_known {
                continue;
            }
            let later = said.get(term).into_iter().flatten().filter(|(item, _)| *item > result.item);
            later.for_each(|&(_, number)| *weights.entry(number).or_default() += WEIGHT / count.max(1));
        }
        if weights.values().any(|&weight| weight >= ENOUGH) {
            live.insert(ordinal);
        }
    }
    Ok(live)
}

/// Gives the terms of the call that a result answers.
fn own_terms(desk: &Desk<'_, '_>, result: ItemIdx) -> Result<BTreeSet<u64>> {
    let Some(call) = desk.item(result)?.answer().and_then(|answer| answer.call) else { return Ok(BTreeSet::new()) };
    let texts = argument_texts(desk, desk.item(call)?)?;
    Ok(texts.iter().flat_map(|text| terms(text)).map(hash).collect())
}

fn hash(term: &str) -> u64 {
    xxh3_64(term.as_bytes())
}

/// Gives the words of a text that may be rare.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | ':');
    let words = text.split(move |c: char| !goes_on(c));
    words.map(|word| word.trim_matches(['.', '/', '-', ':'])).filter(|word| is_telling(word))
}

/// A path, a name of code, a number or a code: something that plain words do not look like.
fn is_telling(word: &str) -> bool {
    if !(MIN_TERM_BYTES..=MAX_TERM_BYTES).contains(&word.len()) {
        return false;
    }
    let bytes = word.as_bytes();
    let count = |is: fn(&u8) -> bool| bytes.iter().filter(|byte| is(byte)).count();
    let (digits, capitals) = (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase));
    let smalls = word.chars().filter(|c| c.is_lowercase()).count();
    if capitals + smalls == 0 && word.is_ascii() {
        return digits >= MIN_NUMBER_DIGITS;
    }
    let joined = bytes.iter().any(|byte| matches!(byte, b'/' | b'_' | b'.' | b':'));
    let camel = bytes
        .windows(2)
        .any(|pair| matches!(pair, [first, second] if first.is_ascii_lowercase() && second.is_ascii_uppercase()));
    joined || camel || digits > 0 || (smalls == 0 && capitals >= MIN_TERM_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_paths_numbers_and_codes_are_terms_and_plain_words_are_none() {
        let text = "The parser (src/parser.rs:17) calls parse_header, maxRetries is 8081: error E0308, ENOENT. \
                    A well-known Sentence of 12 words, at 3.5 or 404!";
        let found: Vec<&str> = terms(text).collect();
        assert_eq!(found, ["src/parser.rs:17", "parse_header", "maxRetries", "8081", "E0308", "ENOENT"]);
    }
}
