//! Which lines stay? A text as lines and blocks of lines that stay or go as one, and the choice among them.

use unicode_segmentation::GraphemeCursor;

use super::{
    GIANT_LINE_CHARS, Piece, Removed, Request, Room,
    rank::{self, Ranks},
    select::{Kept, Selection},
};
use crate::{content::ContentKind, policy::Strategy};

/// A line by its place in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: u32,
    /// After its `\n`.
    pub(super) end: u32,
    /// Characters, the `\n` counted.
    pub(super) chars: u32,
}

/// A text as lines.
pub(super) struct Lines<'t> {
    pub(super) text: &'t str,
    pub(super) all: Vec<Line>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut start = 0_u32;
        let all = text.split_inclusive('\n').map(|line| {
            let end = start + u32::try_from(line.len()).unwrap_or(u32::MAX);
            let chars = u32::try_from(line.chars().count()).unwrap_or(u32::MAX);
            let line = Line { start, end, chars };
            start = end;
            line
        });
        Self { text, all: all.collect() }
    }

    /// Gives a line without its ending.
    pub(super) fn text(&self, at: usize) -> &'t str {
        let line = self.all.get(at).and_then(|line| self.text.get(line.start as usize..line.end as usize));
        without_end(line.unwrap_or_default())
    }
}

/// Leaves out what ends a line.
fn without_end(line: &str) -> &str {
    let ends = line.bytes().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    line.get(..line.len() - ends).unwrap_or_default()
}

/// Counts lines as `\n` ends them; a last line without an ending counts.
pub(crate) fn line_count(text: &str) -> u32 {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let open = usize::from(!text.is_empty() && !text.ends_with('\n'));
    u32::try_from(ends + open).unwrap_or(u32::MAX)
}

/// Some whole lines, from 0, both included, that stay or go as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) chars: usize,
}

impl Block {
    pub(super) fn lines(&self) -> usize {
        self.last - self.first + 1
    }

    /// Whether it is one line of which both ends may stay.
    pub(super) fn is_giant(&self) -> bool {
        self.first == self.last && self.chars > GIANT_LINE_CHARS + 1
    }
}

/// Chooses which lines of a text go.
pub(super) fn cut(request: &Request<'_>, room: &Room) -> Vec<Removed> {
    let lines = Lines::of(request.text);
    let ranks = rank::of(request, &lines);
    let kept = choose(request, &lines, &ranks, room);
    if !kept.any_whole_hunk && request.kind == ContentKind::Diff {
        // No hunk is small enough to stay whole, so lines of them stay.
        let ranks = Ranks { blocks: rank::single_lines(&lines), ..rank::of(request, &lines) };
        return pieces(&lines, &choose(request, &lines, &ranks, room).kept);
    }
    pieces(&lines, &kept.kept)
}

/// What was chosen.
struct Chosen {
    kept: Vec<(Block, Kept)>,
    any_whole_hunk: bool,
}

fn choose(request: &Request<'_>, lines: &Lines<'_>, ranks: &Ranks, room: &Room) -> Chosen {
    let mut selection = Selection::of(ranks, lines.all.len(), room, request.kind != ContentKind::JsonLines);
    match request.shape.strategy {
        Strategy::Layered => selection.layered(),
        Strategy::Outline => selection.outline(),
        Strategy::Keep | Strategy::ByType | Strategy::HeadSummary | Strategy::Summary => selection.by_rank(),
    }
    let kept = selection.finish();
    let blocks = || ranks.blocks.iter().copied().zip(kept.iter().copied());
    let any_whole_hunk = blocks().any(|(block, kept)| block.lines() > 1 && kept == Kept::Whole);
    Chosen { kept: blocks().collect(), any_whole_hunk }
}

/// Writes the choice as pieces that go.
fn pieces(lines: &Lines<'_>, kept: &[(Block, Kept)]) -> Vec<Removed> {
    let mut out: Vec<Removed> = Vec::new();
    let mut is_open = false;
    for (block, kept) in kept {
        let (Some(first), Some(last)) = (lines.all.get(block.first), lines.all.get(block.last)) else { continue };
        let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        match (kept, out.last_mut()) {
            (Kept::No, Some(open)) if is_open => {
                open.end = last.end;
                if let Piece::Lines { last, .. } = &mut open.what {
                    *last = index(block.last);
                }
            }
            (Kept::No, _) => {
                let what = Piece::Lines { first: index(block.first), last: index(block.last) };
                out.push(Removed { start: first.start, end: last.end, what });
            }
            (Kept::Ends(chars), _) => out.extend(inner(lines, block.first, first.start, *chars)),
            (Kept::Whole, _) => {}
        }
        is_open = *kept == Kept::No;
    }
    out
}

/// Leaves out the middle of a giant line so that about `chars` characters of it stay.
fn inner(lines: &Lines<'_>, at: usize, start: u32, chars: usize) -> Option<Removed> {
    let line = lines.text(at);
    let total = line.chars().count();
    let (head, tail) = both_ends(line, total, (chars / 2).min(total / 2));
    let (from, to) = (head.len(), line.len() - tail.len());
    let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let offset = |at: usize| start + u32::try_from(at).unwrap_or(u32::MAX);
    let what = Piece::Inner {
        line: u32::try_from(at).unwrap_or(u32::MAX),
        from: count(head),
        to: u32::try_from(total).unwrap_or(u32::MAX) - count(tail),
    };
    (from < to).then(|| Removed { start: offset(from), end: offset(to), what })
}

/// Gives both ends of a line, at most `keep` characters each, on borders that a reader would not see as a tear.
pub(crate) fn both_ends(line: &str, chars: usize, keep: usize) -> (&str, &str) {
    let at = |n: usize| line.char_indices().nth(n).map_or(line.len(), |(at, _)| at);
    let (head, tail) = (at(keep), at(chars.saturating_sub(keep)));
    let border = |at: usize| GraphemeCursor::new(at, line.len(), true);
    let is_border = |at: usize| border(at).is_boundary(line, 0).unwrap_or(false);
    let head = if is_border(head) { head } else { border(head).prev_boundary(line, 0).ok().flatten().unwrap_or(0) };
    let tail =
        if is_border(tail) { tail } else { border(tail).next_boundary(line, 0).ok().flatten().unwrap_or(line.len()) };
    (line.get(..head).unwrap_or_default(), line.get(tail..).unwrap_or_default())
}
