//! Which lines stay of a text with a JSON value on each? What stands for the others is a JSON string, so that every line
//! of it still is a value.

use super::{Piece, Removed, Request, Room, lines, values};
use crate::content::ContentKind;

/// Chooses which lines go; where not even one fits, the first stays as a value with gaps of its own.
pub(super) fn cut(request: &Request<'_>, room: &Room) -> Vec<Removed> {
    let by_line = Request { kind: ContentKind::JsonLines, ..*request };
    let mut pieces: Vec<Removed> = lines::cut(&by_line, room).into_iter().map(quoted).collect();
    if let [only] = pieces.as_slice()
        && only.start == 0
        && only.end as usize == request.text.len()
    {
        pieces = first_alone(request.text, room, *only);
    }
    pieces
}

fn quoted(piece: Removed) -> Removed {
    let what = match piece.what {
        Piece::Lines { first, last } => Piece::Records { first, last },
        other @ (Piece::Inner { .. }
        | Piece::Records { .. }
        | Piece::Elements { .. }
        | Piece::Members { .. }
        | Piece::Characters { .. }) => other,
    };
    Removed { what, ..piece }
}

/// The first line's own gaps, and one for all other lines.
fn first_alone(text: &str, room: &Room, all: Removed) -> Vec<Removed> {
    let (Some(end), Piece::Records { first, last }) = (text.find('\n').map(|end| end + 1), all.what) else {
        return vec![all];
    };
    // Leaves the gap for the others its room.
    let inner = Room { chars: room.chars.saturating_sub(GAP_CHARS), ..*room };
    let mut pieces = values::cut(text.get(..end).unwrap_or_default(), &inner);
    if pieces.is_empty() || first == last {
        return vec![all];
    }
    let rest = Piece::Records { first: first + 1, last };
    pieces.push(Removed { start: u32::try_from(end).unwrap_or(u32::MAX), end: all.end, what: rest });
    pieces
}

/// Characters of a gap of lines in quotes, its numbers counted.
const GAP_CHARS: usize = 60;
