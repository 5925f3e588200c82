//! What fits? Candidates in order of their worth, charged with their words and the gaps they open or close.

use std::ops::Range;

use super::Situation;
use crate::retention::view::View;

/// A stretch of a result that stays or goes as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) result: usize,
    pub(crate) lines: Range<usize>,
}

/// What becomes of the rest once a candidate does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    Skip,
    Stop,
}

/// The results of the newest unit, which every policy keeps.
pub(crate) fn newest_unit(situation: &Situation<'_>) -> Range<usize> {
    let results = &situation.evidence.trajectory().results;
    let end = situation.view.delivered();
    let start = results.iter().take(end).position(|result| result.number >= situation.now).unwrap_or(end);
    start..end
}

/// Gives a view of the newest unit alone.
pub(crate) fn protected(situation: &Situation<'_>) -> View {
    let mut kept = situation.view.emptied();
    for result in newest_unit(situation) {
        kept.take(situation.view, result, &all_lines(situation, result));
    }
    kept
}

pub(crate) fn all_lines(situation: &Situation<'_>, result: usize) -> Range<usize> {
    0..situation.evidence.trajectory().results.get(result).map_or(0, |result| result.text.line_words.len())
}

/// Keeps the newest unit, then candidates in their order as long as they fit.
pub(crate) fn fill(situation: &Situation<'_>, order: Vec<Candidate>, misfit: Misfit) -> View {
    let trajectory = situation.evidence.trajectory();
    let mut kept = protected(situation);
    let mut charged: u64 = newest_unit(situation).map(|result| kept.words_of(trajectory, result)).sum();
    for candidate in order {
        let Some(result) = trajectory.results.get(candidate.result) else { continue };
        if !situation.view.shows_any(&result.text, candidate.result, &candidate.lines) {
            continue;
        }
        let before = kept.charge(&result.text, candidate.result);
        kept.take(situation.view, candidate.result, &candidate.lines);
        let after = charged - before.min(charged) + kept.charge(&result.text, candidate.result);
        if after <= situation.budget {
            charged = after;
            continue;
        }
        kept.drop(candidate.result, &candidate.lines);
        if misfit == Misfit::Stop {
            break;
        }
    }
    kept
}
