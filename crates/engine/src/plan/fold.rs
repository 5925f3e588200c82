//! Which runs of calls are folded into one line? Step 3 of `balanced`, oldest run first.
//!
//! A run is units of calls alone, one behind the other, and ends where enough is freed. Its last unit stays, as the
//! carrier of the line; the others go whole. Nothing is merged, and a carrier never folds again, whichever sweep or body made it.

use std::collections::{BTreeMap, BTreeSet};

use liveset_tokens::Tokens;

use super::{
    batches::{self, Layout},
    desk::Desk,
    form::Form,
    pins::Pin,
    protect,
    state::{Batch, Change, OpenRun, State},
};
use crate::{
    error::Result,
    json,
    report::EditKind,
    tombstone::{self, FoldFacts},
    transcript::{Item, ItemIdx, ItemKind, UnitIdx},
};

/// Step number in reports.
const STEP: u8 = 3;
/// Units that make a run: one goes, and one carries the line.
const MIN_UNITS: usize = 2;

/// Folds runs, oldest first, while the view is over `goal`; of the last one no more units than it takes.
///
/// Units that stay behind a carrier may fold into another one by a later sweep.
pub(crate) fn fold_oldest(
    desk: &Desk<'_, '_>,
    state: &mut State,
    pins: &BTreeMap<usize, Pin>,
    goal: Tokens,
) -> Result<()> {
    if state.view <= goal || bound(desk, state)? == 0 {
        return Ok(());
    }
    let layout = Layout::of(desk, state);
    let mut dropped = BTreeSet::new();
    for run in runs(desk, state, pins, &layout)? {
        if state.view <= goal {
            break;
        }
        let run = shortest(desk, state, &layout, run, goal)?;
        dropped.extend(fold(desk, state, &layout, &run)?);
    }
    state.forget_dropped(&dropped);
    Ok(())
}

/// Cuts a run behind the first unit that can carry its line and brings the view to `goal`.
fn shortest(desk: &Desk<'_, '_>, state: &State, layout: &Layout, run: Run, goal: Tokens) -> Result<Run> {
    let mut view = state.view.0;
    let Some(&first) = run.gone.first() else { return Ok(run) };
    for (units, pair) in (1..).zip(run.gone.windows(2)) {
        let &[last, next] = pair else { continue };
        let items = layout.items_of(last.first, last.last);
        view = view.saturating_sub(items.iter().map(|&idx| batches::size_now(desk, state, idx)).sum());
        // A line costs something, so nothing is gained by looking earlier.
        if view > goal.0 || !batches::borders_match(desk, state, layout, first.first, last.last)? {
            continue;
        }
        let Some(carrier) = last_result(desk, state, next.unit)? else { continue };
        let shorter = Run { gone: run.gone.get(..units).unwrap_or_default().to_vec(), carrier };
        let (_, line) = line(desk, state, layout, &shorter)?;
        let before = state.results.get(carrier).map_or(0, |result| result.tokens.0);
        if (view + line.0).saturating_sub(before) <= goal.0 {
            return Ok(shorter);
        }
    }
    Ok(run)
}

/// Writes the line of a run, and gives its size.
fn line(desk: &Desk<'_, '_>, state: &State, layout: &Layout, run: &Run) -> Result<(Form, Tokens)> {
    let facts = facts(desk, state, layout, run)?;
    line_of(desk, state, run, &facts)
}

/// Gives the size of the line whatever its figure: a body that comes back compacted states smaller ones, and a run that
/// did not pay the first time must not pay the second (law 6).
fn line_at_most(desk: &Desk<'_, '_>, state: &State, layout: &Layout, run: &Run) -> Result<Tokens> {
    let facts = facts(desk, state, layout, run)?.at_most();
    Ok(line_of(desk, state, run, &facts)?.1)
}

fn line_of(desk: &Desk<'_, '_>, state: &State, run: &Run, facts: &FoldFacts) -> Result<(Form, Tokens)> {
    let form = Form::Folded(tombstone::fold_line(facts, &desk.ways.folded));
    let original = state.results.get(run.carrier).map(|result| result.original).unwrap_or_default();
    let tokens = desk.size(run.carrier, &form, original)?;
    Ok((form, tokens))
}

fn facts(desk: &Desk<'_, '_>, state: &State, layout: &Layout, run: &Run) -> Result<FoldFacts> {
    let mut facts = FoldFacts::default();
    let items = run.gone.iter().flat_map(|unit| layout.items_of(unit.first, unit.last));
    for ordinal in items.filter_map(|idx| state.ordinal_of(idx)).chain([run.carrier]) {
        let Some(result) = state.results.get(ordinal) else { continue };
        let name = &desk.texts(ordinal)?.name;
        facts.add(&name.tool, name.class, desk.o200k(ordinal, result.original)?);
    }
    Ok(facts)
}

/// Gives what folding could free here at most, kept as a running sum: the units of calls alone that have a neighbour of
/// their kind, with every result at its tombstone.
///
/// Pins must be tracked, and the gains of processed results known (`potential::of_view`).
pub(crate) fn bound(desk: &Desk<'_, '_>, state: &mut State) -> Result<u64> {
    let mut known = std::mem::take(&mut state.potential.foldable);
    while let Some(unit) = desk.transcript.units.get(known.units).filter(|unit| unit.number < state.number) {
        known.units += 1;
        let Some((first, last, tokens)) =
            size_at_most(desk, state, UnitIdx(unit.number.saturating_sub(1)), &unit.items)?
        else {
            known.open = None;
            continue;
        };
        let neighbour = known.open.filter(|open| open.last + 1 == first);
        known.sum += neighbour.map_or(0, |open| open.waiting + tokens);
        known.open = Some(OpenRun { last, waiting: if neighbour.is_some() { 0 } else { tokens } });
    }
    let sum = known.sum;
    state.potential.foldable = known;
    Ok(sum)
}

/// Gives the first and the last message of a unit that may fold as far as its own items tell, and its tokens with every
/// result at its tombstone.
fn size_at_most(
    desk: &Desk<'_, '_>,
    state: &State,
    unit: UnitIdx,
    items: &[ItemIdx],
) -> Result<Option<(u32, u32, u64)>> {
    let (Some(&start), Some(&end)) = (items.first(), items.iter().max()) else { return Ok(None) };
    let (Some(first), Some(last)) = (desk.item(start)?.message, desk.item(end)?.message) else { return Ok(None) };
    if end.at() >= state.items || state.drops_message(first) || !is_calls_alone(desk, state, items)? {
        return Ok(None);
    }
    if items.iter().any(|&idx| desk.repeats_id(idx)) {
        return Ok(None);
    }
    let mut tokens = 0;
    let all = (start.0..).map(ItemIdx).take(state.items.saturating_sub(start.at()));
    for idx in all {
        let item = desk.item(idx)?;
        if item.message > Some(last) {
            break;
        }
        // A text of the user beside the results, or a call of another message between them.
        let belongs = item.within.is_some() || item.unit == Some(unit);
        let result = state.ordinal_of(idx).and_then(|ordinal| state.results.get(ordinal));
        if !belongs || result.is_some_and(|result| result.pin.is_some()) {
            return Ok(None);
        }
        tokens += batches::size_now(desk, state, idx).saturating_sub(result.map_or(0, |result| result.gain));
    }
    Ok(Some((first, last, tokens)))
}

/// Says whether a unit holds calls and results and nothing else that says something, is no carrier, pins nothing, and
/// shows no picture.
fn is_calls_alone(desk: &Desk<'_, '_>, state: &State, items: &[ItemIdx]) -> Result<bool> {
    for &idx in items {
        let item = desk.item(idx)?;
        let may_go = match item.kind {
            ItemKind::ToolCall => true,
            ItemKind::ToolResult => match state.ordinal_of(idx) {
                Some(ordinal) => may_fold(desk, state, ordinal)?,
                None => false,
            },
            // Some clients write an empty text beside calls.
            ItemKind::Assistant => is_blank(desk, item),
            // What left by itself is not in view.
            ItemKind::Reasoning => state.thoughts.contains_key(&idx),
            ItemKind::System | ItemKind::User | ItemKind::Media | ItemKind::Opaque => false,
        };
        if !may_go || shows_picture(desk, state, idx) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Says whether a result is no carrier, no recall answer, and neither pinned for good nor what pins another.
///
/// A folded line names no id, and a recall answer must leave the one it asked for.
fn may_fold(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<bool> {
    let is_pinned = state.results.get(ordinal).is_some_and(|result| result.pin.is_some());
    Ok(!is_pinned
        && !desk.texts(ordinal)?.is_recall
        && !desk.is_carrier(state, ordinal)?
        && !protect::pins_another(state, ordinal)
        && !protect::is_asked_again(desk, state, ordinal)?)
}

fn is_blank(desk: &Desk<'_, '_>, item: &Item) -> bool {
    let says_nothing = |text: &crate::span::Span| {
        json::decode(text.of(desk.transcript.body)).is_ok_and(|said| said.text().trim().is_empty())
    };
    item.texts.iter().all(says_nothing)
}

/// Says whether a result has a picture in view: how many of those stay is for step 0 to say.
fn shows_picture(desk: &Desk<'_, '_>, state: &State, result: ItemIdx) -> bool {
    let from = state.media.partition_point(|&media| media <= result);
    let next = state.media.get(from).and_then(|media| desk.transcript.items.get(media.at()));
    next.is_some_and(|media| media.within == Some(result))
}

/// A unit that may fold, with its wire messages.
#[derive(Clone, Copy, Debug)]
struct Foldable {
    unit: UnitIdx,
    first: u32,
    last: u32,
}

/// Units that go, oldest first, and the result that will hold their line.
#[derive(Debug)]
struct Run {
    gone: Vec<Foldable>,
    carrier: usize,
}

/// Finds the runs among processed units, oldest first.
fn runs(desk: &Desk<'_, '_>, state: &State, pins: &BTreeMap<usize, Pin>, layout: &Layout) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    let mut open: Vec<Foldable> = Vec::new();
    for (at, found) in (0..).zip(&desk.transcript.units) {
        if found.number >= state.number {
            break;
        }
        let unit = UnitIdx(at);
        let extent = match is_calls_alone(desk, state, &found.items)? {
            true => batches::extent(desk, state, pins, layout, unit)?,
            false => None,
        };
        let next = extent.map(|(first, last)| Foldable { unit, first, last });
        let goes_on = next.is_some_and(|next| open.last().is_some_and(|before| before.last + 1 == next.first));
        if !goes_on {
            runs.extend(close(desk, state, layout, std::mem::take(&mut open))?);
        }
        open.extend(next);
    }
    runs.extend(close(desk, state, layout, open)?);
    Ok(runs)
}

/// Makes a run of units: the last that can hold a line carries it, and what goes before it leaves a lawful border.
fn close(desk: &Desk<'_, '_>, state: &State, layout: &Layout, mut units: Vec<Foldable>) -> Result<Option<Run>> {
    while units.len() >= MIN_UNITS {
        let carrier = units.last().map(|last| last_result(desk, state, last.unit)).transpose()?.flatten();
        if let Some(carrier) = carrier {
            units.pop();
            return Ok(
                Some(Run { gone: lawful(desk, state, layout, units)?, carrier }).filter(|run| !run.gone.is_empty())
            );
        }
        units.pop();
    }
    Ok(None)
}

/// Leaves out the first unit where what stands before it and the carrier may not be neighbours.
fn lawful(desk: &Desk<'_, '_>, state: &State, layout: &Layout, mut gone: Vec<Foldable>) -> Result<Vec<Foldable>> {
    let borders = |gone: &[Foldable]| match (gone.first(), gone.last()) {
        (Some(first), Some(last)) => batches::borders_match(desk, state, layout, first.first, last.last),
        (None, _) | (_, None) => Ok(true),
    };
    if !borders(&gone)? {
        gone.remove(0);
        if !borders(&gone)? {
            gone.clear();
        }
    }
    Ok(gone)
}

/// Gives a unit's last result, if a line can stand in it.
fn last_result(desk: &Desk<'_, '_>, state: &State, unit: UnitIdx) -> Result<Option<usize>> {
    let items = desk.transcript.units.get(unit.at()).map(|found| found.items.as_slice()).unwrap_or_default();
    let last = items.iter().filter_map(|&idx| state.ordinal_of(idx)).max();
    Ok(match last {
        Some(ordinal) if !desk.texts(ordinal)?.is_blank => Some(ordinal),
        Some(_) | None => None,
    })
}

/// Folds one run if that saves enough as a whole, and gives the items that went.
fn fold(desk: &Desk<'_, '_>, state: &mut State, layout: &Layout, run: &Run) -> Result<Vec<ItemIdx>> {
    let items: Vec<Vec<ItemIdx>> = run.gone.iter().map(|unit| layout.items_of(unit.first, unit.last)).collect();
    let sizes: Vec<u64> =
        items.iter().map(|items| items.iter().map(|&idx| batches::size_now(desk, state, idx)).sum()).collect();
    let (line, after) = line(desk, state, layout, run)?;
    let Some(carrier) = state.results.get(run.carrier) else { return Ok(Vec::new()) };
    let freed = sizes.iter().sum::<u64>() + carrier.tokens.0;
    if freed < line_at_most(desk, state, layout, run)?.0 + desk.policy.min_gain.max(1) {
        return Ok(Vec::new());
    }
    for ((unit, items), now) in run.gone.iter().zip(&items).zip(sizes) {
        let Some(&item) = items.first() else { continue };
        let before = items.iter().map(|&idx| desk.counts.item(idx)).sum();
        let change = change("calls alone, and the line in the last result of their run stands for them".to_owned());
        let batch = Batch { unit: unit.unit, item, first: unit.first, last: unit.last, before, change: change.into() };
        state.drop_batch(batch, items, now);
    }
    let reason = format!("carries the line for its run, of which {} units went", run.gone.len());
    state.set(run.carrier, line, after, change(reason));
    Ok(items.concat())
}

fn change(reason: String) -> Change {
    Change { kind: EditKind::Fold, step: Some(STEP), reason }
}
