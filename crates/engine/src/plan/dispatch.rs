//! What does a sweep of `dispatch` take? Tool messages in the older part of the view, and then runs of old calls.
//!
//! Knows no score and asks for no reference: age alone decides. What is newer than the part stays, whatever it holds.

use std::collections::BTreeMap;

use liveset_tokens::Tokens;

use super::{
    batches,
    desk::Desk,
    fold,
    form::Form,
    pins::Pin,
    rules,
    state::{CallState, Change, FoldBound, State},
    summary,
};
use crate::{
    error::Result,
    policy::DispatchOrder,
    report::EditKind,
    transcript::{ItemIdx, ItemKind},
};

/// Step that trims tool messages, in reports.
const TRIM_STEP: u8 = 1;

/// Trims tool messages and folds runs of old calls, in the order that the policy says, while the view is over `goal`.
///
/// What goes makes the older part reach further, so both are tried again until nothing more goes: whoever reads the
/// view anew finds nothing either (law 6).
pub(crate) fn sweep(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>, goal: Tokens) -> Result<()> {
    let mut before = None;
    while state.view > goal && before != Some(state.view) {
        before = Some(state.view);
        match desk.policy.dispatch.order {
            DispatchOrder::TrimFirst => {
                trim(desk, state, pins, goal)?;
                fold_and_sum_up(desk, state, pins, goal)?;
            }
            DispatchOrder::HistoryFirst => {
                fold_and_sum_up(desk, state, pins, goal)?;
                trim(desk, state, pins, goal)?;
            }
        }
    }
    Ok(())
}

/// Folds the oldest runs of calls alone, and sums up what is oldest then.
fn fold_and_sum_up(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>, goal: Tokens) -> Result<()> {
    state.potential.foldable = FoldBound::default();
    fold::fold_oldest(desk, state, pins, goal)?;
    summary::summarise_oldest(desk, state, pins, goal)
}

/// Trims tool messages, oldest first, in the older part of the view, until nothing more of that can go.
fn trim(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>, goal: Tokens) -> Result<()> {
    let mut before = None;
    while state.view > goal && before != Some(state.view) {
        before = Some(state.view);
        let part = part(desk, state);
        for at in 0..part {
            if state.view <= goal {
                return Ok(());
            }
            let idx = ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
            trim_one(desk, state, pins, idx)?;
        }
    }
    Ok(())
}

/// Gives how many items, from the first, lie within the part of the view that may be trimmed.
fn part(desk: &Desk<'_, '_>, state: &State) -> usize {
    let limit = u128::from(state.view.0) * u128::from(desk.policy.dispatch.share) / 100;
    let mut sum = u128::from(state.fixed.0);
    let sizes = (0..state.items).map(|at| {
        let idx = ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
        let is_fixed = desk.transcript.items.get(at).is_none_or(|item| item.kind == ItemKind::System);
        if is_fixed || desk.transcript.items.get(at).is_some_and(|item| state.is_dropped(item)) {
            return 0;
        }
        u128::from(batches::size_now(desk, state, idx))
    });
    sizes
        .take_while(|size| {
            sum += size;
            sum <= limit
        })
        .count()
}

fn trim_one(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>, idx: ItemIdx) -> Result<()> {
    let item = desk.item(idx)?;
    if item.number >= state.number || state.is_dropped(item) {
        return Ok(());
    }
    match item.kind {
        ItemKind::ToolCall => {
            if let Some(call) = call_cut(desk, state, pins, idx)? {
                state.set_call(idx, call);
            }
        }
        ItemKind::ToolResult => {
            if let Some(ordinal) = state.ordinal_of(idx).filter(|ordinal| !pins.contains_key(ordinal)) {
                trim_result(desk, state, ordinal)?;
            }
        }
        ItemKind::System
        | ItemKind::User
        | ItemKind::Assistant
        | ItemKind::Reasoning
        | ItemKind::Media
        | ItemKind::Opaque => {}
    }
    Ok(())
}

fn call_cut(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    idx: ItemIdx,
) -> Result<Option<CallState>> {
    let item = desk.item(idx)?;
    let ordinal = item.call().and_then(|call| call.result).and_then(|result| state.ordinal_of(result));
    let free = ordinal.filter(|ordinal| !pins.contains_key(ordinal) && !state.calls.contains_key(&idx));
    free.map_or(Ok(None), |ordinal| rules::argument_cut(desk, state, ordinal, item, TRIM_STEP))
}

fn trim_result(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize) -> Result<()> {
    let Some(result) = state.results.get(ordinal) else { return Ok(()) };
    let texts = desk.texts(ordinal)?;
    // What arrives with our marks was cut before: it goes only if the body must fit.
    let stays = texts.arrives_cut && (state.view <= desk.budget.room || texts.is_bare_mark());
    if result.form.is_final() || texts.is_blank || stays {
        return Ok(());
    }
    let tokens = desk.size(ordinal, &Form::Gone, result.original)?;
    if tokens.0 + desk.policy.min_gain > result.tokens.0 || tokens == result.tokens {
        return Ok(());
    }
    let reason = format!("in the older {} percent of the view", desk.policy.dispatch.share);
    state.set(ordinal, Form::Gone, tokens, Change { kind: EditKind::Tombstone, step: Some(TRIM_STEP), reason });
    Ok(())
}
