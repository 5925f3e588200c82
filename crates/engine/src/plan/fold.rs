//! Which runs of calls are folded into one line? Step 3 of `balanced`, oldest run first.
//!
//! A run is units of calls alone, one behind the other, and ends where enough is freed. Its last unit stays, as the
//! carrier of the line and of what the calls showed; the others go whole. Nothing is merged, and a carrier never folds
//! again, whichever sweep or body made it. Over the goal even so, entries go, facts before what was done.

mod bound;
mod entries;
mod runs;

pub(crate) use bound::bound;
pub(crate) use entries::{Shown, entry};

use std::collections::{BTreeMap, BTreeSet};

use liveset_tokens::Tokens;

use super::{
    batches::{self, Layout},
    desk::Desk,
    digest::{Digest, Entry, Worth},
    form::Form,
    pins::Pin,
    state::{Batch, Change, State},
};
use crate::{error::Result, report::EditKind, tombstone::FoldFacts, transcript::ItemIdx};
use runs::Run;
pub(crate) use runs::last_result;

/// Step number in reports.
const STEP: u8 = 3;

/// Folds runs, oldest first, while the view is over `goal`; of the last one no more units than it takes.
///
/// Units that stay behind a carrier may fold into another one by a later sweep.
pub(crate) fn fold_oldest(
    desk: &Desk<'_, '_>,
    state: &mut State,
    pins: &BTreeMap<usize, Pin>,
    goal: Tokens,
) -> Result<()> {
    if state.view <= goal {
        return Ok(());
    }
    for shows in [Shows::All, Shows::Nothing] {
        if bound(desk, state)? > 0 {
            fold_runs(desk, state, pins, goal, shows)?;
        }
        // What is over the goal with every entry that pays may be under it without them, and then folds less.
        shed(desk, state, goal)?;
        if state.view <= goal {
            return Ok(());
        }
        state.potential.foldable = super::state::FoldBound::default();
    }
    Ok(())
}

/// What a run's line is followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// An entry for each call that says something.
    All,
    Nothing,
}

fn fold_runs(
    desk: &Desk<'_, '_>,
    state: &mut State,
    pins: &BTreeMap<usize, Pin>,
    goal: Tokens,
    shows: Shows,
) -> Result<()> {
    let mut folder = Folder { desk, layout: Layout::of(desk, state), shows, entries: BTreeMap::new() };
    let mut dropped = BTreeSet::new();
    for run in runs::find(desk, state, pins, &folder.layout)? {
        if state.view <= goal {
            break;
        }
        let run = folder.shortest(state, run, goal)?;
        dropped.extend(folder.fold(state, &run)?);
    }
    state.forget_dropped(&dropped);
    Ok(())
}

/// Leaves out entries of carriers, oldest first, until the view is at `goal`: those of facts before those of what was done.
pub(crate) fn shed(desk: &Desk<'_, '_>, state: &mut State, goal: Tokens) -> Result<()> {
    for worth in Worth::ALL {
        for ordinal in 0..state.results.len() {
            while let Some(need) = state.view.0.checked_sub(goal.0).filter(|&need| need > 0) {
                let Some(result) = state.results.get(ordinal) else { break };
                let (Form::Folded(digest), Some(change)) = (result.form.as_ref(), &result.change) else { break };
                let Some(rest) = digest.without(worth, need, &desk.ways.folded) else { break };
                let (form, change) = (Form::Folded(rest), Change::clone(change));
                let tokens = desk.size(ordinal, &form, result.original)?;
                state.set(ordinal, form, tokens, change);
            }
        }
    }
    Ok(())
}

/// Folds the runs of one sweep.
struct Folder<'d, 'p, 'a> {
    desk: &'d Desk<'p, 'a>,
    layout: Layout,
    shows: Shows,
    /// What each result that was asked for shows.
    entries: BTreeMap<usize, Option<Entry>>,
}

impl Folder<'_, '_, '_> {
    /// Cuts a run behind the first unit that can carry its line and brings the view to `goal`.
    fn shortest(&mut self, state: &State, run: Run, goal: Tokens) -> Result<Run> {
        let (desk, Some(&first)) = (self.desk, run.gone.first()) else { return Ok(run) };
        let (mut freed, mut shown, mut beside) = (0, Shown::default(), 0);
        for (units, pair) in (1..).zip(run.gone.windows(2)) {
            let &[last, next] = pair else { continue };
            let items = self.layout.items_of(last.first, last.last);
            freed += items.iter().map(|&idx| batches::size_now(self.desk, state, idx)).sum::<u64>();
            for ordinal in items.iter().filter_map(|&idx| state.ordinal_of(idx)) {
                shown.add(desk, ordinal, self.entry(state, ordinal)?)?;
            }
            let Some(carrier) = last_result(self.desk, state, next.unit)? else { continue };
            let told = shown.tokens() + self.entry(state, carrier)?.map_or(0, Entry::size);
            let gone = freed + state.results.get(carrier).map_or(0, |result| result.tokens.0);
            // What the last try cost beside its entries, this one costs too: few are tried, however long the run is.
            if (state.view.0 + told + beside).saturating_sub(gone) > goal.0
                || !batches::borders_match(self.desk, state, &self.layout, first.first, last.last)?
            {
                continue;
            }
            let shorter = Run { gone: run.gone.get(..units).unwrap_or_default().to_vec(), carrier };
            let (_, line) = self.line(state, &shorter)?;
            if (state.view.0 + line.0).saturating_sub(gone) <= goal.0 {
                return Ok(shorter);
            }
            beside = line.0.saturating_sub(told);
        }
        Ok(run)
    }

    /// Gives what each unit that goes has in view.
    fn sizes(&self, state: &State, run: &Run) -> Vec<u64> {
        let size = |items: Vec<ItemIdx>| items.iter().map(|&idx| batches::size_now(self.desk, state, idx)).sum();
        run.gone.iter().map(|unit| size(self.layout.items_of(unit.first, unit.last))).collect()
    }

    fn entry(&mut self, state: &State, ordinal: usize) -> Result<Option<&Entry>> {
        if self.shows == Shows::Nothing {
            return Ok(None);
        }
        if let std::collections::btree_map::Entry::Vacant(place) = self.entries.entry(ordinal) {
            place.insert(entries::entry(self.desk, state, ordinal)?);
        }
        Ok(self.entries.get(&ordinal).and_then(Option::as_ref))
    }

    /// Writes the line of a run with its entries, and gives their size.
    fn line(&mut self, state: &State, run: &Run) -> Result<(Form, Tokens)> {
        let facts = self.facts(state, run)?;
        self.line_of(state, run, facts)
    }

    /// Gives the size of the line whatever its figure: a body that comes back compacted states smaller ones, and a run
    /// that did not pay the first time must not pay the second (law 6).
    fn line_at_most(&mut self, state: &State, run: &Run) -> Result<Tokens> {
        let facts = self.facts(state, run)?.at_most();
        Ok(self.line_of(state, run, facts)?.1)
    }

    fn line_of(&mut self, state: &State, run: &Run, facts: FoldFacts) -> Result<(Form, Tokens)> {
        let (desk, mut shown) = (self.desk, Shown::default());
        for ordinal in self.ordinals(state, run) {
            shown.add(desk, ordinal, self.entry(state, ordinal)?)?;
        }
        let form = Form::Folded(Digest::new(facts, shown.into_entries(), &self.desk.ways.folded));
        let original = state.results.get(run.carrier).map(|result| result.original).unwrap_or_default();
        let tokens = self.desk.size(run.carrier, &form, original)?;
        Ok((form, tokens))
    }

    /// Gives the results that the line stands for, in order of delivery.
    fn ordinals(&self, state: &State, run: &Run) -> Vec<usize> {
        let items = run.gone.iter().flat_map(|unit| self.layout.items_of(unit.first, unit.last));
        items.filter_map(|idx| state.ordinal_of(idx)).chain([run.carrier]).collect()
    }

    fn facts(&self, state: &State, run: &Run) -> Result<FoldFacts> {
        let mut facts = FoldFacts::default();
        for ordinal in self.ordinals(state, run) {
            let Some(result) = state.results.get(ordinal) else { continue };
            let name = &self.desk.texts(ordinal)?.name;
            facts.add(&name.tool, name.class, self.desk.o200k(ordinal, result.original)?);
        }
        Ok(facts)
    }

    /// Folds one run if that saves enough as a whole, and gives the items that went.
    fn fold(&mut self, state: &mut State, run: &Run) -> Result<Vec<ItemIdx>> {
        let sizes = self.sizes(state, run);
        let (line, after) = self.line(state, run)?;
        let Some(carrier) = state.results.get(run.carrier) else { return Ok(Vec::new()) };
        let freed = sizes.iter().sum::<u64>() + carrier.tokens.0;
        if freed < self.line_at_most(state, run)?.0 + self.desk.policy.min_gain.max(1) {
            return Ok(Vec::new());
        }
        let mut gone = Vec::new();
        for (unit, now) in run.gone.iter().zip(sizes) {
            let items = self.layout.items_of(unit.first, unit.last);
            let Some(&item) = items.first() else { continue };
            let before = items.iter().map(|&idx| self.desk.counts.item(idx)).sum();
            let change = change("calls alone, and the line in the last result of their run stands for them".to_owned());
            let carrier = Some(run.carrier);
            let (first, last) = (unit.first, unit.last);
            let batch = Batch { unit: unit.unit, item, first, last, before, change: change.into(), carrier };
            state.drop_batch(batch, &items, now);
            gone.extend(items);
        }
        let reason = format!("carries the line for its run, of which {} units went", run.gone.len());
        state.set(run.carrier, line, after, change(reason));
        Ok(gone)
    }
}

fn change(reason: String) -> Change {
    Change { kind: EditKind::Fold, step: Some(STEP), reason }
}
