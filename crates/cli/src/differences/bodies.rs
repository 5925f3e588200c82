//! Where do two bodies part, in items and in bytes, and what stands there?

use std::collections::BTreeMap;

use liveset::WireFormat;
use liveset_engine::{
    json::{self, Outline},
    tombstone, wire,
};
use serde_json::value::RawValue;

use super::{Conversation, Place, equal_items};

/// Characters of a body that are shown: enough to know the place, too few to spread a secret.
const EXCERPT_CHARS: usize = 60;
/// Bytes in front of the first differing one that are shown with it.
const EXCERPT_LEAD: usize = 16;
/// Fields whose values are items.
const HOLDS_ITEMS: [&str; 4] = ["messages", "input", "system", "instructions"];
/// Names of fields that are listed.
const MAX_FIELDS: usize = 12;

/// What two bodies say otherwise.
pub(crate) struct BodyDifference {
    /// Items at the beginning that are equal.
    pub(crate) equal_items: usize,
    pub(crate) sort: Sort,
    pub(crate) a: Side,
    pub(crate) b: Side,
    /// Fields of the request that differ, beside those that hold items.
    pub(crate) fields: Vec<String>,
}

/// What kind of difference comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// An item says something else.
    Item,
    /// One body ends where the other goes on.
    End,
    /// All items are equal, a field of the request is not.
    Field,
    /// All items and fields are equal; layout, escapes or cache marks are not.
    Layout,
}

/// One body at the place where the two part.
pub(crate) struct Side {
    pub(crate) items: usize,
    /// The item that differs.
    pub(crate) place: Option<Place>,
    /// The first byte that differs.
    pub(crate) byte: usize,
    pub(crate) mark: Mark,
    pub(crate) excerpt: String,
}

/// What we put into the item that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing.
    None,
    /// One line stands for all of it.
    Tombstone,
    /// Lines are left out of it.
    Gap,
    /// One line stands for a run of calls.
    Fold,
}

impl Mark {
    /// The word that reports use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "no mark",
            Self::Tombstone => "tombstone",
            Self::Gap => "gap",
            Self::Fold => "fold",
        }
    }
}

/// Compares two bodies; `None` where their bytes are the same.
pub(crate) fn of(
    (a, a_format): (&[u8], Option<WireFormat>),
    (b, b_format): (&[u8], Option<WireFormat>),
) -> Result<Option<BodyDifference>, (Which, liveset_engine::Error)> {
    if a == b {
        return Ok(None);
    }
    // A body that fits two formats has that of the other one, if that one shows it.
    let (a_format, b_format) = (a_format.or_else(|| format_of(a)), b_format.or_else(|| format_of(b)));
    let read = |body, format, which| Conversation::read(body, format).map_err(|error| (which, error));
    let first = read(a, a_format.or(b_format), Which::A)?;
    let second = read(b, b_format.or(a_format), Which::B)?;
    let equal = equal_items(&first, &second);
    let fields = differing_fields(a, b);
    let sort = match (first.place(equal), second.place(equal)) {
        (Some(_), Some(_)) => Sort::Item,
        (None, None) if fields.is_empty() => Sort::Layout,
        (None, None) => Sort::Field,
        (Some(_), None) | (None, Some(_)) => Sort::End,
    };
    let [a_range, b_range] = match sort {
        Sort::Item => [&first, &second].map(|side| side.place(equal).map_or(0..0, |place| place.byte..place.end)),
        Sort::Field | Sort::Layout | Sort::End => [0..a.len(), 0..b.len()],
    };
    let part = |body: &'_ [u8], range: std::ops::Range<usize>| body.get(range).unwrap_or_default().to_vec();
    let same = common_prefix(&part(a, a_range.clone()), &part(b, b_range.clone()));
    let side = |body: &[u8], conversation: &Conversation<'_>, range: std::ops::Range<usize>| {
        let place = conversation.place(equal);
        let byte = match (sort, &place) {
            // Where the other body ends, the item that it lacks is the place.
            (Sort::End, Some(place)) => place.byte,
            (Sort::End, None) => body.len(),
            _ => range.start + same,
        };
        let from = if sort == Sort::Item { range.start } else { 0 };
        Side {
            items: conversation.items(),
            mark: conversation.mark(equal),
            // Where a body has ended there is nothing to show.
            excerpt: if byte < body.len() { excerpt(body, from, byte) } else { String::new() },
            place,
            byte,
        }
    };
    Ok(Some(BodyDifference {
        equal_items: equal,
        sort,
        a: side(a, &first, a_range),
        b: side(b, &second, b_range),
        fields,
    }))
}

fn format_of(body: &[u8]) -> Option<WireFormat> {
    wire::detect(&Outline::read(body).ok()?).ok()
}

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    A,
    B,
}

impl Conversation<'_> {
    fn mark(&self, at: usize) -> Mark {
        let Some(item) = self.transcript.items.get(at) else { return Mark::None };
        let texts = item.texts.iter().filter_map(|span| json::decode(span.of(self.transcript.body)).ok());
        let texts: Vec<String> = texts.map(|text| text.text().to_owned()).collect();
        if texts.iter().any(|text| tombstone::is_fold(text)) {
            Mark::Fold
        } else if texts.iter().any(|text| tombstone::is_tombstone(text)) {
            Mark::Tombstone
        } else if texts.iter().any(|text| tombstone::holds_gap(text)) {
            Mark::Gap
        } else {
            Mark::None
        }
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Names the fields of the request whose values are not the same bytes.
fn differing_fields(a: &[u8], b: &[u8]) -> Vec<String> {
    let read = |body| serde_json::from_slice::<BTreeMap<String, &RawValue>>(body).unwrap_or_default();
    let (a, b) = (read(a), read(b));
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differs = |name: &&String| a.get(*name).map(|value| value.get()) != b.get(*name).map(|value| value.get());
    names
        .into_iter()
        .filter(|name| !HOLDS_ITEMS.contains(&name.as_str()))
        .filter(differs)
        .take(MAX_FIELDS)
        .map(|name| name.chars().take(EXCERPT_CHARS).collect())
        .collect()
}

/// A few characters around a place, on one line.
fn excerpt(body: &[u8], from: usize, at: usize) -> String {
    let start = at.saturating_sub(EXCERPT_LEAD).max(from);
    // Four bytes are the most that a character has.
    let end = body.len().min(start.saturating_add(EXCERPT_CHARS * 4));
    let text = String::from_utf8_lossy(body.get(start..end).unwrap_or_default());
    // A character that the start cut in two is left out.
    let text = text.trim_start_matches('\u{fffd}');
    let shown: String = text.chars().take(EXCERPT_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = if start > from { "…" } else { "" };
    let after = if start + shown.len() < body.len() { "…" } else { "" };
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_stays_on_one_line() {
        let body = format!("{}\n{}", "ä".repeat(40), "b".repeat(500));
        let shown = excerpt(body.as_bytes(), 0, 81);
        assert_eq!(shown, format!("…{} {}…", "ä".repeat(7), "b".repeat(EXCERPT_CHARS - 8)));
        assert_eq!(excerpt(b"{}", 0, 2), "{}");
        assert_eq!(excerpt(b"", 0, 0), "");
    }
}
