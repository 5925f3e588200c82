//! What does a plan work with? Body, counts, limits and the decoded texts, each decoded once.

use std::{
    borrow::Cow,
    cell::{OnceCell, RefCell},
    collections::BTreeSet,
};

use liveset_tokens::{TokenCounter, Tokens};

use super::{
    Inputs,
    ends::Measure,
    form::{self, Form, PartForm},
    score::{Hashes, Reading},
    state::{CallState, State},
    templates,
    texts::ResultTexts,
    ways::Ways,
};
use crate::{
    budget::Budget,
    content_id::ContentId,
    counts::Counts,
    error::{Error, Result},
    json,
    policy::{Policy, Preset},
    span::Span,
    summary::{NeedsSummary, SummaryAnswers},
    tombstone::{self, Route},
    transcript::{Item, ItemIdx, ItemKind, Transcript},
};

/// The inputs of a plan and what was derived from them on the way.
pub(crate) struct Desk<'p, 'a> {
    pub(crate) transcript: &'p Transcript<'a>,
    pub(crate) counts: &'p Counts,
    /// The limits at the request point that is looked at.
    pub(crate) budget: Budget,
    pub(crate) policy: &'p Policy,
    pub(crate) counter: &'p dyn TokenCounter,
    /// Thousandths of the input price for cached input read and written.
    pub(crate) price: liveset_tokens::Price,
    /// How an agent gets back what goes.
    pub(crate) ways: Ways,
    results: Vec<ItemIdx>,
    texts: Vec<OnceCell<ResultTexts<'a>>>,
    /// Sizes of results as tombstones state them.
    o200k: Vec<OnceCell<Tokens>>,
    /// Calls whose id an earlier call has.
    repeated: OnceCell<BTreeSet<ItemIdx>>,
    /// Tokens of each passage alone, per result and part.
    passage_tokens: Vec<OnceCell<Vec<Vec<u32>>>>,
    /// Shingles of each result: read by the first score, and used by those of later sweeps.
    pub(crate) readings: Vec<OnceCell<Reading>>,
    /// The way back to each picture, in words.
    media_routes: Vec<OnceCell<Cow<'static, str>>>,
    /// What each item adds to the chain.
    chain: Vec<OnceCell<Vec<Said<'a>>>>,
    /// What each call adds to it once its arguments are cut.
    cut_chain: Vec<OnceCell<Vec<Said<'a>>>>,
    /// Calls that may be the only witness of a passage, once asked for (see `argument_step`).
    pub(crate) witnesses: OnceCell<BTreeSet<ItemIdx>>,
    /// Summaries that are known.
    pub(crate) answers: &'p SummaryAnswers,
    /// The first summary that was looked for and not found.
    pub(crate) needs: RefCell<Option<NeedsSummary>>,
}

/// A text of the chain, and its shingles once a score has read them.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) hashes: OnceCell<Hashes>,
}

impl<'p, 'a> Desk<'p, 'a> {
    pub(crate) fn new(inputs: &Inputs<'p, 'a>) -> Self {
        let &Inputs { transcript, counts, budget, policy, counter, price, answers, events: _ } = inputs;
        let items = transcript.items.iter().enumerate();
        let results: Vec<ItemIdx> = items
            .filter(|(_, item)| item.kind == ItemKind::ToolResult)
            .map(|(at, _)| ItemIdx(u32::try_from(at).unwrap_or(u32::MAX)))
            .collect();
        let texts = results.iter().map(|_| OnceCell::new()).collect();
        let o200k = results.iter().map(|_| OnceCell::new()).collect();
        let passage_tokens = results.iter().map(|_| OnceCell::new()).collect();
        let readings = results.iter().map(|_| OnceCell::new()).collect();
        let chain = || transcript.items.iter().map(|_| OnceCell::new()).collect();
        Self {
            transcript,
            counts,
            budget: *budget,
            policy,
            counter,
            price,
            ways: Ways::of(transcript, policy),
            results,
            texts,
            o200k,
            repeated: OnceCell::new(),
            passage_tokens,
            readings,
            media_routes: transcript.items.iter().map(|_| OnceCell::new()).collect(),
            chain: chain(),
            cut_chain: chain(),
            witnesses: OnceCell::new(),
            answers,
            needs: RefCell::default(),
        }
    }

    /// Gives all results, in order of delivery.
    pub(crate) fn results(&self) -> &[ItemIdx] {
        &self.results
    }

    pub(crate) fn item(&self, idx: ItemIdx) -> Result<&'p Item> {
        self.transcript.items.get(idx.at()).ok_or(Error::Edit { offset: 0 })
    }

    /// Says whether the view is over the trigger.
    pub(crate) fn is_over_trigger(&self, state: &State) -> bool {
        self.charged(state) > self.budget.trigger.0
    }

    /// Gives the view as the trigger charges it.
    ///
    /// Fit is decided by the exact count: rounding the fixed part up never forces anything.
    pub(crate) fn charged(&self, state: &State) -> u64 {
        state.view.0.saturating_add(self.surcharge(state))
    }

    /// Gives what the trigger charges for the fixed part beyond its size.
    pub(crate) fn surcharge(&self, state: &State) -> u64 {
        self.budget.charged_fixed(state.fixed).0.saturating_sub(state.fixed.0)
    }

    /// Gives what the literal of an id says.
    pub(crate) fn id(&self, literal: Option<Span>) -> Option<String> {
        Some(json::decode(literal?.of(self.transcript.body)).ok()?.into_text().into_owned())
    }

    /// Says whether an earlier call has the id of this one.
    pub(crate) fn repeats_id(&self, call: ItemIdx) -> bool {
        let find = || {
            let mut ids = BTreeSet::new();
            let calls = (0..).map(ItemIdx).zip(&self.transcript.items);
            let calls = calls.filter_map(|(idx, item)| Some((idx, self.id(item.call()?.id)?)));
            calls.filter(|(_, id)| !ids.insert(id.clone())).map(|(idx, _)| idx).collect()
        };
        self.repeated.get_or_init(find).contains(&call)
    }

    /// Gives a result by its place in order of delivery, decoded.
    pub(crate) fn texts(&self, ordinal: usize) -> Result<&ResultTexts<'a>> {
        let (Some(&idx), Some(cell)) = (self.results.get(ordinal), self.texts.get(ordinal)) else {
            return Err(Error::Edit { offset: 0 });
        };
        if let Some(texts) = cell.get() {
            return Ok(texts);
        }
        let mut texts = ResultTexts::of(self.transcript, self.item(idx)?)?;
        texts.rule_line = self.rule_line(idx)?;
        self.know_spilled(idx, &mut texts)?;
        texts.route = texts.way_back(&self.ways.single, self.transcript.body)?;
        Ok(cell.get_or_init(|| texts))
    }

    /// Notes that a result is what a spilled file of ours says; its name keeps the id then.
    fn know_spilled(&self, idx: ItemIdx, texts: &mut ResultTexts<'_>) -> Result<()> {
        let call = self.item(idx)?.answer().and_then(|answer| answer.call);
        let call = call.map(|call| self.item(call)).transpose()?.and_then(Item::call);
        let asked = call.and_then(|call| self.ways.asked_for(self.transcript, call, texts.name.class));
        if let Some(id) = asked {
            texts.is_recall = true;
            if !texts.name.label.contains(&id) {
                texts.name.label = self.ways.file(&id).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Gives the way back to a picture in the result at `ordinal`: its original is the JSON value as it stands.
    pub(crate) fn media_route(&self, idx: ItemIdx, ordinal: usize) -> Result<&str> {
        let class = self.texts(ordinal)?.name.class;
        if self.ways.single == Route::Rerun {
            return Ok(tombstone::rerun(class));
        }
        let span = self.item(idx)?.span;
        let Some(cell) = self.media_routes.get(idx.at()) else { return Ok(tombstone::rerun(class)) };
        let id = || ContentId::of(span.of(self.transcript.body));
        Ok(cell.get_or_init(|| self.ways.single.words(class, id(), &[])))
    }

    /// Says whether a result holds the line of a folded run, whichever sweep or body put it there.
    pub(crate) fn is_carrier(&self, state: &State, ordinal: usize) -> Result<bool> {
        let is_folded = state.results.get(ordinal).is_some_and(|result| matches!(*result.form, Form::Folded(_)));
        Ok(is_folded || self.texts(ordinal)?.arrives_folded)
    }

    /// Gives what an item adds to the chain, as `read` finds it, which is asked once.
    pub(crate) fn said(
        &self,
        idx: ItemIdx,
        cut: Option<&CallState>,
        read: impl FnOnce(&'p Item) -> Result<Vec<Cow<'a, str>>>,
    ) -> Result<&[Said<'a>]> {
        // A call has one cut at most: its rule's.
        let chain = if cut.is_some() { &self.cut_chain } else { &self.chain };
        let Some(cell) = chain.get(idx.at()) else { return Ok(&[]) };
        if let Some(said) = cell.get() {
            return Ok(said);
        }
        let texts = read(self.item(idx)?)?;
        let said = texts.into_iter().map(|text| Said { text, hashes: OnceCell::new() }).collect();
        Ok(cell.get_or_init(|| said))
    }

    /// Gives the line that stands for a result under a preset of rules by tool name.
    fn rule_line(&self, idx: ItemIdx) -> Result<Option<String>> {
        let call = match self.policy.preset {
            Preset::Rules => self.item(idx)?.answer().and_then(|answer| answer.call),
            Preset::Balanced | Preset::Liveness | Preset::Dispatch => None,
        };
        let call = call.map(|call| self.item(call)).transpose()?.and_then(Item::call);
        Ok(call.map(|call| templates::result_line(self.transcript, call)).transpose()?.flatten())
    }

    /// Gives the size of a whole passage, counted alone and once.
    pub(crate) fn passage_tokens(&self, ordinal: usize, part: usize, passage: usize) -> Result<u64> {
        let texts = self.texts(ordinal)?;
        let Some(cell) = self.passage_tokens.get(ordinal) else { return Ok(0) };
        let all = cell.get_or_init(|| texts.parts.iter().map(|part| self.count_passages(part)).collect());
        Ok(all.get(part).and_then(|part| part.get(passage)).copied().map_or(0, u64::from))
    }

    fn count_passages(&self, part: &super::texts::PartText<'_>) -> Vec<u32> {
        let count = |from: usize, to: usize| {
            let known = self.counts.piece(part.literal, from, to);
            known.unwrap_or_else(|| self.counter.count(part.text.get(from..to).unwrap_or_default()))
        };
        let sizes = part.passages.iter().map(|passage| count(passage.start as usize, passage.end as usize));
        sizes.map(|tokens| u32::try_from(tokens.0).unwrap_or(u32::MAX)).collect()
    }

    /// Gives a result's size in o200k tokens, which is what tombstones state.
    pub(crate) fn o200k(&self, ordinal: usize, original: Tokens) -> Result<Tokens> {
        let o200k = liveset_tokens::o200k();
        if o200k.name() == self.counter.name() {
            return Ok(original);
        }
        let texts = self.texts(ordinal)?;
        let count = || texts.parts.iter().map(|part| o200k.count(&part.text)).sum();
        Ok(self.o200k.get(ordinal).map_or_else(count, |cell| *cell.get_or_init(count)))
    }

    /// Counts a result's text as a form leaves it.
    pub(crate) fn size(&self, ordinal: usize, form: &Form, original: Tokens) -> Result<Tokens> {
        if *form == Form::Whole {
            return Ok(original);
        }
        let texts = self.texts(ordinal)?;
        let o200k = match form {
            Form::Gone => self.o200k(ordinal, original)?,
            Form::Whole | Form::Cut(_) | Form::Shaped(_) | Form::Folded(_) => Tokens(0),
        };
        let parts = form::write(texts, form, o200k);
        Ok(texts.parts.iter().zip(&parts).map(|(part, written)| self.part_size(part, written)).sum())
    }

    fn part_size(&self, part: &super::texts::PartText<'_>, written: &PartForm) -> Tokens {
        match form::rendered(part, written) {
            Some(text) => self.counter.count(&text),
            None => self.counter.count(&part.text),
        }
    }
}

/// No token of a public vocabulary stands for more bytes than this (o200k: 128 blanks).
const MAX_TOKEN_BYTES: u64 = 128;

/// Measures in the tokens of the model.
pub(crate) struct InTokens<'c>(pub(crate) &'c dyn TokenCounter);

impl Measure for InTokens<'_> {
    fn size(&self, text: &str) -> u64 {
        self.0.count(text).0
    }

    fn size_within(&self, text: &str, limit: u64) -> Option<u64> {
        if text.len() as u64 / MAX_TOKEN_BYTES > limit {
            return None;
        }
        Some(self.size(text)).filter(|&size| size <= limit)
    }
}
