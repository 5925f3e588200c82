//! Which arguments may still go, and which go now? Step 2 of `balanced`: the argument rules, oldest first.
//!
//! What may go depends on items alone and not on what was cut before, so that a compacted body never loses more (law 6).

use std::{borrow::Cow, collections::BTreeMap};

use liveset_tokens::Tokens;

use super::{
    arguments::Arguments,
    desk::Desk,
    pins::Pin,
    rules,
    score::{Part, ResultText, Written, witnesses},
    state::{CallState, State},
    templates,
};
use crate::{
    error::Result,
    policy::ArgumentRules,
    transcript::{Call, ItemIdx},
};

/// Step number in reports.
const STEP: u8 = 2;

/// Looks at the calls behind results that were processed since. Pins must be tracked (`protect::track`).
pub(crate) fn take_in(desk: &Desk<'_, '_>, state: &mut State) -> Result<()> {
    if desk.policy.args == ArgumentRules::Off {
        return Ok(());
    }
    while let Some(result) = state.results.get(state.open_arguments.counted)
        && result.number < state.number
    {
        let (ordinal, item) = (state.open_arguments.counted, result.item);
        if let Some((idx, call)) = candidate(desk, state, ordinal)?
            && !is_witness(desk, ordinal, idx)?
        {
            state.open_arguments.add(ordinal, idx, call);
        }
        if desk.texts(ordinal)?.arrives_cut {
            state.open_arguments.first_cut.get_or_insert(item);
        }
        state.open_arguments.counted += 1;
    }
    Ok(())
}

/// Gives what the argument rules would save, results that are pinned for now left out.
pub(crate) fn potential(state: &State, passing: &BTreeMap<usize, Pin>) -> u64 {
    let held: u64 = passing.keys().map(|&ordinal| state.open_arguments.gain(ordinal)).sum();
    state.open_arguments.sum().saturating_sub(held)
}

/// Cuts arguments, oldest first, until the view is at the target.
pub(crate) fn cut(state: &mut State, pins: &BTreeMap<usize, Pin>, target: Tokens) {
    let free = state.open_arguments.calls().filter(|(ordinal, _)| !pins.contains_key(ordinal));
    let mut order: Vec<(ItemIdx, usize)> = free.map(|(ordinal, idx)| (idx, ordinal)).collect();
    // Results of one message may come in another order than its calls.
    order.sort_unstable();
    for (_, ordinal) in order {
        if state.view <= target {
            return;
        }
        if let Some((idx, call)) = state.open_arguments.remove(ordinal) {
            state.set_call(idx, call);
        }
    }
}

/// Gives the cut of the call that a result answers, if a rule may take its arguments.
///
/// Behind a mark of ours nobody can know what was dropped there, and whether these arguments are its witness.
fn candidate(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<Option<(ItemIdx, CallState)>> {
    let Some(result) = state.results.get(ordinal) else { return Ok(None) };
    let Some(idx) = call_of(desk, result.item)? else { return Ok(None) };
    let is_behind_cut = state.open_arguments.first_cut.is_some_and(|cut| cut < idx) || carries_fold(desk, state, idx)?;
    if is_behind_cut || result.pin.is_some() || desk.texts(ordinal)?.arrives_cut {
        return Ok(None);
    }
    let cut = rules::argument_cut(desk, state, ordinal, desk.item(idx)?, STEP)?;
    Ok(cut.map(|cut| (idx, cut)))
}

/// Says whether the last result of this call's unit holds the line of a folded run: then what the line stands for was
/// before all of the unit.
pub(crate) fn carries_fold(desk: &Desk<'_, '_>, state: &State, call: ItemIdx) -> Result<bool> {
    let unit = desk.item(call)?.unit.and_then(|unit| desk.transcript.units.get(unit.at()));
    let last = unit.and_then(|unit| unit.items.last()).and_then(|&last| state.ordinal_of(last));
    last.map_or(Ok(false), |ordinal| desk.is_carrier(state, ordinal))
}

/// Gives the call whose answer is `result`.
fn call_of(desk: &Desk<'_, '_>, result: ItemIdx) -> Result<Option<ItemIdx>> {
    let Some(idx) = desk.item(result)?.answer().and_then(|answer| answer.call) else { return Ok(None) };
    let answer = desk.item(idx)?.call().and_then(|call| call.result);
    Ok((answer == Some(result)).then_some(idx))
}

/// Says whether arguments may be the only witness of a passage.
///
/// The first question looks at all calls from there to the end of the body, so that each result is read once for all.
fn is_witness(desk: &Desk<'_, '_>, ordinal: usize, idx: ItemIdx) -> Result<bool> {
    if let Some(known) = desk.witnesses.get() {
        return Ok(known.contains(&idx));
    }
    let mut calls = Vec::new();
    for &result in desk.results().iter().skip(ordinal) {
        let Some(idx) = call_of(desk, result)? else { continue };
        let Some(call) = desk.item(idx)?.call() else { continue };
        let texts = written(desk, call)?;
        if !texts.is_empty() {
            let before = desk.results().partition_point(|&result| result < idx);
            calls.push((idx, Written { texts, before }));
        }
    }
    calls.sort_by_key(|&(idx, _)| idx);
    let (places, calls): (Vec<ItemIdx>, Vec<Written<'_>>) = calls.into_iter().unzip();
    let before = calls.last().map_or(0, |call| call.before);
    let mut results = Vec::with_capacity(before);
    for ordinal in 0..before {
        let parts = desk.texts(ordinal)?.parts.iter();
        let parts = parts.map(|part| Part { text: &part.text, passages: &part.passages, in_view: &[] });
        results.push(ResultText { number: 0, parts: parts.collect() });
    }
    let flags = witnesses(&calls, &results, &desk.readings);
    let found = places.into_iter().zip(flags).filter(|&(_, is_witness)| is_witness).map(|(idx, _)| idx);
    let found = found.collect();
    Ok(desk.witnesses.get_or_init(|| found).contains(&idx))
}

/// Gives the texts of a call's arguments that its rule would take.
fn written<'a>(desk: &Desk<'_, 'a>, call: &Call) -> Result<Vec<Cow<'a, str>>> {
    let Some(rule) = templates::argument_rule(desk.transcript, call) else { return Ok(Vec::new()) };
    let Some(arguments) = Arguments::of(desk.transcript, call)? else { return Ok(Vec::new()) };
    let texts = arguments.texts(rule.keys);
    texts.iter().map(|text| Ok(Cow::Owned(arguments.decoded(text)?.into_text().into_owned()))).collect()
}
