//! Which conversation does a body go on with? A hash chain over its items, and what was kept for each conversation.
//!
//! What is kept saves work and notices changes; it decides nothing. Losing it changes no byte.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};

use liveset::{Policy, Session, WireFormat};
use liveset_engine::{
    json::Outline,
    transcript::{Item, ItemKind, Side, Transcript, Weight},
    wire,
};
use lru::LruCache;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::{
    named_policy::NamedPolicy,
    reacquisition::{Figures, Watch},
};

/// Conversations that are remembered at most, however small they are.
const MAX_CONVERSATIONS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(16 * 1_024 - 1);
/// What a conversation takes besides its items: the session's own tables.
const BYTES_OF_A_CONVERSATION: usize = 16 << 10;
/// What an item takes: its count, its digest, its place in the plan and the windows of its words.
const BYTES_OF_AN_ITEM: usize = 1 << 10;
/// What a kilobyte of the body takes on top: windows of words, by which quotes are found.
const BYTES_OF_A_KILOBYTE: usize = 512;

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

/// The links of a conversation: one for each item, each standing for all items up to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    links: Vec<u128>,
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
        let links: Vec<u128> = transcript.items.iter().enumerate().map(link).collect();
        let first_user = transcript.items.iter().position(|item| item.kind == ItemKind::User);
        Self { opening: first_user.map_or(links.len(), |at| at + 1), links }
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    /// What stands for the whole.
    fn tip(&self) -> Option<u128> {
        self.links.last().copied()
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

/// What is kept of a conversation between two of its requests.
pub(crate) struct Seat {
    /// Counts and decisions.
    pub(crate) session: Session,
    /// The policy it began with.
    pub(crate) policy: Policy,
    /// What it goes by, session events included.
    pub(crate) named: Arc<NamedPolicy>,
    /// Whether the ledger says so.
    pub(crate) is_entered: bool,
    /// Why earlier decisions were made anew, where only a count of tokens has seen it so far.
    pub(crate) undeclared: Option<String>,
    /// Items of its newest body.
    pub(crate) items: usize,
    /// What stood for the edits of its newest body, item by item.
    pub(crate) edits: Vec<(u32, u128)>,
    /// Sweeps of its newest body.
    pub(crate) sweeps: usize,
    /// Requests so far.
    pub(crate) requests: u64,
    /// What happened after cuts.
    pub(crate) watch: Watch,
    /// Tokens of its newest body, before and after.
    pub(crate) tokens: (u64, u64),
    bytes: usize,
}

impl Seat {
    /// Makes the seat of a conversation that was not seen before.
    pub(crate) fn new(session: Session, policy: Policy, named: NamedPolicy) -> Self {
        Self {
            session,
            policy,
            named: Arc::new(named),
            is_entered: false,
            undeclared: None,
            items: 0,
            edits: Vec::new(),
            sweeps: 0,
            requests: 0,
            watch: Watch::default(),
            tokens: (0, 0),
            bytes: 0,
        }
    }
}

/// What is kept of all conversations, within a bound of memory.
pub(crate) struct Conversations {
    seats: Mutex<Seats>,
    max_bytes: usize,
}

struct Seats {
    /// By the tip of the newest body's chain.
    by_tip: LruCache<u128, (String, Seat)>,
    bytes: usize,
}

/// One row of the list of conversations.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Row {
    /// Its name.
    pub(crate) conversation: String,
    /// Requests so far.
    pub(crate) requests: u64,
    /// Items of its newest body.
    pub(crate) items: usize,
    /// Tokens of its newest body, as it came and as it left.
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    /// Sweeps so far.
    pub(crate) sweeps: usize,
    /// What happened after cuts.
    pub(crate) reacquisition: Figures,
    /// The same for each tool.
    pub(crate) by_tool: BTreeMap<String, Figures>,
}

impl Conversations {
    /// Makes an empty store that holds at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { seats: Mutex::new(Seats { by_tip: LruCache::new(MAX_CONVERSATIONS), bytes: 0 }), max_bytes }
    }

    /// Takes out what is kept of the conversation that this chain goes on with.
    ///
    /// While a request has it, another of the same conversation finds nothing and starts anew: branches that run side by
    /// side wait for nobody.
    pub(crate) fn take(&self, chain: &Chain) -> Option<Seat> {
        let mut seats = self.lock();
        let (_, seat) = chain.links.iter().rev().find_map(|link| seats.by_tip.pop(link))?;
        seats.bytes = seats.bytes.saturating_sub(seat.bytes);
        Some(seat)
    }

    /// Keeps a conversation, and forgets those that were not heard of for longest where memory is short.
    pub(crate) fn keep(&self, chain: &Chain, body_bytes: usize, mut seat: Seat) {
        let Some(tip) = chain.tip() else { return };
        seat.bytes = BYTES_OF_A_CONVERSATION
            + chain.len().saturating_mul(BYTES_OF_AN_ITEM)
            + (body_bytes >> 10).saturating_mul(BYTES_OF_A_KILOBYTE);
        let mut seats = self.lock();
        seats.bytes = seats.bytes.saturating_add(seat.bytes);
        if let Some((_, (_, old))) = seats.by_tip.push(tip, (chain.name(), seat)) {
            seats.bytes = seats.bytes.saturating_sub(old.bytes);
        }
        while seats.bytes > self.max_bytes {
            let Some((_, (_, oldest))) = seats.by_tip.pop_lru() else { break };
            seats.bytes = seats.bytes.saturating_sub(oldest.bytes);
        }
    }

    /// Lists what is kept, newest first.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let seats = self.lock();
        let row = |(name, seat): &(String, Seat)| Row {
            conversation: name.clone(),
            requests: seat.requests,
            items: seat.items,
            tokens_before: seat.tokens.0,
            tokens_after: seat.tokens.1,
            sweeps: seat.sweeps,
            reacquisition: seat.watch.figures(),
            by_tool: seat.watch.by_tool().clone(),
        };
        seats.by_tip.iter().map(|(_, entry)| row(entry)).collect()
    }

    /// How many conversations are kept, and in how many bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let seats = self.lock();
        (seats.by_tip.len(), seats.bytes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seats> {
        // What a thread that stopped left behind is whole: nothing is written in more than one step that could stop.
        self.seats.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use liveset::Liveset;

    use super::*;

    fn chain(messages: &str) -> Chain {
        let body = format!(r#"{{"model":"m","messages":[{messages}]}}"#);
        Reading::of(WireFormat::Anthropic, body.as_bytes()).unwrap().chain
    }

    const FIRST: &str = r#"{"role":"user","content":"one"}"#;
    const MARKED: &str =
        r#"{"role":"user","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}}]}"#;
    const REST: &str = r#",{"role":"assistant","content":"two"},{"role":"user","content":"three"}"#;

    fn seat() -> Seat {
        let named = NamedPolicy::of(&Policy::default(), &[], false, None);
        Seat::new(Liveset::new(Policy::default()).session(), Policy::default(), named)
    }

    #[test]
    fn a_grown_conversation_is_found_also_where_its_mark_moved_on() {
        let conversations = Conversations::new(1 << 20);
        conversations.keep(&chain(MARKED), 100, seat());
        assert!(conversations.take(&chain(r#"{"role":"user","content":"other"}"#)).is_none());
        let grown = chain(&format!("{FIRST}{REST}"));
        assert!(conversations.take(&grown).is_some());
        assert!(conversations.take(&grown).is_none(), "one request has it at a time");
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes() {
        let room_for_two = 2 * (BYTES_OF_A_CONVERSATION + BYTES_OF_AN_ITEM);
        let conversations = Conversations::new(room_for_two);
        let texts = ["a", "b", "c"].map(|text| chain(&format!(r#"{{"role":"user","content":"{text}"}}"#)));
        for chain in &texts {
            conversations.keep(chain, 100, seat());
        }
        assert_eq!(conversations.size(), (2, room_for_two));
        assert!(conversations.take(&texts[0]).is_none() && conversations.take(&texts[2]).is_some());
    }
}
