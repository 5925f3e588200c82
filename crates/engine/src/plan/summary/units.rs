//! Which units does one summary stand for? The oldest that may go whole, up to a share of the view.

use std::collections::BTreeMap;

use crate::{
    error::Result,
    plan::{
        batches::{self, Layout},
        desk::Desk,
        fold,
        form::Form,
        pins::Pin,
        protect,
        state::State,
    },
    transcript::{ItemIdx, ItemKind, UnitIdx},
};

/// A unit that may go, with its wire messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) unit: UnitIdx,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// Units that one summary stands for.
#[derive(Debug)]
pub(super) struct Group {
    /// Place of the first unit that was looked at.
    pub(super) start: usize,
    /// Those that go, oldest first.
    pub(super) gone: Vec<Whole>,
    /// The one that stays.
    pub(super) carrier: Whole,
    /// Its last result, which holds the line.
    pub(super) result: usize,
}

/// What becomes of units that carry a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Those that a sweep of this conversation wrote go along.
    GoAlong,
    /// The same, but for a model's words.
    ExtractsGoAlong,
    /// They stay.
    Stay,
}

impl Lines {
    pub(super) fn without_words(self) -> Self {
        match self {
            Self::GoAlong | Self::ExtractsGoAlong => Self::ExtractsGoAlong,
            Self::Stay => Self::Stay,
        }
    }
}

/// Units of a group: one goes, and one carries the line.
const MIN_UNITS: usize = 2;

/// Finds the oldest group from the unit at `from` on: units up to the share of the view, two at least, and none beyond a
/// line that stays.
pub(super) fn oldest(
    desk: &Desk<'_, '_>,
    state: &State,
    pins: &BTreeMap<usize, Pin>,
    layout: &Layout,
    from: usize,
    lines: Lines,
) -> Result<Option<Group>> {
    let settings = &desk.policy.summary;
    let held = u128::from(state.view.0.saturating_sub(state.fixed.0));
    let limit = u64::try_from(held * u128::from(settings.share) / 100).unwrap_or(u64::MAX).min(settings.max_input);
    let mut group = Open { start: from, units: Vec::new(), tokens: 0 };
    for (at, found) in desk.transcript.units.iter().enumerate().skip(from) {
        if found.number >= state.number {
            break;
        }
        let unit = UnitIdx(u32::try_from(at).unwrap_or(u32::MAX));
        let tokens: u64 = found.items.iter().map(|&idx| in_view(desk, state, idx)).sum();
        if group.units.len() >= MIN_UNITS && group.tokens + tokens > limit {
            if let Some(group) = group.close(desk, state)? {
                return Ok(Some(group));
            }
            // Nothing in it can hold a line.
            group = Open { start: at, units: Vec::new(), tokens: 0 };
        }
        group.tokens += tokens;
        match stand(desk, state, &found.items, lines)? {
            Stand::Free => {
                let whole = batches::batch(desk, state, pins, layout, unit)?;
                group.units.extend(whole.map(|(first, last)| Whole { unit, first, last }));
            }
            Stand::Border => {
                if let Some(group) = group.close(desk, state)? {
                    return Ok(Some(group));
                }
                group = Open { start: at + 1, units: Vec::new(), tokens: 0 };
            }
            Stand::Bound => {}
        }
    }
    group.close(desk, state)
}

/// A group that is still being gathered.
struct Open {
    start: usize,
    units: Vec<Whole>,
    tokens: u64,
}

impl Open {
    /// The last unit with a result that can hold a line carries it.
    fn close(&self, desk: &Desk<'_, '_>, state: &State) -> Result<Option<Group>> {
        let mut gone = self.units.clone();
        while gone.len() >= MIN_UNITS {
            let Some(carrier) = gone.pop() else { break };
            if let Some(result) = fold::last_result(desk, state, carrier.unit)? {
                return Ok(Some(Group { start: self.start, gone, carrier, result }));
            }
        }
        Ok(None)
    }
}

/// How a unit stands to a group.
enum Stand {
    /// It may go, if its messages allow.
    Free,
    /// It stays: something points at it, or it answers a recall.
    Bound,
    /// It stays, and no group reaches over it.
    Border,
}

fn stand(desk: &Desk<'_, '_>, state: &State, items: &[ItemIdx], lines: Lines) -> Result<Stand> {
    let mut stand = Stand::Free;
    for &idx in items {
        let Some(ordinal) = state.ordinal_of(idx) else { continue };
        let texts = desk.texts(ordinal)?;
        let Some(result) = state.results.get(ordinal) else { continue };
        let stays = match result.form.as_ref() {
            Form::Folded(digest) => match lines {
                Lines::GoAlong => false,
                Lines::ExtractsGoAlong => digest.is_by_model(),
                Lines::Stay => true,
            },
            Form::Whole | Form::Cut(_) | Form::Shaped(_) => texts.arrives_folded,
            // Whatever it said, it says so no more.
            Form::Gone => false,
        };
        if stays {
            return Ok(Stand::Border);
        }
        if texts.is_recall
            || result.pin.is_some()
            || protect::pins_another(state, ordinal)
            || protect::is_asked_again(desk, state, ordinal)?
        {
            stand = Stand::Bound;
        }
    }
    Ok(stand)
}

fn in_view(desk: &Desk<'_, '_>, state: &State, idx: ItemIdx) -> u64 {
    let item = desk.transcript.items.get(idx.at());
    match item {
        Some(item) if item.kind != ItemKind::System && !state.is_dropped(item) => batches::size_now(desk, state, idx),
        Some(_) | None => 0,
    }
}
