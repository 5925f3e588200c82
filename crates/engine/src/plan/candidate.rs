//! What does it cost to keep one more passage of a result?
//!
//! The arithmetic of one candidate during the fill: passages counted alone, gaps at their real size.

use super::{
    desk::Desk,
    form::{self, Form, Removed, lines_piece, normalised},
    score::Score,
    state::{ResultState, in_view},
    texts::ResultTexts,
};
use crate::{
    error::Result,
    tombstone::{self, Evidence, MAX_ERROR_LINES},
};

/// One passage of a candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) part: usize,
    pub(crate) passage: usize,
    pub(crate) tokens: u64,
    pub(crate) score: Score,
    /// An earlier sweep left it.
    pub(crate) in_view: bool,
    kept: bool,
}

impl Slot {
    /// The whole of a result that intake shaped: it stays or goes as one, by its best passage.
    fn whole(result: &ResultState, scores: &[Vec<Score>]) -> Self {
        let score = scores.iter().flatten().copied().max_by_key(|score| score.value).unwrap_or_default();
        Self { part: 0, passage: 0, tokens: result.tokens.0, score, in_view: true, kept: false }
    }
}

/// A result whose passages compete for room.
pub(crate) struct Candidate<'d, 'a> {
    pub(crate) ordinal: usize,
    pub(crate) slots: Vec<Slot>,
    texts: &'d ResultTexts<'a>,
    tombstone: u64,
    /// Sums of the tokens of its first error lines.
    error_sums: Vec<u64>,
    route: u64,
    /// Tokens of a gap without its numbers.
    gap_frame: u64,
    /// What it costs as it stands: its tombstone, or its kept passages with their gaps.
    cost: i128,
}

impl<'d, 'a> Candidate<'d, 'a> {
    pub(crate) fn new(
        desk: &'d Desk<'_, 'a>,
        ordinal: usize,
        result: &ResultState,
        scores: &[Vec<Score>],
    ) -> Result<Self> {
        let texts = desk.texts(ordinal)?;
        let mut slots = Vec::new();
        let is_shaped = matches!(*result.form, Form::Shaped(_));
        if is_shaped {
            slots.push(Slot::whole(result, scores));
        }
        for (at, part) in texts.parts.iter().enumerate().filter(|_| !is_shaped) {
            let in_view = in_view(result, at, part);
            for (passage, in_view) in in_view.into_iter().enumerate() {
                let score = scores.get(at).and_then(|part| part.get(passage)).copied().unwrap_or_default();
                let tokens = if in_view { visible_tokens(desk, ordinal, result, texts, (at, passage))? } else { 0 };
                slots.push(Slot { part: at, passage, tokens, score, in_view, kept: false });
            }
        }
        let mut error_sums = vec![0];
        for line in &texts.errors {
            let tokens = desk.counter.count(&form::error_text(texts, line)).0 + 1;
            error_sums.push(error_sums.last().unwrap_or(&0) + tokens);
        }
        let tombstone = result.tombstone.unwrap_or_default().0;
        let route = desk.counter.count(&texts.route).0 + 1;
        // Digits go in groups of three, so a gap of one-digit numbers tells the rest.
        let smallest = tombstone::gap(1, 2, 3, None, &Evidence::default());
        let gap_frame = (desk.counter.count(&smallest).0 + 1).saturating_sub(3);
        Ok(Self { ordinal, slots, texts, tombstone, error_sums, route, gap_frame, cost: i128::from(tombstone) })
    }

    /// Gives what keeping one more passage costs, gaps counted in.
    pub(crate) fn price(&self, place: usize) -> i128 {
        self.cost_with(place) - self.cost
    }

    /// Keeps a passage.
    pub(crate) fn keep(&mut self, place: usize) {
        self.cost = self.cost_with(place);
        if let Some(slot) = self.slots.get_mut(place) {
            slot.kept = true;
        }
    }

    fn cost_with(&self, place: usize) -> i128 {
        let Some(slot) = self.slots.get(place) else { return self.cost };
        let run = self.run_around(place);
        let mut cost = self.cost + i128::from(slot.tokens);
        if self.kept_none() {
            // The tombstone goes; every other part, and the rest of this one, becomes a gap.
            cost -= i128::from(self.tombstone);
            cost += i128::from(self.route);
            cost += self.runs().filter(|&(from, _)| from != run.0).map(|run| self.gap_tokens(run)).sum::<i128>();
        } else {
            cost -= self.gap_tokens(run);
        }
        if run.0 < place {
            cost += self.gap_tokens((run.0, place - 1));
        }
        if place < run.1 {
            cost += self.gap_tokens((place + 1, run.1));
        }
        if run == (place, place) && self.runs().count() == 1 {
            cost -= i128::from(self.route);
        }
        cost
    }

    /// Runs of passages that are not kept, each inside one part.
    fn runs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let starts = self.slots.iter().enumerate().filter(|(at, slot)| {
            let before = at.checked_sub(1).and_then(|before| self.slots.get(before));
            !slot.kept && before.is_none_or(|before| before.kept || before.part != slot.part)
        });
        starts.map(|(at, _)| (at, self.end_of_run(at)))
    }

    fn end_of_run(&self, at: usize) -> usize {
        let part = self.slots.get(at).map(|slot| slot.part);
        let rest = self.slots.iter().enumerate().skip(at + 1);
        let end = rest.take_while(|(_, slot)| !slot.kept && Some(slot.part) == part).last();
        end.map_or(at, |(end, _)| end)
    }

    fn run_around(&self, place: usize) -> (usize, usize) {
        let part = self.slots.get(place).map(|slot| slot.part);
        let before = self.slots.get(..place).unwrap_or_default().iter().rev();
        let open = before.take_while(|slot| !slot.kept && Some(slot.part) == part).count();
        (place - open, self.end_of_run(place))
    }

    fn gap_tokens(&self, (from, to): (usize, usize)) -> i128 {
        let Some((start, end, first, last)) = self.extent(from, to) else { return 0 };
        let part = self.slots.get(from).map_or(0, |slot| slot.part);
        let counts = number_tokens(first + 1)
            + number_tokens(last + 1)
            + number_tokens(self.texts.parts.get(part).map_or(0, |part| part.lines));
        i128::from(self.gap_frame + counts + self.evidence_tokens(part, start, end))
    }

    /// Tokens of the error lines that the gap of a run keeps.
    fn evidence_tokens(&self, part: usize, start: u32, end: u32) -> u64 {
        let all = &self.texts.errors;
        let from = all.partition_point(|line| (line.part, line.start) < (part, start));
        let to = all.partition_point(|line| (line.part, line.start) < (part, end)).min(from + MAX_ERROR_LINES);
        let sum = |at: usize| self.error_sums.get(at).copied().unwrap_or_default();
        if from == to { 0 } else { sum(to) - sum(from) + EVIDENCE_FRAME_TOKENS }
    }

    /// Bytes and lines (of the part, from 0) of a run.
    fn extent(&self, from: usize, to: usize) -> Option<(u32, u32, u32, u32)> {
        let (from, to) = (self.slots.get(from)?, self.slots.get(to)?);
        let part = self.texts.parts.get(from.part)?;
        let (first, last) = (part.passages.get(from.passage)?, part.passages.get(to.passage)?);
        let last_line = last.first_line + last.lines.saturating_sub(1);
        Some((first.start, last.end, first.first_line, last_line))
    }

    /// Keeps what would be dropped for less than `min_gain`.
    pub(crate) fn keep_small_runs(&mut self, desk: &Desk<'_, '_>) {
        if self.kept_none() {
            return;
        }
        for (from, to) in self.runs().collect::<Vec<_>>() {
            let run = self.slots.get(from..=to).unwrap_or_default();
            let saved: u64 = run.iter().filter(|slot| slot.in_view).map(|slot| slot.tokens).sum();
            // A run that holds an old gap pays for no new one.
            let has_gap = run.iter().any(|slot| !slot.in_view);
            let gap = if has_gap { 0 } else { self.gap_tokens((from, to)) };
            if i128::from(saved) - gap >= i128::from(desk.policy.min_gain) {
                continue;
            }
            for slot in self.slots.get_mut(from..=to).unwrap_or_default() {
                slot.kept = slot.in_view;
            }
        }
    }

    /// Says whether no passage is kept.
    pub(crate) fn kept_none(&self) -> bool {
        self.slots.iter().all(|slot| !slot.kept)
    }

    /// Gives the best score among its passages in view.
    pub(crate) fn best(&self) -> i32 {
        self.slots.iter().filter(|slot| slot.in_view).map(|slot| slot.score.value).max().unwrap_or(i32::MIN)
    }

    /// Gives the new form, or `None` if nothing more goes.
    pub(crate) fn form(&self, result: &ResultState) -> Option<Form> {
        let mut removed: Vec<Vec<Removed>> = match result.form.as_ref() {
            Form::Cut(removed) => removed.clone(),
            Form::Whole | Form::Shaped(_) | Form::Gone | Form::Folded(_) => vec![Vec::new(); self.texts.parts.len()],
        };
        let mut changed = false;
        for slot in self.slots.iter().filter(|slot| slot.in_view && !slot.kept) {
            let part = self.texts.parts.get(slot.part)?;
            let passage = part.passages.get(slot.passage)?;
            let last = passage.first_line + passage.lines.saturating_sub(1);
            removed.get_mut(slot.part)?.push(lines_piece(passage.start, passage.end, passage.first_line, last));
            changed = true;
        }
        changed.then(|| Form::Cut(removed.into_iter().map(normalised).collect()))
    }

    /// Says in facts why passages went.
    pub(crate) fn reason(&self) -> String {
        let gone = || self.slots.iter().filter(|slot| slot.in_view && !slot.kept);
        let total = self.slots.iter().filter(|slot| slot.in_view).count();
        let said = gone().filter(|slot| slot.score.said).count();
        let stale = gone().filter(|slot| slot.score.stale && !slot.score.said).count();
        let age = self.slots.iter().map(|slot| slot.score.age).max().unwrap_or_default();
        let mut reason = format!("{} of {total} passages", gone().count());
        let mut add = |count: usize, why: &str| {
            if count > 0 {
                reason.push_str(&format!(", {count} {why}"));
            }
        };
        add(said, "said by the agent");
        add(stale, "repeated later");
        reason.push_str(&format!(", age {age}"));
        reason
    }
}

/// Tokens of a number: one for each three digits, in every vocabulary we know.
fn number_tokens(number: u32) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0) / 3 + 1)
}

/// What `; error lines:` and the count of the rest add to a gap.
const EVIDENCE_FRAME_TOKENS: u64 = 10;

/// Counts what a passage still shows, alone.
fn visible_tokens(
    desk: &Desk<'_, '_>,
    ordinal: usize,
    result: &ResultState,
    texts: &ResultTexts<'_>,
    (part, place): (usize, usize),
) -> Result<u64> {
    let Some(part_text) = texts.parts.get(part) else { return Ok(0) };
    let Some(passage) = part_text.passages.get(place) else { return Ok(0) };
    let slice = |from: u32, to: u32| part_text.text.get(from as usize..to as usize).unwrap_or_default();
    let removed: &[Removed] = match result.form.as_ref() {
        Form::Cut(parts) => parts.get(part).map(Vec::as_slice).unwrap_or_default(),
        Form::Whole | Form::Shaped(_) | Form::Gone | Form::Folded(_) => &[],
    };
    let mut cuts = removed.iter().filter(|piece| piece.start < passage.end && piece.end > passage.start).peekable();
    if cuts.peek().is_none() {
        return desk.passage_tokens(ordinal, part, place);
    }
    let mut at = passage.start;
    let mut tokens = 0;
    for piece in cuts {
        if at < piece.start {
            tokens += desk.counter.count(slice(at, piece.start)).0;
        }
        at = at.max(piece.end);
    }
    if at < passage.end {
        tokens += desk.counter.count(slice(at, passage.end)).0;
    }
    Ok(tokens)
}
