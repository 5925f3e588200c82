//! Which blocks fit? Buys them in an order of worth under a limit, gaps at their size.

use super::{
    Room,
    lines::Block,
    rank::{Rank, Ranks},
};

/// How a block stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It goes.
    No,
    /// All of it.
    Whole,
    /// About so many characters of a giant line, from both ends.
    Ends(usize),
}

/// Shares of the room, in tenths, that errors, then what is near them, then structure may fill before places count.
const ERROR_TENTHS: usize = 5;
const NEAR_TENTHS: usize = 6;
const STRUCTURE_TENTHS: usize = 8;
/// Shares of what is left then: beginning, end; the middle has the rest.
const BEGINNING_TENTHS: usize = 4;
const END_TENTHS: usize = 4;
/// Characters of a giant line that stay at first, at least and at most; what is left over in the end is shared out.
const MIN_ENDS: usize = 160;
const MAX_ENDS: usize = 600;
/// Characters of a gap inside a giant line, at most: `[characters A-B of line L left out]`, and its numbers.
const INNER_GAP_CHARS: usize = 70;
/// Characters of a gap of whole lines without its three numbers, the line's ending and a quote at each side counted.
const GAP_CHARS: usize = 27;

/// What stays so far.
pub(super) struct Selection<'r> {
    blocks: &'r [Block],
    /// What each block is worth.
    ranks: Vec<Rank>,
    kept: Vec<Kept>,
    /// Whether both ends of a giant line may stay.
    may_clip: bool,
    gap_chars: usize,
    room: Room,
    chars: usize,
    lines: usize,
}

impl<'r> Selection<'r> {
    pub(super) fn of(ranks: &'r Ranks, lines: usize, room: &Room, may_clip: bool) -> Self {
        let digits = lines.max(1).ilog10() as usize + 1;
        let gap_chars = GAP_CHARS + 3 * digits;
        // One gap stands for all, as long as nothing stays.
        Self {
            blocks: &ranks.blocks,
            ranks: ranks.blocks.iter().map(|block| ranks.of_block(block)).collect(),
            kept: vec![Kept::No; ranks.blocks.len()],
            may_clip,
            gap_chars,
            room: *room,
            chars: gap_chars,
            lines: 1,
        }
    }

    /// Beginning, end and middle.
    pub(super) fn layered(&mut self) {
        self.rank(|rank| rank == Rank::Heading, 10);
        self.places();
    }

    /// Errors and structure, and the first and last lines; all places where there is neither.
    pub(super) fn outline(&mut self) {
        self.rank(|rank| rank == Rank::Heading, 10);
        let before = self.count();
        self.errors(ERROR_TENTHS);
        self.structure(10);
        self.errors(10);
        if self.count() == before {
            return self.places();
        }
        let last = self.kept.len().saturating_sub(1);
        self.keep(0, 10);
        self.keep(last, 10);
    }

    /// Errors, then structure, each up to a share, then places, then what is left of the first two.
    pub(super) fn by_rank(&mut self) {
        self.rank(|rank| rank == Rank::Heading, 10);
        self.errors(ERROR_TENTHS);
        self.rank(|rank| rank == Rank::Near, NEAR_TENTHS);
        self.structure(STRUCTURE_TENTHS);
        self.places();
        self.errors(10);
        self.structure(10);
    }

    fn count(&self) -> usize {
        self.kept.iter().filter(|kept| **kept != Kept::No).count()
    }

    /// Verdicts, then errors from both ends: the first tells the cause, the last what it came to.
    fn errors(&mut self, tenths: usize) {
        for wanted in [Rank::Verdict, Rank::Evidence] {
            let mut places = self.places_of(|rank| rank == wanted);
            while let Some(first) = places.pop_front() {
                self.keep(first, tenths);
                if let Some(last) = places.pop_back() {
                    self.keep(last, tenths);
                }
            }
        }
    }

    /// Structure, the upper levels first.
    fn structure(&mut self, tenths: usize) {
        let mut places: Vec<(Rank, usize)> = self
            .places_of(|rank| matches!(rank, Rank::Structure(_)))
            .into_iter()
            .filter_map(|at| Some((*self.ranks.get(at)?, at)))
            .collect();
        places.sort_unstable();
        for (_, at) in places {
            self.keep(at, tenths);
        }
    }

    fn rank(&mut self, wanted: impl Fn(Rank) -> bool, tenths: usize) {
        for at in self.places_of(wanted) {
            self.keep(at, tenths);
        }
    }

    fn places_of(&self, wanted: impl Fn(Rank) -> bool) -> std::collections::VecDeque<usize> {
        let ranks = self.ranks.iter().enumerate();
        ranks.filter(|(_, rank)| wanted(**rank)).map(|(at, _)| at).collect()
    }

    /// Beginning and end, then the middle outwards, then more of the beginning.
    fn places(&mut self) {
        let left = self.room.chars.saturating_sub(self.chars);
        let lines_left = self.room.lines.saturating_sub(self.lines);
        let (chars, lines) = (self.chars, self.lines);
        let upto = |tenths: usize| {
            let share = |left: usize| (left / 10).saturating_mul(tenths);
            (chars.saturating_add(share(left)), lines.saturating_add(share(lines_left)).saturating_add(1))
        };
        let count = self.kept.len();
        self.run(0..count, upto(BEGINNING_TENTHS));
        self.run((0..count).rev(), upto(BEGINNING_TENTHS + END_TENTHS));
        let all = (self.room.chars, self.room.lines);
        let middle = count / 2;
        let after = self.run(middle..count, half_up(upto(BEGINNING_TENTHS + END_TENTHS), all));
        if after {
            self.run((0..middle).rev(), all);
        }
        self.run(0..count, all);
        self.run((0..count).rev(), all);
    }

    /// Keeps blocks in order until one does not fit; says whether it kept any.
    fn run(&mut self, places: impl Iterator<Item = usize>, limits: (usize, usize)) -> bool {
        let mut any = false;
        for at in places {
            if self.kept.get(at).is_some_and(|kept| *kept != Kept::No) {
                continue;
            }
            if !self.keep_within(at, limits) {
                break;
            }
            any = true;
        }
        any
    }

    fn keep(&mut self, at: usize, tenths: usize) {
        let share = |all: usize| if tenths == 10 { all } else { (all / 10).saturating_mul(tenths) };
        self.keep_within(at, (share(self.room.chars), share(self.room.lines)));
    }

    /// Keeps a block if it fits, of a giant line both ends; says whether it stays.
    fn keep_within(&mut self, at: usize, (chars, lines): (usize, usize)) -> bool {
        let Some(block) = self.blocks.get(at) else { return false };
        if self.kept.get(at).is_none_or(|kept| *kept != Kept::No) {
            return true;
        }
        let is_open = |at: Option<usize>| at.and_then(|at| self.kept.get(at)).is_some_and(|kept| *kept == Kept::No);
        let gaps = usize::from(is_open(at.checked_sub(1))) + usize::from(is_open(Some(at + 1)));
        let with = |size: usize| (self.chars + size + gaps * self.gap_chars).saturating_sub(self.gap_chars);
        let lines_with = (self.lines + block.lines() + gaps).saturating_sub(1);
        if lines_with > lines.min(self.room.lines) {
            return false;
        }
        let ends = (self.room.chars / 4).clamp(MIN_ENDS, MAX_ENDS);
        let (kept, size) = match block.is_giant() && self.may_clip && with(block.chars) > chars {
            true => (Kept::Ends(ends), ends + INNER_GAP_CHARS),
            false => (Kept::Whole, block.chars),
        };
        if with(size) > chars.min(self.room.chars) {
            return false;
        }
        self.chars = with(size);
        self.lines = lines_with;
        if let Some(place) = self.kept.get_mut(at) {
            *place = kept;
        }
        true
    }

    /// Fills gaps that are no shorter than what they stand for, and shares out what is left among giant lines.
    pub(super) fn finish(mut self) -> Vec<Kept> {
        let mut at = 0;
        while at < self.kept.len() {
            let end =
                (at..self.kept.len()).find(|&end| self.kept.get(end) != Some(&Kept::No)).unwrap_or(self.kept.len());
            let run = self.blocks.get(at..end).unwrap_or_default();
            let chars: usize = run.iter().map(|block| block.chars).sum();
            let lines: usize = run.iter().map(Block::lines).sum();
            let has_lines = (self.lines + lines).saturating_sub(1) <= self.room.lines;
            if end > at && chars <= self.gap_chars && has_lines {
                self.lines = (self.lines + lines).saturating_sub(1);
                self.kept.get_mut(at..end).unwrap_or_default().fill(Kept::Whole);
                self.chars = (self.chars + chars).saturating_sub(self.gap_chars);
            }
            at = end.max(at + 1);
        }
        let clipped = self.kept.iter().filter(|kept| matches!(kept, Kept::Ends(_))).count();
        let more = self.room.chars.saturating_sub(self.chars).checked_div(clipped).unwrap_or(0);
        for kept in &mut self.kept {
            if let Kept::Ends(chars) = kept {
                *chars += more;
            }
        }
        self.kept
    }
}

/// The middle between two limits.
fn half_up(from: (usize, usize), to: (usize, usize)) -> (usize, usize) {
    let half = |from: usize, to: usize| from + to.saturating_sub(from) / 2;
    (half(from.0, to.0), half(from.1, to.1))
}
