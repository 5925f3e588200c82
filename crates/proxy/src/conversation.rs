//! Which conversation does a body go on with? A hash chain over its items, and what was kept for each conversation.
//!
//! What is kept saves work and notices changes; it decides nothing. Losing it changes no byte.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};

use liveset::{Policy, Session, SessionEvent, WireFormat};
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
    /// A smaller window that no upstream has taken a body by so far.
    pub(crate) tried: Option<SessionEvent>,
    /// What left of it.
    pub(crate) sent: Sent,
    /// What will have left once its newest body does.
    pub(crate) pending: Option<Sent>,
    bytes: usize,
}

/// What left of a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// The links of the newest body that left as it was judged.
    pub(crate) chain: Chain,
    /// What stood for its edits, item by item.
    pub(crate) edits: Vec<(u32, u128)>,
    /// Its sweeps.
    pub(crate) sweeps: usize,
    /// Requests so far.
    pub(crate) requests: u64,
    /// What happened after cuts.
    pub(crate) watch: Watch,
    /// Tokens of the newest body, as it came and as it left.
    pub(crate) tokens: (u64, u64),
}

/// How a body left that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// As it was judged.
    AsJudged,
    /// As it came, since judgements are only reported.
    Reported,
    /// As it came, for another reason.
    Original,
}

impl Seat {
    /// Makes the seat of a conversation of which this much left.
    pub(crate) fn new(session: Session, policy: Policy, named: NamedPolicy, sent: Sent) -> Self {
        let named = Arc::new(named);
        Self { session, policy, named, is_entered: false, tried: None, sent, pending: None, bytes: 0 }
    }

    fn left(&mut self, left: Left) {
        let Some(next) = self.pending.take() else { return };
        match left {
            Left::AsJudged => self.sent = next,
            Left::Reported => {
                // Nothing was cut, so nothing can come back.
                let watch = std::mem::take(&mut self.sent.watch);
                self.sent = Sent { watch, tokens: (next.tokens.0, next.tokens.0), ..next };
            }
            Left::Original => {
                self.sent.requests = next.requests;
                self.sent.tokens = (next.tokens.0, next.tokens.0);
            }
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
    /// Tips of bodies that left whole, after which no edited one of their conversation left.
    whole: LruCache<u128, ()>,
    /// Tips of bodies that were too long for their upstreams by a smaller window too.
    in_vain: LruCache<u128, ()>,
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
        let seats = Seats {
            by_tip: LruCache::new(MAX_CONVERSATIONS),
            bytes: 0,
            whole: LruCache::new(MAX_CONVERSATIONS),
            in_vain: LruCache::new(MAX_CONVERSATIONS),
        };
        Self { seats: Mutex::new(seats), max_bytes }
    }

    /// Takes out what is kept of the conversation that this chain goes on with.
    ///
    /// While a request has it, another of the same conversation finds nothing and starts anew: branches that run side by
    /// side wait for nobody.
    pub(crate) fn take(&self, chain: &Chain) -> Option<Seat> {
        let mut seats = self.lock();
        let (_, mut seat) = chain.links.iter().rev().find_map(|link| seats.by_tip.pop(link))?;
        seats.bytes = seats.bytes.saturating_sub(seat.bytes);
        // What was never said to have left has not.
        seat.pending = None;
        Some(seat)
    }

    /// Looks at what is kept of the conversation that this chain goes on with, and leaves it.
    pub(crate) fn look<T>(&self, chain: &Chain, see: impl FnOnce(&Seat) -> T) -> Option<T> {
        let seats = self.lock();
        chain.links.iter().rev().find_map(|link| seats.by_tip.peek(link)).map(|(_, seat)| see(seat))
    }

    /// What left of the newest conversation that opens with the same words, where this chain goes on with none.
    pub(crate) fn beside(&self, chain: &Chain) -> Option<Sent> {
        let (seats, name) = (self.lock(), chain.name());
        seats.by_tip.iter().find(|(_, (of, _))| *of == name).map(|(_, (_, seat))| seat.sent.clone())
    }

    /// Hears how the body of a chain left.
    pub(crate) fn left(&self, chain: &Chain, left: Left) {
        let Some(tip) = chain.tip() else { return };
        let mut seats = self.lock();
        match left {
            Left::AsJudged if seats.whole.is_empty() => {}
            Left::AsJudged => {
                for link in chain.links.iter() {
                    seats.whole.pop(link);
                }
            }
            Left::Reported => {}
            Left::Original => {
                seats.whole.put(tip, ());
            }
        }
        if let Some((_, seat)) = seats.by_tip.peek_mut(&tip) {
            seat.left(left);
        }
    }

    /// How many items left whole with the newest body of this chain, where that was no edited one.
    pub(crate) fn left_whole(&self, chain: &Chain) -> usize {
        let seats = self.lock();
        let newest = chain.links.iter().rposition(|link| seats.whole.contains(link));
        newest.map_or(0, |at| at + 1)
    }

    /// Hears whether an upstream took the body that was made smaller after it had said "too long"; gives the event that is
    /// to be entered then, and the policy beside it.
    pub(crate) fn was_tried(&self, chain: &Chain, is_taken: bool) -> Option<(SessionEvent, Policy)> {
        let tip = chain.tip()?;
        let mut seats = self.lock();
        if !is_taken {
            seats.in_vain.put(tip, ());
            return None;
        }
        let (_, seat) = seats.by_tip.peek_mut(&tip)?;
        seat.is_entered = true;
        Some((seat.tried.take()?, seat.policy.clone()))
    }

    /// Whether a smaller window did not help this chain before.
    pub(crate) fn was_in_vain(&self, chain: &Chain) -> bool {
        let seats = self.lock();
        chain.links.iter().any(|link| seats.in_vain.contains(link))
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
            requests: seat.sent.requests,
            items: seat.sent.chain.len(),
            tokens_before: seat.sent.tokens.0,
            tokens_after: seat.sent.tokens.1,
            sweeps: seat.sent.sweeps,
            reacquisition: seat.sent.watch.figures(),
            by_tool: seat.sent.watch.by_tool().clone(),
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
        Seat::new(Liveset::new(Policy::default()).session(), Policy::default(), named, Sent::default())
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
