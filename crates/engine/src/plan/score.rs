//! What is each passage of each result worth? Rule L5, in integers: said, stale, age, bulk and nearness to something just quoted.
//!
//! Never decides what goes: it hands out numbers, and the fill chooses. Never looks at tools, tokens or pins.

mod table;
mod filter;
mod shingled;
mod quotes;
mod repeats;
mod tally;
mod witness;

use std::cell::OnceCell;

use super::passages::Passage;
use filter::Sightings;
use quotes::Quotes;
use repeats::Repeats;
use shingled::Shingled;
pub(crate) use shingled::{Hashes, Reading};
use tally::{Tally, tally};
pub(crate) use witness::{Written, witnesses};

/// The most results that may hold a shingle which is to tell what a quote refers to.
const RARE_RESULTS: u32 = 3;
/// Words below which a result has no bulk.
const BULK_WORDS: u64 = 128;
/// The most that the size of a result counts for.
const BULK_MAX: u32 = 8;
/// What a passage beside something quoted in the newest message gets back.
const NEAR_MAX: u32 = 7;
/// What each doubling of age costs.
const AGE_WEIGHT: i32 = 5;
/// What each doubling of a result's size costs.
const BULK_WEIGHT: i32 = 2;
/// What it costs that a newer result repeats the passage.
const STALE_COST: i32 = 40;
/// What it costs that the chain holds the passage.
const SAID_COST: i32 = 60;

/// A text of the chain that is in view: user text, assistant text, reasoning, or one string of a call's arguments.
#[derive(Clone, Copy, Debug)]
pub struct ChainText<'a> {
    /// The number of its message; user text has that of the assistant message before it.
    pub number: u32,
    /// The decoded text.
    pub text: &'a str,
}

/// A tool result delivered so far, also one that earlier sweeps dropped whole.
#[derive(Clone, Debug)]
pub struct ResultText<'a> {
    /// The number of the message that it answers.
    pub number: u32,
    /// Its texts, usually one.
    pub parts: Vec<Part<'a>>,
}

/// One text of a result.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The decoded text as the client sent it.
    pub text: &'a str,
    /// Its passages, in order.
    pub passages: &'a [Passage],
    /// For each passage, whether it is still in view; what is missing is not.
    pub in_view: &'a [bool],
}

impl Part<'_> {
    /// Says whether the passage at `idx` exists and is in view.
    pub(super) fn shows(&self, idx: usize) -> bool {
        self.in_view.get(idx).copied().unwrap_or(false)
    }
}

/// What rule L5 says of one passage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// The score: the lowest go first.
    pub value: i32,
    /// Whether the chain holds nine tenths of its shingles.
    pub said: bool,
    /// Whether newer results in view hold nine tenths of its shingles.
    pub stale: bool,
    /// How many messages ago its result was delivered.
    pub age: u32,
    /// The newest message that quotes something rare from it or from a neighbour.
    pub reference: Option<u32>,
}

/// Scores every passage of every result: the answer is indexed by result, part and passage.
///
/// `current` is the number of the newest assistant message, `results` are in order of delivery. A passage not in view gets the default.
/// The neighbours of a passage are those before and after it in its result, over the borders of parts, in view or not.
///
/// ```
/// use liveset_engine::plan::{passages::passages, score::{ChainText, Part, ResultText, score}};
/// let text = "fn area(w: u32, h: u32) -> u32 { w * h }\n";
/// let borders = passages(text);
/// let result = ResultText { number: 1, parts: vec![Part { text, passages: &borders, in_view: &[true] }] };
/// let chain = [ChainText { number: 2, text }];
/// let scores = score(3, &chain, &[result]);
/// assert!(scores[0][0][0].said);
/// assert_eq!(scores[0][0][0].reference, Some(2));
/// ```
#[must_use]
pub fn score(current: u32, chain: &[ChainText<'_>], results: &[ResultText<'_>]) -> Vec<Vec<Vec<Score>>> {
    let hashes: Vec<OnceCell<Hashes>> = chain.iter().map(|_| OnceCell::new()).collect();
    let readings: Vec<OnceCell<Reading>> = results.iter().map(|_| OnceCell::new()).collect();
    let chain: Vec<_> = chain.iter().copied().zip(&hashes).collect();
    score_again(current, &chain, results, &readings)
}

/// The same for whoever scores more than once: texts are read only where they were not read before.
pub(crate) fn score_again(
    current: u32,
    chain: &[(ChainText<'_>, &OnceCell<Hashes>)],
    results: &[ResultText<'_>],
    readings: &[OnceCell<Reading>],
) -> Vec<Vec<Vec<Score>>> {
    let mut scratch = Vec::new();
    let (shingled, sightings) = read(results, readings, &mut scratch);
    let mut quotes = Quotes::of(current, chain, &sightings, &mut scratch);
    for (idx, result) in shingled.iter().enumerate() {
        result.for_each_part(&mut scratch, |hashes| quotes.see_result(idx, hashes));
    }
    let mut repeats = Repeats::of(&sightings);
    let mut scores: Vec<Vec<Vec<Score>>> = results.iter().map(blank).collect();
    let mut tallies = Vec::new();
    // Newest first, since a passage is stale by what newer results hold.
    for (idx, (result, scores)) in shingled.iter().zip(&mut scores).enumerate().rev() {
        if let Some(words) = shown_words(result.result) {
            tally(idx, result, &quotes, &mut repeats, &mut scratch, &mut tallies);
            fill_in(current, words, result.result, &tallies, scores);
        }
    }
    scores
}

/// Reads the shingles of all results, and notes those of results with something in view.
fn read<'a>(
    results: &'a [ResultText<'a>],
    readings: &'a [OnceCell<Reading>],
    scratch: &mut Vec<u64>,
) -> (Vec<Shingled<'a>>, Sightings) {
    let in_view = results.iter().filter(|result| shown_words(result).is_some());
    let bytes = in_view.flat_map(|result| &result.parts).map(|part| part.text.len()).sum();
    let mut sightings = Sightings::for_text(bytes);
    let mut read = |(result, reading): (&'a ResultText<'a>, &'a OnceCell<Reading>)| {
        let shingled = read_one(result, reading, scratch);
        if shown_words(result).is_some() {
            shingled.for_each_part(scratch, |hashes| hashes.iter().for_each(|hash| sightings.add(*hash)));
        }
        shingled
    };
    let shingled = results.iter().zip(readings).map(&mut read).collect();
    (shingled, sightings)
}

/// Reads the shingles of a result, unless they were read before.
fn read_one<'a>(result: &'a ResultText<'a>, reading: &'a OnceCell<Reading>, scratch: &mut Vec<u64>) -> Shingled<'a> {
    Shingled::of(result, reading.get_or_init(|| Reading::of(&result.parts, scratch)))
}

/// The words of a result in view, or nothing if no passage is.
fn shown_words(result: &ResultText<'_>) -> Option<u64> {
    let shown = |part: &Part<'_>| {
        let passages = part.passages.iter().enumerate().filter(|(idx, _)| part.shows(*idx));
        passages.map(|(_, passage)| u64::from(passage.words)).reduce(u64::saturating_add)
    };
    result.parts.iter().filter_map(shown).reduce(u64::saturating_add)
}

fn blank(result: &ResultText<'_>) -> Vec<Vec<Score>> {
    result.parts.iter().map(|part| vec![Score::default(); part.passages.len()]).collect()
}

/// Turns the tallies of a result with `words` words in view, one for each passage of each part in order, into scores.
fn fill_in(current: u32, words: u64, result: &ResultText<'_>, tallies: &[Tally], scores: &mut [Vec<Score>]) {
    let age = current.saturating_sub(result.number);
    let bulk = bulk(words);
    let newest = |idx: Option<usize>| idx.and_then(|idx| tallies.get(idx)).and_then(|tally| tally.newest);
    let mut idx = 0;
    for (part, scores) in result.parts.iter().zip(scores) {
        for (place, score) in scores.iter_mut().enumerate() {
            if let Some(tally) = tallies.get(idx).filter(|_| part.shows(place)) {
                let reference = newest(Some(idx)).max(newest(idx.checked_sub(1))).max(newest(idx.checked_add(1)));
                let near = reference.map_or(0, |number| NEAR_MAX.saturating_sub(lg(current.saturating_sub(number))));
                let (said, stale) = (tally.is_said(), tally.is_stale());
                *score = Score { value: value(near as i32, age, bulk, stale, said), said, stale, age, reference };
            }
            idx += 1;
        }
    }
}

/// The formula of rule L5: `near - 5 * lg(age) - 2 * bulk - 40 * stale - 60 * said`.
///
/// ```
/// use liveset_engine::plan::score::value;
/// assert_eq!(value(6, 3, 2, false, false), -8);
/// ```
#[must_use]
pub fn value(near: i32, age: u32, bulk: u32, stale: bool, said: bool) -> i32 {
    let bulk = i32::try_from(bulk).unwrap_or(i32::MAX);
    near.saturating_sub(AGE_WEIGHT * lg(age) as i32)
        .saturating_sub(bulk.saturating_mul(BULK_WEIGHT))
        .saturating_sub(STALE_COST * i32::from(stale))
        .saturating_sub(SAID_COST * i32::from(said))
}

/// The logarithm to base 2 of `1 + x`, rounded down.
///
/// ```
/// use liveset_engine::plan::score::lg;
/// assert_eq!([0, 1, 2, 3, 7].map(lg), [0, 1, 1, 2, 3]);
/// ```
#[must_use]
pub fn lg(x: u32) -> u32 {
    (u64::from(x) + 1).ilog2()
}

/// What the size of a result counts for, by its words in view: 0 below 128 words, 1 from 128, 2 from 384, 3 from 896, at most 8.
///
/// ```
/// use liveset_engine::plan::score::bulk;
/// assert_eq!([127, 128, 383, 384, 896, 1_000_000].map(bulk), [0, 1, 1, 2, 3, 8]);
/// ```
#[must_use]
pub fn bulk(words: u64) -> u32 {
    (BULK_WORDS.saturating_add(words).ilog2() - BULK_WORDS.ilog2()).min(BULK_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::passages::passages;

    #[test]
    fn the_worked_examples_of_the_study_hold() {
        let near = |reference: u32| (NEAR_MAX - lg(40 - reference)) as i32;
        assert_eq!(value(near(38), 40 - 37, bulk(400), false, false), -8);
        assert_eq!(value(0, 40 - 9, bulk(400), false, false), -29);
        assert_eq!(value(0, 40 - 39, bulk(90), false, true), -65);
    }

    /// Scores a one-passage result that a newer one of two passages repeats over their border only.
    fn is_stale_over_a_border(newer_in_view: [bool; 2]) -> bool {
        let first: String = (0..120).map(|n| format!("w{n} ")).collect();
        let newer = format!("{first}\ntail of four words\n");
        let older = "w116 w117 w118 w119 tail of four words";
        let (newer_borders, older_borders) = (passages(&newer), passages(older));
        let result =
            |number, text, passages, in_view| ResultText { number, parts: vec![Part { text, passages, in_view }] };
        let results = [result(1, older, &older_borders, &[true]), result(2, &newer, &newer_borders, &newer_in_view)];
        score(3, &[], &results)[0][0][0].stale
    }

    #[test]
    fn a_shingle_that_runs_into_a_dropped_passage_is_out_of_view() {
        assert!(is_stale_over_a_border([true, true]));
        assert!(!is_stale_over_a_border([true, false]));
        assert!(!is_stale_over_a_border([false, true]));
    }

    #[test]
    fn a_shingle_that_ends_with_its_text_is_in_view() {
        let text = "no line feed stands behind these eight words";
        let borders = passages(text);
        let result = |number| ResultText { number, parts: vec![Part { text, passages: &borders, in_view: &[true] }] };
        let scores = score(3, &[], &[result(1), result(2)]);
        assert_eq!([scores[0][0][0].stale, scores[1][0][0].stale], [true, false]);
    }

    #[test]
    fn extreme_numbers_saturate() {
        assert_eq!(value(i32::MIN, u32::MAX, u32::MAX, true, true), i32::MIN);
        assert_eq!(lg(u32::MAX), 32);
        assert_eq!(bulk(u64::MAX), BULK_MAX);
    }
}
