//! Which results does no step touch?
//!
//! The newest unit is not here: only step 1 spares it, the last step is about it.

use std::collections::BTreeMap;

use super::{desk::Desk, pins::Pin, state::State};
use crate::{
    content_id::ContentId,
    error::Result,
    tools::{self, ToolClass},
    transcript::{Call, Editing, ErrorFlag},
};

/// A later identical call's result under this share of the size says "unchanged".
const STUB_SHARE: u64 = 8;

/// Takes in the results that the tracker has not seen.
pub(crate) fn track(desk: &Desk<'_, '_>, state: &mut State) -> Result<()> {
    while state.pinned.seen < state.results.len() {
        let ordinal = state.pinned.seen;
        state.pinned.seen += 1;
        let lasting = lasting(desk, state, ordinal)?;
        if let Some(result) = state.results.get_mut(ordinal) {
            result.pin = lasting;
        }
        let texts = desk.texts(ordinal)?;
        if tools::is_plan_tool(&texts.name.tool) {
            state.pinned.plans.insert(tools::without_server(&texts.name.tool).to_owned(), ordinal);
        }
        if texts.tells_failure || answer_of(desk, state, ordinal)?.is_some_and(|answer| answer.error == ErrorFlag::Set)
        {
            state.pinned.newest_error = Some(ordinal);
        }
        track_stub(desk, state, ordinal)?;
    }
    Ok(())
}

/// Finds the pinned results among those that may still go, by their place in order of delivery.
pub(crate) fn pins(desk: &Desk<'_, '_>, state: &State) -> Result<BTreeMap<usize, Pin>> {
    let mut state = std::borrow::Cow::Borrowed(state);
    if state.pinned.seen < state.results.len() {
        track(desk, state.to_mut())?;
    }
    let mut pins = state.pinned.passing();
    for &ordinal in &state.alive {
        if let Some(pin) = state.results.get(ordinal).and_then(|result| result.pin) {
            pins.insert(ordinal, pin);
        }
    }
    Ok(pins)
}

/// Gives the pin that a result has by itself, for good.
fn lasting(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<Option<Pin>> {
    let Some(result) = state.results.get(ordinal) else { return Ok(None) };
    let item = desk.item(result.item)?;
    if item.answer().is_some_and(|answer| answer.editing == Editing::Fixed) {
        return Ok(Some(Pin::Fixed));
    }
    let id = || desk.id(item.answer().and_then(|answer| answer.id));
    if !desk.policy.pins.is_empty() && id().is_some_and(|id| desk.policy.pins.contains(&id)) {
        return Ok(Some(Pin::Policy));
    }
    Ok(desk.texts(ordinal)?.has_marker.then_some(Pin::Marker))
}

fn answer_of<'d>(desk: &Desk<'d, '_>, state: &State, ordinal: usize) -> Result<Option<&'d crate::transcript::Answer>> {
    let Some(result) = state.results.get(ordinal) else { return Ok(None) };
    Ok(desk.item(result.item)?.answer())
}

/// A stub points back at the newest full answer of the same call. Re-runs of a command are no stubs.
fn track_stub(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize) -> Result<()> {
    let call = answer_of(desk, state, ordinal)?.and_then(|answer| answer.call);
    let call = match call {
        Some(idx) => desk.item(idx)?.call(),
        None => None,
    };
    let Some(key) = call.and_then(|call| key_of(desk, call)) else { return Ok(()) };
    let size = |at: usize| state.results.get(at).map_or(0, |result| result.original.0);
    match state.pinned.full.get(&key).copied() {
        Some(full) if size(ordinal) * STUB_SHARE < size(full) => {
            if desk.texts(full)?.name.class != ToolClass::Execution {
                state.pinned.unchanged.insert(full);
            }
        }
        Some(_) | None => {
            state.pinned.full.insert(key, ordinal);
        }
    }
    Ok(())
}

fn key_of(desk: &Desk<'_, '_>, call: &Call) -> Option<ContentId> {
    let body = desk.transcript.body;
    // Two literals side by side: a quote cannot stand inside either, so no two calls share a key.
    let key = [call.name?.of(body), call.arguments?.of(body)].concat();
    Some(ContentId::of(&key))
}
