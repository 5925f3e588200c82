//! What becomes of signed reasoning that follows an edit? The guard: when a sweep waits, and which blocks leave with it.
//!
//! Only ever removes whole blocks of signed reasoning; unsigned thoughts are text of the model and stay.

use std::collections::BTreeSet;

use liveset_tokens::Tokens;

use super::{
    desk::Desk,
    state::{AtRisk, State, Thought},
};
use crate::{
    counts::MESSAGE_TOKENS,
    error::Result,
    policy::ReasoningGuard,
    transcript::{Item, ItemIdx, ItemKind, Side, WireFormat},
};

/// Whether signed reasoning may leave a message that stays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// As a whole block, outside the turn that goes on.
    Alone,
    /// Never: a batch may take it along, nothing else.
    Never,
}

/// What each format allows, by `wire-formats.md`.
fn leaving(format: WireFormat) -> Leaving {
    match format {
        // Section 1, "Thinking": blocks must all be present in the current tool loop only; a client may strip the
        // others and go on. `thinking` and `redacted_thinking` alike.
        WireFormat::Anthropic => Leaving::Alone,
        // Section 2: models with `reasoning_content` want it back inside a tool loop, and none is tied to its prefix.
        WireFormat::OpenaiChat => Leaving::Never,
        // Section 3, "Reasoning adjacency": 400 where a reasoning item or its follower is removed alone.
        WireFormat::OpenaiResponses => Leaving::Never,
    }
}

/// Says whether a sweep that the room does not force waits here: signed reasoning stands behind a result in view, and the
/// newest item is no real text of the user.
///
/// Asks what is in view and not what the sweep would take: a body that comes back compacted offers less to take, and a
/// sweep that waited the first time must not go on the second (law 6).
pub(crate) fn waits(desk: &Desk<'_, '_>, state: &mut State, point: ItemIdx) -> Result<bool> {
    Ok(is_guarded(desk, state)? && !is_user_turn(desk, point)?)
}

/// Says whether a sweep that waited goes on here: at real text of the user, behind signed reasoning.
pub(crate) fn ends_wait(desk: &Desk<'_, '_>, state: &mut State, point: ItemIdx) -> Result<bool> {
    Ok(is_guarded(desk, state)? && is_user_turn(desk, point)?)
}

fn is_guarded(desk: &Desk<'_, '_>, state: &mut State) -> Result<bool> {
    let last = match desk.policy.reasoning {
        ReasoningGuard::Drop => None,
        ReasoningGuard::Respect | ReasoningGuard::Keep => state.signed.last().copied(),
    };
    let Some(last) = last else { return Ok(false) };
    while let Some(result) = state.results.get(state.first_in_view)
        && state.is_dropped(desk.item(result.item)?)
    {
        state.first_in_view += 1;
    }
    Ok(state.results.get(state.first_in_view).is_some_and(|result| result.item < last))
}

/// Takes out the signed reasoning behind a sweep's first change where that is allowed, and notes what stays at risk.
///
/// Reasoning behind an edit leaves as a whole run or, under `respect`, not at all: a block that stayed behind would be
/// refused just as well. So a block may save less than `min_gain`.
pub(crate) fn settle(desk: &Desk<'_, '_>, before: &State, trial: &mut State, point: ItemIdx) -> Result<()> {
    let Some(first) = trial.first_difference(before) else { return Ok(()) };
    let first = ItemIdx(u32::try_from(first).unwrap_or(u32::MAX));
    // What an earlier sweep had to leave at risk goes with the rest.
    let from = trial.at_risk().map_or(first, |risk| risk.edit.min(first));
    let may_leave = match desk.policy.reasoning {
        _ if leaving(desk.transcript.format) == Leaving::Never => false,
        ReasoningGuard::Keep => false,
        ReasoningGuard::Respect => is_user_turn(desk, point)?,
        ReasoningGuard::Drop => true,
    };
    if may_leave {
        remove(desk, trial, from, point)?;
    }
    trial.risk = trial.signed.last().filter(|&&last| last > from).map(|&last| AtRisk { edit: from, last });
    Ok(())
}

/// Gives the tokens of an item if it is signed reasoning that a sweep may take out, now or later.
pub(crate) fn losable(desk: &Desk<'_, '_>, idx: ItemIdx) -> Result<u64> {
    let may_leave = leaving(desk.transcript.format) == Leaving::Alone && desk.policy.reasoning != ReasoningGuard::Keep;
    Ok(if may_leave && desk.item(idx)?.is_signed_reasoning() { desk.counts.item(idx).0 } else { 0 })
}

fn remove(desk: &Desk<'_, '_>, trial: &mut State, from: ItemIdx, point: ItemIdx) -> Result<()> {
    // In the turn that goes on a provider asks for all thoughts.
    let Some(turn) = turn_start(desk, point)? else { return Ok(()) };
    let behind: BTreeSet<ItemIdx> = trial.signed.iter().copied().filter(|&idx| idx > from).collect();
    let mut leaves = BTreeSet::new();
    let mut asked = None;
    for &idx in behind.range(..turn) {
        let message = desk.item(idx)?.message;
        if asked != Some(message) {
            leaves.extend(of_message(desk, idx, &behind)?);
            asked = Some(message);
        }
    }
    if desk.policy.reasoning == ReasoningGuard::Respect && leaves.len() < behind.len() {
        return Ok(());
    }
    for &idx in &leaves {
        let before = desk.counts.item(idx);
        let after = if opens_message(desk, idx)? { Tokens(MESSAGE_TOKENS) } else { Tokens(0) };
        trial.view = Tokens((trial.view.0 + after.0).saturating_sub(before.0));
        trial.thoughts.insert(idx, Thought { before, after });
    }
    trial.signed.retain(|idx| !leaves.contains(idx));
    Ok(())
}

/// Gives those of `behind` in the message of `idx`, or none if nothing but reasoning would be left of it.
fn of_message(desk: &Desk<'_, '_>, idx: ItemIdx, behind: &BTreeSet<ItemIdx>) -> Result<Vec<ItemIdx>> {
    let message = desk.item(idx)?.message;
    let items = &desk.transcript.items;
    let in_message = |at: &usize| items.get(*at).is_some_and(|item| item.message == message);
    let before = (0..idx.at()).rev().take_while(in_message).count();
    let all: Vec<usize> = (idx.at() - before..items.len()).take_while(in_message).collect();
    let says_more = all.iter().filter_map(|&at| items.get(at)).any(|item| item.kind != ItemKind::Reasoning);
    if !says_more {
        return Ok(Vec::new());
    }
    let places = all.into_iter().map(|at| ItemIdx(u32::try_from(at).unwrap_or(u32::MAX)));
    Ok(places.filter(|idx| behind.contains(idx)).collect())
}

/// A message's own tokens are charged to its first item and stay with what is left of it.
fn opens_message(desk: &Desk<'_, '_>, idx: ItemIdx) -> Result<bool> {
    let before = idx.at().checked_sub(1).and_then(|before| desk.transcript.items.get(before));
    Ok(before
        .is_none_or(|before| desk.transcript.items.get(idx.at()).is_none_or(|item| item.message != before.message)))
}

/// Says whether the newest item, at `point`, is real text of the user: one that opens a turn.
///
/// Neighbours of one role are one message to Anthropic, so text behind results is a client's reminder there, and the
/// model's tool loop goes on.
fn is_user_turn(desk: &Desk<'_, '_>, point: ItemIdx) -> Result<bool> {
    let item = desk.item(point)?;
    let run = desk.transcript.items.get(..=point.at()).unwrap_or_default().iter().rev();
    Ok(match desk.transcript.format {
        WireFormat::Anthropic => opens_turn(run.take_while(|item| item.side == Side::Other)),
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses => {
            opens_turn(run.take_while(|other| other.message == item.message))
        }
    })
}

fn opens_turn<'i>(run: impl Iterator<Item = &'i Item>) -> bool {
    let mut says = false;
    for item in run {
        if item.kind == ItemKind::ToolResult {
            return false;
        }
        says |= item.kind == ItemKind::User;
    }
    says
}

/// Finds where the turn that goes on at `point` began.
fn turn_start(desk: &Desk<'_, '_>, point: ItemIdx) -> Result<Option<ItemIdx>> {
    let items = desk.transcript.items.get(..=point.at()).unwrap_or_default();
    let mut end = items.len();
    while let Some(last) = items.get(..end).and_then(|items| items.iter().rposition(|item| item.side == Side::Other)) {
        let run = items.get(..=last).unwrap_or_default().iter().rev().take_while(|item| item.side == Side::Other);
        let start = (last + 1).saturating_sub(run.clone().count());
        if opens_turn(run) {
            return Ok(Some(ItemIdx(u32::try_from(start).unwrap_or(u32::MAX))));
        }
        end = start;
    }
    Ok(None)
}
