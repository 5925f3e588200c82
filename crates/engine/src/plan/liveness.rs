//! Which results does the agent still point at? The preset `liveness`: references alone decide.
//!
//! Knows no score and no target: it clears what is dead, then keeps fewer of the newest, then drops the oldest batches,
//! each step only while the view is over the trigger or the sweep has not freed what a sweep must.

mod chain;
mod results;
mod names;
mod quotes;
mod terms;

use std::collections::{BTreeMap, BTreeSet};

use liveset_tokens::Tokens;

use super::{
    batches,
    desk::Desk,
    form::Form,
    pins::Pin,
    protect,
    state::{Change, State},
    summary,
};
use crate::{error::Result, report::EditKind};

/// Newest results that stay whether or not anything points at them: what was just read has not been spoken of yet.
const KEEP_NEWEST: usize = 3;
/// Rounds of the steps: each looks anew at what is live without the messages that the one before dropped.
const MAX_ROUNDS: u32 = 4;
/// Step that clears dead results, in reports.
const CLEAR_STEP: u8 = 1;
/// Step that keeps fewer of the newest.
const FEWER_STEP: u8 = 2;

/// Runs the whole preset over what was delivered so far.
pub(crate) fn sweep(desk: &Desk<'_, '_>, state: &mut State) -> Result<()> {
    let goal = goal(desk, state);
    for _ in 0..MAX_ROUNDS {
        // An "unchanged" that was dropped pins nothing any more.
        let pins = &protect::pins(desk, state)?;
        let view = state.view;
        let live = live(desk, state)?;
        for keep in (0..=KEEP_NEWEST).rev() {
            clear(desk, state, pins, &live, keep)?;
            if desk.charged(state) <= goal {
                return Ok(());
            }
        }
        batches::drop_oldest(desk, state, pins, goal)?;
        summary::summarise_oldest(desk, state, pins, Tokens(goal.saturating_sub(desk.surcharge(state))))?;
        // What only a dropped message pointed at is live no more.
        if desk.charged(state) <= goal || state.view == view {
            return Ok(());
        }
    }
    Ok(())
}

/// Gives the charged view at which a sweep ends: under the trigger by then, and worth a sweep.
///
/// Without the second a sweep that is just under the trigger would be refused as too little, though more could go.
fn goal(desk: &Desk<'_, '_>, state: &State) -> u64 {
    desk.budget.trigger.0.min(desk.charged(state).saturating_sub(desk.budget.min_sweep_gain.0))
}

/// Finds the results that an assistant message in view names, or a later one quotes or paraphrases.
fn live(desk: &Desk<'_, '_>, state: &State) -> Result<BTreeSet<usize>> {
    let chain = chain::Chain::of(desk, state)?;
    let mut live = names::named(desk, state, &chain)?;
    let results = results::in_view(desk, state)?;
    live.extend(quotes::quoted(state, &chain, &results));
    live.extend(terms::paraphrased(desk, state, &chain, &results)?);
    Ok(live)
}

/// Puts a tombstone in place of each processed result that is neither live, pinned nor among the newest `keep`.
fn clear(
    desk: &Desk<'_, '_>,
    state: &mut State,
    pins: &BTreeMap<usize, Pin>,
    live: &BTreeSet<usize>,
    keep: usize,
) -> Result<()> {
    let newest = state.results.len().saturating_sub(keep);
    for ordinal in state.alive.clone() {
        if ordinal >= newest || live.contains(&ordinal) || pins.contains_key(&ordinal) {
            continue;
        }
        clear_one(desk, state, ordinal, keep)?;
    }
    Ok(())
}

fn clear_one(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize, keep: usize) -> Result<()> {
    let Some(result) = state.results.get(ordinal) else { return Ok(()) };
    let texts = desk.texts(ordinal)?;
    if result.number >= state.number || result.form.is_final() || texts.is_blank || texts.is_bare_mark() {
        return Ok(());
    }
    let tokens = desk.size(ordinal, &Form::Gone, result.original)?;
    if tokens.0 + desk.policy.min_gain > result.tokens.0 || tokens == result.tokens {
        return Ok(());
    }
    let (step, reason) = match keep {
        KEEP_NEWEST => (CLEAR_STEP, "no later message names, quotes or paraphrases it".to_owned()),
        0 => (FEWER_STEP, "nothing points at it, and no room for the newest".to_owned()),
        1 => (FEWER_STEP, "nothing points at it, and only the newest one stays".to_owned()),
        fewer => (FEWER_STEP, format!("nothing points at it, and only the newest {fewer} stay")),
    };
    let change = Change { kind: EditKind::Tombstone, step: Some(step), reason };
    state.set(ordinal, Form::Gone, tokens, change);
    Ok(())
}
