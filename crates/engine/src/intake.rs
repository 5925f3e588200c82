//! What stays of a result that is over a limit when it is first seen? From itself, its call and the policy alone.
//!
//! Chooses pieces to leave out and writes what stands for them; nothing is rephrased, and nothing else of the body is
//! looked at, so the same bytes leave on every request.

mod lines;
mod piece;
mod rank;
mod rows;
mod select;
mod values;

pub(crate) use lines::{both_ends, line_count};
pub(crate) use piece::{GIANT_LINE_CHARS, Piece, Removed};

use crate::{
    content::ContentKind,
    policy::{Shape, Strategy},
    tombstone::{self, Evidence},
};

/// Characters of an original that a route adds to the last gap, and what stands before it.
const PARTED_CHARS: usize = 2;

/// One text that is to be shaped.
///
/// ```
/// use liveset_engine::{content::recognise, intake::Request, policy::Policy};
/// let text: String = (1..=200).map(|at| format!("id {at}\n")).collect();
/// let policy = Policy::from_toml("[intake]\nstrategy = \"layered\"\nmax_chars = 500\n")?;
/// let shape = policy.shape(&["tool"], None).unwrap();
/// let request = Request { text: &text, kind: recognise(&text, None), shape, tells_of_a_run: false, route: "run it again" };
/// let shaped = request.shaped().unwrap();
/// assert!(shaped.starts_with("id 1\n") && shaped.ends_with("id 200\n") && shaped.len() <= 500);
/// assert!(shaped.contains(" of 200 left out; run it again]\n"));
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Request<'t> {
    /// The text.
    pub text: &'t str,
    /// What kind of text it is.
    pub kind: ContentKind,
    /// Strategy and limits.
    pub shape: Shape,
    /// Whether error lines in it are news: it tells of something that ran, or its client says that it failed.
    pub tells_of_a_run: bool,
    /// The way back to it, in the words of a last gap; empty where none is named.
    pub route: &'t str,
}

impl Request<'_> {
    /// Gives the text as it leaves; `None` where it is under its limits or nothing of it can go.
    #[must_use]
    pub fn shaped(&self) -> Option<String> {
        let pieces = self.pieces();
        let last = pieces.len().checked_sub(1)?;
        let total = line_count(self.text);
        let mut out = String::new();
        let mut at = 0;
        for (place, piece) in pieces.iter().enumerate() {
            let (start, end) = piece.place(self.text);
            out.push_str(self.text.get(at..start).unwrap_or_default());
            let route = Some(self.route).filter(|route| place == last && !route.is_empty());
            out.push_str(&piece.gap(total, route, &Evidence::default()));
            at = end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        Some(out)
    }

    /// Chooses what goes: pieces in order, apart from each other.
    pub(crate) fn pieces(&self) -> Vec<Removed> {
        let room = Room::of(self);
        if room.holds(self.text) || u32::try_from(self.text.len()).is_err() {
            return Vec::new();
        }
        match self.kind {
            ContentKind::Json => values::cut(self.text, &room),
            ContentKind::JsonLines => rows::cut(self, &room),
            ContentKind::Source(_)
            | ContentKind::Diff
            | ContentKind::StackTrace
            | ContentKind::Tests(_)
            | ContentKind::BuildLog
            | ContentKind::Log
            | ContentKind::Delimited
            | ContentKind::Markup
            | ContentKind::Markdown
            | ContentKind::Listing
            | ContentKind::Hits
            | ContentKind::Table
            | ContentKind::Blob
            | ContentKind::Terminal
            | ContentKind::Mixed
            | ContentKind::Plain => lines::cut(self, &room),
        }
    }
}

/// Gives the lines that tell most of a text, in its order: what a run came to, then what tells of a failure.
pub(crate) fn key_lines(
    text: &str,
    kind: ContentKind,
    tells_of_a_run: bool,
    most: usize,
    may_stay: impl Fn(&str) -> bool,
) -> Vec<&str> {
    let shape = Shape { strategy: Strategy::ByType, max_chars: u64::MAX, max_lines: u64::MAX };
    let request = Request { text, kind, shape, tells_of_a_run, route: "" };
    let lines = lines::Lines::of(text);
    let ranks = rank::of(&request, &lines).lines;
    let tells = |at: &usize| tombstone::is_key_line(lines.text(*at)) && may_stay(lines.text(*at));
    let mut key: Vec<usize> = Vec::with_capacity(most);
    for rank in [rank::Rank::Verdict, rank::Rank::Evidence] {
        let of_rank = ranks.iter().enumerate().filter(|(_, own)| **own == rank).map(|(at, _)| at);
        key.extend(of_rank.filter(tells).take(most - key.len()));
    }
    key.sort_unstable();
    key.into_iter().map(|at| lines.text(at)).collect()
}

/// How much may stay, the way back set aside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Characters that the whole may have.
    limit: usize,
    /// Characters without the route.
    pub(crate) chars: usize,
    /// Lines, gaps among them.
    pub(crate) lines: usize,
}

impl Room {
    fn of(request: &Request<'_>) -> Self {
        let limit = usize::try_from(request.shape.max_chars).unwrap_or(usize::MAX);
        let route = request.route.chars().count() + PARTED_CHARS;
        // A route longer than half of the room is no reason to keep nothing.
        let chars = limit - route.min(limit / 2);
        Self { limit, chars, lines: usize::try_from(request.shape.max_lines).unwrap_or(usize::MAX) }
    }

    fn holds(&self, text: &str) -> bool {
        let has_room = text.len() <= self.limit || text.chars().count() <= self.limit;
        has_room && line_count(text) as usize <= self.lines
    }
}

#[cfg(test)]
mod tests;
