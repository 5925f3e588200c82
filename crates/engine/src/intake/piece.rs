//! What is left out of a text, and what stands in its place? Counted in the source's own units.

use crate::tombstone::{self, ELEMENTS_GAP_START, Evidence, INNER_GAP_START, MEMBERS_GAP_START};

/// Characters over which a line is giant: of such a line both ends may stay (law 8).
pub(crate) const GIANT_LINE_CHARS: usize = 1_000;

/// A piece of a part's text that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Bytes of the part's text.
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) what: Piece,
}

/// What kind of piece is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Whole lines of the part, from 0, both included.
    Lines { first: u32, last: u32 },
    /// The middle of one giant line; characters from 0, `to` excluded.
    Inner { line: u32, from: u32, to: u32 },
    /// Whole lines, from 0, both included, of a text with a JSON value on each: a JSON string stands for them.
    Records { first: u32, last: u32 },
    /// Elements of a JSON array, from 0, both included.
    Elements { first: u32, last: u32, total: u32 },
    /// Members of a JSON object, from 0, both included.
    Members { first: u32, last: u32, total: u32 },
    /// The middle of a JSON string; characters from 0, `to` excluded.
    Characters { from: u32, to: u32, total: u32 },
}

impl Removed {
    /// Gives the bytes that the gap replaces.
    ///
    /// The last line's own ending stays, so that the gap is a line of its own and no ending changes.
    pub(crate) fn place(&self, text: &str) -> (usize, usize) {
        let (start, end) = (self.start as usize, self.end as usize);
        match self.what {
            Piece::Lines { .. } | Piece::Records { .. } => {
                let ends = text.as_bytes().get(end.wrapping_sub(1)) == Some(&b'\n');
                (start, end - usize::from(ends))
            }
            Piece::Inner { .. } | Piece::Elements { .. } | Piece::Members { .. } | Piece::Characters { .. } => {
                (start, end)
            }
        }
    }

    /// Writes what stands for it in a text of `lines` lines; a gap of whole lines also holds evidence.
    pub(crate) fn gap(&self, lines: u32, route: Option<&str>, errors: &Evidence) -> String {
        match self.what {
            Piece::Lines { first, last } => tombstone::gap(first + 1, last + 1, lines, route, errors),
            Piece::Inner { line, from, to } => tombstone::inner_gap(from as usize + 1, to as usize, line + 1, route),
            Piece::Records { first, last } => {
                format!("\"{}\"", tombstone::gap(first + 1, last + 1, lines, route, &Evidence::default()))
            }
            Piece::Elements { first, last, total } => {
                format!("\"{}\"", tombstone::value_gap(ELEMENTS_GAP_START, first + 1, last + 1, total, route))
            }
            Piece::Members { first, last, total } => {
                format!("\"{}\": null", tombstone::value_gap(MEMBERS_GAP_START, first + 1, last + 1, total, route))
            }
            Piece::Characters { from, to, total } => tombstone::value_gap(INNER_GAP_START, from + 1, to, total, route),
        }
    }
}
