//! What did a change do that it may not do? `wire-formats.md`, sections 0, 0a, 1 and 3.
//!
//! Holds two bodies of one conversation against each other, piece by piece; what is wrong in one alone is found elsewhere.

mod reasoning;

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::defect::Findings;
use super::matching::{self, Matching};
use super::pieces::{Kind, Piece, Pieces, Says};
use crate::transcript::WireFormat;

/// Whether a change was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Epoch {
    /// The report declares a sweep or a rebase, or each edit was made when its result was first seen.
    Declared,
    /// Nothing before signed reasoning may differ.
    Undeclared,
}

/// Takes the defects of a change: what stands in the output in `found`, what is gone in `gone`, by its place in the original.
pub(super) fn check(
    format: WireFormat,
    original: &Pieces,
    output: &Pieces,
    epoch: Epoch,
    found: &mut Findings,
    gone: &mut Findings,
) {
    let change = Change::new(format, original, output, epoch);
    change.reasoning(found, gone);
    change.compaction(found, gone);
    change.pieces_kept(found);
    change.loaded_tools(gone);
    change.marks(gone);
}

struct Change<'c> {
    format: WireFormat,
    epoch: Epoch,
    original: &'c Pieces,
    output: &'c Pieces,
    matching: Matching,
    /// For each piece of the original, the byte of the output before which it would stand.
    stands_before: Vec<usize>,
    /// For each piece, the next one that is no reasoning.
    original_followers: Vec<Option<usize>>,
    output_followers: Vec<Option<usize>>,
}

impl<'c> Change<'c> {
    fn new(format: WireFormat, original: &'c Pieces, output: &'c Pieces, epoch: Epoch) -> Self {
        let matching = matching::of(&original.list, &output.list);
        let mut at = output.end;
        let mut stands_before: Vec<usize> = Vec::with_capacity(original.list.len());
        for partner in matching.to_output.iter().rev() {
            at = partner.and_then(|place| output.list.get(place)).map_or(at, |piece| piece.span.start());
            stands_before.push(at);
        }
        stands_before.reverse();
        let (original_followers, output_followers) =
            (reasoning::followers(&original.list), reasoning::followers(&output.list));
        Self { format, epoch, original, output, matching, stands_before, original_followers, output_followers }
    }

    /// The piece of the original that stands in the output at `place`.
    fn was(&self, place: usize) -> Option<(usize, &'c Piece)> {
        let at = self.matching.to_original.get(place).copied().flatten()?;
        Some((at, self.original.list.get(at)?))
    }

    /// The place in the output of what stood in the original at `at`.
    fn is(&self, at: usize) -> Option<usize> {
        self.matching.to_output.get(at).copied().flatten()
    }

    fn add_gone(&self, gone: &mut Findings, code: Code, at: usize, message: &'static str) {
        let offset = self.original.list.get(at).map_or(0, |piece| piece.span.start());
        let shown_at = self.stands_before.get(at).copied().unwrap_or(self.output.end);
        gone.add_gone(code, offset, shown_at, message);
    }

    /// "keep `encrypted_content`, `signature`, `tool_changes`"; older compactions may go with what they stand for.
    fn compaction(&self, found: &mut Findings, gone: &mut Findings) {
        let newest = |pieces: &Pieces| pieces.list.iter().position(|piece| piece.kind == Kind::Compaction);
        let is_new = |&place: &usize| self.was(place).is_none();
        if let Some(piece) = newest(self.output).filter(is_new).and_then(|place| self.output.list.get(place)) {
            found.add(Code::CompactionBlockEdited, piece.span.start(), "it is not the original's newest compaction");
        } else if let Some(at) = newest(self.original).filter(|&at| self.is(at).is_none()) {
            self.add_gone(gone, Code::CompactionBlockEdited, at, "the newest compaction is gone");
        }
    }

    fn pieces_kept(&self, found: &mut Findings) {
        // A call and its result are one change.
        let mut new_ids = BTreeSet::new();
        for (place, piece) in self.output.list.iter().enumerate() {
            let start = piece.span.start();
            let was = self.was(place).map(|(_, was)| was);
            match piece.kind {
                // "Keep every id."
                Kind::Call | Kind::Result if was.is_none() && piece.id.is_some_and(|id| new_ids.insert(id)) => {
                    found.add(Code::IdChanged, start, "an id that the original does not hold here");
                }
                // "do not shrink in place": citations point into it.
                Kind::ServerResult if was.is_none_or(|was| was.digest != piece.digest) => {
                    found.add(Code::CitationTargetLost, start, "a server tool's result is not what it was");
                }
                _ => {}
            }
            // Law 3: no blank text where there was text.
            let is_new = piece.says == Says::Nothing && was.is_none_or(|was| was.says == Says::Something);
            if is_new && !found.has(Code::EmptyText, piece.span) {
                found.add(Code::EmptyText, start, "blank where the original says something");
            }
        }
    }

    /// "clearing such a result un-loads the tool".
    fn loaded_tools(&self, gone: &mut Findings) {
        let loaded: BTreeSet<u128> = self.output.list.iter().flat_map(|piece| piece.loads.iter().copied()).collect();
        for (at, piece) in self.original.list.iter().enumerate() {
            if piece.loads.iter().any(|tool| !loaded.contains(tool)) {
                self.add_gone(gone, Code::ToolReferenceLost, at, "a tool that it loads is loaded no more");
            }
        }
    }

    /// A mark may move, but not go.
    fn marks(&self, gone: &mut Findings) {
        let mut missing: BTreeMap<u128, usize> = BTreeMap::new();
        for mark in &self.original.marks {
            *missing.entry(mark.value).or_default() += 1;
        }
        let mut carried: BTreeSet<(Option<usize>, u128)> = BTreeSet::new();
        for mark in &self.output.marks {
            carried.insert((mark.piece, mark.value));
            if let Some(count) = missing.get_mut(&mark.value) {
                *count = count.saturating_sub(1);
            }
        }
        for mark in &self.original.marks {
            let is_carried = match mark.piece {
                Some(at) => self.is(at).is_some_and(|place| carried.contains(&(Some(place), mark.value))),
                None => carried.contains(&(None, mark.value)),
            };
            if let Some(count) = missing.get_mut(&mark.value).filter(|count| **count > 0 && !is_carried) {
                *count -= 1;
                let shown_at = mark.piece.and_then(|at| self.stands_before.get(at)).copied().unwrap_or(self.output.end);
                gone.add_gone(Code::MarkLost, mark.offset, shown_at, "a cache mark is gone");
            }
        }
    }
}
