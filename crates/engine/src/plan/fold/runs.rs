//! Which units fold together? Runs of calls alone, one behind the other, that leave a lawful border.

use std::collections::BTreeMap;

use crate::{
    error::Result,
    json,
    plan::{
        batches::{self, Layout},
        desk::Desk,
        pins::Pin,
        protect,
        state::State,
    },
    transcript::{Item, ItemIdx, ItemKind, UnitIdx},
};

/// Units that make a run: one goes, and one carries the line.
const MIN_UNITS: usize = 2;

/// A unit that may fold, with its wire messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foldable {
    pub(super) unit: UnitIdx,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// Units that go, oldest first, and the result that will hold their line.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) gone: Vec<Foldable>,
    pub(super) carrier: usize,
}

/// Finds the runs among processed units, oldest first.
pub(super) fn find(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    layout: &Layout,
) -> Result<Vec<Run>> {
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
pub(crate) fn last_result(desk: &Desk<'_, '_>, state: &State, unit: UnitIdx) -> Result<Option<usize>> {
    let items = desk.transcript.units.get(unit.at()).map(|found| found.items.as_slice()).unwrap_or_default();
    let last = items.iter().filter_map(|&idx| state.ordinal_of(idx)).max();
    Ok(match last {
        Some(ordinal) if !desk.texts(ordinal)?.is_blank => Some(ordinal),
        Some(_) | None => None,
    })
}

/// Says whether a unit holds calls and results and nothing else that says something, is no carrier, pins nothing, and
/// shows no picture.
pub(super) fn is_calls_alone(desk: &Desk<'_, '_>, state: &State, items: &[ItemIdx]) -> Result<bool> {
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
