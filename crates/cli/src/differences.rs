//! Where do two bodies first say something else? Item by item, as the model reads them.
//!
//! Cache marks and the layout of the JSON are no difference between items; what they are to bytes is said apart.

pub(crate) mod bodies;
pub(crate) mod reports;

use liveset::WireFormat;
use liveset_engine::{
    counts::Counts,
    json::Outline,
    tools::CallName,
    transcript::{Item, ItemIdx, ItemKind, Transcript},
    wire,
};
use liveset_tokens::{CountCache, o200k};

/// A body, read for comparison.
pub(crate) struct Conversation<'b> {
    transcript: Transcript<'b>,
    counts: Counts,
}

/// Where an item stands, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// First byte of the item's JSON value.
    pub(crate) byte: usize,
    /// Behind its last.
    pub(crate) end: usize,
    pub(crate) kind: ItemKind,
    /// The call that it is or answers, in its own words.
    pub(crate) call: String,
}

impl<'b> Conversation<'b> {
    /// Reads a body of a format, or of the format that it shows.
    pub(crate) fn read(body: &'b [u8], format: Option<WireFormat>) -> liveset_engine::Result<Self> {
        let outline = Outline::read(body)?;
        let format = format.map_or_else(|| wire::detect(&outline), Ok)?;
        let transcript = wire::read(format, &outline)?;
        // Items are told apart by what counting learns of them; the vocabulary plays no part.
        let counts = Counts::of(&transcript, o200k(), &mut CountCache::default())?;
        Ok(Self { transcript, counts })
    }

    /// How many items it has.
    pub(crate) fn items(&self) -> usize {
        self.transcript.items.len()
    }

    /// Where the item at `at` stands.
    pub(crate) fn place(&self, at: usize) -> Option<Place> {
        let item = self.transcript.items.get(at)?;
        Some(Place { byte: item.span.start(), end: item.span.end(), kind: item.kind, call: self.call(item) })
    }

    /// The last item that says what item `at` of the other one says.
    pub(crate) fn last_equal(&self, other: &Conversation<'_>, at: usize) -> Option<usize> {
        let wanted = other.counts.digests().nth(at)?;
        let places = self.counts.digests().enumerate();
        places.filter(|(_, digest)| *digest == wanted).last().map(|(place, _)| place)
    }

    fn call(&self, item: &Item) -> String {
        let at = |idx: ItemIdx| self.transcript.items.get(idx.at());
        let result = item.within.and_then(at).unwrap_or(item);
        let answered = result.answer().and_then(|answer| answer.call).and_then(at);
        let Some(call) = item.call().or_else(|| answered.and_then(Item::call)) else { return String::new() };
        let name = CallName::of(&self.transcript, Some(call));
        format!("{} {}", name.tool, name.label).trim_end().to_owned()
    }
}

/// How many items at the beginning say the same in both.
pub(crate) fn equal_items(a: &Conversation<'_>, b: &Conversation<'_>) -> usize {
    a.counts.digests().zip(b.counts.digests()).take_while(|(a, b)| a == b).count()
}
