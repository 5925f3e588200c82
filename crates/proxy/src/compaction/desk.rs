//! How is one body compacted, as the next of its conversation or as its first? On a thread that may take its time.
//!
//! Remembers conversations and asks the ledger what is in force for them; both decide nothing about what is cut.

use liveset::{Compaction, EditKind, Error, OutcomeKind, Report, SessionEvent, WireFormat};
use liveset_engine::{edit::Edit, report::RebaseReport, transcript::Side};
use xxhash_rust::xxh3::Xxh3;

use super::Purpose;
use crate::{
    conversation::{Chain, Conversations, Reading, Seat},
    judgement::{Doubted, Judgement, Outcome, Prefix},
    ledger::{InForce, Unreadable},
    reacquisition::Returned,
    rules::Rules,
};

/// Where bodies are compacted.
pub(super) struct Desk {
    rules: Rules,
    conversations: Conversations,
}

impl Desk {
    /// Makes a desk that remembers conversations within so many bytes.
    pub(super) fn new(rules: Rules, cache_bytes: usize) -> Self {
        Self { rules, conversations: Conversations::new(cache_bytes) }
    }

    /// What is remembered of conversations.
    pub(super) fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// Judges a body.
    pub(super) fn judge(&self, format: WireFormat, purpose: Purpose, body: &[u8]) -> Judgement {
        self.judged(format, body, |reading| self.compact(format, purpose, body.len(), reading))
    }

    /// Judges a body again after its upstream refused it as too long.
    pub(super) fn judge_shorter(&self, format: WireFormat, body: &[u8], chain: &Chain, window: u64) -> Judgement {
        self.judged(format, body, |reading| self.shrink(format, body.len(), reading, chain, window))
    }

    fn judged(
        &self,
        format: WireFormat,
        body: &[u8],
        judge: impl FnOnce(&Reading<'_>) -> Result<Judgement, Doubted>,
    ) -> Judgement {
        let Some(reading) = Reading::of(format, body) else {
            return Judgement::without_report(Outcome::Doubted(Doubted::Body));
        };
        match judge(&reading) {
            Ok(judgement) => judgement,
            Err(why) => Judgement { chain: reading.chain, ..Judgement::without_report(Outcome::Doubted(why)) },
        }
    }

    fn compact(
        &self,
        format: WireFormat,
        purpose: Purpose,
        body_bytes: usize,
        reading: &Reading<'_>,
    ) -> Result<Judgement, Doubted> {
        let chain = &reading.chain;
        let in_force = self.in_force(chain)?;
        let (mut seat, mut judged) = match self.conversations.take(chain) {
            Some(mut seat) if self.rules.ledger().is_none() || goes_by(&seat, &in_force) => {
                match go_on(reading, purpose, &mut seat, None) {
                    Ok(judged) => (seat, judged),
                    Err(why) => {
                        self.conversations.keep(chain, body_bytes, seat);
                        return Err(why);
                    }
                }
            }
            // Another process entered something since: what was decided here is void.
            Some(_) => self.begin(format, purpose, reading, &in_force, Some("policy"))?,
            None => self.begin(format, purpose, reading, &in_force, first_met(reading, &in_force))?,
        };
        if let (false, Some(_), Some(ledger)) = (seat.is_entered, &judged.edited, self.rules.ledger()) {
            // The first cut: from now on this policy holds, or the one of whoever cut first.
            let holds = ledger.hold(chain, &seat.policy).map_err(|Unreadable| Doubted::Archive)?;
            if holds != seat.policy {
                (seat, judged) = self.begin(format, purpose, reading, &self.in_force(chain)?, Some("policy"))?;
            }
            seat.is_entered = true;
        }
        self.conversations.keep(chain, body_bytes, seat);
        Ok(judged)
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
        let before = self.conversations.take(chain);
        let newest = u32::try_from(chain.len().saturating_sub(1)).map_err(|_| Doubted::TooLarge)?;
        let event = SessionEvent::too_long(newest, window);
        let mut in_force = match self.rules.ledger() {
            Some(ledger) => {
                let entered = ledger.note(chain, event).and_then(|()| ledger.hold(chain, self.rules.policy()));
                entered.map_err(|Unreadable| Doubted::Archive)?;
                self.in_force(chain)?
            }
            // Known to this process alone, so another one will declare a rebase.
            None => {
                let mut events = before.as_ref().map_or_else(Vec::new, |seat| seat.session.events().to_vec());
                events.push(event);
                InForce { policy: before.map(|seat| seat.policy), events, ..InForce::default() }
            }
        };
        in_force.policy.get_or_insert_with(|| self.rules.policy().clone());
        let (seat, judged) = self.begin(format, Purpose::Ask, reading, &in_force, Some("window"))?;
        self.conversations.keep(chain, body_bytes, seat);
        Ok(judged)
    }

    fn in_force(&self, chain: &Chain) -> Result<InForce, Doubted> {
        let Some(ledger) = self.rules.ledger() else { return Ok(InForce::default()) };
        ledger.read(chain).map_err(|Unreadable| Doubted::Archive)
    }

    /// Compacts a body with nothing remembered of its conversation.
    fn begin(
        &self,
        format: WireFormat,
        purpose: Purpose,
        reading: &Reading<'_>,
        in_force: &InForce,
        rebase: Option<&'static str>,
    ) -> Result<(Seat, Judgement), Doubted> {
        let policy = in_force.policy.clone().unwrap_or_else(|| self.rules.policy().clone());
        let named = self.rules.named(&policy, &in_force.events);
        let liveset = self.rules.liveset(policy.clone(), format).with_events(in_force.events.iter().copied());
        let mut seat = Seat::new(liveset.session(), policy, named);
        seat.is_entered = in_force.policy.is_some();
        let judged = go_on(reading, purpose, &mut seat, rebase)?;
        Ok((seat, judged))
    }
}

/// Says whether what is remembered rests on what is in force.
fn goes_by(seat: &Seat, in_force: &InForce) -> bool {
    let is_policy = in_force.policy.as_ref().is_none_or(|policy| *policy == seat.policy);
    is_policy && in_force.events == seat.session.events()
}

/// Why a conversation that is first met is decided anew, if it is.
fn first_met(reading: &Reading<'_>, in_force: &InForce) -> Option<&'static str> {
    match (reading.is_first_turn(), &in_force.policy) {
        (true, _) | (false, Some(_)) => None,
        (false, None) if in_force.is_of_other_contract => Some("contract"),
        (false, None) => Some("no_ledger"),
    }
}

/// Compacts the newest body of a conversation.
fn go_on(
    reading: &Reading<'_>,
    purpose: Purpose,
    seat: &mut Seat,
    rebase: Option<&'static str>,
) -> Result<Judgement, Doubted> {
    let compaction = seat.session.compact_read(&reading.transcript).map_err(|error| why(&error))?;
    if compaction.report().warnings.iter().any(|warning| warning.code == "verify_failed") {
        return Err(Doubted::Verify);
    }
    let is_edited = !compaction.edits().is_empty();
    let sent: Vec<_> = compaction.edits().iter().filter(|edit| edit.kind != EditKind::Mark).map(stands_for).collect();
    let returned = match purpose {
        Purpose::Ask => watch(reading, seat, &compaction),
        Purpose::Count => Vec::new(),
    };
    let (body, mut report) = compaction.into_parts();
    // What a count noticed is declared by the request that is sent.
    let cause = rebase.map(str::to_owned).or(seat.undeclared.take());
    if let (true, None, Some(cause)) = (is_edited, &report.rebase, cause) {
        report.rebase = Some(RebaseReport { cause });
    }
    let mut judged = Judgement {
        edited: is_edited.then(|| body.into_owned().into()),
        chain: reading.chain.clone(),
        returned,
        policy: Some(seat.named.clone()),
        ..Judgement::without_report(match report.outcome {
            OutcomeKind::Unchanged => Outcome::Unchanged,
            OutcomeKind::Compacted => Outcome::Compacted,
            OutcomeKind::CannotFit => Outcome::CannotFit,
        })
    };
    judged.new_sweeps = new_sweeps(reading, seat, &report);
    match purpose {
        Purpose::Ask => {
            judged.prefix = prefix(seat, &sent, &report);
            seat.requests += 1;
            seat.items = reading.chain.len();
            seat.sweeps = report.sweeps.len();
            seat.tokens = (report.tokens.before, report.tokens.after);
            seat.edits = sent;
        }
        Purpose::Count => seat.undeclared = report.rebase.as_ref().map(|rebase| rebase.cause.clone()),
    }
    judged.report = Some(report);
    Ok(judged)
}

/// Looks at what the agent did since the request before, and notes what this one cuts.
fn watch(reading: &Reading<'_>, seat: &mut Seat, compaction: &Compaction<'_>) -> Vec<Returned> {
    let request = seat.requests + 1;
    // The first body that is seen is all old: nothing in it happened after a cut of ours.
    let new_from = if seat.requests == 0 { reading.chain.len() } else { seat.items };
    let returned = seat.watch.look(&reading.transcript, new_from, request);
    let tokens = &compaction.report().tokens;
    let saved = tokens.before.saturating_sub(tokens.after);
    seat.watch.note(&reading.transcript, compaction.edits(), saved, request);
    returned
}

/// Counts the sweeps that no request before this one saw.
fn new_sweeps(reading: &Reading<'_>, seat: &Seat, report: &Report) -> usize {
    if seat.requests > 0 {
        return report.sweeps.len().saturating_sub(seat.sweeps);
    }
    // Of a conversation that is first met, those since the model's newest words: earlier ones were seen elsewhere.
    let newest = reading.transcript.items.iter().rposition(|item| item.side == Side::Assistant);
    let is_new = |point: u32| newest.is_none_or(|newest| usize::try_from(point).is_ok_and(|point| point > newest));
    report.sweeps.iter().filter(|sweep| is_new(sweep.request_point)).count()
}

/// Holds the edits of what was sent before against those that are sent now.
fn prefix(seat: &Seat, edits: &[(u32, u128)], report: &Report) -> Prefix {
    let was_sent = |edit: &&(u32, u128)| usize::try_from(edit.0).is_ok_and(|item| item < seat.items);
    let is_same = seat.edits.iter().eq(edits.iter().filter(was_sent));
    let is_declared = report.sweeps.len() > seat.sweeps || report.rebase.is_some() || report.client_rewrote.is_some();
    match (is_same && (seat.requests > 0 || report.rebase.is_none()), is_declared) {
        (true, _) => Prefix::Kept,
        (false, true) => Prefix::Declared,
        (false, false) => Prefix::Undeclared,
    }
}

/// What an edit puts in place of its item, in short.
fn stands_for(edit: &Edit) -> (u32, u128) {
    let mut hash = Xxh3::new();
    for splice in &edit.splices {
        // Not the place: a cache mark before it may have moved on.
        hash.update(&(splice.with.len() as u64).to_le_bytes());
        hash.update(splice.with.as_bytes());
    }
    (edit.item.0, hash.digest128())
}

fn why(error: &Error) -> Doubted {
    match error {
        _ if error.is_archive() => Doubted::Archive,
        Error::UnknownModel { .. } | Error::NoModel => Doubted::Model,
        _ => Doubted::Body,
    }
}
