//! What happens at one request point that is over the trigger?
//!
//! One batched clearing, or none: a sweep that frees too little is refused and planned again only after growth.

use std::collections::BTreeMap;

use liveset_tokens::Tokens;

use super::{
    desk::Desk,
    fill::{self, Decision},
    form::Form,
    liveness, media, price,
    protect::{self, Pin},
    rules, shorten,
    state::{Held, State, SweepRecord},
};
use crate::{
    error::Result,
    policy::Preset,
    transcript::{ItemIdx, ItemKind, Side},
};

/// A view that cannot fit whatever goes is planned again only after growing by this share.
const HOPELESS_GROWTH: u64 = 16;

/// Sweeps at the request point after item `point`, if one is due and allowed.
pub(crate) fn at_point(desk: &Desk<'_, '_>, state: &mut State, point: ItemIdx) -> Result<()> {
    let Some(level) = level(desk, state) else {
        state.held = Held::No;
        return Ok(());
    };
    let forced = state.view > desk.budget.room;
    if !forced && level < state.next_level {
        return Ok(());
    }
    if forced && is_hopeless(desk, state) {
        if level < state.next_level {
            return Ok(());
        }
        state.next_level = level + level / HOPELESS_GROWTH + 1;
    }
    let is_balanced = desk.policy.preset == Preset::Balanced;
    if !forced && is_balanced && waits_for_user(desk, state, point)? {
        state.held = Held::Reasoning;
        return Ok(());
    }
    let mut trial = state.clone();
    let pins = protect::pins(desk, &trial)?;
    let decisions = match desk.policy.preset {
        Preset::Balanced => balanced(desk, &mut trial, &pins)?,
        Preset::Liveness => liveness::sweep(desk, &mut trial, &pins).map(|()| Vec::new())?,
        Preset::Rules => rules::sweep(desk, &mut trial, &pins).map(|()| Vec::new())?,
    };
    if !forced && !is_balanced && breaks_reasoning(desk, state, &trial, point)? {
        state.held = Held::Reasoning;
        return Ok(());
    }
    if !forced && state.view.0 < trial.view.0 + desk.budget.min_sweep_gain.0 {
        state.held = Held::TooLittle;
        state.next_level = level + 1;
        return Ok(());
    }
    if is_balanced && trial.view > desk.budget.room {
        take_whole(desk, &mut trial, &pins, &decisions)?;
        shorten::shorten_newest(desk, &mut trial, &pins)?;
    }
    settle(&mut trial);
    if trial.view < state.view {
        record(desk, state.view, &mut trial, point);
    }
    *state = trial;
    state.held = Held::No;
    if let Some(level) = self::level(desk, state) {
        state.next_level = level + 1;
    } else {
        state.next_level = 0;
    }
    Ok(())
}

/// Steps 0 and 1 of `balanced`.
fn balanced(desk: &Desk<'_, '_>, trial: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<Vec<Decision>> {
    media::drop_old(desk, trial, pins)?;
    let mut decisions = fill::fill(desk, trial, pins, desk.budget.target)?;
    decisions.sort_by_key(|decision| (decision.best, decision.ordinal));
    for decision in &decisions {
        trial.set(decision.ordinal, decision.form.clone(), decision.tokens, decision.change.clone());
    }
    Ok(decisions)
}

/// The reasoning guard `respect` for presets that know what goes without a target: signed reasoning after the first
/// planned change holds the sweep until the newest item is the user's text.
fn breaks_reasoning(desk: &Desk<'_, '_>, before: &State, trial: &State, point: ItemIdx) -> Result<bool> {
    let (first, last) = (trial.first_difference(before), trial.signed.last().map(|last| last.at()));
    Ok(first.is_some() && first < last && desk.item(point)?.kind != ItemKind::User)
}

/// Gives how many steps of growth the view is over the trigger, or `None` if it is not over it.
///
/// A step is half the least gain of a sweep, and one plan is made per step: after a refusal the next is made where the
/// view has grown into a further step. The steps are a fixed grid over the trigger, and not growth from the view at
/// the refusal, so that a compacted body, which passes other points on its way, compacts to itself.
fn level(desk: &Desk<'_, '_>, state: &State) -> Option<u64> {
    let over = desk.over_trigger(state)?;
    Some(over / (desk.budget.min_sweep_gain.0 / 2).max(1))
}

/// Says whether what no step may touch is over the room by itself.
fn is_hopeless(desk: &Desk<'_, '_>, state: &State) -> bool {
    let results: u64 = state.results.iter().map(|result| result.tokens.0).sum();
    let messages = match desk.policy.preset {
        Preset::Balanced => 0,
        Preset::Rules | Preset::Liveness => assistant_tokens(desk, state),
    };
    state.view.0.saturating_sub(results + messages) > desk.budget.room.0
}

/// Sums up calls, texts and reasoning of the assistant, which some presets may cut or drop.
fn assistant_tokens(desk: &Desk<'_, '_>, state: &State) -> u64 {
    let items = (0..).map(ItemIdx).zip(&desk.transcript.items).take(state.items);
    items.filter(|(_, item)| item.side == Side::Assistant).map(|(idx, _)| desk.counts.item(idx).0).sum()
}

/// The reasoning guard `respect`: signed reasoning after the first result that may go holds the sweep until the newest
/// item is the user's text.
fn waits_for_user(desk: &Desk<'_, '_>, state: &State, point: ItemIdx) -> Result<bool> {
    if desk.item(point)?.kind == ItemKind::User {
        return Ok(false);
    }
    let first = state.alive.iter().find_map(|&at| {
        let result = state.results.get(at)?;
        (result.tokens.0 > desk.policy.min_gain).then_some(result.item)
    });
    Ok(match (first, state.signed.last()) {
        (Some(first), Some(&last)) => first < last,
        _ => false,
    })
}

/// Over the room even at the target's edge: what was kept in part goes whole, lowest score first, and then what
/// arrived already cut.
fn take_whole(
    desk: &Desk<'_, '_>,
    state: &mut State,
    pins: &BTreeMap<usize, Pin>,
    decisions: &[Decision],
) -> Result<()> {
    let mut order: Vec<(i32, usize)> = decisions.iter().map(|decision| (decision.best, decision.ordinal)).collect();
    for &ordinal in &state.alive {
        if !decisions.iter().any(|decision| decision.ordinal == ordinal) {
            order.push((i32::MAX, ordinal));
        }
    }
    order.sort_unstable();
    for (best, ordinal) in order {
        if state.view <= desk.budget.room {
            return Ok(());
        }
        let Some(result) = state.results.get(ordinal) else { continue };
        if *result.form == Form::Gone || result.number >= state.number || pins.contains_key(&ordinal) {
            continue;
        }
        let texts = desk.texts(ordinal)?;
        let is_ours = texts.parts.iter().all(|part| crate::tombstone::is_tombstone(&part.text));
        if texts.is_blank || is_ours {
            continue;
        }
        let gone = fill::gone(desk, state, ordinal, "no room in the window", best)?;
        if gone.tokens.0 + desk.policy.min_gain <= result.tokens.0 {
            state.set(ordinal, gone.form, gone.tokens, gone.change);
        }
    }
    Ok(())
}

/// Tombstones are final: they are never looked at again.
fn settle(state: &mut State) {
    let results = &state.results;
    state.alive.retain(|&ordinal| results.get(ordinal).is_some_and(|result| *result.form != Form::Gone));
}

fn record(desk: &Desk<'_, '_>, before: Tokens, after: &mut State, point: ItemIdx) {
    let changed = after.results.iter().filter(|result| result.change.is_some()).map(|result| result.item);
    let first = changed.chain(after.notices.keys().copied()).chain(after.calls.keys().copied());
    let first = first.chain(after.batches.values().map(|batch| batch.item)).min();
    let removed = Tokens(before.0.saturating_sub(after.view.0));
    let kept_before: u64 = first.map_or(0, |first| desk.counts.sum_to(first).0);
    let cached = Tokens(after.view.0.saturating_sub(kept_before + after.fixed.0));
    if let (Some(first), Some(&last)) = (first, after.signed.last()) {
        after.reasoning_at_risk |= first < last;
    }
    let break_even = price::break_even(desk.price, removed, cached);
    after.sweeps.push(SweepRecord { point, before, after: after.view, break_even });
}
