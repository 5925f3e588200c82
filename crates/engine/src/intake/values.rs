//! What stays of a JSON value? Keys before values, first and last elements, both ends of long strings. JSON in is JSON out.

use std::collections::BTreeMap;

use unicode_segmentation::GraphemeCursor;

use super::{Piece, Removed, Room};
use crate::{
    json::{self, NodeIdx, NodeKind, Outline},
    tombstone::Evidence,
};

/// How tightly a value is cut.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Elements of an array that stay.
    elements: usize,
    /// Members of an object that stay.
    members: usize,
    /// Characters of a string that stay.
    characters: usize,
    /// Levels of nesting that stay.
    depth: usize,
}

const fn level(elements: usize, members: usize, characters: usize, depth: usize) -> Level {
    Level { elements, members, characters, depth }
}

/// From loose to tight; the first whose outcome fits is taken. Keys go last.
const LEVELS: [Level; 19] = [
    level(512, 2_048, 16_000, 64),
    level(256, 1_024, 8_000, 64),
    level(128, 1_024, 4_000, 64),
    level(64, 512, 2_000, 32),
    level(48, 512, 1_500, 32),
    level(32, 512, 1_000, 32),
    level(24, 256, 700, 32),
    level(16, 256, 500, 16),
    level(10, 256, 360, 16),
    level(6, 128, 240, 16),
    level(4, 128, 160, 12),
    level(3, 64, 120, 8),
    level(2, 48, 100, 6),
    level(2, 24, 80, 4),
    level(2, 12, 80, 3),
    level(2, 6, 80, 1),
    level(2, 4, 48, 1),
    level(1, 2, 40, 1),
    // Nothing but what it is and how much.
    level(0, 0, 0, 0),
];

/// Keys of values that tell how something ended: their strings stay longer.
const TELLING_KEYS: [&str; 10] =
    ["error", "errors", "message", "stderr", "exception", "traceback", "reason", "detail", "status", "stack"];
/// Times as long, while there is room for much.
const TELLING_SHARE: usize = 4;
/// Characters of a string from which on there is.
const MUCH: usize = 100;
/// Characters that a gap must save beyond its own.
const MIN_SAVED: usize = 16;
/// Characters of a gap in quotes, at most, the way back set aside.
const GAP_CHARS: usize = 64;
/// Characters to either side of a cut among which a border is looked for that a reader would not see as a tear: more than
/// belong together anywhere but in nonsense.
const NEAR_CHARS: usize = 64;

/// Chooses what of a JSON text goes.
pub(super) fn cut(text: &str, room: &Room) -> Vec<Removed> {
    let start = text.len() - text.trim_start().len();
    let value = text.trim();
    let Ok(outline) = Outline::read_all(value.as_bytes()) else { return Vec::new() };
    let chars = text.chars().count();
    let lines = super::line_count(text) as usize;
    let mut cutter = Cutter {
        outline: &outline,
        text: value,
        level: level(0, 0, 0, 0),
        pieces: Vec::new(),
        places: BTreeMap::new(),
    };
    for level in LEVELS {
        cutter.level = level;
        cutter.pieces.clear();
        cutter.walk(outline.root(), 0);
        let pieces = &cutter.pieces;
        let cut = |piece: &Removed| value.get(piece.start as usize..piece.end as usize).unwrap_or_default();
        let saved: usize = pieces.iter().map(|piece| cut(piece).chars().count()).sum();
        let gone: usize = pieces.iter().map(|piece| memchr::memchr_iter(b'\n', cut(piece).as_bytes()).count()).sum();
        let gaps: usize = pieces.iter().map(|piece| piece.gap(0, None, &Evidence::default()).chars().count()).sum();
        if chars - saved + gaps <= room.chars && lines - gone <= room.lines {
            break;
        }
    }
    let moved = |at: u32| at + u32::try_from(start).unwrap_or(0);
    cutter.pieces.iter().map(|piece| Removed { start: moved(piece.start), end: moved(piece.end), ..*piece }).collect()
}

struct Cutter<'o, 't> {
    outline: &'o Outline<'t>,
    text: &'t str,
    level: Level,
    pieces: Vec<Removed>,
    /// Where the characters of long strings begin, by where these begin: asked at every level.
    places: BTreeMap<usize, Vec<usize>>,
}

impl Cutter<'_, '_> {
    fn walk(&mut self, at: NodeIdx, depth: usize) {
        let node = self.outline.node(at);
        match node.kind {
            NodeKind::Array => self.container(at, depth, self.level.elements, |first, last, total| Piece::Elements {
                first,
                last,
                total,
            }),
            NodeKind::Object => self.container(at, depth, self.level.members, |first, last, total| Piece::Members {
                first,
                last,
                total,
            }),
            NodeKind::String => {
                let more = if self.level.characters > MUCH && self.is_telling(at) { TELLING_SHARE } else { 1 };
                self.string(node.span.start(), node.span.end(), self.level.characters * more);
            }
            NodeKind::Number | NodeKind::True | NodeKind::False | NodeKind::Null => {}
        }
    }

    fn is_telling(&self, at: NodeIdx) -> bool {
        let literal = self.outline.node(at).key.map(|key| key.of(self.outline.body()));
        let key = literal.and_then(|literal| json::decode(literal).ok());
        key.is_some_and(|key| TELLING_KEYS.contains(&key.text()))
    }

    /// Keeps the first and last children, and walks into those.
    fn container(&mut self, at: NodeIdx, depth: usize, keep: usize, piece: impl Fn(u32, u32, u32) -> Piece) {
        let children: Vec<NodeIdx> = self.outline.children(at).collect();
        let total = children.len();
        let keep = if depth >= self.level.depth { 0 } else { keep };
        let (head, tail) = (keep.div_ceil(2).min(total), total.saturating_sub(keep / 2));
        let removed = children.get(head..tail).filter(|middle| total > keep && !middle.is_empty());
        let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let removed = removed.and_then(|middle| {
            let (first, last) = (self.outline.node(*middle.first()?), self.outline.node(*middle.last()?));
            let start = first.key.map_or(first.span.start(), |key| key.start());
            let what = piece(index(head), index(tail - 1), index(total));
            let is_worth = last.span.end() - start > GAP_CHARS + MIN_SAVED;
            is_worth.then(|| Removed { start: index(start), end: index(last.span.end()), what })
        });
        for (place, child) in children.iter().enumerate() {
            if removed.is_some() && place == head {
                self.pieces.extend(removed);
            }
            if removed.is_none() || !(head..tail).contains(&place) {
                self.walk(*child, depth + 1);
            }
        }
    }

    /// Keeps both ends of a string, on borders of characters and where possible of lines.
    fn string(&mut self, start: usize, end: usize, keep: usize) {
        let text = self.text;
        let inner = text.get(start + 1..end - 1).unwrap_or_default();
        if inner.len() <= keep + GAP_CHARS + MIN_SAVED {
            return;
        }
        let places = self.places.entry(start).or_insert_with(|| characters(inner));
        let total = places.len();
        if total <= keep + GAP_CHARS + MIN_SAVED {
            return;
        }
        let is_break =
            |at: usize| places.get(at).and_then(|&from| inner.get(from..)).is_some_and(|rest| rest.starts_with("\\n"));
        let half = keep / 2;
        let head = (half / 2..half).rev().find(|&at| is_break(at)).map_or(half, |at| at + 1);
        let tail = (total - half..total - half / 2).find(|&at| is_break(at)).map_or(total - half, |at| at + 1);
        let (head, tail) = (border(inner, places, head, Toward::Beginning), border(inner, places, tail, Toward::End));
        let (Some(&from), Some(&to)) = (places.get(head), places.get(tail)) else { return };
        let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let what = Piece::Characters { from: index(head), to: index(tail), total: index(total) };
        self.pieces.push(Removed { start: index(start + 1 + from), end: index(start + 1 + to), what });
    }
}

/// Where a border is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Toward {
    Beginning,
    End,
}

/// Gives the next border of what a reader takes for one character, from the character `at` of a literal on; `at` where
/// none is near.
fn border(inner: &str, places: &[usize], at: usize, toward: Toward) -> usize {
    let is_plain = |at: usize| {
        let byte = places.get(at).and_then(|&place| inner.as_bytes().get(place));
        byte.is_none_or(|byte| byte.is_ascii() && *byte != b'\\')
    };
    if at == 0 || (is_plain(at) && is_plain(at - 1)) {
        return at;
    }
    // An escape belongs together with what is written out: both are decoded, one character for each place.
    let first = at.saturating_sub(NEAR_CHARS);
    let end = places.get(at + NEAR_CHARS).copied().unwrap_or(inner.len());
    let near = places.get(first).and_then(|&start| inner.get(start..end)).unwrap_or_default();
    let literal = format!("\"{near}\"");
    let Ok(near) = json::decode(literal.as_bytes()) else { return at };
    let near = near.text();
    let Some((byte, _)) = near.char_indices().nth(at - first) else { return at };
    let mut cursor = GraphemeCursor::new(byte, near.len(), true);
    let found = match (cursor.is_boundary(near, 0), toward) {
        (Ok(true), _) => Some(byte),
        (_, Toward::Beginning) => cursor.prev_boundary(near, 0).ok().flatten().filter(|found| *found > 0 || first == 0),
        (_, Toward::End) => cursor.next_boundary(near, 0).ok().flatten(),
    };
    found.and_then(|found| near.get(..found)).map_or(at, |before| first + before.chars().count())
}

/// Where each character of a literal begins, an escape being one, and two that make a pair being one.
fn characters(inner: &str) -> Vec<usize> {
    let bytes = inner.as_bytes();
    let mut places = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        places.push(at);
        at += match (byte, bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => 6 + if is_pair(bytes, at) { 6 } else { 0 },
            (b'\\', _) => 2,
            _ => inner.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8),
        };
    }
    places
}

/// Says whether an escape opens a surrogate pair.
fn is_pair(bytes: &[u8], at: usize) -> bool {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (high, low) = (unit(at), unit(at + 6));
    high.is_some_and(|high| (0xD800..0xDC00).contains(&high)) && low.is_some_and(|low| (0xDC00..0xE000).contains(&low))
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    /// Cuts a string of this character over and over, and gives both ends as a reader sees them.
    fn ends(character: &str, level: usize) -> (String, String) {
        let text = format!("[\"{}\"]", character.repeat(3_000));
        let room = Room { limit: level, chars: level, lines: usize::MAX };
        let pieces = cut(&text, &room);
        let piece = pieces.first().expect("something goes");
        let decoded = |part: &str| json::decode(format!("\"{part}\"").as_bytes()).map(|said| said.text().to_owned());
        let (head, tail) = (&text[2..piece.start as usize], &text[piece.end as usize..text.len() - 2]);
        (decoded(head).expect("a literal"), decoded(tail).expect("a literal"))
    }

    #[test]
    fn a_string_is_cut_between_what_a_reader_takes_for_characters() {
        for character in [
            "👨\u{200d}👩\u{200d}👧\u{200d}👦",
            "e\u{301}",
            "\u{1f1e7}\u{1f1f7}",
            "👍\u{1f3fd}",
            "नि",
            // The same in escapes, and half of it.
            "e\\u0301",
            "\\ud83d\\udc68\\u200d\\ud83d\\udc69",
            "\\u0065\u{301}",
            "\\r\\n",
        ] {
            let own = json::decode(format!("\"{character}\"").as_bytes()).expect("a literal").text().to_owned();
            for level in [600, 601, 602, 603, 900, 1_500, 4_001] {
                let (head, tail) = ends(character, level);
                for end in [head, tail] {
                    assert!(
                        !end.is_empty() && end.graphemes(true).all(|one| one == own),
                        "{character}, {level}: {end}"
                    );
                }
            }
        }
    }

    #[test]
    fn nonsense_without_a_border_is_cut_anywhere() {
        let (head, tail) = ends("\u{301}", 600);
        assert!(!head.is_empty() && !tail.is_empty());
    }
}
