//! What is kept of all conversations, and which of them does a body go on with? Within a bound of memory.
//!
//! Finds by chains, forgets the oldest; decides nothing.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Mutex, time::Instant};

use liveset::{Policy, SessionEvent, WireFormat};
use lru::LruCache;

use crate::{
    chain::Chain,
    conversation::{Conversation, Left, Sent, WholeMark},
    last_body::{LastBody, landmarks},
    reacquisition::Figures,
};

/// Conversations that are remembered at most, however small they are.
const MAX_CONVERSATIONS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(16 * 1_024 - 1);
/// What a conversation takes besides its items: the session's own tables.
const BYTES_OF_A_CONVERSATION: usize = 16 << 10;
/// What an item takes: its places in the body, its count, its digest, its place in the plan and the windows of its words.
const BYTES_OF_AN_ITEM: usize = 1_536;
/// What a kilobyte of the body takes: itself, and windows of words, by which quotes are found.
const BYTES_OF_A_KILOBYTE: usize = (1 << 10) + 512;
/// Landmarks of bodies that are remembered at most: a few for each conversation.
const MAX_LANDMARKS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(64 * 1_024 - 1);

/// What is soon read and counted: well under a tenth of a millisecond.
const MAX_SMALL_GROWTH_BYTES: usize = 16 << 10;
/// Bytes of a body for one token at least, as a rule: whether a sweep is due need not be foreseen exactly.
const MIN_BYTES_PER_TOKEN: usize = 2;

/// What is kept of all conversations, within a bound of memory.
pub(crate) struct Conversations {
    kept: Mutex<Kept>,
    max_bytes: usize,
}

struct Kept {
    /// By the tip of the newest body's chain.
    by_tip: LruCache<u128, (String, Conversation)>,
    /// Which tip the body had that a landmark was last seen in.
    by_landmark: LruCache<u64, u128>,
    bytes: usize,
    /// Tips of bodies that left whole, after which no edited one of their conversation left.
    whole: LruCache<u128, ()>,
    /// Tips of bodies that were too long for their upstreams by a smaller window too.
    in_vain: LruCache<u128, ()>,
}

/// What came since the newest body of a conversation, as far as its length tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    /// Bytes of the new body beyond the last one.
    pub(crate) bytes: usize,
    /// Tokens that may still come before a sweep is due.
    pub(crate) room_tokens: u64,
}

impl Growth {
    /// Says whether it is soon read and counted, and no sweep is due.
    pub(crate) fn is_small(self) -> bool {
        self.bytes <= MAX_SMALL_GROWTH_BYTES && (self.bytes / MIN_BYTES_PER_TOKEN) as u64 <= self.room_tokens
    }
}

impl Kept {
    /// Finds the newest body that begins as this one does, as far as landmarks tell.
    fn tip_before(&mut self, format: WireFormat, body: &[u8]) -> Option<u128> {
        landmarks(format, body).find_map(|landmark| self.by_landmark.get(&landmark).copied())
    }
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
        let kept = Kept {
            by_tip: LruCache::new(MAX_CONVERSATIONS),
            by_landmark: LruCache::new(MAX_LANDMARKS),
            bytes: 0,
            whole: LruCache::new(MAX_CONVERSATIONS),
            in_vain: LruCache::new(MAX_CONVERSATIONS),
        };
        Self { kept: Mutex::new(kept), max_bytes }
    }

    /// Takes out what is kept of the conversation that this chain goes on with.
    ///
    /// While a request has it, another of the same conversation finds nothing and starts anew: branches that run side by
    /// side wait for nobody.
    pub(crate) fn take(&self, chain: &Chain) -> Option<Conversation> {
        let mut kept = self.lock();
        let (_, mut conversation) = chain.links().iter().rev().find_map(|link| kept.by_tip.pop(link))?;
        kept.bytes = kept.bytes.saturating_sub(conversation.bytes);
        // What was never said to have left has not.
        conversation.pending = None;
        Some(conversation)
    }

    /// Takes out the body that this one most likely goes on with, and gives its tip. One request has it at a time; others read their bodies
    /// whole.
    pub(crate) fn take_last(&self, format: WireFormat, body: &[u8]) -> Option<(u128, LastBody)> {
        let mut kept = self.lock();
        let tip = kept.tip_before(format, body)?;
        Some((tip, kept.by_tip.peek_mut(&tip)?.1.last.take()?))
    }

    /// Looks at the conversation that a body most likely goes on with: gives the bytes that came since, and the tokens that
    /// may still come before a sweep is due.
    pub(crate) fn growth(&self, format: WireFormat, body: &[u8]) -> Option<Growth> {
        let mut kept = self.lock();
        let tip = kept.tip_before(format, body)?;
        let (_, conversation) = kept.by_tip.peek(&tip)?;
        let bytes = body.len().checked_sub(conversation.last.as_ref()?.len())?;
        Some(Growth { bytes, room_tokens: conversation.sent.room })
    }

    /// Keeps a body for the next one to be read from: with its own conversation, or else with the one it was read from.
    pub(crate) fn keep_last(&self, tips: [Option<u128>; 2], body: &[u8], last: LastBody) {
        let mut kept = self.lock();
        let Some(tip) = tips.into_iter().flatten().find(|tip| kept.by_tip.contains(tip)) else { return };
        for landmark in landmarks(last.format(), body) {
            kept.by_landmark.put(landmark, tip);
        }
        if let Some((_, conversation)) = kept.by_tip.peek_mut(&tip) {
            conversation.last = Some(last);
        }
    }

    /// Looks at what is kept of the conversation that this chain goes on with, and leaves it.
    pub(crate) fn look<T>(&self, chain: &Chain, see: impl FnOnce(&Conversation) -> T) -> Option<T> {
        let kept = self.lock();
        chain.links().iter().rev().find_map(|link| kept.by_tip.peek(link)).map(|(_, conversation)| see(conversation))
    }

    /// What left of the newest conversation that opens with the same words, where this chain goes on with none.
    pub(crate) fn beside(&self, chain: &Chain) -> Option<Sent> {
        let (kept, name) = (self.lock(), chain.name());
        kept.by_tip.iter().find(|(_, (of, _))| *of == name).map(|(_, (_, conversation))| conversation.sent.clone())
    }

    /// Hears how the body of a chain left; gives what becomes of the mark of bodies that left whole, where that changes.
    pub(crate) fn left(&self, chain: &Chain, left: Left, now: Instant) -> Option<WholeMark> {
        let tip = chain.tip()?;
        let mut kept = self.lock();
        let mark = match left {
            Left::AsJudged if kept.whole.is_empty() => None,
            Left::AsJudged => {
                let lifted = chain.links().iter().filter(|link| kept.whole.pop(*link).is_some()).count();
                (lifted > 0).then_some(WholeMark::Lifted)
            }
            Left::Reported => None,
            Left::Original => {
                kept.whole.put(tip, ());
                Some(WholeMark::Set)
            }
        };
        if let Some((_, conversation)) = kept.by_tip.peek_mut(&tip) {
            conversation.left(left, now);
        }
        mark
    }

    /// Hears that the answer to the body of a chain has ended.
    pub(crate) fn answered(&self, chain: &Chain, now: Instant) {
        let Some(tip) = chain.tip() else { return };
        if let Some((_, conversation)) = self.lock().by_tip.peek_mut(&tip) {
            conversation.used_at = Some(now);
        }
    }

    /// Remembers what the ledger says: so many items of this chain left whole.
    pub(crate) fn remember_whole(&self, chain: &Chain, items: usize) {
        if let Some(link) = chain.link_before(items) {
            self.lock().whole.put(link, ());
        }
    }

    /// How many items left whole with the newest body of this chain, where that was no edited one.
    pub(crate) fn left_whole(&self, chain: &Chain) -> usize {
        let kept = self.lock();
        let newest = chain.links().iter().rposition(|link| kept.whole.contains(link));
        newest.map_or(0, |at| at + 1)
    }

    /// Hears whether an upstream took the body that was made smaller after it had said "too long"; gives the event that is
    /// to be entered then, and the policy beside it.
    pub(crate) fn was_tried(&self, chain: &Chain, is_taken: bool) -> Option<(SessionEvent, Policy)> {
        let tip = chain.tip()?;
        let mut kept = self.lock();
        if !is_taken {
            kept.in_vain.put(tip, ());
            return None;
        }
        let (_, conversation) = kept.by_tip.peek_mut(&tip)?;
        conversation.is_entered = true;
        Some((conversation.tried.take()?, conversation.policy.clone()))
    }

    /// Whether a smaller window did not help this chain before.
    pub(crate) fn was_in_vain(&self, chain: &Chain) -> bool {
        let kept = self.lock();
        chain.links().iter().any(|link| kept.in_vain.contains(link))
    }

    /// Keeps a conversation, and forgets those that were not heard of for longest where memory is short.
    pub(crate) fn keep(&self, chain: &Chain, body_bytes: usize, mut conversation: Conversation) {
        let Some(tip) = chain.tip() else { return };
        conversation.items = chain.len();
        conversation.bytes = BYTES_OF_A_CONVERSATION
            + chain.len().saturating_mul(BYTES_OF_AN_ITEM)
            + (body_bytes >> 10).saturating_mul(BYTES_OF_A_KILOBYTE);
        let mut kept = self.lock();
        kept.bytes = kept.bytes.saturating_add(conversation.bytes);
        if let Some((_, (_, old))) = kept.by_tip.push(tip, (chain.name(), conversation)) {
            kept.bytes = kept.bytes.saturating_sub(old.bytes);
        }
        while kept.bytes > self.max_bytes {
            let Some((_, (_, oldest))) = kept.by_tip.pop_lru() else { break };
            kept.bytes = kept.bytes.saturating_sub(oldest.bytes);
        }
    }

    /// Lists what is kept, newest first.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let kept = self.lock();
        let row = |(name, conversation): &(String, Conversation)| Row {
            conversation: name.clone(),
            requests: conversation.sent.requests,
            items: conversation.sent.chain.len(),
            tokens_before: conversation.sent.tokens.0,
            tokens_after: conversation.sent.tokens.1,
            sweeps: conversation.sent.sweeps,
            reacquisition: conversation.sent.watch.figures(),
            by_tool: conversation.sent.watch.by_tool().clone(),
        };
        kept.by_tip.iter().map(|(_, entry)| row(entry)).collect()
    }

    /// How many conversations are kept, and in how many bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let kept = self.lock();
        (kept.by_tip.len(), kept.bytes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        // What a thread that stopped left behind is whole: nothing is written in more than one step that could stop.
        self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use liveset::{Liveset, WireFormat};

    use super::*;
    use crate::{chain::Reading, named_policy::NamedPolicy};

    fn chain(messages: &str) -> Chain {
        let body = format!(r#"{{"model":"m","messages":[{messages}]}}"#);
        Reading::of(WireFormat::Anthropic, body.as_bytes()).unwrap().chain
    }

    const FIRST: &str = r#"{"role":"user","content":"one"}"#;
    const MARKED: &str =
        r#"{"role":"user","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}}]}"#;
    const REST: &str = r#",{"role":"assistant","content":"two"},{"role":"user","content":"three"}"#;

    fn conversation() -> Conversation {
        let named = NamedPolicy::of(&Policy::default(), &[], false, None);
        Conversation::new(Liveset::new(Policy::default()).session(), Policy::default(), named, Sent::default())
    }

    #[test]
    fn a_grown_conversation_is_found_also_where_its_mark_moved_on() {
        let conversations = Conversations::new(1 << 20);
        conversations.keep(&chain(MARKED), 100, conversation());
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
            conversations.keep(chain, 100, conversation());
        }
        assert_eq!(conversations.size(), (2, room_for_two));
        assert!(conversations.take(&texts[0]).is_none() && conversations.take(&texts[2]).is_some());
    }
}
