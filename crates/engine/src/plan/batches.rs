//! Which whole batches may go? A message with calls and all results that answer them, oldest first.
//!
//! Takes a batch only where the rest stays what a provider accepts: complete, alone in its messages, between messages
//! that may stand next to each other, and with no reasoning left behind or missed (`wire-formats.md`, sections 1 to 3).

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    desk::Desk,
    pins::Pin,
    state::{Batch, Change, State},
};
use crate::{
    error::Result,
    report::EditKind,
    transcript::{Item, ItemIdx, ItemKind, Side, UnitIdx, WireFormat},
};

/// Step number in reports.
const STEP: u8 = 3;

/// Drops batches, oldest first, until the charged view is at `goal`.
pub(crate) fn drop_oldest(
    desk: &Desk<'_, '_>,
    state: &mut State,
    pins: &BTreeMap<usize, Pin>,
    goal: u64,
) -> Result<()> {
    let layout = Layout::of(desk, state);
    let mut dropped = BTreeSet::new();
    for at in 0..desk.transcript.units.len() {
        if desk.charged(state) <= goal {
            break;
        }
        let unit = UnitIdx(u32::try_from(at).unwrap_or(u32::MAX));
        let Some((first, last)) = batch(desk, state, pins, &layout, unit)? else { continue };
        let items = layout.items_of(first, last);
        let now = items.iter().map(|&idx| size_now(desk, state, idx)).sum();
        if now < desk.policy.min_gain.max(1) {
            continue;
        }
        let before = items.iter().map(|&idx| desk.counts.item(idx)).sum();
        let Some(&item) = items.first() else { continue };
        let reason = "oldest batch, the view was still over the trigger".to_owned();
        let change = Change { kind: EditKind::Drop, step: Some(STEP), reason };
        // A line that goes leaves what it stood for without one.
        let lines = items.iter().filter_map(|&idx| state.ordinal_of(idx)).collect();
        state.hand_on(&lines, None, &change);
        let batch = Batch { unit, item, first, last, before, change: change.into(), carrier: None };
        state.drop_batch(batch, &items, now);
        dropped.extend(items);
    }
    state.forget_dropped(&dropped);
    Ok(())
}

/// The items of each wire message.
pub(crate) struct Layout {
    messages: BTreeMap<u32, Vec<ItemIdx>>,
    /// Ids that pair nothing for sure: those of results that answer no call (without the call of their id they would be
    /// orphans), and those of several calls (without one of them the others would pair anew).
    loose: BTreeSet<String>,
    /// The message of the newest real user text: from there on the agent is in one turn.
    turn: Option<u32>,
    /// The newest message in view before some message, as it was asked last: batches go in order, and what stands before
    /// one of them goes no more.
    kept: Cell<(u32, Option<u32>)>,
}

impl Layout {
    pub(crate) fn of(desk: &Desk<'_, '_>, state: &State) -> Self {
        let mut messages: BTreeMap<u32, Vec<ItemIdx>> = BTreeMap::new();
        let (mut users, mut results) = (BTreeSet::new(), BTreeSet::new());
        for (at, item) in desk.transcript.items.iter().enumerate().take(state.items) {
            let Some(message) = item.message else { continue };
            messages.entry(message).or_default().push(ItemIdx(u32::try_from(at).unwrap_or(u32::MAX)));
            if item.kind == ItemKind::User {
                users.insert(message);
            }
            if item.kind == ItemKind::ToolResult {
                results.insert(message);
            }
        }
        let results_of_none = desk.transcript.items.iter().take(state.items).filter_map(Item::answer);
        let mut loose: BTreeSet<String> =
            results_of_none.filter(|answer| answer.call.is_none()).filter_map(|answer| desk.id(answer.id)).collect();
        let mut calls = BTreeSet::new();
        for call in desk.transcript.items.iter().take(state.items).filter_map(Item::call) {
            let Some(id) = desk.id(call.id) else { continue };
            if let Some(id) = calls.replace(id) {
                loose.insert(id);
            }
        }
        // Text beside results is a client's reminder: the turn goes on.
        Self { messages, loose, turn: users.difference(&results).last().copied(), kept: Cell::default() }
    }

    /// Gives the newest message in view before `first`.
    fn kept_before(&self, state: &State, first: u32) -> Option<u32> {
        let (from, known) = match self.kept.get() {
            (from, known) if from <= first => (from, known),
            _ => (0, None),
        };
        let kept = (from..first).rev().find(|&message| !state.drops_message(message)).or(known);
        self.kept.set((first, kept));
        kept
    }

    fn items(&self, message: u32) -> &[ItemIdx] {
        self.messages.get(&message).map(Vec::as_slice).unwrap_or_default()
    }

    /// Gives the items of these messages, both included.
    pub(crate) fn items_of(&self, first: u32, last: u32) -> Vec<ItemIdx> {
        (first..=last).flat_map(|message| self.items(message)).copied().collect()
    }
}

/// Gives the first and the last message of a unit's batch, if it may go.
pub(crate) fn batch(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    layout: &Layout,
    unit: UnitIdx,
) -> Result<Option<(u32, u32)>> {
    let Some((first, last)) = extent(desk, state, pins, layout, unit)? else { return Ok(None) };
    let items = desk.transcript.units.get(unit.at()).map(|found| found.items.as_slice()).unwrap_or_default();
    let (mut reasons, mut ends_in_reasoning) = (false, false);
    for &idx in items {
        let item = desk.item(idx)?;
        reasons |= item.kind == ItemKind::Reasoning;
        if item.side == Side::Assistant {
            ends_in_reasoning = item.kind == ItemKind::Reasoning;
        }
    }
    // In the turn that goes on, a provider asks for all of the model's thoughts.
    let in_turn = || desk.transcript.format == WireFormat::Anthropic && layout.turn.is_none_or(|turn| turn < first);
    if ends_in_reasoning || (reasons && in_turn()) {
        return Ok(None);
    }
    let may_close = borders_match(desk, state, layout, first, last)?;
    Ok(may_close.then_some((first, last)))
}

/// Gives the first and the last message of a processed unit with calls that is complete, alone in its messages, free of
/// pins and still in view.
pub(crate) fn extent(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    layout: &Layout,
    unit: UnitIdx,
) -> Result<Option<(u32, u32)>> {
    let Some(found) = desk.transcript.units.get(unit.at()).filter(|found| found.number < state.number) else {
        return Ok(None);
    };
    let mut messages = BTreeSet::new();
    let mut calls = 0_u32;
    for &idx in &found.items {
        let item = desk.item(idx)?;
        let Some(message) = item.message.filter(|_| idx.at() < state.items) else { return Ok(None) };
        messages.insert(message);
        calls += u32::from(item.kind == ItemKind::ToolCall);
        if desk.id(item.call().and_then(|call| call.id)).is_some_and(|id| layout.loose.contains(&id)) {
            return Ok(None);
        }
        if !is_complete(desk, state, pins, idx, unit)? {
            return Ok(None);
        }
    }
    let (Some(&first), Some(&last)) = (messages.first(), messages.last()) else { return Ok(None) };
    let is_run = (last - first) as usize + 1 == messages.len();
    if calls == 0 || !is_run || state.drops_message(first) {
        return Ok(None);
    }
    for &idx in messages.iter().flat_map(|&message| layout.items(message)) {
        if !belongs(desk, idx, unit)? {
            return Ok(None);
        }
    }
    Ok(Some((first, last)))
}

/// Says whether one item of a unit lets the unit go: a call with its result, a result without a pin, text, reasoning.
fn is_complete(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    idx: ItemIdx,
    unit: UnitIdx,
) -> Result<bool> {
    let item = desk.item(idx)?;
    let answered = |result: Option<ItemIdx>| match result.filter(|result| result.at() < state.items) {
        Some(result) => Ok(desk.item(result)?.unit == Some(unit)),
        None => Ok(false),
    };
    match item.kind {
        ItemKind::ToolCall => answered(item.call().and_then(|call| call.result)),
        ItemKind::ToolResult => {
            let has_call = item.answer().is_some_and(|answer| answer.call.is_some());
            let ordinal = state.ordinal_of(idx);
            Ok(has_call && ordinal.is_some_and(|ordinal| !pins.contains_key(&ordinal)))
        }
        ItemKind::Assistant | ItemKind::Reasoning => Ok(true),
        ItemKind::System | ItemKind::User | ItemKind::Media | ItemKind::Opaque => Ok(false),
    }
}

/// Says whether an item is the unit's or a known part of one of its results.
fn belongs(desk: &Desk<'_, '_>, idx: ItemIdx, unit: UnitIdx) -> Result<bool> {
    let item = desk.item(idx)?;
    let within = item.within.map(|within| desk.item(within)).transpose()?;
    Ok(item.kind != ItemKind::Opaque && within.unwrap_or(item).unit == Some(unit))
}

/// Says whether the messages around those from `first` to `last` may stand next to each other.
pub(crate) fn borders_match(
    desk: &Desk<'_, '_>,
    state: &State,
    layout: &Layout,
    first: u32,
    last: u32,
) -> Result<bool> {
    let Some(next) = last.checked_add(1).and_then(|next| layout.items(next).first()) else { return Ok(false) };
    // A late result of another call stands where it stands because of the batch before it.
    if desk.item(*next)?.kind == ItemKind::ToolResult {
        return Ok(false);
    }
    if desk.transcript.format != WireFormat::Anthropic {
        return Ok(true);
    }
    // Roles alternate: a user's message before, the assistant's after.
    let before = layout.kept_before(state, first);
    let Some(before) = before.and_then(|message| layout.items(message).last()) else { return Ok(false) };
    let before = desk.item(*before)?;
    let is_users = before.side == Side::Other && before.kind != ItemKind::System;
    Ok(is_users && desk.item(*next)?.side == Side::Assistant)
}

/// Counts what an item holds in the view as it is.
pub(crate) fn size_now(desk: &Desk<'_, '_>, state: &State, idx: ItemIdx) -> u64 {
    let whole = desk.counts.item(idx).0;
    let result = state.ordinal_of(idx).and_then(|ordinal| state.results.get(ordinal));
    let change = match (result, state.calls.get(&idx), state.notices.get(&idx)) {
        (Some(result), _, _) => Some((result.original, result.tokens)),
        (None, Some(call), _) => Some((call.before, call.after)),
        (None, None, Some(notice)) => Some((notice.before, notice.after)),
        (None, None, None) => state.thoughts.get(&idx).map(|thought| (thought.before, thought.after)),
    };
    change.map_or(whole, |(before, after)| (whole + after.0).saturating_sub(before.0))
}
