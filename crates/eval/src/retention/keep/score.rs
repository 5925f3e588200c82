//! What is a block worth? The study's rule L5, and the parts of it that stand in its tables alone.

use std::cmp::Reverse;
use std::ops::Range;

use super::Situation;
use super::fill::{Candidate, newest_unit};
use crate::retention::text::Id;
use crate::retention::trajectory::ResultText;

/// A shingle in more results than this refers to none of them.
const MOST_HOLDERS: usize = 3;
/// Share of a block's shingles that must stand elsewhere, in tenths.
const SAME_TENTHS: usize = 9;

/// What is known of a block when a sweep is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signs {
    age: u32,
    is_said: bool,
    is_stale: bool,
    bulk: u32,
    near: u32,
    is_execution: bool,
}

/// `floor(log2(1 + x))`.
fn lg(number: u32) -> i64 {
    i64::from((u64::from(number) + 1).ilog2())
}

/// The study's rule.
pub(crate) fn l5(signs: &Signs) -> i64 {
    let second_copy = 40 * i64::from(signs.is_stale) + 60 * i64::from(signs.is_said);
    i64::from(signs.near) - 5 * lg(signs.age) - 2 * i64::from(signs.bulk) - second_copy
}

/// The study's rule with the class of the tool.
pub(crate) fn l5_with_class(signs: &Signs) -> i64 {
    l5(signs) - 16 * i64::from(signs.is_execution)
}

/// Said and stale blocks last, the others by age.
pub(crate) fn said_and_stale(signs: &Signs) -> i64 {
    let out = i64::from(signs.is_said || signs.is_stale);
    -(out << 32) - i64::from(signs.age)
}

/// Orders the blocks in view by what they are worth, the newer result first.
pub(crate) fn order(situation: &Situation<'_>, worth: fn(&Signs) -> i64) -> Vec<Candidate> {
    let mut found = Vec::new();
    for at in 0..newest_unit(situation).start {
        let Some(result) = situation.evidence.trajectory().results.get(at) else { continue };
        for (lines, signs) in signs(situation, at, result) {
            found.push((Reverse(worth(&signs)), Reverse(at), lines.start, lines));
        }
    }
    found.sort_by_key(|(worth, result, line, _)| (*worth, *result, *line));
    found.into_iter().map(|(_, Reverse(result), _, lines)| Candidate { result, lines }).collect()
}

/// Reads the signs of each block in view of a result.
fn signs(situation: &Situation<'_>, at: usize, result: &ResultText) -> Vec<(Range<usize>, Signs)> {
    let (evidence, now) = (situation.evidence, situation.now);
    let blocks = evidence.blocks(at);
    let size = situation.view.words_of(evidence.trajectory(), at);
    let bulk = (128 + size).ilog2().saturating_sub(7).min(8);
    let references: Vec<Option<u32>> =
        blocks.iter().map(|lines| reference(situation, result, started(result, lines))).collect();
    let mut found = Vec::new();
    for (place, lines) in blocks.iter().enumerate() {
        if !situation.view.shows_any(&result.text, at, lines) {
            continue;
        }
        let ids = started(result, lines);
        let beside = references.get(place.saturating_sub(1)..(place + 2).min(blocks.len())).unwrap_or_default();
        let near =
            beside.iter().flatten().max().map_or(0, |newest| u32::try_from((7 - lg(now - newest)).max(0)).unwrap_or(0));
        let signs = Signs {
            age: now.saturating_sub(result.number),
            is_said: most(ids, |id| evidence.mentions().is_said(id, now)),
            is_stale: most(ids, |id| is_repeated(situation, at, id)),
            bulk,
            near,
            is_execution: result.is_execution,
        };
        found.push((lines.clone(), signs));
    }
    found
}

type Found = (Id, crate::retention::text::Place);

/// The shingles that start in some lines.
fn started<'r>(result: &'r ResultText, lines: &Range<usize>) -> &'r [Found] {
    let all = &result.text.shingles;
    let from = all.partition_point(|(_, place)| (place.first_line as usize) < lines.start);
    let to = all.partition_point(|(_, place)| (place.first_line as usize) < lines.end);
    all.get(from..to).unwrap_or_default()
}

fn most(ids: &[Found], holds: impl Fn(Id) -> bool) -> bool {
    !ids.is_empty() && ids.iter().filter(|(id, _)| holds(*id)).count() * 10 >= ids.len() * SAME_TENTHS
}

fn is_repeated(situation: &Situation<'_>, result: usize, id: Id) -> bool {
    let copies = situation.evidence.uses().shingle_copies.copies(id).iter().rev();
    let newer = copies.take_while(|copy| copy.result as usize > result);
    newer
        .filter(|copy| (copy.result as usize) < situation.view.delivered())
        .any(|copy| situation.view.holds(situation.evidence.trajectory(), copy))
}

/// Finds the newest message behind a result that says something of it that few results hold.
fn reference(situation: &Situation<'_>, result: &ResultText, ids: &[Found]) -> Option<u32> {
    let (mentions, copies) = (situation.evidence.mentions(), &situation.evidence.uses().shingle_copies);
    let mut newest = None;
    for (id, _) in ids {
        let said = mentions.newest(*id, situation.now).filter(|said| *said > result.number && Some(*said) > newest);
        if said.is_some() && copies.holders(*id, situation.view.delivered(), MOST_HOLDERS + 1) <= MOST_HOLDERS {
            newest = said;
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_examples_of_the_study_come_out() {
        let plain = Signs { age: 31, is_said: false, is_stale: false, bulk: 2, near: 0, is_execution: false };
        assert_eq!(l5(&Signs { age: 3, near: 6, ..plain }), -8);
        assert_eq!(l5(&plain), -29);
        assert_eq!(l5(&Signs { age: 1, bulk: 0, is_said: true, ..plain }), -65);
        assert_eq!(l5_with_class(&Signs { is_execution: true, ..plain }), -45);
        assert_eq!([0, 1, 3, 7].map(lg), [0, 1, 2, 3]);
    }
}
