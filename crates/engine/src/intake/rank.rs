//! What is each line of a text worth before its place counts? Verdicts and errors, then structure, by kind of content.

use std::collections::BTreeSet;

use super::{
    Request,
    lines::{Block, Lines},
};
use crate::{
    content::{ContentKind, code, delimited, diff, frames, hits, line, listing, log, markdown, table, tests},
    tools,
};

/// What a line is, the worthiest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// What names the columns of the rows below it.
    Heading,
    /// What a run came to.
    Verdict,
    /// What tells of a failure.
    Evidence,
    /// What stands right behind that.
    Near,
    /// What the text is made of, the deeper the higher the number.
    Structure(u8),
    /// Anything else: its place decides.
    Other,
}

/// Lines behind an error that most likely belong to it.
const NEAR_LINES: usize = 2;
/// Lines at the beginning of a table in which its heading and the rule under it stand.
const HEADING_LINES: usize = 4;
/// Lines over which a quoted cell may go on: more are no cell.
const MAX_ROW_LINES: usize = 60;
/// What opens a line of markup that is part of an outline.
const MARKUP_HEADINGS: [&str; 8] = ["<title", "<h1", "<h2", "<h3", "<h4", "<head", "<body", "<table"];

/// A text's blocks, and what each is worth.
pub(super) struct Ranks {
    pub(super) blocks: Vec<Block>,
    /// By line.
    pub(super) lines: Vec<Rank>,
}

impl Ranks {
    /// Gives the rank of a block: that of its worthiest line.
    pub(super) fn of_block(&self, block: &Block) -> Rank {
        let lines = self.lines.get(block.first..=block.last).unwrap_or_default();
        lines.iter().copied().min().unwrap_or(Rank::Other)
    }
}

/// Ranks the lines of a text.
pub(super) fn of(request: &Request<'_>, lines: &Lines<'_>) -> Ranks {
    let kind = request.kind;
    let has_news = kind.tells_of_a_run() || request.tells_of_a_run;
    let mut ranks = own(kind, lines);
    if has_news {
        mark_evidence(lines, &mut ranks);
        mark_near(&mut ranks);
    }
    let blocks = match kind {
        ContentKind::Diff => hunks(lines),
        ContentKind::Delimited => quoted_rows(lines),
        ContentKind::Source(_)
        | ContentKind::StackTrace
        | ContentKind::Tests(_)
        | ContentKind::BuildLog
        | ContentKind::Log
        | ContentKind::Json
        | ContentKind::JsonLines
        | ContentKind::Markup
        | ContentKind::Markdown
        | ContentKind::Listing
        | ContentKind::Hits
        | ContentKind::Table
        | ContentKind::Blob
        | ContentKind::Terminal
        | ContentKind::Mixed
        | ContentKind::Plain => single_lines(lines),
    };
    Ranks { blocks, lines: ranks }
}

/// Ranks each line by what its kind makes of it.
fn own(kind: ContentKind, lines: &Lines<'_>) -> Vec<Rank> {
    if has_no_ranks(kind) {
        return vec![Rank::Other; lines.all.len()];
    }
    let mut seen = Seen::default();
    (0..lines.all.len()).map(|at| by_kind(kind, at, &line::without_colour(lines.text(at)), &mut seen)).collect()
}

/// Ranks what tells of a failure, where nothing worthier does.
fn mark_evidence(lines: &Lines<'_>, ranks: &mut [Rank]) {
    let mut suspects = tools::suspects(lines.text);
    for ((at, line), own) in lines.all.iter().enumerate().zip(ranks) {
        let may_be = *own > Rank::Evidence && suspects.may_be(line.start as usize..line.end as usize);
        if may_be && tools::is_error_line(&line::without_colour(lines.text(at))) {
            *own = Rank::Evidence;
        }
    }
}

/// What the lines so far say of the next one.
#[derive(Default)]
struct Seen {
    files: BTreeSet<String>,
    is_fenced: bool,
    has_heading: bool,
}

fn by_kind(kind: ContentKind, at: usize, plain: &str, seen: &mut Seen) -> Rank {
    let own = line::without_number(plain);
    let level = |depth: usize| Rank::Structure(u8::try_from(depth).unwrap_or(u8::MAX));
    let when = |is: bool, rank: Rank| if is { rank } else { Rank::Other };
    match kind {
        ContentKind::Source(_) => when(code::is_signature(own), level(code::depth(own))),
        ContentKind::Diff => when(diff::is_header(own), level(0)),
        ContentKind::StackTrace => when(frames::is_thrown(own), Rank::Verdict),
        ContentKind::Tests(_) if tests::is_summary(own) => Rank::Verdict,
        ContentKind::Tests(_) => when(tests::verdict(own) == Some(true), Rank::Evidence),
        ContentKind::Log if log::is_failing(own) => Rank::Evidence,
        ContentKind::Log => when(
            log::level(own).is_some_and(|level| log::LEVELS.get(level).is_some_and(|name| name.starts_with("WARN"))),
            level(1),
        ),
        ContentKind::Hits => {
            let is_first = hits::file_of(plain)
                .is_some_and(|file| !seen.files.contains(file) && seen.files.insert(file.to_owned()));
            when(is_first, level(0))
        }
        ContentKind::Listing => when(listing::is_folder(own), level(0)),
        ContentKind::Markdown => {
            seen.is_fenced ^= markdown::is_fence(own);
            let depth = markdown::heading_depth(own).filter(|_| !seen.is_fenced);
            depth.map_or(Rank::Other, |depth| level(depth - 1))
        }
        ContentKind::Markup => when(MARKUP_HEADINGS.iter().any(|start| own.trim_start().starts_with(start)), level(0)),
        ContentKind::Delimited | ContentKind::Table => {
            let is_first = !seen.has_heading && !own.trim().is_empty();
            let is_rule = at < HEADING_LINES && table::is_rule(own);
            seen.has_heading |= is_first && !is_rule;
            when(is_first || is_rule, Rank::Heading)
        }
        ContentKind::BuildLog
        | ContentKind::Json
        | ContentKind::JsonLines
        | ContentKind::Blob
        | ContentKind::Terminal
        | ContentKind::Mixed
        | ContentKind::Plain => Rank::Other,
    }
}

/// Says whether no line of a kind is worth more than another by itself.
fn has_no_ranks(kind: ContentKind) -> bool {
    match kind {
        ContentKind::BuildLog
        | ContentKind::Json
        | ContentKind::JsonLines
        | ContentKind::Blob
        | ContentKind::Terminal
        | ContentKind::Mixed
        | ContentKind::Plain => true,
        ContentKind::Source(_)
        | ContentKind::Diff
        | ContentKind::StackTrace
        | ContentKind::Tests(_)
        | ContentKind::Log
        | ContentKind::Delimited
        | ContentKind::Markup
        | ContentKind::Markdown
        | ContentKind::Listing
        | ContentKind::Hits
        | ContentKind::Table => false,
    }
}

fn mark_near(ranks: &mut [Rank]) {
    let mut left = 0;
    for rank in ranks {
        match rank {
            Rank::Evidence | Rank::Verdict => left = NEAR_LINES,
            Rank::Other if left > 0 => {
                left -= 1;
                *rank = Rank::Near;
            }
            Rank::Heading | Rank::Near | Rank::Structure(_) | Rank::Other => left = 0,
        }
    }
}

/// Each line by itself.
pub(super) fn single_lines(lines: &Lines<'_>) -> Vec<Block> {
    let block = |(at, line): (usize, &super::lines::Line)| Block { first: at, last: at, chars: line.chars as usize };
    lines.all.iter().enumerate().map(block).collect()
}

/// Each hunk as one, every other line by itself.
fn hunks(lines: &Lines<'_>) -> Vec<Block> {
    let mut is_in_hunk = false;
    joined(lines, |at| {
        let own = lines.text(at);
        if diff::is_hunk(own) {
            is_in_hunk = true;
            return false;
        }
        is_in_hunk &= !diff::is_header(own) || !own.starts_with("diff ");
        // Before a hunk, what is no line of one ends the one before.
        is_in_hunk &= own.is_empty() || own.starts_with([' ', '+', '-', '\\']);
        is_in_hunk
    })
}

/// Each row as one, also where a quoted cell goes over lines.
fn quoted_rows(lines: &Lines<'_>) -> Vec<Block> {
    let mut is_quoted = false;
    let mut length = 0;
    joined(lines, |at| {
        let goes_on = is_quoted && length < MAX_ROW_LINES;
        length = if goes_on { length + 1 } else { 0 };
        is_quoted = (goes_on && is_quoted) ^ (delimited::quotes(lines.text(at)) % 2 == 1);
        goes_on
    })
}

/// Joins each line for which `belongs` says so to the one before.
fn joined(lines: &Lines<'_>, mut belongs: impl FnMut(usize) -> bool) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    for (at, line) in lines.all.iter().enumerate() {
        let belongs = belongs(at);
        match out.last_mut().filter(|_| belongs) {
            Some(block) => {
                block.last = at;
                block.chars += line.chars as usize;
            }
            None => out.push(Block { first: at, last: at, chars: line.chars as usize }),
        }
    }
    out
}
