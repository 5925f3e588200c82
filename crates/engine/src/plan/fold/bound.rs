//! What could folding free at most? From sizes alone, as a running sum.

use super::runs::is_calls_alone;
use crate::{
    error::Result,
    plan::{
        batches,
        desk::Desk,
        state::{OpenRun, State},
    },
    transcript::{ItemIdx, UnitIdx},
};

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
