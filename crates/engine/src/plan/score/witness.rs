//! Which texts of the chain hold so much of earlier results that a passage may be said by them alone?
//!
//! Depends on a text and on the results before it, never on what was cut or is in view. Never compares text with text:
//! all shingles are looked up once.

use std::{borrow::Cow, cell::OnceCell};

use super::filter::{Filter, select};
use super::shingled::{Reading, Shingled};
use super::table::Table;
use super::{ResultText, read_one};
use crate::shingles::for_each_batch;

/// What a whole passage weighs; a shingle of a passage of `n` weighs one `n`-th of it.
const PASSAGE: u64 = 1 << 32;
/// A passage is said from nine tenths on. A text that holds less than half of any leaves the greater part to others, so
/// it is no passage's only witness.
const WITNESS: u64 = PASSAGE / 2;
/// A shingle of a text that no result has held so far.
const UNSEEN: u32 = u32::MAX;

/// What one call writes, and how many results were delivered before it.
pub(crate) struct Written<'a> {
    pub(crate) texts: Vec<Cow<'a, str>>,
    pub(crate) before: usize,
}

/// Says of each of `written`, which come in their order, whether it may be the only witness of a passage.
///
/// The shares of all passages are added up, which is never less than the largest share of one: in doubt it is a witness.
pub(crate) fn witnesses(
    written: &[Written<'_>],
    results: &[ResultText<'_>],
    readings: &[OnceCell<Reading>],
) -> Vec<bool> {
    let mut shared = Shared::of(written);
    let mut scratch = Vec::new();
    let mut results = results.iter().zip(readings);
    let mut seen = 0;
    let mut found = Vec::with_capacity(written.len());
    for written in written {
        for (result, reading) in results.by_ref().take(written.before.saturating_sub(seen)) {
            shared.see(&read_one(result, reading, &mut scratch), &mut scratch);
        }
        seen = seen.max(written.before);
        found.push(shared.weight(written, &mut scratch) >= WITNESS);
    }
    found
}

/// The shingles of what is written. The value is the size, in shingles, of the smallest passage so far that holds it.
struct Shared {
    filter: Filter,
    table: Table<u32>,
}

impl Shared {
    fn of(written: &[Written<'_>]) -> Self {
        let texts = || written.iter().flat_map(|written| &written.texts);
        let mut shared = Self { filter: Filter::for_text(texts().map(|text| text.len()).sum()), table: Table::new() };
        for text in texts() {
            for_each_batch(text, |batch| {
                for shingle in batch {
                    shared.filter.add(shingle.hash);
                    shared.table.value_or(shingle.hash, UNSEEN);
                }
            });
        }
        shared
    }

    fn see(&mut self, result: &Shingled<'_>, scratch: &mut Vec<u64>) {
        let Self { filter, table } = self;
        result.for_each_passage(scratch, |starting| {
            let size = u32::try_from(starting.hashes.len()).unwrap_or(UNSEEN);
            select(
                starting.hashes,
                |hash| filter.may_hold(hash),
                |_, hash| {
                    if let Some(least) = table.value_mut(hash) {
                        *least = size.min(*least);
                    }
                },
            );
        });
    }

    /// Adds up what the different shingles of a text weigh.
    fn weight(&self, written: &Written<'_>, scratch: &mut Vec<u64>) -> u64 {
        scratch.clear();
        for text in &written.texts {
            for_each_batch(text, |batch| scratch.extend(batch.iter().map(|shingle| shingle.hash)));
        }
        scratch.sort_unstable();
        scratch.dedup();
        let sizes = scratch.iter().map(|&hash| self.table.value(hash)).filter(|&size| size != UNSEEN);
        let weights = sizes.map(|size| PASSAGE.checked_div(u64::from(size)).unwrap_or(0));
        weights.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{passages::passages, score::Part};

    fn words(seed: &str, from: usize, to: usize) -> String {
        (from..to).map(|at| format!("{seed}{at} ")).collect()
    }

    fn flags(written: &[(&str, usize)], results: &[&str]) -> Vec<bool> {
        let borders: Vec<_> = results.iter().map(|text| passages(text)).collect();
        let results: Vec<ResultText<'_>> = results
            .iter()
            .zip(&borders)
            .map(|(text, passages)| ResultText { number: 1, parts: vec![Part { text, passages, in_view: &[] }] })
            .collect();
        let readings: Vec<_> = results.iter().map(|_| OnceCell::new()).collect();
        let written: Vec<_> =
            written.iter().map(|&(text, before)| Written { texts: vec![text.into()], before }).collect();
        witnesses(&written, &results, &readings)
    }

    #[test]
    fn a_text_that_holds_half_a_passage_is_a_witness() {
        let result = words("w", 0, 120);
        let other = words("x", 0, 900);
        assert_eq!(flags(&[(&result, 1)], &[&result]), [true]);
        assert_eq!(flags(&[(&format!("{other}{}", words("w", 0, 80)), 1)], &[&result]), [true]);
        assert_eq!(flags(&[(&format!("{other}{}", words("w", 0, 40)), 1)], &[&result]), [false]);
        assert_eq!(flags(&[(&other, 1)], &[&result]), [false]);
    }

    #[test]
    fn shares_of_several_passages_add_up() {
        let results = [words("u", 0, 120), words("v", 0, 120)];
        let written = words("u", 0, 45) + &words("v", 0, 45);
        assert_eq!(flags(&[(&written, 1), (&written, 2)], &[&results[0], &results[1]]), [false, true]);
    }

    #[test]
    fn only_results_before_a_text_count() {
        let result = words("w", 0, 120);
        assert_eq!(flags(&[(&result, 0), (&result, 1)], &[&result]), [false, true]);
        assert_eq!(flags(&[(&result, 0), (&result, 0)], &[&result]), [false, false]);
        assert_eq!(flags(&[(&result, 2)], &["", &result]), [true]);
    }

    #[test]
    fn a_line_repeated_over_and_over_weighs_once() {
        let written = words("w", 0, 20).repeat(50);
        assert_eq!(flags(&[(&written, 1)], &[&words("w", 0, 120)]), [false]);
    }
}
