//! How are the newest results made to fit? Step 5 of `balanced`: whole lines from beginning and end.
//!
//! Runs only while the body is over the room, and stops there.

use std::collections::BTreeMap;

use liveset_tokens::Tokens;

use super::{
    desk::{Desk, InTokens},
    ends::{Borders, keep_ends},
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

/// Shortens unprocessed results, largest first, until the view fits the room.
pub(crate) fn shorten_newest(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<()> {
    let newest = |state: &State| -> Vec<usize> {
        let free = state.alive.iter().copied().filter(|ordinal| !pins.contains_key(ordinal));
        free.filter(|&ordinal| state.results.get(ordinal).is_some_and(|result| result.number >= state.number)).collect()
    };
    let mut slack = GAP_TOKENS;
    for _ in 0..MAX_ROUNDS {
        let over = state.view.0.saturating_sub(desk.budget.room.0);
        if over == 0 {
            return Ok(());
        }
        let mut sizes: Vec<(u64, usize)> =
            newest(state).into_iter().filter_map(|at| Some((state.results.get(at)?.tokens.0, at))).collect();
        sizes.sort_by_key(|&(size, at)| (std::cmp::Reverse(size), at));
        let level = level(&sizes, over);
        for (size, ordinal) in sizes {
            if size <= level || state.view.0 <= desk.budget.room.0 {
                break;
            }
            shorten(desk, state, ordinal, level.saturating_sub(slack))?;
        }
        slack = slack.saturating_mul(2);
    }
    Ok(())
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

fn shorten(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize, budget: u64) -> Result<()> {
    let texts = desk.texts(ordinal)?;
    let Some(result) = state.results.get(ordinal) else { return Ok(()) };
    if texts.is_blank {
        return Ok(());
    }
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
    let form = Form::Cut(removed);
    let tokens = desk.size(ordinal, &form, result.original)?;
    if tokens.0 + desk.policy.min_gain > result.tokens.0 {
        return Ok(());
    }
    let change =
        Change { kind: EditKind::Shorten, step: Some(STEP), reason: "newest result, body over the window".to_owned() };
    state.set(ordinal, form, Tokens(tokens.0), change);
    Ok(())
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
