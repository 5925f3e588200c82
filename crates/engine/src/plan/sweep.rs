//! What happens at one request point that is over the trigger?
//!
//! One batched clearing, or none: a sweep that frees too little is refused and planned again only after growth, or where
//! the view crosses a line of a grid.

use std::collections::{BTreeMap, BTreeSet};

use liveset_tokens::Tokens;

use super::{
    argument_step, batches,
    desk::Desk,
    dispatch,
    fill::{self, Decision},
    fold, liveness, media,
    pins::Pin,
    potential, price, protect, reasoning, rules, shorten,
    state::{FoldBound, Held, State, SweepRecord},
    summary,
};
use crate::{error::Result, policy::Preset, transcript::ItemIdx};

/// A view that cannot fit whatever goes is planned again only after growing by this share.
const HOPELESS_GROWTH: u64 = 64;

/// Why a sweep is tried at a request point.
#[derive(Clone, Copy, Debug)]
struct Due {
    /// The view is over the room.
    forced: bool,
    /// What steps 0 to 2 promise is worth a sweep by itself.
    is_promising: bool,
}

/// Sweeps at the request point after item `point`, if one is due and allowed.
pub(crate) fn at_point(desk: &Desk<'_, '_>, state: &mut State, point: ItemIdx) -> Result<()> {
    state.held = Held::No;
    let Some(due) = due(desk, state, point)? else { return Ok(()) };
    let mut trial = state.clone();
    let pins = protect::pins(desk, &trial)?;
    let goal = carry_out(desk, &mut trial, &pins)?;
    let least = least(desk);
    if !due.forced && state.view.0 < trial.view.0.saturating_add(least) {
        // Rounding at passage borders can keep a sweep from freeing all that the tombstones promise.
        state.held = Held::TooLittle;
        if due.is_promising {
            state.next_plan = Tokens(state.view.0.saturating_add((least / 2).max(1)));
        }
        return Ok(());
    }
    let mut thoughts = state.thoughts.len();
    reasoning::settle(desk, state, &mut trial, point)?;
    while trial.thoughts.len() > thoughts {
        thoughts = trial.thoughts.len();
        go_on_without_reasoning(desk, &mut trial, &pins, goal)?;
        reasoning::settle(desk, state, &mut trial, point)?;
    }
    potential::settle(desk, &mut trial)?;
    if trial.view < state.view {
        record(desk, state, &mut trial, point);
    }
    trial.next_plan = Tokens(0);
    if trial.view > desk.budget.room && is_hopeless(desk, &mut trial)? {
        trial.next_plan = Tokens(trial.view.0.saturating_add(trial.view.0 / HOPELESS_GROWTH));
    }
    *state = trial;
    Ok(())
}

/// Gives the tokens that a sweep must free unless the body would not fit.
fn least(desk: &Desk<'_, '_>) -> u64 {
    desk.budget.min_sweep_gain.0.max(1)
}

/// Says whether a sweep is tried here, and notes why not where the view is over the trigger.
fn due(desk: &Desk<'_, '_>, state: &mut State, point: ItemIdx) -> Result<Option<Due>> {
    if !desk.is_over_trigger(state) {
        return Ok(None);
    }
    protect::track(desk, state)?;
    let forced = state.view > desk.budget.room;
    let least = least(desk);
    let (potential, foldable) = match desk.policy.preset {
        Preset::Balanced => (potential::of_view(desk, state)?, fold::bound(desk, state)?),
        // What they take is known only once they have run.
        Preset::Liveness | Preset::Rules | Preset::Dispatch => (u64::MAX, 0),
    };
    let could_free = potential.saturating_add(foldable);
    // What a sweep will do is tried where the view crosses a line of a grid, not at each point (law 12).
    let (step, start) = (least / 2, desk.budget.trigger.0.saturating_sub(desk.surcharge(state)));
    let crosses = state.crosses_grid(step, start);
    // Of the others nothing is promised: a refusal that was remembered would be none to whoever reads the
    // view anew (law 6), the lines of the grid are the same.
    let is_promising = desk.policy.preset == Preset::Balanced && potential >= least;
    let may_be = match desk.policy.preset {
        Preset::Balanced => foldable > 0 && crosses,
        Preset::Liveness | Preset::Rules | Preset::Dispatch => {
            let ends_wait = reasoning::ends_wait(desk, state, point)?;
            crosses || (ends_wait && state.crosses_grid_since_turn(step, start))
        }
    };
    let is_worth_a_trial = is_promising || (may_be && could_free >= least);
    let held = if !forced && could_free >= least && reasoning::waits(desk, state, point)? {
        Some(Held::Reasoning)
    } else if !forced && !is_worth_a_trial {
        Some(if could_free == 0 { Held::No } else { Held::TooLittle })
    } else if state.view < state.next_plan && (!forced || is_hopeless(desk, state)?) {
        Some(if forced { Held::No } else { Held::TooLittle })
    } else {
        None
    };
    if let Some(held) = held {
        state.held = held;
        return Ok(None);
    }
    Ok(Some(Due { forced, is_promising }))
}

/// Gives the view at which the steps that know a target stop, and the most that they may leave.
///
/// A sweep that kept more than that would be refused as too little, or be due again at the next point.
fn goal(desk: &Desk<'_, '_>, trial: &State) -> (Tokens, Tokens) {
    let worth = trial.view.0.saturating_sub(desk.budget.min_sweep_gain.0.max(1));
    let limit = Tokens(desk.budget.trigger.0.saturating_sub(desk.surcharge(trial)).min(worth));
    (desk.budget.target.min(limit), limit)
}

/// Runs the preset's steps; gives the view at which those of them stop that know a target.
fn carry_out(desk: &Desk<'_, '_>, trial: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<Option<Tokens>> {
    match desk.policy.preset {
        Preset::Balanced => balanced(desk, trial, pins).map(Some),
        Preset::Liveness => {
            liveness::sweep(desk, trial)?;
            last_resort(desk, trial).map(|()| None)
        }
        Preset::Rules => {
            rules::sweep(desk, trial, pins)?;
            summary::summarise_oldest(desk, trial, pins, desk.budget.room)?;
            last_resort(desk, trial).map(|()| None)
        }
        Preset::Dispatch => {
            let (goal, _) = goal(desk, trial);
            dispatch::sweep(desk, trial, pins, goal)?;
            last_resort(desk, trial).map(|()| Some(goal))
        }
    }
}

/// Takes what may go now that reasoning left: whoever reads the view anew does not see it (law 6).
fn go_on_without_reasoning(
    desk: &Desk<'_, '_>,
    trial: &mut State,
    pins: &BTreeMap<usize, Pin>,
    goal: Option<Tokens>,
) -> Result<()> {
    match (desk.policy.preset, goal) {
        (Preset::Balanced, Some(goal)) => {
            // More units are calls alone.
            trial.potential.foldable = FoldBound::default();
            fold::fold_oldest(desk, trial, pins, goal)
        }
        (Preset::Dispatch, Some(goal)) => dispatch::sweep(desk, trial, pins, goal),
        // What only the reasoning named, quoted or paraphrased is live no more.
        (Preset::Liveness, _) if desk.is_over_trigger(trial) => liveness::sweep(desk, trial),
        (Preset::Balanced | Preset::Liveness | Preset::Rules | Preset::Dispatch, _) => Ok(()),
    }
}

/// What every preset does where the body would not fit otherwise: no step of theirs ever takes an answer to a recall.
fn last_resort(desk: &Desk<'_, '_>, trial: &mut State) -> Result<()> {
    if trial.view <= desk.budget.room {
        return Ok(());
    }
    // What a dropped message pinned is free by now.
    let pins = protect::pins(desk, trial)?;
    shorten::take_recalled(desk, trial, &pins)
}

/// The order of sacrifice of `balanced`; gives the view at which steps 0 to 3 stop.
fn balanced(desk: &Desk<'_, '_>, trial: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<Tokens> {
    let (target, limit) = goal(desk, trial);
    media::drop_old(desk, trial, pins)?;
    // Units that showed a picture may fold without it.
    trial.potential.foldable = FoldBound::default();
    let aim = fill::Aim { target, limit };
    let mut decisions = fill::fill(desk, trial, pins, aim)?;
    decisions.sort_by_key(|decision| (decision.best, decision.ordinal));
    for decision in &decisions {
        trial.set(decision.ordinal, decision.form.clone(), decision.tokens, decision.change.clone());
    }
    argument_step::cut(trial, pins, aim.target);
    fold::fold_oldest(desk, trial, pins, aim.target)?;
    if trial.view > desk.budget.room {
        take_whole(desk, trial, pins, &decisions)?;
        summary::summarise_oldest(desk, trial, pins, desk.budget.room)?;
        shorten::shorten_newest(desk, trial, pins)?;
    }
    Ok(aim.target)
}

/// Says whether what no step may ever touch is over the room by itself: then the body can never fit again.
fn is_hopeless(desk: &Desk<'_, '_>, state: &mut State) -> Result<bool> {
    let lasting = match desk.policy.preset {
        Preset::Balanced | Preset::Rules | Preset::Dispatch => {
            state.view.0.saturating_sub(potential::losable(desk, state)?)
        }
        Preset::Liveness => potential::lasting(desk, state)?,
    };
    Ok(lasting > desk.budget.room.0)
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
        if texts.is_blank || texts.is_bare_mark() {
            continue;
        }
        let gone = fill::gone(desk, state, ordinal, "the body would not fit the window otherwise", best)?;
        if gone.tokens.0 + desk.policy.min_gain <= result.tokens.0 {
            state.set(ordinal, gone.form, gone.tokens, gone.change);
        }
    }
    Ok(())
}

/// Notes a sweep, and after how many requests the cache that it cost has paid for itself.
fn record(desk: &Desk<'_, '_>, before: &State, after: &mut State, point: ItemIdx) {
    let removed = Tokens(before.view.0.saturating_sub(after.view.0));
    let first = after.first_difference(before).unwrap_or(after.items);
    let behind = (first..after.items).map(|at| ItemIdx(u32::try_from(at).unwrap_or(u32::MAX)));
    let in_view = |idx: &ItemIdx| desk.transcript.items.get(idx.at()).is_some_and(|item| !after.is_dropped(item));
    let cached = behind.filter(in_view).map(|idx| batches::size_now(desk, after, idx)).sum();
    let break_even = price::break_even(desk.price, removed, Tokens(cached));
    after.sweeps.push(SweepRecord { point, before: before.view, after: after.view, break_even });
}
