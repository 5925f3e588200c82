//! What does a body consist of, so that it can be held against another?
//!
//! A flat list in render order, from the newest compaction on: what stands before that is ignored by providers. Data and
//! its bookkeeping only; readers fill it.

use super::digest::Digest;
use crate::span::Span;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A request field that counts as prefix.
    Request,
    System,
    User,
    Reply,
    /// Reasoning tied to what stands before it.
    SignedReasoning,
    FreeReasoning,
    Call,
    Result,
    ServerResult,
    Compaction,
    Other,
}

impl Kind {
    pub(super) fn is_reasoning(self) -> bool {
        matches!(self, Self::SignedReasoning | Self::FreeReasoning)
    }
}

/// Whether a piece says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Something,
    /// Blank text and nothing beside it.
    Nothing,
}

/// One block, part, call or item.
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Place of its message in the list; request fields have none.
    pub(super) message: Option<usize>,
    /// Of all that it says, without marks.
    pub(super) digest: u128,
    /// Of what stays when it is edited: an id or a signature.
    pub(super) id: Option<u128>,
    pub(super) says: Says,
    /// Tools that it loads.
    pub(super) loads: Vec<u128>,
}

/// A mark for the prompt cache.
pub(super) struct Mark {
    pub(super) offset: usize,
    pub(super) value: u128,
    /// Place of the piece that carries it, in the list; the request's own mark has none.
    pub(super) piece: Option<usize>,
}

/// All pieces of a body.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) list: Vec<Piece>,
    pub(super) marks: Vec<Mark>,
    /// Byte after the last piece.
    pub(super) end: usize,
}

impl Pieces {
    /// Takes a mark on the newest piece.
    pub(super) fn mark(&mut self, offset: usize, value: &[u8]) {
        let piece = self.list.len().checked_sub(1);
        self.marks.push(Mark { offset, value: Digest::new().value(value).finish(), piece });
    }

    /// Drops what the newest compaction stands for.
    pub(super) fn without_compacted(mut self) -> Self {
        let Some(newest) = self.list.iter().rposition(|piece| piece.kind == Kind::Compaction) else { return self };
        let mut places = Vec::with_capacity(self.list.len());
        let mut kept = 0;
        for (place, piece) in self.list.iter().enumerate() {
            let stays = place >= newest || piece.message.is_none();
            places.push(stays.then_some(kept));
            kept += usize::from(stays);
        }
        let mut at = places.iter();
        self.list.retain(|_| at.next().is_some_and(Option::is_some));
        self.marks.retain_mut(|mark| {
            let Some(old) = mark.piece else { return true };
            mark.piece = places.get(old).copied().flatten();
            mark.piece.is_some()
        });
        self
    }
}
