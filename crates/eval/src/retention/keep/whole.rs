//! In which order do whole results go, and what stays of each where all are shortened alike?

use std::ops::Range;

use super::Situation;
use super::fill::{Candidate, all_lines, newest_unit, protected};
use crate::retention::view::View;

/// A shingle in more results than this tells of none of them.
const MOST_HOLDERS: usize = 3;

fn older(situation: &Situation<'_>) -> Range<usize> {
    0..newest_unit(situation).start
}

fn candidate(situation: &Situation<'_>, result: usize) -> Candidate {
    Candidate { result, lines: all_lines(situation, result) }
}

/// Orders results from the newest to the oldest.
pub(crate) fn newest_first(situation: &Situation<'_>) -> Vec<Candidate> {
    older(situation).rev().map(|result| candidate(situation, result)).collect()
}

/// Keeps the newest few results, whatever they weigh.
pub(crate) fn last(situation: &Situation<'_>, count: usize) -> View {
    let mut kept = protected(situation);
    let end = situation.view.delivered();
    for result in end.saturating_sub(count)..end {
        kept.take(situation.view, result, &all_lines(situation, result));
    }
    kept
}

/// Orders results by the newest message that called for them or says something that they hold.
pub(crate) fn last_quoted_first(situation: &Situation<'_>) -> Vec<Candidate> {
    let evidence = situation.evidence;
    let copies = &evidence.uses().shingle_copies;
    let delivered = situation.view.delivered();
    let mut order: Vec<(u32, usize)> = Vec::new();
    for at in older(situation) {
        let Some(result) = evidence.trajectory().results.get(at) else { continue };
        let mut newest = result.number;
        for (id, _) in &result.text.shingles {
            let Some(said) = evidence.mentions().newest(*id, situation.now) else { continue };
            if said > newest && copies.holders(*id, delivered, MOST_HOLDERS + 1) <= MOST_HOLDERS {
                newest = said;
            }
        }
        order.push((newest, at));
    }
    order.sort_unstable_by(|a, b| b.cmp(a));
    order.into_iter().map(|(_, result)| candidate(situation, result)).collect()
}

/// Shortens all results to beginning and end, none to more words than fit if all have as many.
pub(crate) fn head_and_tail(situation: &Situation<'_>) -> View {
    let results = &situation.evidence.trajectory().results;
    let charge = |view: &View| -> u64 {
        let charges = results.iter().take(view.delivered()).enumerate();
        charges.map(|(at, result)| view.charge(&result.text, at)).sum()
    };
    let (mut low, mut high) = (0, situation.budget);
    let mut best = shortened(situation, 0);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        let view = shortened(situation, middle);
        if charge(&view) <= situation.budget {
            (low, best) = (middle, view);
        } else {
            high = middle - 1;
        }
    }
    best
}

fn shortened(situation: &Situation<'_>, words: u64) -> View {
    let mut kept = protected(situation);
    for at in older(situation) {
        let Some(result) = situation.evidence.trajectory().results.get(at) else { continue };
        let lines = &result.text.line_words;
        let fitting = |lines: &mut dyn Iterator<Item = &u32>| {
            let mut sum = 0;
            lines
                .take_while(|words_of_line| {
                    sum += u64::from(**words_of_line);
                    sum <= words / 2
                })
                .count()
        };
        if situation.view.words_of(situation.evidence.trajectory(), at) <= words {
            kept.take(situation.view, at, &(0..lines.len()));
            continue;
        }
        let head = fitting(&mut lines.iter());
        let tail = fitting(&mut lines.iter().rev());
        kept.take(situation.view, at, &(0..head));
        kept.take(situation.view, at, &(lines.len() - tail..lines.len()));
    }
    kept
}
