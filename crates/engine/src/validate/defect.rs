//! What was found, and where?
//!
//! Collects, bounds and sorts findings; knows no rule.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::paths;
use crate::json::Outline;
use crate::span::Span;

/// Most defects of one code that are reported: the first ones show the pattern, and a broken client repeats it each turn.
pub const MAX_DEFECTS_PER_CODE: usize = 100;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct Defect {
    /// Byte of the body at which it stands. For what is gone: the byte before which it would stand.
    pub offset: usize,
    /// Which rule.
    pub code: Code,
    /// Where that is, like `messages[3].content[1]`; empty for the body itself. For what is gone: its place in the original.
    pub path: String,
    /// What is wrong, in one phrase that never holds the body's text.
    pub message: &'static str,
}

impl std::fmt::Display for Defect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.path.is_empty() { "the body" } else { &self.path };
        write!(f, "{} at byte {} ({place}): {}", self.code.name(), self.offset, self.message)
    }
}

/// Defects without their paths.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Found>,
    counts: BTreeMap<Code, usize>,
    /// What is in `found`: a value counts once for each rule it breaks, however often.
    places: BTreeSet<(Code, usize)>,
}

struct Found {
    code: Code,
    /// Byte of the body that the path is read from.
    at: usize,
    /// Byte of the output, where that is another body.
    shown_at: usize,
    message: &'static str,
}

impl Findings {
    /// Takes a defect of the value at `offset`.
    pub(super) fn add(&mut self, code: Code, offset: usize, message: &'static str) {
        self.add_gone(code, offset, offset, message);
    }

    /// Takes a defect at `offset` inside the value at `holder`, which has no nodes inside: of several, the first.
    pub(super) fn add_inside(&mut self, code: Code, holder: usize, offset: usize, message: &'static str) {
        self.add_gone(code, holder, offset, message);
    }

    /// Takes a defect of something that stood at `at` in the original and would stand at `shown_at` in the output.
    pub(super) fn add_gone(&mut self, code: Code, at: usize, shown_at: usize, message: &'static str) {
        let count = self.counts.entry(code).or_default();
        if *count < MAX_DEFECTS_PER_CODE && self.places.insert((code, at)) {
            *count += 1;
            self.found.push(Found { code, at, shown_at, message });
        }
    }

    /// Says whether a defect of this code stands inside `span`, or no more of it would be taken.
    pub(super) fn has(&self, code: Code, span: Span) -> bool {
        let is_full = self.counts.get(&code).is_some_and(|&count| count >= MAX_DEFECTS_PER_CODE);
        is_full || self.found.iter().any(|found| found.code == code && span.range().contains(&found.at))
    }

    /// Gives the defects in order, one for each code and path, with paths read from `outline`.
    pub(super) fn finish(mut self, outline: &Outline<'_>) -> Vec<Defect> {
        self.found.sort_by_key(|found| (found.at, found.code));
        let places: Vec<usize> = self.found.iter().map(|found| found.at).collect();
        let paths = paths::of(outline, &places);
        let defects = self.found.into_iter().zip(paths).map(|(found, path)| Defect {
            code: found.code,
            offset: found.shown_at,
            path,
            message: found.message,
        });
        let mut defects: Vec<Defect> = defects.collect();
        defects.dedup_by(|next, kept| next.code == kept.code && next.path == kept.path);
        defects.sort();
        defects
    }
}
