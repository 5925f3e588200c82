//! What is left of a context before a call? The operators of the study, over units: full, sliding, summary, oracle and the
//! retention family.
//!
//! Whole units stay or go; the system prompt, the task statement and the turn message are out of reach.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    atom::{Atom, Availability, StateClass},
    body::Context,
    condition::{Cap, DigestOf, Picks, Ratio, Restored, Timing},
    entity::Entity,
    environment::Environment,
    retention::{self, Basis, Coverage, Digest},
    trajectory::{Observation, Trajectory, Unit, live, newest},
};

/// Opens the digest of a summary.
const SUMMARY_TITLE: &str = "[Earlier turns, as observed facts]";
/// Opens an oracle message.
const ORACLE_TITLE: &str = "[Facts observed earlier]";
/// The turn after which the retention family cuts.
pub const COMPACTION_TURN: u64 = 10;
/// By how much the retention family cuts the prefix, digest included.
const RETENTION_RATIO: Ratio = Ratio::FIVE;

/// A run so far, as operators see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'m> {
    pub(super) trajectory: &'m Trajectory,
    /// For oracles alone: what is so right now.
    pub(super) environment: &'m Environment<'m>,
    pub(super) turn: u64,
    pub(super) seed: u64,
    /// How often the reference run looked an entity up after the compaction point.
    pub(super) later: &'m BTreeMap<Entity, u64>,
}

/// What the retention family decided at its compaction point.
#[derive(Clone, Debug, Default)]
pub(super) struct Retained {
    /// The digest of `once`, and the first turn that stays whole.
    once: Option<(Option<String>, u64)>,
    /// What is left of the prefix at the compaction point, digest included.
    room: Option<u64>,
    pub(super) coverage: Option<Coverage>,
}

/// Gives everything.
pub(super) fn full<'m>(moment: Moment<'m>) -> Context<'m> {
    Context { digest: None, units: moment.trajectory.units().iter().collect(), trailing: None }
}

/// Gives the newest units that fit.
pub(super) fn sliding<'m>(moment: Moment<'m>, ratio: Ratio) -> Context<'m> {
    let units = newest_units(moment.trajectory.units(), ratio.of(moment.trajectory.tokens()));
    Context { digest: None, units, trailing: None }
}

/// Gives the newest units that fit, at least one.
fn newest_units(units: &[Unit], budget: u64) -> Vec<&Unit> {
    let mut left = budget;
    let mut kept: Vec<&Unit> = Vec::new();
    for unit in units.iter().rev() {
        if kept.is_empty() || unit.tokens <= left {
            left = left.saturating_sub(unit.tokens);
            kept.push(unit);
        } else {
            break;
        }
    }
    kept.reverse();
    kept
}

/// Adds a message that restores what was observed and is out of view.
pub(super) fn restoring<'m>(mut context: Context<'m>, moment: Moment<'m>, restored: Restored) -> Context<'m> {
    let facts = out_of_view(&context.units, moment).into_iter().filter(|fact| match restored {
        Restored::D => fact.atom.class() == StateClass::D,
        Restored::R => fact.atom.class() == StateClass::R,
        Restored::Both => true,
    });
    let lines: Vec<String> = facts.map(|fact| note(&present(fact.atom, moment))).collect();
    context.trailing = (!lines.is_empty()).then(|| format!("{ORACLE_TITLE}\n{}", lines.join("\n")));
    context
}

/// Writes a fact without its turn: what somebody notes is no reading.
fn note(atom: &Atom) -> String {
    let line = atom.to_string();
    line.split_once(" (turn ").map_or(line.clone(), |(said, _)| said.to_owned())
}

/// Gives the facts that still matter and whose last observation stands in no unit of these.
fn out_of_view(units: &[&Unit], moment: Moment<'_>) -> Vec<Observation> {
    let in_view: BTreeSet<u64> = units.iter().map(|unit| unit.turn).collect();
    let facts = live(newest(moment.trajectory.observed()));
    facts.into_iter().filter(|fact| !in_view.contains(&fact.turn)).collect()
}

/// Gives a fact at its present value, where a look-up would tell that; what was revealed stays as it was.
fn present(atom: Atom, moment: Moment<'_>) -> Atom {
    match atom {
        Atom::Dependency { task, .. } => {
            Atom::Dependency { task, unmet: moment.environment.unmet(task), turn: moment.turn }
        }
        Atom::Resource { resource, .. } => {
            let held = moment.environment.hold_on(resource, moment.turn);
            let state = if held.is_some() { Availability::Held } else { Availability::Free };
            Atom::Resource { resource, state, turn: moment.turn }
        }
        Atom::Info { .. } | Atom::Done { .. } | Atom::Order { .. } | Atom::Hold { .. } | Atom::Fail { .. } => atom,
    }
}

/// Puts a digest in the place of the units that do not fit beside it: as many as can stay, at least one.
pub(super) fn summary<'m>(moment: Moment<'m>, ratio: Ratio, of: DigestOf, cap: Cap) -> Context<'m> {
    let units = moment.trajectory.units();
    let budget = ratio.of(moment.trajectory.tokens());
    let mut best = Context { digest: None, units: units.iter().collect(), trailing: None };
    if moment.trajectory.tokens() <= budget {
        return best;
    }
    for kept in (1..units.len().max(2)).rev() {
        let newest: Vec<&Unit> = units.iter().rev().take(kept).rev().collect();
        let size: u64 = newest.iter().map(|unit| unit.tokens).sum();
        let room = (cap == Cap::Hard).then(|| budget.saturating_sub(size));
        let digest = digest(told(&newest, moment, of), moment, room);
        let whole = size + digest.as_deref().map_or(0, |digest| note_tokens(moment, digest));
        best = Context { digest, units: newest, trailing: None };
        if whole <= budget {
            break;
        }
    }
    best
}

/// Lists what is out of view, oldest first.
fn told(units: &[&Unit], moment: Moment<'_>, of: DigestOf) -> Vec<String> {
    let facts = || out_of_view(units, moment).into_iter().map(|fact| fact.atom);
    match of {
        DigestOf::Facts => facts().map(|atom| note(&atom)).collect(),
        DigestOf::DatedFacts => facts().map(|atom| atom.to_string()).collect(),
        DigestOf::Answers => newest_answers(units, moment),
    }
}

/// Gives the newest answer to each call in the same words, of those that are out of view.
fn newest_answers(units: &[&Unit], moment: Moment<'_>) -> Vec<String> {
    let first_kept = units.first().map_or(u64::MAX, |unit| unit.turn);
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    let newest_first = moment
        .trajectory
        .units()
        .iter()
        .rev()
        .flat_map(|unit| unit.calls.iter().rev().map(move |call| (unit.turn, call)));
    for (turn, call) in newest_first {
        if seen.insert((&call.name, &call.arguments)) && turn < first_kept {
            lines.push(format!("{} {}: {}", call.name, call.arguments, call.answer));
        }
    }
    lines.reverse();
    lines
}

/// Writes a digest; under a limit the oldest lines fall away.
fn digest(mut lines: Vec<String>, moment: Moment<'_>, room: Option<u64>) -> Option<String> {
    loop {
        if lines.is_empty() {
            return None;
        }
        let text = format!("{SUMMARY_TITLE}\n{}", lines.join("\n"));
        if room.is_none_or(|room| note_tokens(moment, &text) <= room) {
            return Some(text);
        }
        lines.remove(0);
    }
}

/// Gives the size of a message with this text.
fn note_tokens(moment: Moment<'_>, text: &str) -> u64 {
    super::trajectory::messages_tokens(moment.trajectory.format(), &super::body::message("user", text))
}

/// Cuts as the retention family does: nothing up to the compaction point, there a digest under a budget.
pub(super) fn retention<'m>(
    moment: Moment<'m>,
    (timing, budget, picks): (Timing, u64, Picks),
    retained: &mut Retained,
) -> Context<'m> {
    if moment.turn <= COMPACTION_TURN {
        return full(moment);
    }
    let units = moment.trajectory.units();
    let (digest, first) = match (timing, retained.once.clone()) {
        (Timing::Once, Some(once)) => once,
        (Timing::Once, None) | (Timing::Rolling, _) => {
            let basis = Basis { seed: moment.seed, later: moment.later };
            let Digest { text, coverage } = retention::digest(moment.trajectory.observed(), picks, budget, basis);
            let room = *retained.room.get_or_insert(RETENTION_RATIO.of(moment.trajectory.tokens()));
            let taken = text.as_deref().map_or(0, |text| note_tokens(moment, text));
            let first = newest_units(units, room.saturating_sub(taken)).first().map_or(0, |unit| unit.turn);
            retained.coverage.get_or_insert(coverage);
            retained.once = Some((text.clone(), first));
            (text, first)
        }
    };
    Context { digest, units: units.iter().filter(|unit| unit.turn >= first).collect(), trailing: None }
}
