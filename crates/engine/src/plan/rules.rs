//! What do the rules by tool name take? The preset `rules`, and the argument rules that other presets may use.
//!
//! Touches processed items only, and no pin; a rule never looks at age, size or meaning.

mod failure;

use std::collections::BTreeMap;

use super::{
    arguments::Arguments,
    desk::Desk,
    form::Form,
    pins::Pin,
    state::{CallState, Change, State},
    templates,
};
use crate::{
    error::Result,
    report::EditKind,
    transcript::{ErrorFlag, Item, ItemIdx, ItemKind},
};

/// Step of the argument rules in reports of the preset `rules`.
const ARGUMENT_STEP: u8 = 1;
/// Step of the result rules there.
const RESULT_STEP: u8 = 2;

/// Applies every rule to every processed item: the whole preset.
pub(crate) fn sweep(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<()> {
    for (idx, call) in argument_cuts(desk, state, pins, ARGUMENT_STEP)? {
        state.set_call(idx, call);
    }
    for ordinal in state.alive.clone() {
        if let Some(change) = result_cut(desk, state, pins, ordinal)? {
            let Some(original) = state.results.get(ordinal).map(|result| result.original) else { continue };
            state.set(ordinal, Form::Gone, desk.size(ordinal, &Form::Gone, original)?, change);
        }
    }
    Ok(())
}

/// Finds what the argument rules may take, oldest first: arguments of processed calls whose result is present, is no
/// failure and is not pinned, and which save `min_gain`.
fn argument_cuts(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    step: u8,
) -> Result<Vec<(ItemIdx, CallState)>> {
    let mut found = Vec::new();
    for (at, item) in desk.transcript.items.iter().enumerate().take(state.items) {
        let idx = ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
        let may_go = item.kind == ItemKind::ToolCall && item.number < state.number && !state.is_dropped(item);
        if !may_go || state.calls.contains_key(&idx) {
            continue;
        }
        let ordinal = item.call().and_then(|call| call.result).and_then(|result| state.ordinal_of(result));
        let Some(ordinal) = ordinal.filter(|ordinal| !pins.contains_key(ordinal)) else { continue };
        found.extend(argument_cut(desk, state, ordinal, item, step)?.map(|call| (idx, call)));
    }
    Ok(found)
}

/// Cuts the arguments of the call `item` that the result at `ordinal` answers, if a rule may take anything of them.
pub(crate) fn argument_cut(
    desk: &Desk<'_, '_>,
    state: &State,
    ordinal: usize,
    item: &Item,
    step: u8,
) -> Result<Option<CallState>> {
    let Some(call) = item.call() else { return Ok(None) };
    let Some(rule) = templates::argument_rule(desk.transcript, call) else { return Ok(None) };
    // Where we left a part of the answer out, nobody can know whether that told of a failure.
    if desk.texts(ordinal)?.arrives_cut || failure::is_failure(desk, state, ordinal)? {
        return Ok(None);
    }
    let Some(arguments) = Arguments::of(desk.transcript, call)? else { return Ok(None) };
    let texts = arguments.texts(rule.keys);
    if texts.is_empty() {
        return Ok(None);
    }
    let before = desk.counter.count(arguments.object());
    let after = desk.counter.count(&arguments.object_with(&texts, rule.with));
    if after.0 + desk.policy.min_gain > before.0 || after == before {
        return Ok(None);
    }
    let reason = format!("`{}` of a call that succeeded: the file holds it", rule.keys.join("`, `"));
    let change = Change { kind: EditKind::Rule, step: Some(step), reason };
    Ok(Some(CallState { rule, before, after, change: change.into(), written: None }))
}

/// Says why a result becomes its tool's line; `None` where it stays.
fn result_cut(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    ordinal: usize,
) -> Result<Option<Change>> {
    let Some(result) = state.results.get(ordinal) else { return Ok(None) };
    if result.number >= state.number || pins.contains_key(&ordinal) || result.tokens.0 <= desk.policy.min_gain {
        return Ok(None);
    }
    let texts = desk.texts(ordinal)?;
    // What the wire calls an error is no content of a file, and the line would say so.
    let is_error = desk.item(result.item)?.answer().is_some_and(|answer| answer.error == ErrorFlag::Set);
    let stays = texts.is_blank || texts.arrives_folded || is_error;
    if result.form.is_final() || texts.rule_line.is_none() || stays {
        return Ok(None);
    }
    let after = desk.size(ordinal, &Form::Gone, result.original)?;
    if after.0 + desk.policy.min_gain > result.tokens.0 || after == result.tokens {
        return Ok(None);
    }
    let reason = "processed, and its tool can be asked again".to_owned();
    Ok(Some(Change { kind: EditKind::Rule, step: Some(RESULT_STEP), reason }))
}
