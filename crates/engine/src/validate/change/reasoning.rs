//! Is reasoning still what it was, where it was, behind what it was tied to?
//!
//! `wire-formats.md`: section 0, rule 2; section 0a; "Thinking" in section 1; "Reasoning adjacency" in section 3.

use std::collections::BTreeSet;

use super::{Change, Epoch};
use crate::transcript::WireFormat;
use crate::validate::code::Code;
use crate::validate::defect::Findings;
use crate::validate::pieces::{Kind, Piece};

impl Change<'_> {
    pub(super) fn reasoning(&self, found: &mut Findings, gone: &mut Findings) {
        self.reasoning_kept(found);
        self.reasoning_lost(gone);
        self.first_edit(found);
    }

    /// "go back verbatim, in order".
    fn reasoning_kept(&self, found: &mut Findings) {
        let mut newest = None;
        for (place, piece) in self.output.list.iter().enumerate() {
            if !piece.kind.is_reasoning() {
                continue;
            }
            let start = piece.span.start();
            let Some((at, was)) = self.was(place) else {
                found.add(Code::ReasoningEdited, start, "reasoning that the original does not hold");
                continue;
            };
            if was.digest != piece.digest {
                found.add(Code::ReasoningEdited, start, "reasoning is not what it was");
            }
            if newest > Some(at) {
                found.add(Code::ReasoningReordered, start, "reasoning stands after what it stood before");
            } else {
                self.follower(at, place, start, found);
            }
            newest = newest.max(Some(at));
        }
    }

    fn follower_was(&self, at: usize) -> Option<usize> {
        self.original_followers.get(at).copied().flatten()
    }

    /// Checks that what followed kept reasoning still does.
    fn follower(&self, at: usize, place: usize, start: usize, found: &mut Findings) {
        let Some(follower) = self.follower_was(at) else { return };
        let message = |at: usize| self.original.list.get(at).and_then(|piece| piece.message);
        let kept = self.is(follower);
        let still_follows = kept.is_some() && kept == self.output_followers.get(place).copied().flatten();
        match self.format {
            // "a reasoning item with an id needs its following item".
            WireFormat::OpenaiResponses if !still_follows => {
                found.add(Code::ReasoningWithoutFollower, start, "its item no longer follows");
            }
            // A block of the same message that stays must stay behind its thinking.
            WireFormat::Anthropic if message(follower) == message(at) && kept.is_some_and(|kept| kept < place) => {
                found.add(Code::ReasoningReordered, start, "reasoning stands after what it stood before");
            }
            WireFormat::Anthropic | WireFormat::OpenaiChat | WireFormat::OpenaiResponses => {}
        }
    }

    fn reasoning_lost(&self, gone: &mut Findings) {
        let declared = self.epoch == Epoch::Declared;
        let kept_messages = self.kept_messages();
        // Place after the last text of the user: there the current tool loop begins.
        let loop_start =
            self.original.list.iter().rposition(|piece| piece.kind == Kind::User).map_or(0, |last| last + 1);
        let mut leading = true;
        for (at, piece) in self.original.list.iter().enumerate() {
            if !piece.kind.is_reasoning() {
                continue;
            }
            if self.is(at).is_some() {
                leading = false;
                continue;
            }
            let goes_whole = declared && piece.message.is_none_or(|message| !kept_messages.contains(&message));
            match self.format {
                // Whole messages go by a declared sweep; of others thinking goes outside the current loop, and a
                // "leading run (oldest first)" at any time.
                WireFormat::Anthropic => {
                    let may_go = at < loop_start && (declared || leading);
                    if !may_go && !goes_whole {
                        self.add_gone(gone, Code::ReasoningLost, at, "thinking is gone");
                    }
                }
                // Some models want it back inside a tool loop (unproven), so it stays as long as its message.
                WireFormat::OpenaiChat => {
                    if !goes_whole {
                        self.add_gone(gone, Code::ReasoningLost, at, "reasoning is gone");
                    }
                }
                WireFormat::OpenaiResponses => self.item_lost(at, gone),
            }
        }
    }

    /// Messages of the original of which something is left beside reasoning.
    fn kept_messages(&self) -> BTreeSet<usize> {
        let all = self.original.list.iter().zip(&self.matching.to_output);
        let kept = all.filter(|(piece, place)| place.is_some() && !piece.kind.is_reasoning());
        kept.filter_map(|(piece, _)| piece.message).collect()
    }

    /// "Remove or keep the pair."
    fn item_lost(&self, at: usize, gone: &mut Findings) {
        let follower = self.follower_was(at);
        let kind = follower.and_then(|follower| self.original.list.get(follower)).map(|piece| piece.kind);
        let is_kept = follower.is_some_and(|follower| self.is(follower).is_some());
        if is_kept && kind == Some(Kind::Call) {
            self.add_gone(gone, Code::CallWithoutItsReasoning, at, "a call stays without its reasoning");
        } else if is_kept || follower.is_none() || self.epoch == Epoch::Undeclared {
            self.add_gone(gone, Code::ReasoningLost, at, "reasoning is gone");
        }
    }

    /// "Never edit before the last signed/encrypted reasoning item except as a planned sweep."
    fn first_edit(&self, found: &mut Findings) {
        let last = self.output.list.iter().rposition(|piece| piece.kind == Kind::SignedReasoning);
        let Some(last) = last.filter(|_| self.epoch == Epoch::Undeclared) else { return };
        let mut at = 0;
        let mut leading = true;
        for (place, piece) in self.output.list.iter().enumerate().take(last + 1) {
            // A leading run of thinking may go.
            while leading && self.is_lost_thinking(at) {
                at += 1;
            }
            // Edited reasoning has a code of its own; here it only has to stand where it stood.
            let is_same = match self.was(place) {
                Some((was, _)) if piece.kind.is_reasoning() => was == at,
                _ => self.original.list.get(at).is_some_and(|was| was.digest == piece.digest),
            };
            if !is_same {
                let code = Code::EditBeforeSignedReasoningWithoutEpoch;
                found.add(code, piece.span.start(), "the first change, and signed reasoning stands behind it");
                return;
            }
            leading &= piece.kind != Kind::SignedReasoning;
            at += 1;
        }
    }

    fn is_lost_thinking(&self, at: usize) -> bool {
        let is_thinking = self.original.list.get(at).is_some_and(|piece| piece.kind == Kind::SignedReasoning);
        self.format == WireFormat::Anthropic && is_thinking && self.is(at).is_none()
    }
}

/// Finds, for each piece, what follows it beside reasoning; from the end, since runs of reasoning may be long.
pub(super) fn followers(pieces: &[Piece]) -> Vec<Option<usize>> {
    let mut next = None;
    let mut followers: Vec<Option<usize>> = Vec::with_capacity(pieces.len());
    for (place, piece) in pieces.iter().enumerate().rev() {
        followers.push(next);
        if !piece.kind.is_reasoning() {
            next = Some(place);
        }
    }
    followers.reverse();
    followers
}
