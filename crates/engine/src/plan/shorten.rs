//! How are the newest results made to fit? Step 5 of `balanced`: whole lines from beginning and end.
//!
//! Runs only while the body is over the room, and stops a little below it. Its last part, the answers to recalls, is
//! the last part of every preset.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    desk::{Desk, InTokens},
    ends::{Borders, keep_ends},
    fill,
    form::{Form, Removed, normalised},
    pins::Pin,
    state::{Change, State},
};
use crate::{error::Result, report::EditKind};

/// Step number in reports.
const STEP: u8 = 5;
/// Rounds of fitting: gaps have a size of their own, which the first round can only guess.
const MAX_ROUNDS: u32 = 6;
/// What one gap costs at most without evidence, roughly; the recount after each round is exact.
const GAP_TOKENS: u64 = 40;
/// Share of the room that is freed ahead. Without it each further result of a wide batch would be over the room again,
/// and all the others would be cut anew for it.
const AHEAD_SHARE: u64 = 64;
/// A result that was shortened before loses at least a quarter of what is left: so it is cut a few times, not once for
/// each result that arrives after it.
const AGAIN: (u64, u64) = (3, 4);
/// What is tried next, as a share, where a cut saves too little: evidence in gaps has a size that no guess knows.
const RETRY_SHARE: u64 = 4;

/// Shortens unprocessed results, largest first, until the view fits the room and a little more fits too.
pub(crate) fn shorten_newest(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<()> {
    let room = desk.budget.room.0;
    let goal = room - room / AHEAD_SHARE;
    let mut slack = GAP_TOKENS;
    for _ in 0..MAX_ROUNDS {
        let over = state.view.0.saturating_sub(goal);
        let sizes = open(desk, state, pins);
        if over == 0 {
            return Ok(());
        }
        if sizes.is_empty() {
            break;
        }
        let level = level(&sizes, over);
        for (size, ordinal) in sizes {
            if size <= level || state.view.0 <= goal {
                break;
            }
            // Where little is left at all, half of it may be lines.
            shorten(desk, state, ordinal, level.saturating_sub(slack.min(level / 2)))?;
        }
        slack = slack.saturating_mul(2);
    }
    for (_, ordinal) in open(desk, state, pins) {
        if state.view.0 > room {
            shorten(desk, state, ordinal, 0)?;
        }
    }
    take_cut(desk, state, pins)?;
    take_recalled(desk, state, pins)
}

/// Takes the answers to recalls as a whole, largest first, while the view is over the room: an original that is larger
/// than the window would hold the conversation up for good, and its tombstone names what asks for a part of it.
pub(crate) fn take_recalled(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<()> {
    let recalled = state.alive.iter().filter(|ordinal| pins.get(ordinal) == Some(&Pin::Recall));
    let mut sizes: Vec<_> = recalled.filter_map(|&at| Some((Reverse(state.results.get(at)?.tokens), at))).collect();
    sizes.sort_unstable();
    for (Reverse(tokens), ordinal) in sizes {
        if state.view <= desk.budget.room {
            return Ok(());
        }
        if desk.texts(ordinal)?.is_blank {
            continue;
        }
        let gone = fill::gone(desk, state, ordinal, "recall answer, body over the window", 0)?;
        if gone.tokens.0.saturating_add(desk.policy.min_gain) <= tokens.0 {
            state.set(ordinal, gone.form, gone.tokens, Change { step: Some(STEP), ..gone.change });
        }
    }
    Ok(())
}

/// Takes newest results that arrive with our marks as a whole, largest first, while the view is over the room.
fn take_cut(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<()> {
    let mut cut = Vec::new();
    for &ordinal in state.alive.iter().filter(|ordinal| !pins.contains_key(ordinal)) {
        let Some(result) = state.results.get(ordinal).filter(|result| result.number >= state.number) else { continue };
        let texts = desk.texts(ordinal)?;
        let is_cut = texts.arrives_cut || matches!(*result.form, Form::Shaped(_));
        if is_cut && !texts.is_blank && !texts.is_bare_mark() {
            cut.push((Reverse(result.tokens), ordinal));
        }
    }
    cut.sort_unstable();
    for (Reverse(tokens), ordinal) in cut {
        if state.view <= desk.budget.room {
            return Ok(());
        }
        let gone = fill::gone(desk, state, ordinal, "newest result, cut before, body over the window", 0)?;
        if gone.tokens.0.saturating_add(desk.policy.min_gain) <= tokens.0 {
            state.set(ordinal, gone.form, gone.tokens, Change { step: Some(STEP), ..gone.change });
        }
    }
    Ok(())
}

/// Gives size and place of the newest results that may be shortened further, largest first; what arrives with our marks
/// never is, since the counts in them would come to say what is not so.
fn open(desk: &Desk<'_, '_>, state: &State, pins: &BTreeMap<usize, Pin>) -> Vec<(u64, usize)> {
    let newest = state.alive.iter().filter(|ordinal| !pins.contains_key(ordinal)).filter_map(|&ordinal| {
        let result = state.results.get(ordinal)?;
        let arrives_cut = desk.texts(ordinal).is_ok_and(|texts| texts.arrives_cut);
        let is_shaped = matches!(*result.form, Form::Shaped(_));
        let is_open = result.number >= state.number && result.floor.is_none() && !arrives_cut && !is_shaped;
        is_open.then_some((result.tokens.0, ordinal))
    });
    let mut sizes: Vec<(u64, usize)> = newest.collect();
    sizes.sort_by_key(|&(size, at)| (Reverse(size), at));
    sizes
}

/// Finds the size to which the largest come down so that together they lose `over`.
fn level(sizes: &[(u64, usize)], over: u64) -> u64 {
    let mut sum = 0_u64;
    for (count, &(size, _)) in (1_u64..).zip(sizes) {
        sum = sum.saturating_add(size);
        let next = sizes.get(usize::try_from(count).unwrap_or(usize::MAX)).map_or(0, |next| next.0);
        let level = sum.saturating_sub(over) / count;
        if level >= next {
            return level;
        }
    }
    0
}

/// Shortens one result to about `budget`, or to less where that would save too little; notes when it came to its floor.
fn shorten(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize, budget: u64) -> Result<()> {
    let Some(result) = state.results.get(ordinal) else { return Ok(()) };
    let (size, original) = (result.tokens, result.original);
    let is_cut = matches!(result.form.as_ref(), Form::Cut(_));
    let was_shortened = result.change.as_ref().is_some_and(|change| change.step == Some(STEP));
    let (kept, of) = if was_shortened { AGAIN } else { (1, 1) };
    let worthwhile = size.0.saturating_sub(desk.policy.min_gain.saturating_add(GAP_TOKENS));
    let mut budget = budget.min(worthwhile).min(size.0.saturating_mul(kept) / of);
    if desk.texts(ordinal)?.is_blank {
        set_floor(state, ordinal);
        return Ok(());
    }
    loop {
        let Some(form) = cut(desk, state, ordinal, budget)? else { return Ok(()) };
        let tokens = desk.size(ordinal, &form, original)?;
        // An edit saves `min_gain` by its original; the last step down must not stop because an earlier one came near.
        let least = if budget == 0 && is_cut { 1 } else { desk.policy.min_gain };
        let saves = tokens.0.saturating_add(least) <= size.0;
        if saves {
            let reason = "newest result, body over the window".to_owned();
            state.set(ordinal, form, tokens, Change { kind: EditKind::Shorten, step: Some(STEP), reason });
        }
        if budget == 0 {
            set_floor(state, ordinal);
        }
        if saves || budget == 0 {
            return Ok(());
        }
        budget /= RETRY_SHARE;
    }
}

fn set_floor(state: &mut State, ordinal: usize) {
    if let Some(result) = state.results.get_mut(ordinal) {
        result.floor = Some(result.tokens);
    }
}

/// Gives the form that keeps about `budget` of a result, half of it from each end.
fn cut(desk: &Desk<'_, '_>, state: &State, ordinal: usize, budget: u64) -> Result<Option<Form>> {
    let texts = desk.texts(ordinal)?;
    let Some(result) = state.results.get(ordinal) else { return Ok(None) };
    let bytes: usize = texts.parts.iter().map(|part| part.text.len()).sum();
    let mut removed: Vec<Vec<Removed>> = Vec::with_capacity(texts.parts.len());
    for (at, part) in texts.parts.iter().enumerate() {
        let share = u128::from(budget) * part.text.len() as u128 / bytes.max(1) as u128;
        let share = u64::try_from(share).unwrap_or(u64::MAX);
        let mut pieces = keep_ends(part, share, Borders::Lines, &InTokens(desk.counter));
        if let Form::Cut(before) = result.form.as_ref() {
            pieces.extend(before.get(at).map(Vec::as_slice).unwrap_or_default());
        }
        removed.push(normalised(pieces));
    }
    Ok(Some(Form::Cut(removed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_down_to_one_level() {
        assert_eq!(level(&[(100, 0), (60, 1), (10, 2)], 20), 80);
        assert_eq!(level(&[(100, 0), (60, 1), (10, 2)], 60), 50);
        assert_eq!(level(&[(100, 0)], 500), 0);
    }
}
