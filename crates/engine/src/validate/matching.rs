//! Which piece of the output is which piece of the original?
//!
//! In three passes, each for what the one before left: by all that a piece says, by its id, and reasoning by its place. Of
//! equal pieces the order decides, since clients use ids again. Judges nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::pieces::{Kind, Piece};

/// What two pieces must share in a pass.
type Key = (Kind, u128);

/// Who is who, both ways round.
pub(super) struct Matching {
    pub(super) to_output: Vec<Option<usize>>,
    pub(super) to_original: Vec<Option<usize>>,
}

/// Matches the pieces of two bodies, in time near their number.
pub(super) fn of(original: &[Piece], output: &[Piece]) -> Matching {
    let mut matching = Matching { to_output: vec![None; original.len()], to_original: vec![None; output.len()] };
    matching.pass(original, output, |piece| Some((piece.kind, piece.digest)));
    matching.pass(original, output, |piece| piece.id.map(|id| (piece.kind, id)));
    matching.pass(original, output, |piece| piece.kind.is_reasoning().then_some((piece.kind, 0)));
    matching
}

impl Matching {
    fn pass(&mut self, original: &[Piece], output: &[Piece], key: impl Fn(&Piece) -> Option<Key>) {
        let mut there = open(original, &self.to_output, &key);
        for (key, places) in open(output, &self.to_original, &key) {
            // As many on both sides: none of them is gone.
            if there.get(&key).is_some_and(|others| others.len() == places.len()) {
                let others = there.remove(&key).unwrap_or_default();
                others.into_iter().zip(places).for_each(|(other, place)| self.join(other, place));
            }
        }
        // Equal pieces of which some are gone: a neighbour that is known tells which. What follows comes first, since
        // reasoning belongs to it.
        for place in (0..output.len()).rev() {
            let beside = self.partner(place + 1).and_then(|next| next.checked_sub(1));
            self.join_if_open(output, place, beside, &mut there, &key);
        }
        for place in 1..output.len() {
            let beside = self.partner(place - 1).map(|last| last + 1);
            self.join_if_open(output, place, beside, &mut there, &key);
        }
        let mut last = None;
        for (place, piece) in output.iter().enumerate() {
            let others = key(piece).and_then(|key| there.get_mut(&key));
            if let Some(others) = others.filter(|_| self.partner(place).is_none()) {
                let from = last.map_or(0, |last| last + 1);
                let next = others.range(from..).next().or_else(|| others.first()).copied();
                if let Some(other) = next {
                    others.remove(&other);
                    self.join(other, place);
                }
            }
            last = self.partner(place).or(last);
        }
    }

    fn join_if_open(
        &mut self,
        output: &[Piece],
        place: usize,
        other: Option<usize>,
        open: &mut BTreeMap<Key, BTreeSet<usize>>,
        key: &impl Fn(&Piece) -> Option<Key>,
    ) {
        let others = output.get(place).and_then(key).and_then(|key| open.get_mut(&key));
        let (Some(other), Some(others), None) = (other, others, self.partner(place)) else { return };
        if others.remove(&other) {
            self.join(other, place);
        }
    }

    fn partner(&self, place: usize) -> Option<usize> {
        self.to_original.get(place).copied().flatten()
    }

    fn join(&mut self, other: usize, place: usize) {
        if let Some(slot) = self.to_output.get_mut(other) {
            *slot = Some(place);
        }
        if let Some(slot) = self.to_original.get_mut(place) {
            *slot = Some(other);
        }
    }
}

/// Gives the places of pieces without a partner.
fn open(
    pieces: &[Piece],
    partners: &[Option<usize>],
    key: &impl Fn(&Piece) -> Option<Key>,
) -> BTreeMap<Key, BTreeSet<usize>> {
    let mut open: BTreeMap<Key, BTreeSet<usize>> = BTreeMap::new();
    for (place, (piece, partner)) in pieces.iter().zip(partners).enumerate() {
        if let Some(key) = key(piece).filter(|_| partner.is_none()) {
            open.entry(key).or_default().insert(place);
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{span::Span, validate::pieces::Says};

    fn piece(kind: Kind, digest: u128) -> Piece {
        Piece { kind, span: Span::new(0, 0), message: None, digest, id: None, says: Says::Something, loads: Vec::new() }
    }

    #[test]
    fn of_equal_thoughts_the_one_beside_what_stays_is_kept() {
        let thought = || piece(Kind::FreeReasoning, 7);
        let call = |digest| piece(Kind::Call, digest);
        let original = [piece(Kind::User, 0), thought(), call(1), thought(), call(2)];
        assert_eq!(of(&original, &[piece(Kind::User, 0), thought(), call(2)]).to_original, [Some(0), Some(3), Some(4)]);
        assert_eq!(of(&original, &[piece(Kind::User, 0), thought(), call(1)]).to_original, [Some(0), Some(1), Some(2)]);
    }
}
