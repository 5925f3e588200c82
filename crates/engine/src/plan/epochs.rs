//! How does a conversation grow, and where is a sweep due? The walk over its request points.
//!
//! A fold over items: what it decides at a place depends on nothing after that place (law 5).

use super::{
    desk::Desk,
    events::Timeline,
    form::Form,
    shaping,
    state::{ResultState, State},
    sweep,
};
use crate::{
    error::Result,
    transcript::{Item, ItemIdx, ItemKind, Side},
};

/// Takes in every item after those that `state` holds, and sweeps where one is due.
pub(crate) fn walk(desk: &mut Desk<'_, '_>, state: &mut State, timeline: &Timeline) -> Result<()> {
    open(desk, state);
    let items = &desk.transcript.items;
    while let Some(item) = items.get(state.items) {
        let idx = ItemIdx(u32::try_from(state.items).unwrap_or(u32::MAX));
        state.items += 1;
        take_in(desk, state, idx, item)?;
        // Parts of a result come with it: the point lies after the last of them.
        let goes_on = items.get(state.items).is_some_and(|next| next.within.is_some());
        if item.side == Side::Other && !goes_on {
            desk.budget = timeline.at(state.items);
            sweep::at_point(desk, state, idx)?;
            state.prev_view = state.view;
        }
    }
    desk.budget = timeline.standing(state.items);
    Ok(())
}

/// Takes in every item and sweeps nowhere: the body as it stands.
pub(crate) fn take_in_all(desk: &Desk<'_, '_>, state: &mut State) -> Result<()> {
    open(desk, state);
    while let Some(item) = desk.transcript.items.get(state.items) {
        let idx = ItemIdx(u32::try_from(state.items).unwrap_or(u32::MAX));
        state.items += 1;
        take_in(desk, state, idx, item)?;
    }
    Ok(())
}

fn open(desk: &Desk<'_, '_>, state: &mut State) {
    if state.items == 0 {
        let fixed = desk.counts.request();
        state.fixed = fixed;
        state.view = fixed;
    }
}

fn take_in(desk: &Desk<'_, '_>, state: &mut State, idx: ItemIdx, item: &Item) -> Result<()> {
    let tokens = desk.counts.item(idx);
    state.view += tokens;
    if item.side == Side::Assistant {
        state.number = state.number.max(item.number);
    }
    match item.kind {
        ItemKind::System => state.fixed += tokens,
        ItemKind::Reasoning if item.is_signed_reasoning() => state.signed.push(idx),
        ItemKind::Media if item.within.is_some() => state.media.push(idx),
        ItemKind::ToolResult => take_in_result(desk, state, idx, item)?,
        ItemKind::User
        | ItemKind::Assistant
        | ItemKind::Reasoning
        | ItemKind::ToolCall
        | ItemKind::Media
        | ItemKind::Opaque => {}
    }
    Ok(())
}

fn take_in_result(desk: &Desk<'_, '_>, state: &mut State, idx: ItemIdx, item: &Item) -> Result<()> {
    let original = desk.counts.text(idx);
    let ordinal = state.results.len();
    state.results.push(ResultState {
        item: idx,
        number: item.number,
        original,
        tokens: original,
        form: Form::Whole.into(),
        change: None,
        written: None,
        tombstone: None,
        pin: None,
        gain: 0,
        floor: None,
    });
    state.alive.push(ordinal);
    shaping::take_in(desk, state, ordinal, item)
}
