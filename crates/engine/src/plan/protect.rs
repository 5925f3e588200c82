//! Which results does no step touch?
//!
//! The newest unit is not here: only step 1 spares it, the last step is about it.

use std::collections::{BTreeMap, BTreeSet};

use super::{desk::Desk, state::State};
use crate::{
    error::Result,
    tools::{self, ToolClass},
    transcript::{Call, Editing, ErrorFlag, Item},
};

/// A later identical call's result under this share of the size says "unchanged".
const STUB_SHARE: u64 = 8;

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
            Self::Fixed => "holds parts that must stay",
        }
    }
}

/// Finds the pinned results, by their place in order of delivery.
pub(crate) fn pins(desk: &Desk<'_, '_>, state: &State) -> Result<BTreeMap<usize, Pin>> {
    let mut pins = BTreeMap::new();
    let wanted: BTreeSet<&str> = desk.policy.pins.iter().map(String::as_str).collect();
    for &ordinal in &state.alive {
        let Some(result) = state.results.get(ordinal) else { continue };
        let item = desk.item(result.item)?;
        let answer = item.answer();
        if answer.is_some_and(|answer| answer.editing == Editing::Fixed) {
            pins.insert(ordinal, Pin::Fixed);
        } else if !wanted.is_empty() && wanted.contains(id_of(desk, item).as_str()) {
            pins.insert(ordinal, Pin::Policy);
        } else if desk.texts(ordinal)?.has_marker {
            pins.insert(ordinal, Pin::Marker);
        }
    }
    for ordinal in newest_plans(desk, state)? {
        pins.entry(ordinal).or_insert(Pin::Plan);
    }
    if let Some(ordinal) = newest_error(desk, state)? {
        pins.entry(ordinal).or_insert(Pin::NewestError);
    }
    for ordinal in said_unchanged(desk, state)? {
        pins.entry(ordinal).or_insert(Pin::Unchanged);
    }
    Ok(pins)
}

fn id_of(desk: &Desk<'_, '_>, item: &Item) -> String {
    let literal = item.answer().and_then(|answer| answer.id).map(|span| span.of(desk.transcript.body));
    literal.and_then(|raw| crate::json::decode(raw).ok()).map(|id| id.text().to_owned()).unwrap_or_default()
}

fn newest_plans(desk: &Desk<'_, '_>, state: &State) -> Result<Vec<usize>> {
    let mut newest: BTreeMap<&str, usize> = BTreeMap::new();
    for ordinal in 0..state.results.len() {
        let tool = desk.texts(ordinal)?.name.tool.as_str();
        if tools::is_plan_tool(tool) {
            newest.insert(tool, ordinal);
        }
    }
    Ok(newest.into_values().collect())
}

fn newest_error(desk: &Desk<'_, '_>, state: &State) -> Result<Option<usize>> {
    for (ordinal, result) in state.results.iter().enumerate().rev() {
        let flagged = desk.item(result.item)?.answer().is_some_and(|answer| answer.error == ErrorFlag::Set);
        if flagged || desk.texts(ordinal)?.tells_failure {
            return Ok(Some(ordinal));
        }
    }
    Ok(None)
}

/// A stub points back at the newest full answer of the same call. Re-runs of a command are no stubs.
fn said_unchanged(desk: &Desk<'_, '_>, state: &State) -> Result<Vec<usize>> {
    let mut newest_full: BTreeMap<(&[u8], &[u8]), usize> = BTreeMap::new();
    let mut pinned = Vec::new();
    for (ordinal, result) in state.results.iter().enumerate() {
        let call = desk.item(result.item)?.answer().and_then(|answer| answer.call);
        let call = match call {
            Some(idx) => desk.item(idx)?.call(),
            None => None,
        };
        let Some(key) = call.and_then(|call| key_of(desk, call)) else { continue };
        let full = newest_full.get(&key).and_then(|&at| state.results.get(at).map(|before| (at, before.original)));
        match full {
            Some((at, size)) if result.original.0 * STUB_SHARE < size.0 => {
                if desk.texts(at)?.name.class != ToolClass::Execution {
                    pinned.push(at);
                }
            }
            Some(_) | None => {
                newest_full.insert(key, ordinal);
            }
        }
    }
    Ok(pinned)
}

fn key_of<'a>(desk: &Desk<'_, 'a>, call: &Call) -> Option<(&'a [u8], &'a [u8])> {
    Some((call.name?.of(desk.transcript.body), call.arguments?.of(desk.transcript.body)))
}
