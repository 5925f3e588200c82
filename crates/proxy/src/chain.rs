//! Which conversation does a body go on with? A hash chain over its items: a link stands for all items up to it.
//!
//! Reads a body once for whoever needs its items; keeps nothing.

use std::sync::Arc;

use liveset::WireFormat;
use liveset_engine::{
    transcript::{ItemKind, Side, Transcript},
    wire::GrowingBody,
};
use xxhash_rust::xxh3::xxh3_128;

use crate::last_body::LastBody;

/// A body, read, with what tells its conversation.
pub(crate) struct Reading<'b> {
    body: GrowingBody<'b>,
    /// What stands for its items.
    pub(crate) chain: Chain,
}

impl<'b> Reading<'b> {
    /// Reads a body of which nothing is known; `None` where it is none of this format.
    pub(crate) fn of(format: WireFormat, body: &'b [u8]) -> Option<Self> {
        GrowingBody::read(format, body).ok().map(Self::new)
    }

    /// Reads a body from where it goes on with the last one of its conversation.
    pub(crate) fn after(last: LastBody, body: &'b [u8]) -> Option<Self> {
        last.extend(body).ok().map(Self::new)
    }

    fn new(body: GrowingBody<'b>) -> Self {
        let chain = Chain::of(&body.transcript);
        Self { body, chain }
    }

    /// Its items.
    pub(crate) fn transcript(&self) -> &Transcript<'b> {
        &self.body.transcript
    }

    /// The body, without what tells its conversation.
    pub(crate) fn into_body(self) -> GrowingBody<'b> {
        self.body
    }

    /// Whether the model has said nothing yet.
    pub(crate) fn is_first_turn(&self) -> bool {
        self.transcript().items.iter().all(|item| item.side != Side::Assistant)
    }

    /// Whether this is the next body after one of so many items: the model has spoken once since at most.
    pub(crate) fn is_next_after(&self, items: usize) -> bool {
        let all = &self.transcript().items;
        let number = |at: usize| at.checked_sub(1).and_then(|at| all.get(at)).map_or(0, |item| item.number);
        number(all.len()).saturating_sub(number(items)) <= 1
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
        // The same words in another dialect are another conversation.
        let mut link = xxh3_128(transcript.format.name().as_bytes());
        let next = |digest: &u128| {
            let mut both = [0; 32];
            both.iter_mut()
                .zip([link.to_le_bytes(), digest.to_le_bytes()].iter().flatten())
                .for_each(|(to, from)| *to = *from);
            link = xxh3_128(&both);
            link
        };
        let links: Arc<[u128]> = transcript.digests.iter().map(next).collect();
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
