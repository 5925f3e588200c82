//! Which body goes out? Compacts on a thread of its own, within a time; any doubt gives the original.
//!
//! Has no rule of its own: what is cut is the library's doing, and is handed out only once its originals are stored.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use hyper::body::Bytes;
use liveset::{
    Archive, EditKind, Error, Liveset, OutcomeKind, Policy, Report, SqliteArchive, Thoroughness, WireFormat,
};
use liveset_archive::output_hash;
use liveset_engine::{edit::Edit, report::RebaseReport};
use tokio::sync::Semaphore;
use xxhash_rust::xxh3::Xxh3;

use crate::{
    conversation::{Chain, Conversations, Reading, Seat},
    ledger::{InForce, Ledger, Unreadable},
    reacquisition::Returned,
};

/// By which policy bodies are compacted, and where their originals go.
#[derive(Clone)]
pub struct Rules {
    policy: Policy,
    archive: Option<Arc<dyn Archive>>,
    ledger: Option<Ledger>,
    model: Option<String>,
    are_sessions_strict: bool,
    thoroughness: Thoroughness,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Rules {
    /// Compacts by a policy; nothing is stored.
    ///
    /// ```
    /// use liveset::Policy;
    /// let rules = liveset_proxy::Rules::new(Policy::default());
    /// # drop(rules);
    /// ```
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let thoroughness = Thoroughness::Edited;
        Self { policy, archive: None, ledger: None, model: None, are_sessions_strict: false, thoroughness }
    }

    /// Stores originals in `archive` before a body goes out, and keeps the ledger of conversations in `ledger`.
    #[must_use]
    pub fn with_archive(mut self, archive: Arc<dyn Archive>, ledger: Arc<SqliteArchive>) -> Self {
        self.archive = Some(archive);
        self.ledger = Some(Ledger::new(ledger));
        self
    }

    /// Counts and limits as for `model`, whatever bodies name.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Lets a body point only at what its own conversation stored.
    #[must_use]
    pub fn with_strict_sessions(mut self) -> Self {
        self.are_sessions_strict = true;
        self
    }

    /// Reads and counts each edited body a second time before it goes out.
    #[must_use]
    pub fn with_thoroughness(mut self, thoroughness: Thoroughness) -> Self {
        self.thoroughness = thoroughness;
        self
    }

    /// The policy of new conversations.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Names the policy by its content.
    pub(crate) fn policy_hash(&self) -> String {
        output_hash(serde_json::to_string(&self.policy).unwrap_or_default().as_bytes())
    }

    /// The archive that the ledger is kept in.
    pub(crate) fn ledger_archive(&self) -> Option<Arc<SqliteArchive>> {
        self.ledger.as_ref().map(Ledger::archive)
    }

    fn liveset(&self, policy: Policy, format: WireFormat) -> Liveset {
        let mut liveset = Liveset::new(policy).with_format(format).with_thoroughness(self.thoroughness);
        if let Some(archive) = &self.archive {
            liveset = liveset.with_archive(archive.clone());
        }
        if let Some(model) = &self.model {
            liveset = liveset.with_model(model);
        }
        if self.are_sessions_strict { liveset.with_strict_sessions() } else { liveset }
    }
}

/// Why the original goes out although it was to be compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Doubted {
    /// It is no body of its format.
    Body,
    /// It is encoded in a way that nobody here reads.
    Encoding,
    /// It is larger than what is looked at.
    TooLarge,
    /// Its model is not known, and no window is set.
    Model,
    /// The originals cannot be stored, or the ledger not be read.
    Archive,
    /// The edited body failed its last check.
    Verify,
    /// It took too long, or all threads were taken.
    TimeLimit,
    /// The thread stopped; a mistake of ours.
    Stopped,
}

impl Doubted {
    /// All reasons.
    pub(crate) const ALL: [Self; 8] = [
        Self::Body,
        Self::Encoding,
        Self::TooLarge,
        Self::Model,
        Self::Archive,
        Self::Verify,
        Self::TimeLimit,
        Self::Stopped,
    ];

    /// The word that headers, metrics and log use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Encoding => "encoding",
            Self::TooLarge => "too_large",
            Self::Model => "unknown_model",
            Self::Archive => "archive",
            Self::Verify => "verify",
            Self::TimeLimit => "time_limit",
            Self::Stopped => "stopped",
        }
    }

    /// The same as a phrase.
    pub(crate) fn told(self) -> &'static str {
        match self {
            Self::Body => "the body is not what its path says",
            Self::Encoding => "the body's encoding is not known",
            Self::TooLarge => "the body is larger than what is looked at",
            Self::Model => "the model is not in the table and no window is set",
            Self::Archive => "the originals cannot be stored",
            Self::Verify => "the edited body failed its last check",
            Self::TimeLimit => "compacting took longer than it may",
            Self::Stopped => "compacting stopped by a mistake of liveset",
        }
    }
}

/// What came of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// It fits as it is.
    Unchanged,
    /// It was cut and fits.
    Compacted,
    /// It does not fit, whatever the rules may take.
    CannotFit,
    /// It was not to be judged: another path, or asked to pass.
    Passed,
    /// The original goes out for want of certainty.
    Doubted(Doubted),
}

impl Outcome {
    /// The word that headers, metrics and log use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Compacted => "compacted",
            Self::CannotFit => "cannot_fit",
            Self::Passed => "passed",
            Self::Doubted(_) => "fallback",
        }
    }
}

/// How a body stands to the one before it in its conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Prefix {
    /// Everything that was sent leaves as it left before, or nothing was.
    #[default]
    Kept,
    /// It does not, and the report says why.
    Declared,
    /// It does not, and nothing says why: a mistake of ours.
    Undeclared,
}

/// What is known of a body that was judged.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// The edited body; `None` where the original stands.
    pub(crate) edited: Option<Bytes>,
    /// What was done and why.
    pub(crate) report: Option<Report>,
    /// The links of its conversation, where they could be read.
    pub(crate) chain: Chain,
    /// Sweeps that this request was the first to see.
    pub(crate) new_sweeps: usize,
    /// How it stands to the one before it.
    pub(crate) prefix: Prefix,
    /// What came back after cuts.
    pub(crate) returned: Vec<Returned>,
}

impl Judgement {
    /// Says that the original goes out.
    pub(crate) fn without_report(outcome: Outcome) -> Self {
        Self {
            outcome,
            edited: None,
            report: None,
            chain: Chain::default(),
            new_sweeps: 0,
            prefix: Prefix::Kept,
            returned: Vec::new(),
        }
    }
}

/// Compacts bodies, some at a time.
pub(crate) struct Compactor {
    desk: Arc<Desk>,
    threads: Arc<Semaphore>,
    time_limit: Duration,
}

struct Desk {
    rules: Rules,
    conversations: Conversations,
}

impl Compactor {
    /// Makes a compactor; `threads` 0 is one for each core.
    pub(crate) fn new(rules: Rules, threads: usize, time_limit: Duration, cache_bytes: usize) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = Arc::new(Semaphore::new(if threads == 0 { cores() } else { threads }));
        let desk = Arc::new(Desk { rules, conversations: Conversations::new(cache_bytes) });
        Self { desk, threads, time_limit }
    }

    /// What is kept of conversations.
    pub(crate) fn conversations(&self) -> &Conversations {
        &self.desk.conversations
    }

    /// Judges a body. A client that goes away leaves its thread to its end: what it counted is of use later.
    pub(crate) async fn judge(&self, format: WireFormat, body: Bytes) -> Judgement {
        self.within_time(move |desk| desk.judge(format, &body)).await
    }

    /// Enters that an upstream refused this body as too long, and judges it again by the smaller window.
    pub(crate) async fn judge_shorter(&self, format: WireFormat, body: Bytes, chain: Chain, window: u64) -> Judgement {
        self.within_time(move |desk| desk.judge_shorter(format, &body, &chain, window)).await
    }

    async fn within_time(&self, work: impl FnOnce(&Desk) -> Judgement + Send + 'static) -> Judgement {
        let (desk, threads) = (self.desk.clone(), self.threads.clone());
        let worked = tokio::time::timeout(self.time_limit, async move {
            let permit = threads.acquire_owned().await.ok()?;
            let thread = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                catch_unwind(AssertUnwindSafe(|| work(&desk))).ok()
            });
            thread.await.ok().flatten()
        });
        let doubted = |why| Judgement::without_report(Outcome::Doubted(why));
        match worked.await {
            Ok(Some(judgement)) => judgement,
            Ok(None) => doubted(Doubted::Stopped),
            Err(_) => doubted(Doubted::TimeLimit),
        }
    }
}

impl Desk {
    fn judge(&self, format: WireFormat, body: &[u8]) -> Judgement {
        let Some(reading) = Reading::of(format, body) else {
            return Judgement::without_report(Outcome::Doubted(Doubted::Body));
        };
        match self.compact(format, body, &reading) {
            Ok(judgement) => judgement,
            Err(why) => Judgement { chain: reading.chain, ..Judgement::without_report(Outcome::Doubted(why)) },
        }
    }

    fn judge_shorter(&self, format: WireFormat, body: &[u8], chain: &Chain, window: u64) -> Judgement {
        let doubted = |why| Judgement::without_report(Outcome::Doubted(why));
        let Some(reading) = Reading::of(format, body) else { return doubted(Doubted::Body) };
        match self.shrink(format, body, &reading, chain, window) {
            Ok(judgement) => judgement,
            Err(why) => doubted(why),
        }
    }

    /// Goes on by a smaller window, and says so.
    fn shrink(
        &self,
        format: WireFormat,
        body: &[u8],
        reading: &Reading<'_>,
        chain: &Chain,
        window: u64,
    ) -> Result<Judgement, Doubted> {
        // What was decided for the larger window is void.
        let before = self.conversations.take(chain);
        let mut in_force = match &self.rules.ledger {
            Some(ledger) => {
                let entered = ledger.shrink(chain, window).and_then(|()| ledger.hold(chain, &self.rules.policy));
                entered.map_err(|Unreadable| Doubted::Archive)?;
                self.in_force(chain)?
            }
            // Known to this process alone, so another one will declare a rebase.
            None => InForce { policy: before.map(|seat| seat.policy), window: Some(window), ..InForce::default() },
        };
        in_force.policy.get_or_insert_with(|| self.rules.policy.clone());
        let (seat, mut judged) = self.begin(format, reading, &in_force)?;
        self.conversations.keep(chain, body.len(), seat);
        if let Some(report) = &mut judged.report {
            report.rebase = Some(RebaseReport { cause: "window".to_owned() });
        }
        judged.prefix = Prefix::Declared;
        Ok(judged)
    }

    fn compact(&self, format: WireFormat, body: &[u8], reading: &Reading<'_>) -> Result<Judgement, Doubted> {
        let chain = &reading.chain;
        let (mut seat, mut judged) = match self.conversations.take(chain) {
            Some(mut seat) => {
                let judged = self.go_on(reading, &mut seat, None);
                match judged {
                    Ok(judged) => (seat, judged),
                    Err(why) => {
                        self.conversations.keep(chain, body.len(), seat);
                        return Err(why);
                    }
                }
            }
            None => self.begin(format, reading, &self.in_force(chain)?)?,
        };
        if let (false, Some(_), Some(ledger)) = (seat.is_entered, &judged.edited, &self.rules.ledger) {
            // The first cut: from now on this policy holds, or the one of whoever cut first.
            let holds = ledger.hold(chain, &seat.policy).map_err(|Unreadable| Doubted::Archive)?;
            if holds != seat.policy {
                (seat, judged) = self.begin(format, reading, &self.in_force(chain)?)?;
            }
            seat.is_entered = true;
        }
        self.conversations.keep(chain, body.len(), seat);
        Ok(judged)
    }

    fn in_force(&self, chain: &Chain) -> Result<InForce, Doubted> {
        let Some(ledger) = &self.rules.ledger else { return Ok(InForce::default()) };
        ledger.read(chain).map_err(|Unreadable| Doubted::Archive)
    }

    /// Compacts the first body of a conversation that this process sees.
    fn begin(
        &self,
        format: WireFormat,
        reading: &Reading<'_>,
        in_force: &InForce,
    ) -> Result<(Seat, Judgement), Doubted> {
        let policy = in_force.policy.clone().unwrap_or_else(|| self.rules.policy.clone());
        let mut effective = policy.clone();
        effective.window = in_force.window.or(policy.window);
        let mut seat = Seat::new(self.rules.liveset(effective, format).session(), policy);
        seat.is_entered = in_force.policy.is_some();
        let rebase = match (reading.is_first_turn(), &in_force.policy) {
            (true, _) | (false, Some(_)) => None,
            (false, None) if in_force.is_of_other_contract => Some("contract"),
            (false, None) => Some("no_ledger"),
        };
        let judged = self.go_on(reading, &mut seat, rebase)?;
        Ok((seat, judged))
    }

    /// Compacts the newest body of a conversation.
    fn go_on(&self, reading: &Reading<'_>, seat: &mut Seat, rebase: Option<&str>) -> Result<Judgement, Doubted> {
        let compaction = seat.session.compact_read(&reading.transcript).map_err(|error| why(&error))?;
        if compaction.report().warnings.iter().any(|warning| warning.code == "verify_failed") {
            return Err(Doubted::Verify);
        }
        let is_first = seat.requests == 0;
        seat.requests += 1;
        // The first body that is seen is all old: nothing in it happened after a cut of ours.
        let new_from = if is_first { reading.chain.len() } else { seat.items };
        let returned = seat.watch.look(&reading.transcript, new_from, seat.requests);
        let tokens = &compaction.report().tokens;
        let saved = tokens.before.saturating_sub(tokens.after);
        seat.tokens = (tokens.before, tokens.after);
        seat.watch.note(&reading.transcript, compaction.edits(), saved, seat.requests);
        let is_edited = !compaction.edits().is_empty();
        let edits: Vec<_> =
            compaction.edits().iter().filter(|edit| edit.kind != EditKind::Mark).map(stands_for).collect();
        let (sent, mut report) = compaction.into_parts();
        if let (true, Some(cause)) = (is_edited, rebase) {
            report.rebase.get_or_insert(RebaseReport { cause: cause.to_owned() });
        }
        let prefix = if is_first { Prefix::Kept } else { prefix(seat, &edits, &report) };
        let new_sweeps = report.sweeps.len().saturating_sub(seat.sweeps);
        seat.items = reading.chain.len();
        seat.sweeps = report.sweeps.len();
        seat.edits = edits;
        Ok(Judgement {
            outcome: match report.outcome {
                OutcomeKind::Unchanged => Outcome::Unchanged,
                OutcomeKind::Compacted => Outcome::Compacted,
                OutcomeKind::CannotFit => Outcome::CannotFit,
            },
            edited: is_edited.then(|| sent.into_owned().into()),
            report: Some(report),
            chain: reading.chain.clone(),
            new_sweeps,
            prefix,
            returned,
        })
    }
}

/// Holds the edits of what was sent before against those that are sent now.
fn prefix(seat: &Seat, edits: &[(u32, u128)], report: &Report) -> Prefix {
    let was_sent = |edit: &&(u32, u128)| usize::try_from(edit.0).is_ok_and(|item| item < seat.items);
    let is_same = seat.edits.iter().eq(edits.iter().filter(was_sent));
    let is_declared = report.sweeps.len() > seat.sweeps || report.rebase.is_some() || report.client_rewrote.is_some();
    match (is_same, is_declared) {
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
