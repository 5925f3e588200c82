//! Into how many tokens does byte-pair encoding merge a piece?
//!
//! The rule itself: of all neighbours whose bytes together are a token, merge the pair of lowest rank, the leftmost of
//! these first, until none is left. It never keeps the tokens, only where they end.

use std::collections::BTreeMap;

use crate::{
    memory::{PairMemory, PieceKey, PieceMemory},
    vocabulary::{NO_TOKEN, Vocabulary},
};

/// Up to this many bytes a look through all pairs for the lowest is faster than keeping them in order.
const SHORT_BYTES: usize = 48;

/// New bytes that one window of a long piece takes in: its lists stay in the fastest cache.
const WINDOW_BYTES: usize = 2_048;

/// Tokens at the end of a window that are merged again with the next one, as what follows may change them.
const UNSETTLED_TOKENS: usize = 4;

/// Ends of tokens that room is kept for (half a megabyte a thread): longer pieces are rare, and theirs goes back.
const KEPT_ENDS: usize = 1 << 16;

/// Counts the tokens of pieces; keeps its room, and what it met, from one piece to the next.
#[derive(Default)]
pub(crate) struct Merger {
    known: PieceMemory,
    pairs: PairMemory,
    /// Where each part of a short piece begins, and the rank of the pair it forms with the next part.
    parts: Vec<(usize, u32)>,
    window: Window,
    /// The two tokens at the border of two windows.
    border: Window,
    /// Where the tokens of a long piece end, as far as they are settled.
    ends: Vec<usize>,
}

impl Merger {
    /// Counts the tokens of the piece `text[from..to]`.
    #[inline]
    pub(crate) fn count(&mut self, vocabulary: &Vocabulary, text: &[u8], from: usize, to: usize) -> u64 {
        let Some(key) = PieceKey::of(vocabulary, text, from, to) else {
            return self.count_unknown(vocabulary, text, from, to);
        };
        if let Some(count) = self.known.count(key) {
            return count;
        }
        let count = self.count_unknown(vocabulary, text, from, to);
        self.known.remember(key, count);
        count
    }

    fn count_unknown(&mut self, vocabulary: &Vocabulary, text: &[u8], from: usize, to: usize) -> u64 {
        let len = to.saturating_sub(from);
        if len <= 1 || vocabulary.rank(text, from, to) != NO_TOKEN {
            return u64::from(len > 0);
        }
        if len <= SHORT_BYTES {
            return self.count_short(vocabulary, text, from, to);
        }
        let count = self.count_long(vocabulary, text, from, to);
        self.ends.clear();
        self.ends.shrink_to(KEPT_ENDS);
        count
    }

    fn count_short(&mut self, vocabulary: &Vocabulary, text: &[u8], from: usize, to: usize) -> u64 {
        let parts = &mut self.parts;
        parts.clear();
        parts.extend((from..to - 1).map(|at| (at, vocabulary.pair_rank(text, at))));
        // The last part forms no pair; the end stands as a part of its own, so that each part's end is the next one's start.
        parts.extend([(to - 1, NO_TOKEN), (to, NO_TOKEN)]);
        let rank_at = |parts: &[(usize, u32)], at: usize| match (parts.get(at), parts.get(at + 2)) {
            (Some((start, _)), Some((end, _))) => vocabulary.rank(text, *start, *end),
            _ => NO_TOKEN,
        };
        loop {
            let lowest = parts.iter().enumerate().min_by_key(|(_, (_, rank))| *rank);
            let Some((at, _)) = lowest.filter(|(_, (_, rank))| *rank != NO_TOKEN) else { break };
            parts.remove(at + 1);
            for changed in [at.checked_sub(1), Some(at)].into_iter().flatten() {
                let rank = rank_at(parts, changed);
                if let Some(part) = parts.get_mut(changed) {
                    part.1 = rank;
                }
            }
        }
        parts.len() as u64 - 1
    }

    /// Merges a long piece window by window.
    ///
    /// A row of tokens is what merging the whole gives if each two neighbours are what merging these two gives. So a
    /// window may begin at a token's end, and is right if its first token and the one before it stay apart; else it
    /// begins earlier. What follows reaches back along pairs whose ranks fall from left to right, and no such chain over
    /// letters or signs has more than 60 characters in these vocabularies; so beginning earlier is rare and the whole
    /// takes time near the piece's length.
    fn count_long(&mut self, vocabulary: &Vocabulary, text: &[u8], from: usize, to: usize) -> u64 {
        self.ends.clear();
        let mut taken = from;
        while taken < to {
            taken = (taken + WINDOW_BYTES).min(to);
            let mut unsettled = UNSETTLED_TOKENS;
            loop {
                self.ends.truncate(self.ends.len().saturating_sub(unsettled));
                let start = self.ends.last().copied().unwrap_or(from);
                self.window.merge(vocabulary, &mut self.pairs, text, start, taken);
                if self.border_holds(vocabulary, text, from) {
                    break;
                }
                unsettled *= 2;
            }
            self.ends.extend_from_slice(&self.window.ends);
        }
        self.ends.len() as u64
    }

    /// Tells whether the last settled token and the window's first one stay apart when these two are merged.
    fn border_holds(&mut self, vocabulary: &Vocabulary, text: &[u8], from: usize) -> bool {
        let (Some(&middle), Some(&end)) = (self.ends.last(), self.window.ends.first()) else { return true };
        let start = self.ends.iter().rev().nth(1).copied().unwrap_or(from);
        self.border.merge(vocabulary, &mut self.pairs, text, start, end);
        self.border.ends == [middle, end]
    }
}

/// A stretch of text that is merged at one go; its parts are linked both ways by their first bytes.
#[derive(Default)]
struct Window {
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Rank of the pair that begins at a byte; `NO_TOKEN` also where no part begins any more.
    rank: Vec<u32>,
    /// The token that each part is.
    token: Vec<u32>,
    /// Where pairs of a rank begin. One whose rank has changed since is passed over.
    waiting: BTreeMap<u32, Vec<u32>>,
    /// Lists that are no longer in use, for reuse.
    spare: Vec<Vec<u32>>,
    /// Where the tokens end, as places in the text.
    ends: Vec<usize>,
}

impl Window {
    /// Merges `text[from..to]` and notes the ends of its tokens.
    fn merge(&mut self, vocabulary: &Vocabulary, pairs: &mut PairMemory, text: &[u8], from: usize, to: usize) {
        let len = u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX);
        self.fill(vocabulary, text, from, len);
        while let Some((rank, mut places)) = self.waiting.pop_first() {
            if !places.is_sorted() {
                places.sort_unstable();
            }
            for done in 0..places.len() {
                let at = get(&places, u32::try_from(done).unwrap_or(u32::MAX));
                if get(&self.rank, at) != rank {
                    continue;
                }
                let lowest = self.merge_pair(vocabulary, pairs, text, from, at, rank);
                // A pair of lower rank goes first, then the rest of this rank.
                if lowest < rank {
                    places.drain(..=done);
                    self.waiting.insert(rank, std::mem::take(&mut places));
                    break;
                }
            }
            places.clear();
            self.spare.push(places);
        }
        self.ends.clear();
        let mut at = 0;
        while at < len {
            at = get(&self.next, at);
            self.ends.push(from + at as usize);
        }
    }

    /// Merges the part at `at` with the next one into the token of this rank; gives the lower rank of the two new pairs.
    fn merge_pair(
        &mut self,
        vocabulary: &Vocabulary,
        pairs: &mut PairMemory,
        text: &[u8],
        from: usize,
        at: u32,
        rank: u32,
    ) -> u32 {
        let middle = get(&self.next, at);
        let end = get(&self.next, middle);
        set(&mut self.next, at, end);
        set(&mut self.previous, end, at);
        set(&mut self.rank, middle, NO_TOKEN);
        set(&mut self.token, at, rank);
        let ahead = self.rank_pair(vocabulary, pairs, text, from, at);
        if at == 0 {
            return ahead;
        }
        ahead.min(self.rank_pair(vocabulary, pairs, text, from, get(&self.previous, at)))
    }

    /// Makes each byte a part of its own.
    fn fill(&mut self, vocabulary: &Vocabulary, text: &[u8], from: usize, len: u32) {
        self.next.clear();
        self.next.extend(1..=len);
        self.previous.clear();
        self.previous.extend((0..len).map(|at| at.saturating_sub(1)));
        self.rank.clear();
        self.rank.extend((1..len).map(|second| vocabulary.pair_rank(text, from + second as usize - 1)));
        self.rank.push(NO_TOKEN);
        self.token.clear();
        self.token.extend((0..len as usize).map(|at| vocabulary.rank(text, from + at, from + at + 1)));
        self.waiting.clear();
        for at in 0..len {
            self.wait(get(&self.rank, at), at);
        }
    }

    fn wait(&mut self, rank: u32, at: u32) {
        if rank != NO_TOKEN {
            let spare = &mut self.spare;
            self.waiting.entry(rank).or_insert_with(|| spare.pop().unwrap_or_default()).push(at);
        }
    }

    /// Ranks the pair at `at` anew and lets it wait for its turn.
    fn rank_pair(&mut self, vocabulary: &Vocabulary, pairs: &mut PairMemory, text: &[u8], from: usize, at: u32) -> u32 {
        let middle = get(&self.next, at);
        // The last part has no next one: `get` then gives a place past any window.
        let rank = match get(&self.next, middle) {
            u32::MAX => NO_TOKEN,
            end => pairs.rank(vocabulary, get(&self.token, at), get(&self.token, middle), || {
                vocabulary.rank(text, from + at as usize, from + end as usize)
            }),
        };
        set(&mut self.rank, at, rank);
        self.wait(rank, at);
        rank
    }
}

fn get(list: &[u32], at: u32) -> u32 {
    list.get(at as usize).copied().unwrap_or(u32::MAX)
}

fn set(list: &mut [u32], at: u32, value: u32) {
    if let Some(place) = list.get_mut(at as usize) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{CL100K, O200K};

    /// Runs of few different characters, which merge into long tokens and change them late.
    fn pieces(lens: impl Iterator<Item = usize> + Clone) -> Vec<Vec<u8>> {
        let alphabets: [&[u8]; 8] = [b"a", b" ", b"-", b"ab", b"-=", b" \t", b"eothrs", b"\xe5\xad\x97\xe4"];
        let mut state = 1_u32;
        let mut draw = |alphabet: &[u8]| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            alphabet[(state >> 16) as usize % alphabet.len()]
        };
        let shapes = alphabets.iter().flat_map(|alphabet| lens.clone().map(move |len| (alphabet, len)));
        shapes.map(|(alphabet, len)| (0..len).map(|_| draw(alphabet)).collect()).collect()
    }

    #[test]
    fn long_and_short_pieces_merge_by_the_same_rule() {
        let (mut merger, mut window) = (Merger::default(), Window::default());
        for vocabulary in [&O200K, &CL100K] {
            for piece in pieces(2..120) {
                window.merge(vocabulary, &mut merger.pairs, &piece, 0, piece.len());
                let short = merger.count_short(vocabulary, &piece, 0, piece.len());
                assert_eq!(short, window.ends.len() as u64, "{piece:?}");
            }
        }
    }

    #[test]
    fn many_windows_give_the_tokens_of_one() {
        let (mut merger, mut whole) = (Merger::default(), Window::default());
        for vocabulary in [&O200K, &CL100K] {
            for piece in pieces((1..6).map(|times| times * WINDOW_BYTES + times * 331)) {
                whole.merge(vocabulary, &mut merger.pairs, &piece, 0, piece.len());
                merger.count_long(vocabulary, &piece, 0, piece.len());
                assert_eq!(merger.ends, whole.ends, "{:?}", &piece[..40]);
            }
        }
    }

    #[test]
    fn room_of_a_giant_piece_is_given_back() {
        let mut merger = Merger::default();
        let giant = b"ab".repeat(10 * KEPT_ENDS);
        assert!(merger.count(&O200K, &giant, 0, giant.len()) > 2 * KEPT_ENDS as u64);
        assert!(merger.ends.capacity() <= 2 * KEPT_ENDS);
    }

    #[test]
    fn nothing_has_no_tokens_and_a_byte_has_one() {
        assert_eq!(Merger::default().count(&O200K, b"", 0, 0), 0);
        assert_eq!(Merger::default().count(&O200K, b"\xff", 0, 1), 1);
    }
}
