//! Does each call have its result in its place?
//!
//! Pairs by id and order of occurrence inside one batch, since clients use ids again; a second reading beside the
//! transcript's own pairing, which it never asks.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use super::code::Code;
use super::defect::Findings;

/// Whether a call must be answered by the client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Answer,
    /// The server may have answered it.
    Nothing,
}

/// Whether results may answer the newest batch where we stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Window {
    Open,
    Closed,
}

#[derive(Clone, Copy)]
struct Waiting {
    batch: usize,
    offset: usize,
    need: Need,
}

/// Calls of one id.
#[derive(Default)]
struct Calls {
    /// The batch that `current` belongs to.
    batch: usize,
    current: VecDeque<Waiting>,
    /// Unanswered calls of older batches.
    left: Vec<Waiting>,
}

/// Pairs calls with results, batch by batch, in time near their number.
pub(super) struct Pairs<'a> {
    calls: BTreeMap<Cow<'a, str>, Calls>,
    /// For each batch, how many of its calls were answered in their place.
    answered: Vec<usize>,
    window: Window,
}

impl<'a> Pairs<'a> {
    pub(super) fn new() -> Self {
        Self { calls: BTreeMap::new(), answered: vec![0], window: Window::Closed }
    }

    fn batch(&self) -> usize {
        self.answered.len().saturating_sub(1)
    }

    /// Begins the calls of a further assistant message.
    pub(super) fn begin_batch(&mut self) {
        self.answered.push(0);
        self.window = Window::Closed;
    }

    /// From here on results may answer the newest batch.
    pub(super) fn open_window(&mut self) {
        self.window = Window::Open;
    }

    /// From here on a result comes too late.
    pub(super) fn close_window(&mut self) {
        self.window = Window::Closed;
    }

    /// Says whether a call of this id came before.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    pub(super) fn call(&mut self, id: Cow<'a, str>, offset: usize, need: Need) {
        let batch = self.batch();
        let calls = self.calls.entry(id).or_default();
        if calls.batch != batch {
            calls.batch = batch;
            calls.left.extend(calls.current.drain(..));
        }
        calls.current.push_back(Waiting { batch, offset, need });
    }

    pub(super) fn result(&mut self, id: &str, offset: usize, found: &mut Findings) {
        let batch = self.batch();
        let Some(calls) = self.calls.get_mut(id) else {
            found.add(Code::OrphanResult, offset, "no call with this id comes before it");
            return;
        };
        let is_in_place = self.window == Window::Open && calls.batch == batch;
        let call = match calls.current.pop_front() {
            // Where the newest batch has the id, an older call of it is not meant.
            None if !is_in_place => calls.left.pop(),
            call => call,
        };
        let Some(call) = call else {
            found.add(Code::DuplicateResult, offset, "its call was answered before");
            return;
        };
        let answered = self.answered.get_mut(call.batch);
        match answered {
            Some(answered) if is_in_place => *answered += 1,
            Some(answered) if *answered > 0 => {
                found.add(Code::BatchSplit, offset, "other results of its batch stand elsewhere");
            }
            Some(_) | None => found.add(Code::ResultNotAdjacent, offset, "it does not follow its call at once"),
        }
    }

    /// Takes a defect for each call that is still open.
    pub(super) fn finish(self, found: &mut Findings) {
        let open = self.calls.into_values().flat_map(|calls| calls.left.into_iter().chain(calls.current));
        let mut open: Vec<usize> = open.filter(|call| call.need == Need::Answer).map(|call| call.offset).collect();
        open.sort_unstable();
        for offset in open {
            found.add(Code::UnpairedCall, offset, "nothing answers this call");
        }
    }
}
