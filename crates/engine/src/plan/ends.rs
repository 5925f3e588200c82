//! Which pieces of a text go when only its beginning and end may stay?
//!
//! Used by intake (in characters) and by the last step (in tokens). Whole passages or lines, of giant lines both ends.

use super::{
    form::{GIANT_LINE_CHARS, Piece, Removed, lines_piece, normalised},
    texts::PartText,
};
use crate::intake::both_ends;

/// In what a text is measured.
pub(crate) trait Measure {
    /// Gives the size of a piece of text.
    fn size(&self, text: &str) -> u64;

    /// Gives the size if it is at most `limit`; may know without measuring that it is not.
    fn size_within(&self, text: &str, limit: u64) -> Option<u64> {
        Some(self.size(text)).filter(|&size| size <= limit)
    }
}

/// Characters.
pub(crate) struct Chars;

impl Measure for Chars {
    fn size(&self, text: &str) -> u64 {
        text.chars().count() as u64
    }
}

/// Where a text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Borders {
    /// At the passages' borders; a passage that holds a giant line, at its lines'.
    Passages,
    /// At every line.
    Lines,
}

/// A run of whole lines that goes or stays as one.
#[derive(Clone, Copy, Debug)]
struct Atom {
    start: u32,
    end: u32,
    first: u32,
    last: u32,
}

impl Atom {
    fn text<'t>(&self, part: &'t PartText<'_>) -> &'t str {
        part.text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    fn is_giant(&self, part: &PartText<'_>) -> bool {
        self.first == self.last && is_giant(self.text(part))
    }
}

fn is_giant(line: &str) -> bool {
    line.len() > GIANT_LINE_CHARS && line.chars().count() > GIANT_LINE_CHARS
}

/// Chooses what goes so that about `budget` stays: half from the beginning, half from the end.
///
/// Gaps are not charged; callers leave room for them.
pub(crate) fn keep_ends(part: &PartText<'_>, budget: u64, borders: Borders, measure: &dyn Measure) -> Vec<Removed> {
    let atoms = atoms(part, borders);
    let mut left = budget;
    let mut head = 0;
    let mut half = budget / 2;
    while let Some(atom) = atoms.get(head) {
        let Some(size) = measure.size_within(atom.text(part), half) else { break };
        half -= size;
        left -= size;
        head += 1;
    }
    let mut tail = atoms.len();
    while let Some(atom) = tail.checked_sub(1).filter(|&at| at >= head).and_then(|at| atoms.get(at)) {
        // What the beginning did not use is the end's, but a giant line next to it keeps its share.
        let share = if atoms.get(head).is_some_and(|first| first.is_giant(part)) { budget / 2 } else { budget };
        let free = left.min(share.saturating_sub(budget - left));
        let Some(size) = measure.size_within(atom.text(part), free) else { break };
        left -= size;
        tail -= 1;
    }
    let Some(middle) = atoms.get(head..tail).filter(|middle| !middle.is_empty()) else { return Vec::new() };
    cut_middle(part, middle, left, measure)
}

/// Leaves out a run of atoms, but of a giant line at either border both ends.
fn cut_middle(part: &PartText<'_>, middle: &[Atom], left: u64, measure: &dyn Measure) -> Vec<Removed> {
    let (Some(first), Some(last)) = (middle.first(), middle.last()) else { return Vec::new() };
    let mut pieces = Vec::new();
    let giants = usize::from(first.is_giant(part)) + usize::from(middle.len() > 1 && last.is_giant(part));
    let share = left / giants.max(1) as u64;
    let mut whole = middle;
    if first.is_giant(part)
        && let Some(inner) = cut_line(part, first, share, measure)
    {
        pieces.push(inner);
        whole = whole.get(1..).unwrap_or_default();
    }
    if let Some((last, rest)) = whole.split_last()
        && last.is_giant(part)
        && (whole.len() < middle.len() || middle.len() > 1)
        && let Some(inner) = cut_line(part, last, share, measure)
    {
        pieces.push(inner);
        whole = rest;
    }
    if let (Some(from), Some(to)) = (whole.first(), whole.last()) {
        pieces.push(lines_piece(from.start, to.end, from.first, to.last));
    }
    normalised(pieces)
}

/// Characters at each end below which a giant line is not worth cutting inside.
const MIN_END_CHARS: usize = 40;

fn cut_line(part: &PartText<'_>, atom: &Atom, budget: u64, measure: &dyn Measure) -> Option<Removed> {
    let line = atom.text(part).trim_end_matches(['\n', '\r']);
    let chars = line.chars().count();
    let keep = fitting_end(line, chars, budget, measure)?;
    let (head, tail) = both_ends(line, chars, keep);
    let (from, to) = (head.len(), line.len() - tail.len());
    if from >= to {
        return None;
    }
    let offset = |at: usize| atom.start + u32::try_from(at).unwrap_or(u32::MAX);
    let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let (before, after) = (count(head), count(tail));
    let what = Piece::Inner { line: atom.first, from: before, to: u32::try_from(chars).unwrap_or(u32::MAX) - after };
    Some(Removed { start: offset(from), end: offset(to), what })
}

/// Tries for a good length of both ends; each try measures about a budget's worth of text.
const MAX_TRIES: u32 = 6;

/// Finds a length of each end, in characters, with which both fit the budget.
///
/// Size is nearly proportional to length, so a few proportional steps come close; a step that is too long is cut by
/// a tenth more than proportion says.
fn fitting_end(line: &str, chars: usize, budget: u64, measure: &dyn Measure) -> Option<usize> {
    let longest = (chars / 2).saturating_sub(1);
    let mut keep = usize::try_from(budget.saturating_mul(2)).unwrap_or(usize::MAX).min(longest);
    let mut best = 0;
    for _ in 0..MAX_TRIES {
        if keep < MIN_END_CHARS {
            break;
        }
        let (head, tail) = both_ends(line, chars, keep);
        let size = measure.size(head).saturating_add(measure.size(tail)).max(1);
        let scaled = |per: u128| {
            let length = keep as u128 * u128::from(budget) * per / (u128::from(size) * 100);
            usize::try_from(length).unwrap_or(usize::MAX).min(longest)
        };
        if size > budget {
            keep = scaled(90);
            continue;
        }
        best = best.max(keep);
        let next = scaled(97);
        // Within a tenth of the best is good enough.
        if next <= best + best / 10 {
            break;
        }
        keep = next;
    }
    (best >= MIN_END_CHARS).then_some(best)
}

fn atoms(part: &PartText<'_>, borders: Borders) -> Vec<Atom> {
    let mut out = Vec::new();
    for passage in &part.passages {
        let text = part.text.get(passage.start as usize..passage.end as usize).unwrap_or_default();
        if borders == Borders::Passages && !text.split('\n').any(is_giant) {
            let last = passage.first_line + passage.lines.saturating_sub(1);
            out.push(Atom { start: passage.start, end: passage.end, first: passage.first_line, last });
            continue;
        }
        let mut start = passage.start;
        for (line, at) in text.split_inclusive('\n').zip(passage.first_line..) {
            let end = start + u32::try_from(line.len()).unwrap_or(u32::MAX);
            out.push(Atom { start, end, first: at, last: at });
            start = end;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::{passages::passages, texts::line_count},
        span::Span,
    };

    fn part(text: &str) -> PartText<'_> {
        PartText {
            literal: Span::new(0, 0),
            text: text.into(),
            passages: passages(text),
            lines: line_count(text),
            has_halves: false,
        }
    }

    fn kept(text: &str, budget: u64) -> String {
        let part = part(text);
        let mut out = String::new();
        let mut at = 0;
        for piece in keep_ends(&part, budget, Borders::Lines, &Chars) {
            out.push_str(&text[at..piece.start as usize]);
            out.push('#');
            at = piece.end as usize;
        }
        out + &text[at..]
    }

    #[test]
    fn keeps_whole_lines_of_both_ends() {
        assert_eq!(kept("one\ntwo\nthree\nfour\nfive\n", 14), "one\n#four\nfive\n");
    }

    #[test]
    fn a_giant_line_keeps_both_its_ends_and_the_short_line_after_it() {
        let text = format!("{}\nshort", "x".repeat(5_000));
        let out = kept(&text, 400);
        assert!(out.ends_with("\nshort") && out.starts_with("xxxx") && out.contains('#'), "{out}");
        assert!(out.len() <= 401);
    }

    #[test]
    fn a_family_is_not_torn_apart() {
        let text = "👨‍👩‍👧‍👦".repeat(400);
        let out = kept(&text, 500);
        let (head, tail) = out.split_once('#').unwrap();
        assert_eq!(head.len() % "👨‍👩‍👧‍👦".len(), 0);
        assert_eq!(tail.len() % "👨‍👩‍👧‍👦".len(), 0);
    }
}
