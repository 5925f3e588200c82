//! Which results are pinned, as far as is known? The pins of a state and their names.
//!
//! Holds what was found; what pins a result is decided in `protect`.

use std::collections::{BTreeMap, BTreeSet};

use crate::{content_id::ContentId, transcript::ItemIdx};

/// Newest units in which the answer to a recall stays: one to read it, two to use it.
const RECALL_UNITS: u32 = 3;

/// Why a result is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pin {
    /// Its call id is in the policy.
    Policy,
    /// Its text holds the marker.
    Marker,
    /// It is the newest state of the agent's plan.
    Plan,
    /// It is the newest failure.
    NewestError,
    /// A later identical call was answered with "unchanged".
    Unchanged,
    /// It is the answer to a recall, and among the newest units.
    Recall,
    /// It holds parts that must not be edited.
    Fixed,
}

impl Pin {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Policy => "pinned by policy",
            Self::Marker => "pinned by marker",
            Self::Plan => "newest plan",
            Self::NewestError => "newest error",
            Self::Unchanged => "a later call says unchanged",
            Self::Recall => "recalled a few messages ago",
            Self::Fixed => "holds parts that must stay",
        }
    }
}

/// Which results are pinned by what came after or before them; taken in result by result.
#[derive(Clone, Debug, Default)]
pub(crate) struct PinTracker {
    /// Results taken in so far.
    pub(crate) seen: usize,
    /// Ids of the policy that those results were held against.
    pub(crate) ids: usize,
    pub(crate) newest_error: Option<usize>,
    /// Newest result of each plan tool, by its own name: a server before it makes no other tool.
    pub(crate) plans: BTreeMap<String, usize>,
    /// Newest call of each plan tool that was answered, with its result: results may come in another order than calls.
    pub(crate) plan_calls: BTreeMap<String, (ItemIdx, usize)>,
    /// Newest full answer of each call, by the call's bytes.
    pub(crate) full: BTreeMap<ContentId, usize>,
    pub(crate) unchanged: BTreeSet<usize>,
    /// Answers to recalls, each with the number of its unit.
    pub(crate) recalls: BTreeMap<usize, u32>,
    /// Answers that were cut when the same call was answered again, each with that newer answer.
    pub(crate) asked_again: BTreeMap<usize, usize>,
    /// The answers that said so, each with the one that it points back at.
    pub(crate) stubs: BTreeMap<usize, usize>,
}

impl PinTracker {
    /// Lets go of answers that said "unchanged" and are no longer in view, and of what only they leaned on.
    pub(crate) fn forget_stubs(&mut self, is_left: impl Fn(usize) -> bool) {
        self.stubs.retain(|&stub, _| is_left(stub));
        let leaned_on: BTreeSet<usize> = self.stubs.values().copied().collect();
        self.unchanged.retain(|full| leaned_on.contains(full));
    }

    /// Gives the results that are pinned for now, where `newest` is the number of the newest unit, and may be free
    /// later, each once.
    pub(crate) fn passing(&self, newest: u32) -> BTreeMap<usize, Pin> {
        let mut pins = BTreeMap::new();
        let of_calls = self.plan_calls.values().map(|(_, ordinal)| ordinal);
        for &ordinal in self.plans.values().chain(of_calls) {
            pins.insert(ordinal, Pin::Plan);
        }
        if let Some(ordinal) = self.newest_error {
            pins.entry(ordinal).or_insert(Pin::NewestError);
        }
        for &ordinal in &self.unchanged {
            pins.entry(ordinal).or_insert(Pin::Unchanged);
        }
        for (&ordinal, _) in self.recalls.iter().filter(|&(_, &number)| is_recent(number, newest)) {
            pins.entry(ordinal).or_insert(Pin::Recall);
        }
        pins
    }
}

/// Says whether the unit `number` is among the newest, in which the answer to a recall stays.
pub(crate) fn is_recent(number: u32, newest: u32) -> bool {
    number.saturating_add(RECALL_UNITS) > newest
}
