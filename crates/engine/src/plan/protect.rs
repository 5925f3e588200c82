//! Which results does no step touch?
//!
//! The newest unit is not here: only step 1 spares it, the last step is about it.

use std::collections::{BTreeMap, BTreeSet};

use liveset_tokens::Tokens;

use super::{
    desk::Desk,
    form::{self, Form},
    pins::{self, Pin},
    state::State,
    texts::tell_failure,
};
use crate::{
    content_id::ContentId,
    error::Result,
    report::Warning,
    tombstone,
    tools::{self, ToolClass},
    transcript::{Call, Editing, ErrorFlag, Item, ItemIdx},
};

/// A later identical call's result under this share of the size says "unchanged".
const STUB_SHARE: u64 = 8;

/// Takes in the results that the tracker has not seen.
pub(crate) fn track(desk: &Desk<'_, '_>, state: &mut State) -> Result<()> {
    track_ids(desk, state);
    let newest = state.number;
    state.pinned.recalls.retain(|_, number| pins::is_recent(*number, newest));
    while state.pinned.seen < state.results.len() {
        let ordinal = state.pinned.seen;
        state.pinned.seen += 1;
        let lasting = lasting(desk, state, ordinal)?;
        if let Some(result) = state.results.get_mut(ordinal) {
            result.pin = lasting;
        }
        let texts = desk.texts(ordinal)?;
        if texts.is_recall
            && let Some(result) = state.results.get(ordinal)
        {
            state.pinned.recalls.insert(ordinal, result.number);
        }
        if tools::is_plan_tool(&texts.name.tool) {
            let tool = tools::without_server(&texts.name.tool).to_owned();
            if let Some(call) = answer_of(desk, state, ordinal)?.and_then(|answer| answer.call) {
                let newest = state.pinned.plan_calls.entry(tool.clone()).or_insert((call, ordinal));
                *newest = (call, ordinal).max(*newest);
            }
            state.pinned.plans.insert(tool, ordinal);
        }
        let is_flagged = answer_of(desk, state, ordinal)?.is_some_and(|answer| answer.error == ErrorFlag::Set);
        if is_flagged || tells_failure(desk, state, ordinal)? {
            state.pinned.newest_error = Some(ordinal);
        }
        track_stub(desk, state, ordinal)?;
    }
    Ok(())
}

/// Says whether a result tells of a failure as it was first sent: of what intake left out nobody who reads the view anew
/// knows (law 6).
fn tells_failure(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<bool> {
    let (texts, Some(result)) = (desk.texts(ordinal)?, state.results.get(ordinal)) else { return Ok(false) };
    match result.form.as_ref() {
        Form::Whole | Form::Gone | Form::Folded(_) => Ok(texts.tells_failure),
        Form::Cut(_) | Form::Shaped(_) => {
            let parts = form::in_view(texts, &result.form, Tokens(0));
            Ok(texts.name.tells_of_a_run() && !texts.is_recall && tell_failure(parts.iter().map(AsRef::as_ref)))
        }
    }
}

/// Pins what a session pinned since its last turn, among the results that were taken in before.
///
/// What was cut by then stays cut: a pin holds from where it was set.
fn track_ids(desk: &Desk<'_, '_>, state: &mut State) {
    let new = desk.policy.pins.get(state.pinned.ids..).unwrap_or_default();
    state.pinned.ids = desk.policy.pins.len();
    if new.is_empty() {
        return;
    }
    for result in state.results.iter_mut().take(state.pinned.seen).filter(|result| result.pin.is_none()) {
        let item = desk.transcript.items.get(result.item.at());
        let id = desk.id(item.and_then(Item::answer).and_then(|answer| answer.id));
        if id.is_some_and(|id| new.contains(&id)) {
            result.pin = Some(Pin::Policy);
            state.potential.sum = state.potential.sum.saturating_sub(result.gain);
            result.gain = 0;
            // What no step may touch any more is no longer to be lost.
            state.potential.losable = None;
        }
    }
}

/// Says whether a result is pinned by itself: what intake must know before anything else is tracked.
pub(crate) fn is_lasting(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<bool> {
    Ok(lasting(desk, state, ordinal)?.is_some())
}

/// What there is to say about pins by id: those that name nothing, and those that came too late.
pub(crate) fn pin_warnings(desk: &Desk<'_, '_>, state: &State) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if desk.policy.pins.is_empty() {
        return warnings;
    }
    let (mut unknown, mut late): (BTreeSet<&str>, BTreeSet<&str>) =
        (desk.policy.pins.iter().map(String::as_str).collect(), BTreeSet::new());
    for (idx, item) in (0..).map(ItemIdx).zip(&desk.transcript.items) {
        let id = item.call().map(|call| call.id).or_else(|| item.answer().map(|answer| answer.id)).flatten();
        let Some(id) = desk.id(id) else { continue };
        let Some(id) = desk.policy.pins.iter().find(|pin| **pin == id) else { continue };
        unknown.remove(id.as_str());
        let result = state.ordinal_of(idx).and_then(|ordinal| state.results.get(ordinal));
        let is_cut = result.is_some_and(|result| *result.form != Form::Whole) || state.calls.contains_key(&idx);
        if is_cut || state.is_dropped(item) {
            late.insert(id.as_str());
        }
    }
    let shown = |ids: &BTreeSet<&str>| {
        let some: Vec<String> = ids.iter().take(SHOWN_PINS).map(|id| shown(id)).collect();
        let rest = ids.len().saturating_sub(SHOWN_PINS);
        if rest == 0 { some.join(", ") } else { format!("{} and {rest} more", some.join(", ")) }
    };
    if !unknown.is_empty() {
        let text = format!("no call of the body has the pinned id {}", shown(&unknown));
        warnings.push(Warning::new("unknown_pin", text));
    }
    if !late.is_empty() {
        let text = format!("{} was cut before it was pinned, and stays cut", shown(&late));
        warnings.push(Warning::new("pinned_too_late", text));
    }
    warnings
}

/// Ids that a warning names at most.
const SHOWN_PINS: usize = 5;
/// Characters of an id that a warning shows at most: providers allow 64.
const SHOWN_ID_CHARS: usize = 64;

/// Writes an id in one line, however it was typed.
pub(crate) fn shown(id: &str) -> String {
    let start: String = id.chars().take(SHOWN_ID_CHARS).collect();
    format!("`{}`", start.escape_debug())
}

/// Finds the pinned results among those that may still go, by their place in order of delivery.
pub(crate) fn pins(desk: &Desk<'_, '_>, state: &State) -> Result<BTreeMap<usize, Pin>> {
    let mut state = std::borrow::Cow::Borrowed(state);
    if state.pinned.seen < state.results.len() {
        track(desk, state.to_mut())?;
    }
    let mut pins = state.pinned.passing(state.number);
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
    // By what is left: an answer that is gone is pinned by nobody, as for whoever reads the view anew (law 6).
    let size = |at: usize| state.results.get(at).map_or(0, |result| result.tokens.0);
    match state.pinned.full.get(&key).copied() {
        Some(full) if size(ordinal) * STUB_SHARE < size(full) => {
            if desk.texts(full)?.name.class != ToolClass::Execution {
                state.pinned.unchanged.insert(full);
                state.pinned.stubs.insert(ordinal, full);
            }
        }
        before => {
            if let Some(before) = before
                && is_cut(desk, state, before)?
                && desk.texts(before)?.name.class != ToolClass::Execution
            {
                state.pinned.asked_again.insert(before, ordinal);
            }
            state.pinned.full.insert(key, ordinal);
        }
    }
    Ok(())
}

/// Says whether a result pins another by saying "unchanged": without it that one would be pinned by nothing in view.
///
/// Goes by what is left of both, as whoever reads the view anew does.
pub(crate) fn pins_another(state: &State, ordinal: usize) -> bool {
    let size = |at: usize| state.results.get(at).map_or(0, |result| result.tokens.0);
    state.pinned.stubs.get(&ordinal).is_some_and(|&full| size(ordinal) * STUB_SHARE < size(full))
}

/// Says whether nothing but a line of ours is left of a result, whichever sweep or body put it there.
fn is_gone(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<bool> {
    let is_final = state.results.get(ordinal).is_some_and(|result| result.form.is_final());
    Ok(is_final || desk.texts(ordinal)?.parts.iter().any(|part| tombstone::is_tombstone(&part.text)))
}

/// Says whether a result lacks some of its text, whichever sweep or body took it.
fn is_cut(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<bool> {
    let is_whole = state.results.get(ordinal).is_some_and(|result| *result.form == Form::Whole);
    Ok(!is_whole || desk.texts(ordinal)?.arrives_cut)
}

/// Says whether a result that was cut was asked for again, and that answer says something: it may say that nothing changed,
/// and then the line that stands for the older one is what names it.
pub(crate) fn is_asked_again(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<bool> {
    let Some(&newer) = state.pinned.asked_again.get(&ordinal) else { return Ok(false) };
    let Some(result) = state.results.get(newer) else { return Ok(false) };
    Ok(!state.is_dropped(desk.item(result.item)?) && !is_gone(desk, state, newer)?)
}

fn key_of(desk: &Desk<'_, '_>, call: &Call) -> Option<ContentId> {
    let body = desk.transcript.body;
    // Two literals side by side: a quote cannot stand inside either, so no two calls share a key.
    let key = [call.name?.of(body), call.arguments?.of(body)].concat();
    Some(ContentId::of(&key))
}
