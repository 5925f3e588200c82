//! What happens at one request point that is over the trigger?
//!
//! One batched clearing, or none: a sweep that frees too little is refused and planned again only after growth.

use std::collections::{BTreeMap, BTreeSet};

use liveset_tokens::Tokens;

use super::{
    argument_step,
    desk::Desk,
    fill::{self, Decision},
    fold, liveness, media,
    pins::Pin,
    potential, price, protect, reasoning, rules, shorten,
    state::{Foldable, Held, State, SweepRecord},
};
use crate::{
    error::Result,
    policy::Preset,
    transcript::{ItemIdx, Side},
};

/// A view that cannot fit whatever goes is planned again only after growing by this share.
const HOPELESS_GROWTH: u64 = 64;

/// Sweeps at the request point after item `point`, if one is due and allowed.
pub(crate) fn at_point(desk: &Desk<'_, '_>, state: &mut State, point: ItemIdx) -> Result<()> {
    state.held = Held::No;
    if !desk.is_over_trigger(state) {
        return Ok(());
    }
    protect::track(desk, state)?;
    let forced = state.view > desk.budget.room;
    let least = desk.budget.min_sweep_gain.0.max(1);
    let preset = desk.policy.preset;
    let potential = match preset {
        Preset::Balanced => potential::of_view(desk, state)?,
        // What they take is known only once they have run.
        Preset::Liveness | Preset::Rules => u64::MAX,
    };
    // What a sweep will do is tried where the view crosses a line of a grid, not at each point (law 12).
    let crosses = state.crosses_grid(least / 2, desk.budget.trigger.0.saturating_sub(desk.surcharge(state)));
    let foldable = match preset {
        Preset::Balanced => fold::bound(desk, state)?,
        Preset::Liveness | Preset::Rules => 0,
    };
    let is_worth_a_trial = potential >= least || (foldable > 0 && potential + foldable >= least && crosses);
    if !forced && !is_worth_a_trial {
        state.held = if potential + foldable == 0 { Held::No } else { Held::TooLittle };
        return Ok(());
    }
    let guards = !forced && reasoning::may_hold(desk, state, point)?;
    if guards && !crosses {
        state.held = Held::Reasoning;
        return Ok(());
    }
    if state.view < state.next_plan && (!forced || is_hopeless(desk, state)?) {
        state.held = if forced { Held::No } else { Held::TooLittle };
        return Ok(());
    }
    let mut trial = state.clone();
    let pins = protect::pins(desk, &trial)?;
    let mut goal = None;
    let frozen = if guards && preset == Preset::Balanced { reasoning::freeze(&mut trial) } else { Vec::new() };
    match preset {
        Preset::Balanced => goal = Some(balanced(desk, &mut trial, &pins)?),
        Preset::Liveness => liveness::sweep(desk, &mut trial, &pins)?,
        Preset::Rules => rules::sweep(desk, &mut trial, &pins)?,
    }
    reasoning::thaw(desk, &mut trial, frozen)?;
    if guards && reasoning::breaks(state, &trial) {
        state.held = Held::Reasoning;
        return Ok(());
    }
    if !forced && state.view.0 < trial.view.0.saturating_add(least) {
        // Rounding at passage borders can keep a sweep from freeing all that the tombstones promise.
        state.held = Held::TooLittle;
        if potential >= least {
            state.next_plan = Tokens(state.view.0.saturating_add((least / 2).max(1)));
        }
        return Ok(());
    }
    reasoning::settle(desk, state, &mut trial, point)?;
    if let Some(goal) = goal.filter(|_| trial.thoughts.len() > state.thoughts.len()) {
        // Without their reasoning more units are calls alone; whoever reads the view anew sees them so (law 6).
        trial.potential.foldable = Foldable::default();
        fold::fold_oldest(desk, &mut trial, &pins, goal)?;
    }
    potential::settle(desk, &mut trial)?;
    if trial.view < state.view {
        record(desk, state.view, &mut trial, point);
    }
    trial.next_plan = Tokens(0);
    if trial.view > desk.budget.room && is_hopeless(desk, &mut trial)? {
        trial.next_plan = Tokens(trial.view.0.saturating_add(trial.view.0 / HOPELESS_GROWTH));
    }
    *state = trial;
    Ok(())
}

/// The order of sacrifice of `balanced`; gives the view at which steps 0 to 3 stop.
fn balanced(desk: &Desk<'_, '_>, trial: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<Tokens> {
    // A sweep that kept more than this would be refused as too little, or be due again at the next point.
    let worth = trial.view.0.saturating_sub(desk.budget.min_sweep_gain.0.max(1));
    let limit = Tokens(desk.budget.trigger.0.saturating_sub(desk.surcharge(trial)).min(worth));
    media::drop_old(desk, trial, pins)?;
    let aim = fill::Aim { target: desk.budget.target.min(limit), limit };
    let mut decisions = fill::fill(desk, trial, pins, aim)?;
    decisions.sort_by_key(|decision| (decision.best, decision.ordinal));
    for decision in &decisions {
        trial.set(decision.ordinal, decision.form.clone(), decision.tokens, decision.change.clone());
    }
    argument_step::cut(trial, pins, aim.target);
    fold::fold_oldest(desk, trial, pins, aim.target)?;
    if trial.view > desk.budget.room {
        take_whole(desk, trial, pins, &decisions)?;
        shorten::shorten_newest(desk, trial, pins)?;
    }
    Ok(aim.target)
}

/// Says whether what no step may ever touch is over the room by itself: then the body can never fit again.
fn is_hopeless(desk: &Desk<'_, '_>, state: &mut State) -> Result<bool> {
    let losable = match desk.policy.preset {
        Preset::Balanced => potential::losable(desk, state)? + reasoning::losable(desk, state),
        Preset::Rules | Preset::Liveness => {
            let results: u64 = state.results.iter().map(|result| result.tokens.0).sum();
            results + assistant_tokens(desk, state)
        }
    };
    Ok(state.view.0.saturating_sub(losable) > desk.budget.room.0)
}

/// Sums up calls, texts and reasoning of the assistant, which some presets may cut or drop.
fn assistant_tokens(desk: &Desk<'_, '_>, state: &State) -> u64 {
    let items = (0..).map(ItemIdx).zip(&desk.transcript.items).take(state.items);
    items.filter(|(_, item)| item.side == Side::Assistant).map(|(idx, _)| desk.counts.item(idx).0).sum()
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
    let decided: BTreeSet<usize> = decisions.iter().map(|decision| decision.ordinal).collect();
    order.extend(state.alive.iter().filter(|ordinal| !decided.contains(ordinal)).map(|&ordinal| (i32::MAX, ordinal)));
    order.sort_unstable();
    for (best, ordinal) in order {
        if state.view <= desk.budget.room {
            return Ok(());
        }
        let Some(result) = state.results.get(ordinal) else { continue };
        if result.form.is_final() || result.number >= state.number || pins.contains_key(&ordinal) {
            continue;
        }
        let texts = desk.texts(ordinal)?;
        let is_ours = texts.parts.iter().all(|part| crate::tombstone::is_tombstone(&part.text));
        if texts.is_blank || is_ours || texts.arrives_folded {
            continue;
        }
        let gone = fill::gone(desk, state, ordinal, "the body would not fit the window otherwise", best)?;
        if gone.tokens.0 + desk.policy.min_gain <= result.tokens.0 {
            state.set(ordinal, gone.form, gone.tokens, gone.change);
        }
    }
    Ok(())
}

fn record(desk: &Desk<'_, '_>, before: Tokens, after: &mut State, point: ItemIdx) {
    let changed = after.results.iter().filter(|result| result.change.is_some()).map(|result| result.item);
    let first = changed.chain(after.notices.keys().copied()).chain(after.calls.keys().copied());
    let first = first.chain(after.batches.values().map(|batch| batch.item)).min();
    let removed = Tokens(before.0.saturating_sub(after.view.0));
    let kept_before: u64 = first.map_or(0, |first| desk.counts.sum_to(first).0);
    let cached = Tokens(after.view.0.saturating_sub(kept_before + after.fixed.0));
    let break_even = price::break_even(desk.price, removed, cached);
    after.sweeps.push(SweepRecord { point, before, after: after.view, break_even });
}
