//! How much could a sweep free here? Kept as a running sum, so that asking at every request point costs little.
//!
//! An upper bound from sizes alone: never scores, never decides which passage goes.

use super::{
    argument_step,
    desk::Desk,
    fold,
    form::Form,
    media, reasoning,
    state::{FoldBound, ItemSum, State},
    summary, templates,
};
use crate::{
    error::Result,
    policy::Preset,
    transcript::{Item, ItemIdx, ItemKind, Side},
};

/// Gives the tokens that old pictures, the tombstones of all free results and the argument rules would save.
///
/// Pins must be tracked (`protect::track`). Depends on the view alone and not on what was tried at earlier points: a
/// compacted body, in which less may go, is never swept where the body it came from was not (law 6).
pub(crate) fn of_view(desk: &Desk<'_, '_>, state: &mut State) -> Result<u64> {
    argument_step::take_in(desk, state)?;
    while state.results.get(state.potential.counted).is_some_and(|result| result.number < state.number) {
        let ordinal = state.potential.counted;
        state.potential.counted += 1;
        let gain = gain(desk, state, ordinal)?;
        if let Some(result) = state.results.get_mut(ordinal) {
            result.gain = gain;
        }
        state.potential.sum += gain;
    }
    let passing = state.pinned.passing(state.number);
    let gain_of = |at: &usize| state.results.get(*at).map_or(0, |result| result.gain);
    let held: u64 = passing.keys().map(gain_of).sum();
    let arguments = argument_step::potential(state, &passing);
    Ok(state.potential.sum.saturating_sub(held) + media::potential(desk, state, &passing)? + arguments)
}

/// Gives what the tombstone of a processed result saves; 0 where it may not go by step 1.
fn gain(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize) -> Result<u64> {
    let Some(result) = state.results.get(ordinal) else { return Ok(0) };
    if result.pin.is_some() || result.tokens.0 <= desk.policy.min_gain {
        return Ok(0);
    }
    let texts = desk.texts(ordinal)?;
    // What arrives with our own marks was cut before: it only ever goes whole, and only if the body must fit.
    if texts.is_blank || texts.arrives_cut {
        return Ok(0);
    }
    let tombstone = desk.size(ordinal, &Form::Gone, result.original)?;
    let gain = saved(result.tokens.0, tombstone.0, desk.policy.min_gain);
    if let Some(result) = state.results.get_mut(ordinal) {
        result.tombstone = Some(tombstone);
    }
    Ok(gain)
}

/// Gives what results, the pictures in them and signed reasoning could lose at most, now or after any further item, and
/// what the argument rules could take now: a call that becomes processed counts from then on.
///
/// Pins that may pass are no hindrance here, and what arrived since the last sweep may go as a whole: so a view that is
/// over the room even without all this stays so, whatever is tried (law 12 without a body that could fit being given up).
pub(crate) fn losable(desk: &Desk<'_, '_>, state: &mut State) -> Result<u64> {
    let mut sum = match state.potential.losable {
        Some(sum) => sum,
        None => {
            let mut tokens = state.media.iter().map(|&media| desk.counts.item(media).0).sum();
            for &idx in &state.signed {
                tokens += reasoning::losable(desk, idx)?;
            }
            for ordinal in state.alive.clone() {
                tokens += losable_of(desk, state, ordinal)?;
            }
            tokens += entries(state) + said(desk, state);
            for (idx, item) in (0..).map(ItemIdx).zip(desk.transcript.items.iter().take(state.items)) {
                tokens += ruled_arguments(desk, state, idx, item);
            }
            ItemSum { items: state.items, tokens }
        }
    };
    while sum.items < state.items {
        let idx = ItemIdx(u32::try_from(sum.items).unwrap_or(u32::MAX));
        let item = desk.item(idx)?;
        sum.tokens += match item.kind {
            ItemKind::ToolResult => desk.counts.text(idx).0,
            ItemKind::Media if item.within.is_some() => desk.counts.item(idx).0,
            ItemKind::Reasoning => reasoning::losable(desk, idx)?,
            ItemKind::ToolCall => ruled_arguments(desk, state, idx, item),
            ItemKind::Media | ItemKind::System | ItemKind::User | ItemKind::Assistant | ItemKind::Opaque => 0,
        };
        sum.tokens += summary::losable(desk, item, idx);
        sum.items += 1;
    }
    state.potential.losable = Some(sum);
    let foldable = match desk.policy.preset {
        Preset::Balanced | Preset::Dispatch => fold::bound(desk, state)?,
        Preset::Rules | Preset::Liveness => 0,
    };
    Ok(sum.tokens + state.open_arguments.sum() + foldable)
}

/// Gives what a rule could take of a call's arguments at most, where no step counts that by itself (`argument_step`).
fn ruled_arguments(desk: &Desk<'_, '_>, state: &State, idx: ItemIdx, item: &Item) -> u64 {
    let asks = match desk.policy.preset {
        Preset::Rules | Preset::Dispatch => !state.calls.contains_key(&idx) && !state.is_dropped(item),
        Preset::Balanced | Preset::Liveness => false,
    };
    let has_rule = || item.call().is_some_and(|call| templates::argument_rule(desk.transcript, call).is_some());
    if asks && has_rule() { desk.counts.item(idx).0 } else { 0 }
}

/// Gives what a summary of everything would take of the assistant's side at most.
fn said(desk: &Desk<'_, '_>, state: &State) -> u64 {
    let items = (0..).map(ItemIdx).zip(&desk.transcript.items).take(state.items);
    let in_view = items.filter(|(_, item)| !state.is_dropped(item));
    in_view.map(|(idx, item)| summary::losable(desk, item, idx)).sum()
}

/// Gives what carriers could lose: the entries of their runs.
fn entries(state: &State) -> u64 {
    let size = |form: &Form| match form {
        Form::Folded(digest) => digest.size(),
        Form::Whole | Form::Cut(_) | Form::Shaped(_) | Form::Gone => 0,
    };
    state.results.iter().map(|result| size(&result.form)).sum()
}

/// Gives what stays whatever `liveness` takes: all but results, what is in them, and what the assistant says, since that
/// goes with its batch.
pub(crate) fn lasting(desk: &Desk<'_, '_>, state: &mut State) -> Result<u64> {
    let mut sum = state.potential.lasting;
    while sum.items < state.items {
        let idx = ItemIdx(u32::try_from(sum.items).unwrap_or(u32::MAX));
        let item = desk.item(idx)?;
        let may_go = item.kind == ItemKind::ToolResult || item.within.is_some() || item.side == Side::Assistant;
        sum.tokens += if may_go { 0 } else { desk.counts.item(idx).0 };
        sum.items += 1;
    }
    state.potential.lasting = sum;
    Ok(sum.tokens + desk.counts.request().0)
}

/// Gives what one result that may still go could lose: down to its tombstone, or to where step 5 left it.
fn losable_of(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize) -> Result<u64> {
    let Some(result) = state.results.get(ordinal) else { return Ok(0) };
    let (tokens, original, floor) = (result.tokens.0, result.original, result.floor);
    let is_processed = result.number < state.number;
    if result.pin.is_some() || tokens <= desk.policy.min_gain {
        return Ok(0);
    }
    let least = match (floor, result.tombstone) {
        // Not tried yet, or pinned for now: no one knows how far step 5 comes.
        (None, _) if !is_processed => 0,
        (_, Some(tombstone)) => tombstone.0,
        (_, None) => {
            let tombstone = desk.size(ordinal, &Form::Gone, original)?;
            if let Some(result) = state.results.get_mut(ordinal) {
                result.tombstone = Some(tombstone);
            }
            tombstone.0
        }
    };
    Ok(saved(tokens, least, desk.policy.min_gain))
}

/// Brings the sum up to date after a sweep, and lets go of results that can never go any more.
///
/// Tombstones are final. A processed result hardly longer than its tombstone stays for good.
pub(crate) fn settle(desk: &Desk<'_, '_>, state: &mut State) -> Result<()> {
    let mut sum = 0;
    let mut alive = Vec::with_capacity(state.alive.len());
    for &ordinal in &state.alive {
        let Some(result) = state.results.get_mut(ordinal) else { continue };
        if result.form.is_final() {
            result.gain = 0;
            continue;
        }
        if ordinal >= state.potential.counted {
            alive.push(ordinal);
            continue;
        }
        if result.gain > 0 {
            let tombstone = result.tombstone.unwrap_or_default().0;
            result.gain = saved(result.tokens.0, tombstone, desk.policy.min_gain);
            sum += result.gain;
        }
        if result.gain > 0 || result.pin.is_some() || desk.texts(ordinal)?.arrives_cut {
            alive.push(ordinal);
        }
    }
    state.alive = alive;
    state.potential.sum = sum;
    state.potential.losable = None;
    state.potential.foldable = FoldBound::default();
    Ok(())
}

fn saved(tokens: u64, tombstone: u64, min_gain: u64) -> u64 {
    tokens.checked_sub(tombstone).filter(|&gain| gain >= min_gain.max(1)).unwrap_or(0)
}
