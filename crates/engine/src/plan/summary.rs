//! What stands for the oldest units where the other steps were not enough? Step 4: a model's summary, or an extract.
//!
//! Replaces whole units only: the last of them stays and carries the line in its last result, what is pinned and what the
//! user says between them stays where it is. Of a line that an earlier sweep wrote the units are taken along, so that
//! lines neither nest nor pile up; one that arrives in the body stays (law 6).

mod extract;
mod input;
mod units;

use std::collections::{BTreeMap, BTreeSet};

use liveset_tokens::Tokens;

use super::{
    batches::{self, Layout},
    desk::Desk,
    digest::Digest,
    fold,
    form::Form,
    pins::Pin,
    state::{Batch, Change, FoldBound, State},
};
use crate::{
    content_id::ContentId,
    error::Result,
    policy::SummaryKind,
    report::EditKind,
    summary::{NeedsSummary, SummaryAnswer},
    tombstone::SummaryFacts,
    transcript::{Item, ItemIdx, ItemKind, Side},
};
use units::{Group, Lines, Whole};

/// Step number in reports.
const STEP: u8 = 4;

/// Puts summaries in place of the oldest units, a share of the view at a time, while the view is over `goal`.
pub(crate) fn summarise_oldest(
    desk: &Desk<'_, '_>,
    state: &mut State,
    pins: &BTreeMap<usize, Pin>,
    goal: Tokens,
) -> Result<()> {
    if desk.policy.summary.kind == SummaryKind::None {
        return Ok(());
    }
    pass(desk, state, pins, goal, Lines::GoAlong)?;
    fold::shed(desk, state, goal)?;
    // Whoever reads the view anew finds nothing more that could go either (law 6).
    let mut before = None;
    while state.view > goal && before != Some(state.view) {
        before = Some(state.view);
        pass(desk, state, pins, goal, Lines::Stay)?;
        fold::shed(desk, state, goal)?;
    }
    Ok(())
}

/// Goes once from the oldest unit to the newest processed one.
fn pass(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>, goal: Tokens, lines: Lines) -> Result<()> {
    let mut from = 0;
    while state.view > goal {
        let layout = Layout::of(desk, state);
        let Some(group) = units::oldest(desk, state, pins, &layout, from, lines)? else { return Ok(()) };
        from = group.carrier.unit.at() + 1;
        let words = words(desk, state, &layout, &group)?;
        let mut writer = Writer { desk, layout: &layout, group };
        let written = match &words {
            Some(words) => writer.by_model(state, words)?,
            None => None,
        };
        let written = match written {
            Some(written) => Some(written),
            None => {
                if words.is_some() {
                    state.fallbacks.insert("the answer saves too little".into());
                }
                // A model's words of before have no entry in an extract, so their line stays.
                match units::oldest(desk, state, pins, &layout, writer.group.start, lines.without_words())? {
                    Some(group) => writer.group = group,
                    None => continue,
                }
                writer.extract(state)?
            }
        };
        if let Some((form, tokens)) = written {
            from = writer.group.carrier.unit.at() + 1;
            writer.replace(state, form, tokens);
        }
    }
    Ok(())
}

/// Gives a model's words for a group, or notes that they are needed.
fn words(
    desk: &Desk<'_, '_>,
    state: &mut State,
    layout: &Layout,
    group: &Group,
) -> Result<Option<std::sync::Arc<str>>> {
    if desk.policy.summary.kind != SummaryKind::Model {
        return Ok(None);
    }
    let input = input::of(desk, state, layout, group)?;
    if liveset_tokens::o200k().count(&input).0 > desk.policy.summary.max_input {
        state.fallbacks.insert("more than `max_input` was to be read".into());
        return Ok(None);
    }
    let id = ContentId::of(input.as_bytes());
    match desk.answers.get(&id) {
        Some(SummaryAnswer::Words(words)) => return Ok(Some(words.clone())),
        Some(SummaryAnswer::Extract { why }) => {
            state.fallbacks.insert(why.clone());
        }
        None => {
            let later = desk.transcript.items.get(state.items..).unwrap_or_default();
            // What a client adds behind a result goes with the same request, and so does the beginning of an answer.
            let given = later.iter().rposition(|item| item.side == Side::Other).map_or(0, |last| last + 1);
            let is_last = later.iter().take(given).all(|item| item.side == Side::Other);
            let max_tokens = desk.policy.summary.max_tokens;
            // What is asked behind the first depends on its answer.
            let need = NeedsSummary { id, input: input.into(), max_tokens, is_last };
            desk.needs.borrow_mut().get_or_insert(need);
        }
    }
    Ok(None)
}

/// Writes the line of one group.
struct Writer<'w, 'p, 'a> {
    desk: &'w Desk<'p, 'a>,
    layout: &'w Layout,
    group: Group,
}

impl Writer<'_, '_, '_> {
    /// Writes a model's words, if they can be taken, are no longer than was asked and save enough.
    fn by_model(&self, state: &State, words: &str) -> Result<Option<(Form, Tokens)>> {
        if liveset_tokens::o200k().count(words).0 > self.desk.policy.summary.max_tokens {
            return Ok(None);
        }
        let route = &self.desk.ways.folded;
        let facts = self.facts(state)?;
        let longest = Digest::by_model(facts.clone().at_most(), words, route);
        let (Some(written), Some(longest)) = (Digest::by_model(facts, words, route), longest) else { return Ok(None) };
        self.if_it_pays(state, written, longest)
    }

    /// Writes an extract, with its entries or, where those cost too much, without.
    fn extract(&self, state: &State) -> Result<Option<(Form, Tokens)>> {
        let (route, facts) = (&self.desk.ways.folded, self.facts(state)?);
        let entries = extract::entries(self.desk, state, self.layout, &self.group)?;
        for entries in [entries, Vec::new()] {
            let longest = Digest::extract(facts.clone().at_most(), entries.clone(), route);
            let written = Digest::extract(facts.clone(), entries, route);
            if let Some(paid) = self.if_it_pays(state, written, longest)? {
                return Ok(Some(paid));
            }
        }
        Ok(None)
    }

    /// Asks of the longest line that the group could have: a body that comes back compacted states smaller figures, and
    /// what did not pay the first time must not pay the second (law 6).
    fn if_it_pays(&self, state: &State, written: Digest, longest: Digest) -> Result<Option<(Form, Tokens)>> {
        let carrier = state.results.get(self.group.result);
        let (now, original) = carrier.map_or((0, Tokens(0)), |result| (result.tokens.0, result.original));
        let freed = now + self.group.gone.iter().map(|unit| self.size(state, unit)).sum::<u64>();
        let at_most = self.desk.size(self.group.result, &Form::Folded(longest), original)?;
        if freed < at_most.0 + self.desk.policy.min_gain.max(1) {
            return Ok(None);
        }
        let form = Form::Folded(written);
        let tokens = self.desk.size(self.group.result, &form, original)?;
        Ok(Some((form, tokens)))
    }

    fn size(&self, state: &State, unit: &Whole) -> u64 {
        let items = self.layout.items_of(unit.first, unit.last);
        items.iter().map(|&idx| batches::size_now(self.desk, state, idx)).sum()
    }

    /// Counts the calls and texts that the line stands for; what another line stood for counts as it did there.
    fn facts(&self, state: &State) -> Result<SummaryFacts> {
        let mut facts = SummaryFacts::default();
        let gone = self.group.gone.iter().flat_map(|unit| self.layout.items_of(unit.first, unit.last));
        let carrier = self.desk.results().get(self.group.result).copied();
        for idx in gone.chain(carrier) {
            let item = self.desk.item(idx)?;
            match (item.kind, state.ordinal_of(idx)) {
                (ItemKind::ToolResult, Some(ordinal)) => self.add_result(state, ordinal, &mut facts)?,
                (ItemKind::Assistant, _) if says_something(self.desk, item) => {
                    facts.add_text(extract::size(self.desk, item)?);
                }
                _ => {}
            }
        }
        Ok(facts)
    }

    fn add_result(&self, state: &State, ordinal: usize, facts: &mut SummaryFacts) -> Result<()> {
        let Some(result) = state.results.get(ordinal) else { return Ok(()) };
        if let Form::Folded(digest) = result.form.as_ref() {
            facts.merge(&digest.facts());
            return Ok(());
        }
        let name = &self.desk.texts(ordinal)?.name;
        facts.calls.add(&name.tool, name.class, self.desk.o200k(ordinal, result.original)?);
        Ok(())
    }

    /// Lets the units of the group go; what the lines among them stood for, this one stands for.
    fn replace(&self, state: &mut State, form: Form, tokens: Tokens) {
        let result = self.group.result;
        let mut gone = BTreeSet::new();
        let mut lines = BTreeSet::from([result]);
        for unit in &self.group.gone {
            let items = self.layout.items_of(unit.first, unit.last);
            let Some(&item) = items.first() else { continue };
            lines.extend(items.iter().filter_map(|&idx| state.ordinal_of(idx)));
            let before = items.iter().map(|&idx| self.desk.counts.item(idx)).sum();
            let now = self.size(state, unit);
            let (first, last, carrier) = (unit.first, unit.last, Some(result));
            let batch = Batch { unit: unit.unit, item, first, last, before, change: gone_change().into(), carrier };
            state.drop_batch(batch, &items, now);
            gone.extend(items);
        }
        state.hand_on(&lines, Some(result), &gone_change());
        let reason = format!("carries the summary of its neighbours, of which {} units went", self.group.gone.len());
        state.set(result, form, tokens, Change { kind: EditKind::Summary, step: Some(STEP), reason });
        state.forget_dropped(&gone);
        state.potential.foldable = FoldBound::default();
    }
}

/// Why a unit went.
fn gone_change() -> Change {
    let reason = "a later result holds the summary of it and its neighbours".to_owned();
    Change { kind: EditKind::Summary, step: Some(STEP), reason }
}

/// Says whether an item holds a text that is not blank.
fn says_something(desk: &Desk<'_, '_>, item: &Item) -> bool {
    item.texts
        .iter()
        .any(|text| crate::json::decode(text.of(desk.transcript.body)).is_ok_and(|said| !said.text().trim().is_empty()))
}

/// Gives the tokens of what the assistant says, thinks and calls: what only this step lets go of.
pub(crate) fn losable(desk: &Desk<'_, '_>, item: &Item, idx: ItemIdx) -> u64 {
    match (desk.policy.summary.kind, item.side) {
        (SummaryKind::None, _) | (_, Side::Other) => 0,
        (SummaryKind::Extractive | SummaryKind::Model, Side::Assistant) => desk.counts.item(idx).0,
    }
}
