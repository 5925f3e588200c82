//! What has been decided so far? The state that is carried from request point to request point.
//!
//! Holds no text: it can be kept between requests and goes on where it stopped.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use liveset_tokens::Tokens;

use super::{
    form::{Form, Piece, Removed},
    passages::Passage,
    pins::{Pin, PinTracker},
    templates::ArgumentRule,
    texts::PartText,
};
use crate::{
    content_id::ContentId,
    edit::Back,
    report::EditKind,
    transcript::{Item, ItemIdx, UnitIdx},
};

/// Everything decided up to a place in the conversation. A pure function of the items before it.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Items taken in so far.
    pub(crate) items: usize,
    /// Results among them, in order of delivery.
    pub(crate) results: Vec<ResultState>,
    /// Results, from the first, that went with their batches.
    pub(crate) first_in_view: usize,
    /// Results that may still go, by place in `results`.
    pub(crate) alive: Vec<usize>,
    /// Pictures in results that are still in view, in order.
    pub(crate) media: Vec<ItemIdx>,
    /// Calls whose arguments a rule cut.
    pub(crate) calls: BTreeMap<ItemIdx, CallState>,
    /// Arguments that a rule may cut.
    pub(crate) open_arguments: OpenArguments,
    /// Batches that were dropped whole, by their first wire message.
    pub(crate) batches: BTreeMap<u32, Batch>,
    /// Signed reasoning that left by itself, as whole blocks.
    pub(crate) thoughts: BTreeMap<ItemIdx, Thought>,
    /// Notices in place of pictures.
    pub(crate) notices: BTreeMap<ItemIdx, Notice>,
    /// Tokens of tools and system.
    pub(crate) fixed: Tokens,
    /// Tokens of the whole view, with all edits so far.
    pub(crate) view: Tokens,
    /// Number of the newest assistant message.
    pub(crate) number: u32,
    /// Places of signed reasoning.
    pub(crate) signed: Vec<ItemIdx>,
    /// Results that are pinned for now.
    pub(crate) pinned: PinTracker,
    /// What a sweep could free at most.
    pub(crate) potential: Potential,
    /// The view below which no sweep is planned again (see `sweep`).
    pub(crate) next_plan: Tokens,
    /// Sweeps so far.
    pub(crate) sweeps: Vec<SweepRecord>,
    /// What went wrong or was held back at the newest request point.
    pub(crate) held: Held,
    /// Signed reasoning that was left behind a change.
    pub(crate) risk: Option<AtRisk>,
    /// Why extracts stand where a model's summary was meant to.
    pub(crate) fallbacks: BTreeSet<Arc<str>>,
    /// Size of the view at the request point before.
    pub(crate) prev_view: Tokens,
    /// Size of the view where a wait for signed reasoning last ended (see `sweep`).
    pub(crate) turn_view: Tokens,
}

/// What a sweep could free: running sums.
#[derive(Clone, Debug, Default)]
pub(crate) struct Potential {
    /// Results, from the first, whose gain is in the sum.
    pub(crate) counted: usize,
    pub(crate) sum: u64,
    /// What could go at all, until the next sweep.
    pub(crate) losable: Option<ItemSum>,
    /// What stays whatever `liveness` takes.
    pub(crate) lasting: ItemSum,
    pub(crate) foldable: FoldBound,
}

/// Units of calls alone that have a neighbour of their kind: what folding could free at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoldBound {
    /// Units, from the first, that were looked at.
    pub(crate) units: usize,
    /// Their tokens, with every result at its tombstone.
    pub(crate) sum: u64,
    /// The newest of them, while the next may follow it.
    pub(crate) open: Option<OpenRun>,
}

/// A unit of calls alone that ends what was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRun {
    /// Its last wire message.
    pub(crate) last: u32,
    /// Its tokens while it has no neighbour, and so is not in the sum.
    pub(crate) waiting: u64,
}

/// Arguments that step 2 may cut (see `argument_step`), and what they would save together.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenArguments {
    /// Results, from the first, whose calls were looked at.
    pub(crate) counted: usize,
    /// The first result that the client sent with a mark of ours in it.
    pub(crate) first_cut: Option<ItemIdx>,
    /// Calls with their cut, by the place of their result in order of delivery.
    calls: BTreeMap<usize, (ItemIdx, CallState)>,
    sum: u64,
}

impl OpenArguments {
    pub(crate) fn sum(&self) -> u64 {
        self.sum
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = (usize, ItemIdx)> + '_ {
        self.calls.iter().map(|(&ordinal, &(idx, _))| (ordinal, idx))
    }

    /// Gives what the cut of a result's call saves; 0 where there is none.
    pub(crate) fn gain(&self, ordinal: usize) -> u64 {
        self.calls.get(&ordinal).map_or(0, |(_, call)| call.gain())
    }

    pub(crate) fn add(&mut self, ordinal: usize, idx: ItemIdx, call: CallState) {
        self.sum += call.gain();
        self.calls.insert(ordinal, (idx, call));
    }

    pub(crate) fn remove(&mut self, ordinal: usize) -> Option<(ItemIdx, CallState)> {
        let removed = self.calls.remove(&ordinal)?;
        self.sum = self.sum.saturating_sub(removed.1.gain());
        Some(removed)
    }
}

/// A sum over items.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ItemSum {
    /// Items, from the first, that are in the sum.
    pub(crate) items: usize,
    pub(crate) tokens: u64,
}

/// Why the view may stand over the trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Held {
    /// It does not, or nothing was tried.
    #[default]
    No,
    /// A sweep would have freed too little.
    TooLittle,
    /// Signed reasoning follows what would go.
    Reasoning,
}

/// One result's form and size.
#[derive(Clone, Debug)]
pub(crate) struct ResultState {
    pub(crate) item: ItemIdx,
    pub(crate) number: u32,
    /// Tokens of its text as it arrived.
    pub(crate) original: Tokens,
    /// Tokens of its text as it leaves.
    pub(crate) tokens: Tokens,
    pub(crate) form: Arc<Form>,
    /// The last change: what, by which step, why.
    pub(crate) change: Option<Arc<Change>>,
    /// The form as it was written, once it was.
    pub(crate) written: Option<Arc<Written>>,
    /// Its tombstone's size, once asked for.
    pub(crate) tombstone: Option<Tokens>,
    /// Why it is never touched, by itself.
    pub(crate) pin: Option<Pin>,
    /// What its tombstone saves, once it is processed; 0 where it may not go.
    pub(crate) gain: u64,
    /// Its size once step 5 can take no more of it.
    pub(crate) floor: Option<Tokens>,
}

/// A call of which a rule cut the arguments.
#[derive(Clone, Debug)]
pub(crate) struct CallState {
    pub(crate) rule: &'static ArgumentRule,
    /// Tokens of the arguments as they arrived.
    pub(crate) before: Tokens,
    /// Tokens of the arguments as they leave.
    pub(crate) after: Tokens,
    pub(crate) change: Arc<Change>,
    /// The cut as it was written, once it was.
    pub(crate) written: Option<Arc<Written>>,
}

impl CallState {
    /// Gives what the cut saves.
    pub(crate) fn gain(&self) -> u64 {
        self.before.0.saturating_sub(self.after.0)
    }
}

/// A message with calls and all its results, dropped whole.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) unit: UnitIdx,
    /// Its first item.
    pub(crate) item: ItemIdx,
    /// Its wire messages, both included.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// Tokens of all its items as they arrived.
    pub(crate) before: Tokens,
    pub(crate) change: Arc<Change>,
    /// The result that holds the line which stands for it.
    pub(crate) carrier: Option<usize>,
}

/// Why a result or a call has its form, or why a batch went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) kind: EditKind,
    pub(crate) step: Option<u8>,
    pub(crate) reason: String,
}

/// A form in bytes: what an edit holds, by places in the result's own literals or in the call's arguments.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) tool: String,
    pub(crate) call_id: Option<String>,
    pub(crate) archive_id: ContentId,
    pub(crate) splices: Vec<PartSplice>,
}

/// A replacement by its place in one part's literal.
#[derive(Debug)]
pub(crate) struct PartSplice {
    pub(crate) part: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) with: Arc<str>,
    pub(crate) back: Back,
}

/// A block of signed reasoning that left by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thought {
    pub(crate) before: Tokens,
    /// What its message costs by itself, where the block opened it.
    pub(crate) after: Tokens,
}

/// Signed reasoning that a change before it may have made void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtRisk {
    /// The first item that was changed.
    pub(crate) edit: ItemIdx,
    /// The last block that was there by then.
    pub(crate) last: ItemIdx,
}

/// A notice in place of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) before: Tokens,
    pub(crate) after: Tokens,
}

/// One sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SweepRecord {
    /// The item after which it ran.
    pub(crate) point: ItemIdx,
    pub(crate) before: Tokens,
    pub(crate) after: Tokens,
    pub(crate) break_even: Option<u64>,
}

impl State {
    /// Finds the first item, by place, that leaves in another form than in `other`.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<usize> {
        let pairs = self.results.iter().zip(&other.results);
        let forms =
            pairs.filter(|(here, there)| here.form != there.form).map(|(here, there)| here.item.min(there.item));
        let same = |idx: &&ItemIdx| self.notices.get(idx) == other.notices.get(idx);
        let media = self.notices.keys().chain(other.notices.keys()).filter(|idx| !same(idx)).copied();
        let rule = |state: &Self, idx: &ItemIdx| state.calls.get(idx).map(|call| call.rule);
        let calls = self.calls.keys().chain(other.calls.keys());
        let calls = calls.filter(|idx| rule(self, idx) != rule(other, idx)).copied();
        let batches = self.batches.values().filter(|batch| !other.batches.contains_key(&batch.first));
        let others = other.batches.values().filter(|batch| !self.batches.contains_key(&batch.first));
        let batches = batches.chain(others).map(|batch| batch.item);
        let left = |idx: &&ItemIdx| self.thoughts.contains_key(idx) != other.thoughts.contains_key(idx);
        let thoughts = self.thoughts.keys().chain(other.thoughts.keys()).filter(left).copied();
        forms.chain(media).chain(calls).chain(batches).chain(thoughts).min().map(ItemIdx::at)
    }

    /// Gives the signed reasoning behind a change, if any of it is still in view.
    pub(crate) fn at_risk(&self) -> Option<AtRisk> {
        let behind = |risk: &AtRisk| self.signed.iter().any(|&idx| risk.edit < idx && idx <= risk.last);
        self.risk.filter(behind)
    }

    /// Says whether the view went over a line of a grid since the request point before, or over `start`, from which on
    /// the grid counts.
    ///
    /// What is worth a try only now and then is tried there: by the view alone, not by what was tried before (law 6).
    pub(crate) fn crosses_grid(&self, step: u64, start: u64) -> bool {
        self.crosses_since(self.prev_view, step, start)
    }

    /// The same since the last real text of the user, where a wait for signed reasoning ends: many short ones in a row are
    /// no reason to try as often.
    pub(crate) fn crosses_grid_since_turn(&mut self, step: u64, start: u64) -> bool {
        let crosses = self.crosses_since(self.turn_view, step, start);
        self.turn_view = self.view;
        crosses
    }

    fn crosses_since(&self, before: Tokens, step: u64, start: u64) -> bool {
        let step = step.max(1);
        before.0 <= start || before.0 / step != self.view.0 / step
    }

    /// Says whether a wire message went with its batch.
    pub(crate) fn drops_message(&self, message: u32) -> bool {
        self.batches.range(..=message).next_back().is_some_and(|(_, batch)| message <= batch.last)
    }

    /// Says whether an item went with its batch.
    pub(crate) fn is_dropped(&self, item: &Item) -> bool {
        item.message.is_some_and(|message| self.drops_message(message))
    }

    /// Drops a batch that holds `items`, `now` tokens of the view; [`State::forget_dropped`] ends what this begins.
    pub(crate) fn drop_batch(&mut self, batch: Batch, items: &[ItemIdx], now: u64) {
        self.view = Tokens(self.view.0.saturating_sub(now));
        for &idx in items {
            let ordinal = self.ordinal_of(idx);
            if let Some(result) = ordinal.and_then(|ordinal| self.results.get_mut(ordinal)) {
                // Nothing of it is left that an edit could be about.
                result.tokens = Tokens(0);
                result.form = Arc::new(Form::Gone);
                result.change = None;
                result.written = None;
            }
            self.calls.remove(&idx);
            if let Some(ordinal) = ordinal {
                self.open_arguments.remove(ordinal);
            }
            self.notices.remove(&idx);
            self.thoughts.remove(&idx);
        }
        self.batches.insert(batch.first, batch);
    }

    /// Lets the line in one result, or none, stand for what the lines in others stood for.
    pub(crate) fn hand_on(&mut self, from: &BTreeSet<usize>, to: Option<usize>, change: &Change) {
        for batch in self.batches.values_mut() {
            if batch.carrier.is_some_and(|carrier| from.contains(&carrier)) {
                batch.carrier = to;
                batch.change = Arc::new(change.clone());
            }
        }
    }

    /// Lets go of what went with its batch: once for all that were dropped, since each list is walked whole.
    pub(crate) fn forget_dropped(&mut self, items: &BTreeSet<ItemIdx>) {
        let results = &self.results;
        let is_left = |ordinal: &usize| results.get(*ordinal).is_none_or(|result| !items.contains(&result.item));
        self.alive.retain(&is_left);
        self.media.retain(|media| !items.contains(media));
        self.signed.retain(|signed| !items.contains(signed));
        self.pinned.forget_stubs(|ordinal| is_left(&ordinal));
    }

    /// Gives a result's place in order of delivery, once it was delivered.
    pub(crate) fn ordinal_of(&self, result: ItemIdx) -> Option<usize> {
        self.results.binary_search_by_key(&result, |result| result.item).ok()
    }

    /// Cuts a call's arguments and keeps the view's size true.
    pub(crate) fn set_call(&mut self, idx: ItemIdx, call: CallState) {
        let was = self.calls.get(&idx).map_or(call.before, |known| known.after);
        self.view = Tokens((self.view.0 + call.after.0).saturating_sub(was.0));
        self.calls.insert(idx, call);
    }

    /// Sets a result's form and keeps the view's size true.
    pub(crate) fn set(&mut self, ordinal: usize, form: Form, tokens: Tokens, change: Change) {
        if let Some(result) = self.results.get_mut(ordinal) {
            self.view = Tokens((self.view.0 + tokens.0).saturating_sub(result.tokens.0));
            result.form = Arc::new(form);
            result.tokens = tokens;
            result.change = Some(Arc::new(change));
            result.written = None;
        }
    }
}

/// Says of each passage of a part whether anything of it is in view.
pub(crate) fn in_view(result: &ResultState, part: usize, texts: &PartText<'_>) -> Vec<bool> {
    let removed: &[Removed] = match result.form.as_ref() {
        Form::Whole => &[],
        Form::Shaped(parts) => {
            let pieces = parts.get(part).map(Vec::as_slice).unwrap_or_default();
            return texts.passages.iter().map(|passage| shows_half(pieces, passage)).collect();
        }
        Form::Gone | Form::Folded(_) => return vec![false; texts.passages.len()],
        Form::Cut(parts) => parts.get(part).map(Vec::as_slice).unwrap_or_default(),
    };
    let gone = |start: u32, end: u32| {
        removed
            .iter()
            .any(|piece| matches!(piece.what, Piece::Lines { .. }) && piece.start <= start && end <= piece.end)
    };
    texts.passages.iter().map(|passage| !gone(passage.start, passage.end)).collect()
}

/// Says whether at least half of a passage is in view: of what intake shaped only some lines may be.
fn shows_half(pieces: &[Removed], passage: &Passage) -> bool {
    let gone = |piece: &Removed| piece.end.min(passage.end).saturating_sub(piece.start.max(passage.start));
    pieces.iter().map(gone).sum::<u32>() * 2 <= passage.end - passage.start
}
