//! What has been decided so far? The state that is carried from request point to request point.
//!
//! Holds no text: it can be kept between requests and goes on where it stopped.

use std::{collections::BTreeMap, sync::Arc};

use liveset_tokens::Tokens;

use super::{
    form::{Form, Piece, Removed},
    pins::{Pin, PinTracker},
    texts::PartText,
};
use crate::{content_id::ContentId, edit::Back, report::EditKind, transcript::ItemIdx};

/// Everything decided up to a place in the conversation. A pure function of the items before it.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Items taken in so far.
    pub(crate) items: usize,
    /// Results among them, in order of delivery.
    pub(crate) results: Vec<ResultState>,
    /// Results that may still go, by place in `results`.
    pub(crate) alive: Vec<usize>,
    /// Pictures in results that are still in view, in order.
    pub(crate) media: Vec<ItemIdx>,
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
    /// Items after which a sweep changed something before signed reasoning.
    pub(crate) reasoning_at_risk: bool,
}

/// What the tombstones of processed results would save together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Potential {
    /// Results, from the first, whose gain is in the sum.
    pub(crate) counted: usize,
    pub(crate) sum: u64,
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
}

/// Why a result has its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) kind: EditKind,
    pub(crate) step: Option<u8>,
    pub(crate) reason: String,
}

/// A form in bytes: what an edit holds, by places in the result's own literals.
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
        forms.chain(media).min().map(ItemIdx::at)
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
        Form::Gone => return vec![false; texts.passages.len()],
        Form::Cut(parts) => parts.get(part).map(Vec::as_slice).unwrap_or_default(),
    };
    let gone = |start: u32, end: u32| {
        removed
            .iter()
            .any(|piece| matches!(piece.what, Piece::Lines { .. }) && piece.start <= start && end <= piece.end)
    };
    texts.passages.iter().map(|passage| !gone(passage.start, passage.end)).collect()
}
