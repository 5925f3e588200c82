//! Which conversation does a body go on with? A hash chain over its items: a link stands for all items up to it.
//!
//! Reads a body once for whoever needs its items; keeps nothing.

use std::sync::Arc;

use liveset::WireFormat;
use liveset_engine::{
    json::Outline,
    transcript::{Item, ItemKind, Side, Transcript, Weight},
    wire,
};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A body, read, with what tells its conversation.
pub(crate) struct Reading<'b> {
    /// Its items.
    pub(crate) transcript: Transcript<'b>,
    /// What stands for them.
    pub(crate) chain: Chain,
}

impl<'b> Reading<'b> {
    /// Reads a body; `None` where it is none of this format.
    pub(crate) fn of(format: WireFormat, body: &'b [u8]) -> Option<Self> {
        let outline = Outline::read(body).ok()?;
        let transcript = wire::read(format, &outline).ok()?;
        let chain = Chain::of(&transcript);
        Some(Self { transcript, chain })
    }

    /// Whether the model has said nothing yet.
    pub(crate) fn is_first_turn(&self) -> bool {
        self.transcript.items.iter().all(|item| item.side != Side::Assistant)
    }
}

impl Reading<'_> {
    /// Whether this is the next body after one of so many items: the model has spoken once since at most.
    pub(crate) fn is_next_after(&self, items: usize) -> bool {
        let number =
            |at: usize| at.checked_sub(1).and_then(|at| self.transcript.items.get(at)).map_or(0, |item| item.number);
        number(self.transcript.items.len()).saturating_sub(number(items)) <= 1
    }
}

/// The links of a conversation: one for each item, each standing for all items up to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    links: Arc<[u128]>,
    /// Items that open the conversation: system text and the first user text.
    opening: usize,
}

impl Chain {
    fn of(transcript: &Transcript<'_>) -> Self {
        let mut hash = Xxh3::new();
        // The same words in another dialect are another conversation.
        hash.update(transcript.format.name().as_bytes());
        // A client's note to its vendor is another at each request; it keeps its place and says nothing.
        let notes = transcript.client_notes();
        let link = |(at, item): (usize, &Item)| {
            if at >= notes {
                hash_item(&mut hash, transcript.body, item);
            }
            hash.digest128()
        };
        let links: Arc<[u128]> = transcript.items.iter().enumerate().map(link).collect();
        let first_user = transcript.items.iter().position(|item| item.kind == ItemKind::User);
        Self { opening: first_user.map_or(links.len(), |at| at + 1), links }
    }

    /// One link for each item.
    pub(crate) fn links(&self) -> &[u128] {
        &self.links
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    /// What stands for the whole.
    pub(crate) fn tip(&self) -> Option<u128> {
        self.links.last().copied()
    }

    /// How many items both begin with.
    pub(crate) fn common(&self, other: &Self) -> usize {
        self.links.iter().zip(&*other.links).take_while(|(one, other)| one == other).count()
    }

    /// Names the conversation by what opens it.
    pub(crate) fn name(&self) -> String {
        format!("{:032x}", self.link_before(self.opening).unwrap_or_default())
    }

    /// What stands for all items before this place.
    pub(crate) fn link_before(&self, place: usize) -> Option<u128> {
        self.links.get(place.checked_sub(1)?).copied()
    }
}

/// Hashes what the model reads of an item: no cache mark, no layout.
fn hash_item(hash: &mut Xxh3, body: &[u8], item: &Item) {
    hash.update(&[item.kind as u8, u8::from(item.within.is_some())]);
    let mut part = |span: liveset_engine::Span| hash.update(&xxh3_128(span.of(body)).to_le_bytes());
    item.texts.iter().copied().for_each(&mut part);
    if let Some(call) = item.call() {
        [call.id, call.name, call.arguments].into_iter().flatten().for_each(&mut part);
    }
    if let Some(id) = item.answer().and_then(|answer| answer.id) {
        part(id);
    }
    match (item.weight, item.cache_mark) {
        (Weight::Texts, _) => {}
        (Weight::Encrypted(span) | Weight::Media(span), _) | (Weight::Raw(span), None) => part(span),
        (Weight::Raw(span), Some(mark)) => {
            let around = body.get(span.start()..mark.start()).zip(body.get(mark.end()..span.end()));
            for half in around.into_iter().flat_map(|(before, after)| [before, after]) {
                hash.update(half);
            }
        }
    }
}
