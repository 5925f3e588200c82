//! How is one body compacted, as the next of its conversation or as its first? On a thread that may take its time.
//!
//! Remembers conversations and asks the ledger what is in force for them; both decide nothing about what is cut.

use std::{sync::Arc, time::Instant};

use hyper::body::Bytes;
use liveset::{Policy, SessionEvent, WireFormat};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    Purpose,
    marks::WaitingMarks,
    turn::{Cause, Met, go_on},
};
use crate::{
    chain::{Chain, Reading},
    conversation::{Conversation, Left, Sent},
    conversations::{Conversations, Growth},
    judgement::{Doubted, Judgement, Outcome},
    last_body::LastBody,
    ledger::{Basis, InForce, Unreadable},
    rules::Rules,
};

/// Longer bodies are judged on a thread of their own: to compare and to copy them takes as long as to hand them over.
const MAX_SMALL_BYTES: usize = 1 << 20;

/// Where bodies are compacted.
pub(super) struct Judge {
    rules: Rules,
    conversations: Conversations,
    marks: WaitingMarks,
}

/// What is remembered of a conversation that is compacted anew.
struct Remembered {
    policy: Policy,
    events: Vec<SessionEvent>,
    sent: Sent,
}

impl Remembered {
    fn of(conversation: &Conversation) -> Self {
        let events = conversation.session.events().iter().filter(|event| conversation.tried.as_ref() != Some(event));
        Self { policy: conversation.policy.clone(), events: events.copied().collect(), sent: conversation.sent.clone() }
    }
}

impl Judge {
    /// Makes a judge that remembers conversations within so many bytes.
    pub(super) fn new(rules: Rules, cache_bytes: usize) -> Self {
        Self { rules, conversations: Conversations::new(cache_bytes), marks: WaitingMarks::default() }
    }

    /// What is remembered of conversations.
    pub(super) fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// Says whether judging a body is likely to take no longer than handing it to another thread: it goes on with one that
    /// was read, no sweep is due, and nothing waits for a disk.
    pub(super) fn is_small(&self, format: WireFormat, body: &Bytes) -> bool {
        let is_short = body.len() <= MAX_SMALL_BYTES && self.rules.ledger().is_none();
        is_short && self.conversations.growth(format, body).is_some_and(Growth::is_small)
    }

    /// Judges a body.
    pub(super) fn judge(&self, format: WireFormat, purpose: Purpose, body: &Bytes, now: Instant) -> Judgement {
        self.judged(format, body, |reading| match purpose {
            Purpose::Ask => self.compact(format, body.len(), reading, now),
            Purpose::Count => self.count(format, reading),
        })
    }

    /// Judges a body again after its upstream refused it as too long.
    pub(super) fn judge_shorter(&self, format: WireFormat, body: &Bytes, chain: &Chain, window: u64) -> Judgement {
        self.judged(format, body, |reading| self.shrink(format, body.len(), reading, chain, window))
    }

    /// Notes that a body left as it came, and nobody judged it.
    pub(super) fn left_unread(&self, format: WireFormat, body: &[u8], now: Instant) {
        let Some(reading) = Reading::of(format, body) else { return };
        if self.left(&reading.chain, Left::Original, now) {
            self.enter_marks();
        }
    }

    /// Hears how the body of a chain left; says whether a mark waits to be entered.
    pub(super) fn left(&self, chain: &Chain, left: Left, now: Instant) -> bool {
        let is_entered = self.rules.ledger().is_some() && self.rules.are_entered();
        self.marks.note(chain, || self.conversations.left(chain, left, now).filter(|_| is_entered))
    }

    /// Enters the marks that wait, so that they outlive a restart.
    pub(super) fn enter_marks(&self) {
        let Some(ledger) = self.rules.ledger() else { return };
        // Where it cannot be written this process knows it all the same.
        self.marks.enter(|chain, mark| {
            let _ = ledger.mark(chain, mark);
        });
    }

    /// Hears whether an upstream took what was made smaller; only then does the smaller window hold from now on.
    pub(super) fn was_tried(&self, chain: &Chain, is_taken: bool) {
        let Some((event, policy)) = self.conversations.was_tried(chain, is_taken) else { return };
        if let Some(ledger) = self.rules.ledger() {
            // Where it cannot be written the next request is decided without it, and says so.
            let _ = ledger.hold(chain, &policy).and_then(|_| ledger.note(chain, event));
        }
    }

    fn judged(
        &self,
        format: WireFormat,
        body: &Bytes,
        judge: impl FnOnce(&Reading<'_>) -> Result<Judgement, Doubted>,
    ) -> Judgement {
        let last = self.conversations.take_last(format, body);
        let (before, reading) = match last {
            Some((tip, last)) => (Some(tip), Reading::after(last, body)),
            None => (None, Reading::of(format, body)),
        };
        let Some(reading) = reading else {
            return Judgement::without_report(Outcome::Doubted(Doubted::Body));
        };
        let judged = judge(&reading);
        let chain = reading.chain.clone();
        let last = LastBody::new(body.clone(), reading.into_body());
        self.conversations.keep_last([chain.tip(), before], body, last);
        judged.unwrap_or_else(|why| Judgement { chain, ..Judgement::without_report(Outcome::Doubted(why)) })
    }

    fn compact(
        &self,
        format: WireFormat,
        body_bytes: usize,
        reading: &Reading<'_>,
        now: Instant,
    ) -> Result<Judgement, Doubted> {
        let chain = &reading.chain;
        let in_force = self.in_force(chain)?;
        let whole = self.conversations.left_whole(chain);
        let because = |cause| Met { cause: Some(Cause::Always(cause)), whole, ..Met::default() };
        let (mut conversation, mut judged) = match self.conversations.take(chain) {
            Some(mut conversation) if conversation.tried.is_none() && self.goes_by(&conversation, &in_force) => {
                self.note_cold_cache(reading, &mut conversation, now);
                match go_on(reading, &mut conversation, &Met { whole, ..Met::default() }) {
                    Ok(judged) => (conversation, judged),
                    Err(why) => {
                        self.conversations.keep(chain, body_bytes, conversation);
                        return Err(why);
                    }
                }
            }
            // A smaller window that did not help, or another process entered something since: this is void.
            Some(conversation) => {
                let met = because(if conversation.tried.is_some() { "window" } else { "policy" });
                let was = Remembered::of(&conversation);
                self.begin(format, reading, &self.or_remembered(in_force, &was), was.sent, &met)?
            }
            None => {
                self.conversations.remember_whole(chain, in_force.whole);
                let met = self.first_met(reading, &in_force, whole);
                self.begin(format, reading, &in_force, Sent::default(), &met)?
            }
        };
        if let Some(holds) = self.enter(reading, &mut conversation, &judged)? {
            let in_force = InForce { policy: Some(holds), ..self.in_force(chain)? };
            (conversation, judged) = self.begin(format, reading, &in_force, conversation.sent, &because("policy"))?;
        }
        self.conversations.keep(chain, body_bytes, conversation);
        Ok(judged)
    }

    /// Enters what a cut rests on; gives the policy that holds where it is another: of whoever cut first.
    fn enter(
        &self,
        reading: &Reading<'_>,
        conversation: &mut Conversation,
        judged: &Judgement,
    ) -> Result<Option<Policy>, Doubted> {
        let Some(ledger) = self.rules.ledger().filter(|_| self.rules.are_entered()) else { return Ok(None) };
        if judged.edited.is_none() {
            return Ok(None);
        }
        let is_first = !conversation.is_entered;
        let cause = judged.report.as_ref().and_then(|report| report.rebase.as_ref());
        let is_other = cause.is_some_and(|rebase| matches!(rebase.cause.as_str(), "model" | "tools"));
        let fail = |Unreadable| Doubted::Archive;
        if is_first || is_other {
            ledger.rest_on(&reading.chain, basis(reading)).map_err(fail)?;
        }
        if !is_first {
            return Ok(None);
        }
        let holds = ledger.hold(&reading.chain, &conversation.policy).map_err(fail)?;
        conversation.is_entered = true;
        Ok((holds != conversation.policy).then_some(holds))
    }

    /// Compacts a body for its count: nothing is taken, kept or entered.
    fn count(&self, format: WireFormat, reading: &Reading<'_>) -> Result<Judgement, Doubted> {
        let chain = &reading.chain;
        let in_force = self.in_force(chain)?;
        let whole = self.conversations.left_whole(chain);
        let (in_force, sent, met) = match self.conversations.look(chain, Remembered::of) {
            Some(was) => (self.or_remembered(in_force, &was), was.sent, Met { whole, ..Met::default() }),
            None => {
                let met = self.first_met(reading, &in_force, whole);
                (in_force, Sent::default(), met)
            }
        };
        self.begin(format, reading, &in_force, sent, &met).map(|(_, judged)| judged)
    }

    /// Goes on by a smaller window, and says so.
    fn shrink(
        &self,
        format: WireFormat,
        body_bytes: usize,
        reading: &Reading<'_>,
        chain: &Chain,
        window: u64,
    ) -> Result<Judgement, Doubted> {
        // What was decided for the larger window is void.
        let was = self.conversations.take(chain).map(|conversation| Remembered::of(&conversation));
        let newest = u32::try_from(chain.len().saturating_sub(1)).map_err(|_| Doubted::TooLarge)?;
        let event = SessionEvent::too_long(newest, window);
        let mut in_force = self.in_force(chain)?;
        if let Some(was) = &was {
            in_force = self.or_remembered(in_force, was);
        }
        in_force.events.push(event);
        let met = Met { cause: Some(Cause::Always("window")), ..Met::default() };
        let sent = was.map(|was| was.sent).unwrap_or_default();
        let (mut conversation, judged) = self.begin(format, reading, &in_force, sent, &met)?;
        conversation.tried = Some(event);
        self.conversations.keep(chain, body_bytes, conversation);
        Ok(judged)
    }

    /// Notes once that the vendor's cache of a conversation has run out: a rewrite costs nothing more now.
    ///
    /// Only of one whose every request came through here, and where what is noted is kept: whoever decides again later
    /// must know of it.
    fn note_cold_cache(&self, reading: &Reading<'_>, conversation: &mut Conversation, now: Instant) {
        let Some(used_at) = conversation.used_at.filter(|_| self.rules.are_entered()) else { return };
        let chain = &reading.chain;
        let idle = now.saturating_duration_since(used_at);
        // What the vendor has was cached by the marks of the body before.
        if idle <= conversation.sent.cache_lifetime || !reading.is_next_after(conversation.items) {
            return;
        }
        let Ok(newest) = u32::try_from(chain.len().saturating_sub(1)) else { return };
        let event = SessionEvent::cache_cold(newest);
        if conversation.session.events().contains(&event) {
            return;
        }
        if self.rules.ledger().is_none_or(|ledger| ledger.note(chain, event).is_ok()) {
            conversation.session.note(event);
            conversation.named = Arc::new(self.rules.named(&conversation.policy, conversation.session.events()));
        }
    }

    fn in_force(&self, chain: &Chain) -> Result<InForce, Doubted> {
        let Some(ledger) = self.rules.ledger() else { return Ok(InForce::default()) };
        ledger.read(chain).map_err(|Unreadable| Doubted::Archive)
    }

    /// What is in force; where nothing is written, what this process went by.
    fn or_remembered(&self, mut in_force: InForce, was: &Remembered) -> InForce {
        in_force.policy.get_or_insert_with(|| was.policy.clone());
        if self.rules.ledger().is_none() {
            in_force.events = was.events.clone();
        }
        in_force
    }

    /// Says whether what is remembered rests on what is in force.
    fn goes_by(&self, conversation: &Conversation, in_force: &InForce) -> bool {
        let is_policy = in_force.policy.as_ref().is_none_or(|policy| *policy == conversation.policy);
        self.rules.ledger().is_none() || (is_policy && in_force.events == conversation.session.events())
    }

    /// How a conversation is met of which nothing is remembered.
    fn first_met(&self, reading: &Reading<'_>, in_force: &InForce, whole: usize) -> Met {
        let cause = match (reading.is_first_turn(), &in_force.policy, in_force.basis) {
            (true, _, _) => None,
            (false, Some(_), Some(was)) if was.model != basis(reading).model => Some(Cause::Always("model")),
            (false, Some(_), Some(was)) if was.tools != basis(reading).tools => Some(Cause::Always("tools")),
            (false, Some(_), _) => None,
            (false, None, _) if in_force.is_of_other_contract => Some(Cause::IfCutBefore("contract")),
            (false, None, _) => Some(Cause::IfCutBefore("no_ledger")),
        };
        let beside = self.conversations.beside(&reading.chain);
        Met { cause, whole: whole.max(in_force.whole), beside, was_cut_elsewhere: in_force.policy.is_some() }
    }

    /// Compacts a body by what is in force, with no decision remembered.
    fn begin(
        &self,
        format: WireFormat,
        reading: &Reading<'_>,
        in_force: &InForce,
        sent: Sent,
        met: &Met,
    ) -> Result<(Conversation, Judgement), Doubted> {
        let policy = in_force.policy.clone().unwrap_or_else(|| self.rules.policy().clone());
        let named = self.rules.named(&policy, &in_force.events);
        let liveset = self.rules.liveset(policy.clone(), format).with_events(in_force.events.iter().copied());
        let mut conversation = Conversation::new(liveset.session(), policy, named, sent);
        let judged = go_on(reading, &mut conversation, met)?;
        Ok((conversation, judged))
    }
}

/// What decisions rest on besides items and policy.
fn basis(reading: &Reading<'_>) -> Basis {
    let of = |span: Option<liveset_engine::Span>| span.map_or(0, |span| xxh3_64(span.of(reading.transcript().body)));
    Basis { model: of(reading.transcript().model), tools: of(reading.transcript().tools) }
}
