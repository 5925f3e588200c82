//! Which passages stay? Step 1 of `balanced`: rule L5 of `retention-study.md` under a budget in tokens.
//!
//! Starts with every candidate at its tombstone and buys passages back by score, skipping what does not fit.

use std::{borrow::Cow, collections::BTreeMap};

use liveset_tokens::Tokens;

use super::{
    arguments::Arguments,
    candidate::{Candidate, Slot},
    desk::Desk,
    form::Form,
    pins::Pin,
    score::{ChainText, Part, ResultText, Score, score_again},
    state::{CallState, Change, State, in_view},
};
use crate::{
    error::Result,
    json,
    report::EditKind,
    transcript::{ArgumentsForm, Item, ItemIdx, ItemKind},
};

/// Step number in reports.
const STEP: u8 = 1;
/// Why a result goes whole where nothing can stay.
const NO_ROOM: &str = "the rest of the body alone fills the target";
/// Why a recall answer goes: whole, since its call names what brings it back.
const RECALLED: &str = "a recall answer behind the newest units";

/// What the fill decided for one result.
pub(crate) struct Decision {
    pub(crate) ordinal: usize,
    pub(crate) form: Form,
    pub(crate) tokens: Tokens,
    pub(crate) change: Change,
    /// Best score among its passages; the lowest go whole first where the body does not fit.
    pub(crate) best: i32,
}

/// Fills after one that ended over the limit; the last keeps nothing.
const MAX_ROUNDS: u32 = 4;

/// Where a fill aims at, and what it must not end over if it keeps anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    pub(crate) target: Tokens,
    /// At least the target.
    pub(crate) limit: Tokens,
}

/// Decides the form of each candidate so that the view comes to the target, or as near as it can.
pub(crate) fn fill(desk: &Desk<'_, '_>, state: &State, pins: &BTreeMap<usize, Pin>, aim: Aim) -> Result<Vec<Decision>> {
    let candidates = candidates(state, pins);
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let mut floor = state.view.0;
    for &ordinal in &candidates {
        let Some(result) = state.results.get(ordinal) else { continue };
        floor = (floor + result.tombstone.unwrap_or_default().0).saturating_sub(result.tokens.0);
    }
    let mut room = aim.target.0.saturating_sub(floor);
    let scores = if room == 0 { Vec::new() } else { scores(desk, state)? };
    for round in 1..=MAX_ROUNDS {
        if room == 0 {
            break;
        }
        let decisions = fill_room(desk, state, &candidates, &scores, room)?;
        let view = decisions.iter().fold(state.view.0, |view, decision| {
            let before = state.results.get(decision.ordinal).map_or(0, |result| result.tokens.0);
            (view + decision.tokens.0).saturating_sub(before)
        });
        if view <= aim.limit.0 {
            return Ok(decisions);
        }
        // Passages counted alone and small runs that stay can add up to more than the room.
        room = if round + 1 == MAX_ROUNDS { 0 } else { room.saturating_sub(2 * (view - aim.limit.0)) };
    }
    // Nothing can stay, so no score is needed.
    candidates.into_iter().map(|ordinal| gone(desk, state, ordinal, NO_ROOM, 0)).collect()
}

fn fill_room(
    desk: &Desk<'_, '_>,
    state: &State,
    candidates: &[usize],
    scores: &[Vec<Vec<Score>>],
    room: u64,
) -> Result<Vec<Decision>> {
    let mut filled = Vec::with_capacity(candidates.len());
    let mut decisions = Vec::new();
    for &ordinal in candidates {
        if desk.texts(ordinal)?.is_recall {
            decisions.push(gone(desk, state, ordinal, RECALLED, i32::MIN)?);
            continue;
        }
        let Some(result) = state.results.get(ordinal) else { continue };
        let of_result = scores.get(ordinal).map(Vec::as_slice).unwrap_or_default();
        filled.push(Candidate::new(desk, ordinal, result, of_result)?);
    }
    buy_back(&mut filled, room);
    for candidate in &mut filled {
        decisions.extend(decide(desk, state, candidate)?);
    }
    Ok(decisions)
}

/// Results that step 1 may take: processed, not pinned, and dearer than their tombstone.
fn candidates(state: &State, pins: &BTreeMap<usize, Pin>) -> Vec<usize> {
    let may_go = |ordinal: &&usize| {
        let result = state.results.get(**ordinal);
        result.is_some_and(|result| result.gain > 0) && !pins.contains_key(*ordinal)
    };
    state.alive.iter().filter(may_go).copied().collect()
}

/// Decides for the tombstone.
pub(crate) fn gone(desk: &Desk<'_, '_>, state: &State, ordinal: usize, reason: &str, best: i32) -> Result<Decision> {
    let original = state.results.get(ordinal).map(|result| result.original).unwrap_or_default();
    let tokens = desk.size(ordinal, &Form::Gone, original)?;
    let change = Change { kind: EditKind::Tombstone, step: Some(STEP), reason: reason.to_owned() };
    Ok(Decision { ordinal, form: Form::Gone, tokens, change, best })
}

fn buy_back(candidates: &mut [Candidate<'_, '_>], room: u64) {
    let mut order: Vec<(usize, usize, Slot)> = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let open = candidate.slots.iter().enumerate().filter(|(_, slot)| slot.in_view);
        order.extend(open.map(|(place, slot)| (at, place, *slot)));
    }
    // Highest score first, then the newer result, then the earlier place in it.
    order.sort_by_key(|&(at, place, slot)| (std::cmp::Reverse(slot.score.value), std::cmp::Reverse(at), place));
    let mut room = i128::from(room);
    for (at, place, _) in order {
        let Some(candidate) = candidates.get_mut(at) else { continue };
        let price = candidate.price(place);
        if price <= room {
            room -= price;
            candidate.keep(place);
        }
    }
}

fn decide(desk: &Desk<'_, '_>, state: &State, candidate: &mut Candidate<'_, '_>) -> Result<Option<Decision>> {
    let Some(result) = state.results.get(candidate.ordinal) else { return Ok(None) };
    candidate.keep_small_runs(desk);
    let best = candidate.best();
    if candidate.kept_none() {
        return gone(desk, state, candidate.ordinal, &candidate.reason(), best).map(Some);
    }
    let Some(form) = candidate.form(result) else { return Ok(None) };
    let tokens = desk.size(candidate.ordinal, &form, result.original)?;
    if tokens.0 + desk.policy.min_gain > result.tokens.0 {
        return Ok(None);
    }
    let change = Change { kind: EditKind::Gap, step: Some(STEP), reason: candidate.reason() };
    Ok(Some(Decision { ordinal: candidate.ordinal, form, tokens, change, best }))
}

/// Scores every passage of every result delivered so far.
pub(crate) fn scores(desk: &Desk<'_, '_>, state: &State) -> Result<Vec<Vec<Vec<Score>>>> {
    let mut chain = Vec::new();
    for (at, item) in desk.transcript.items.iter().take(state.items).enumerate() {
        // What is not in view any more says nothing.
        if state.is_dropped(item) {
            continue;
        }
        let idx = ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
        let cut = state.calls.get(&idx);
        let said = desk.said(idx, cut, |item| said(desk, item, cut))?;
        chain.extend(said.iter().map(|said| (ChainText { number: item.number, text: &said.text }, &said.hashes)));
    }
    let mut views = Vec::with_capacity(state.results.len());
    for (ordinal, result) in state.results.iter().enumerate() {
        let texts = desk.texts(ordinal)?;
        views.push(texts.parts.iter().enumerate().map(|(at, part)| in_view(result, at, part)).collect::<Vec<_>>());
    }
    let mut results = Vec::with_capacity(state.results.len());
    for ((ordinal, result), views) in state.results.iter().enumerate().zip(&views) {
        let parts = desk.texts(ordinal)?.parts.iter().zip(views);
        let parts = parts.map(|(part, in_view)| Part { text: &part.text, passages: &part.passages, in_view });
        results.push(ResultText { number: result.number, parts: parts.collect() });
    }
    Ok(score_again(state.number, &chain, &results, &desk.readings))
}

/// User and assistant text, readable reasoning and the string leaves of arguments as they leave: what an item adds to
/// the chain.
fn said<'a>(desk: &Desk<'_, 'a>, item: &Item, cut: Option<&CallState>) -> Result<Vec<Cow<'a, str>>> {
    match item.kind {
        ItemKind::User | ItemKind::Assistant | ItemKind::Reasoning => {
            let texts = item.texts.iter();
            texts.map(|text| Ok(json::decode(text.of(desk.transcript.body))?.into_text())).collect()
        }
        ItemKind::ToolCall => arguments(desk, item, cut),
        ItemKind::System | ItemKind::ToolResult | ItemKind::Media | ItemKind::Opaque => Ok(Vec::new()),
    }
}

fn arguments<'a>(desk: &Desk<'_, 'a>, item: &Item, cut: Option<&CallState>) -> Result<Vec<Cow<'a, str>>> {
    let Some(call) = item.call() else { return Ok(Vec::new()) };
    if let Some(cut) = cut
        && let Some(arguments) = Arguments::of(desk.transcript, call)?
    {
        let object = arguments.object_with(&arguments.texts(cut.rule.keys), cut.rule.with);
        let leaves = json::string_leaves(object.as_bytes()).unwrap_or_default();
        return Ok(leaves.into_iter().map(|leaf| leaf.text.into()).collect());
    }
    let Some(raw) = call.arguments.map(|span| span.of(desk.transcript.body)) else { return Ok(Vec::new()) };
    let leaves_or = |leaves: Option<Vec<json::Leaf>>, otherwise: Cow<'a, str>| match leaves {
        Some(leaves) => leaves.into_iter().map(|leaf| leaf.text.into()).collect(),
        None => vec![otherwise],
    };
    Ok(match call.form {
        ArgumentsForm::Object => leaves_or(json::string_leaves(raw), String::from_utf8_lossy(raw)),
        ArgumentsForm::JsonString => {
            let text = json::decode(raw)?.into_text();
            leaves_or(json::string_leaves(text.as_bytes()), text)
        }
        ArgumentsForm::Text => vec![json::decode(raw)?.into_text()],
    })
}
