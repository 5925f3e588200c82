//! A conversation that grows: each turn costs what is new, and what was sent stays as it was sent.

use liveset_engine::{
    counts::Counts,
    plan::{SessionEvent, State},
    report::{RebaseReport, RewriteReport},
    transcript::Transcript,
};
use liveset_tokens::CountCache;

use crate::{
    compact::Liveset,
    compaction::Compaction,
    error::Result,
    reading::{Decided, FixedPart, Reading},
};

/// One growing conversation.
///
/// The output of each call is what [`Liveset::compact`] gives for the same body: a session saves work and notices
/// changes, it decides nothing.
///
/// ```
/// use liveset::{Liveset, Policy};
/// let mut session = Liveset::new(Policy::default()).session();
/// let first = br#"{"model":"gpt-4.1","messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"a","content":"b"}]}"#;
/// assert!(session.compact(first)?.report().client_rewrote.is_none());
/// let edited = br#"{"model":"gpt-4.1","messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"a","content":"b"}]}"#;
/// assert_eq!(session.compact(edited)?.report().client_rewrote.as_ref().map(|rewrote| rewrote.item), Some(0));
/// # Ok::<(), liveset::Error>(())
/// ```
#[derive(Debug)]
pub struct Session {
    liveset: Liveset,
    cache: CountCache,
    last: Option<Decided>,
    /// Whether an event came to an item that was already decided on.
    is_outdated: bool,
    /// A cause that the next report declares.
    declared: Option<String>,
}

impl Liveset {
    /// Starts a session: a growing conversation whose turns cost only what is new.
    #[must_use]
    pub fn session(&self) -> Session {
        Session { liveset: self.clone(), cache: CountCache::default(), last: None, is_outdated: false, declared: None }
    }
}

impl Session {
    /// Keeps every rule away from a call and its result, from the next body on.
    ///
    /// What an earlier turn cut stays cut, and the report's warnings say so (`pinned_too_late`): what was sent once is
    /// sent the same again. Where the client rewrites its history, everything is decided anew, and the pin holds from
    /// the start.
    ///
    /// ```
    /// use liveset::{Liveset, Policy};
    /// let mut session = Liveset::new(Policy::default()).session();
    /// session.pin("call_7");
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    /// assert_eq!(session.compact(body)?.report().warnings[0].code, "unknown_pin");
    /// # Ok::<(), liveset::Error>(())
    /// ```
    pub fn pin(&mut self, call_id: impl Into<String>) {
        let call_id = call_id.into();
        if !self.liveset.policy.pins.contains(&call_id) {
            self.liveset.policy.pins.push(call_id);
        }
    }

    /// Notes what a request told about the conversation; it holds for each later body, where its item stands.
    ///
    /// What was decided at earlier request points stays. Keep the events with the conversation ([`Session::events`]):
    /// whoever replays them decides the same ([`Liveset::with_events`]).
    ///
    /// ```
    /// use liveset::{Liveset, Policy, SessionEvent};
    /// let mut session = Liveset::new(Policy::default()).session();
    /// session.note(SessionEvent::too_long(0, 4_000));
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    /// assert_eq!(session.compact(body)?.report().tokens.window, 4_000);
    /// # Ok::<(), liveset::Error>(())
    /// ```
    pub fn note(&mut self, event: SessionEvent) {
        if self.liveset.events.contains(&event) {
            return;
        }
        self.liveset.events.push(event);
        // What was decided from its item on is decided anew, the same up to there.
        self.is_outdated |= self.last.as_ref().is_some_and(|last| (event.item() as usize) < last.counts.items());
    }

    /// Gives the events that hold, in the order in which they were noted.
    #[must_use]
    pub fn events(&self) -> &[SessionEvent] {
        &self.liveset.events
    }

    /// Lets the next report say that everything sent before may leave in other bytes, and why: for a caller that knows
    /// what a session cannot see, like a conversation that is met beyond its first turn.
    ///
    /// ```
    /// use liveset::{Liveset, Policy};
    /// let mut session = Liveset::new(Policy::default()).session();
    /// session.declare_rebase("no_ledger");
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    /// assert_eq!(session.compact(body)?.report().rebase.as_ref().map(|rebase| rebase.cause.as_str()), Some("no_ledger"));
    /// assert!(session.compact(body)?.report().rebase.is_none());
    /// # Ok::<(), liveset::Error>(())
    /// ```
    pub fn declare_rebase(&mut self, cause: impl Into<String>) {
        self.declared = Some(cause.into());
    }

    /// Compacts the conversation's newest body.
    ///
    /// # Errors
    ///
    /// As [`Liveset::compact`]; the session then stands where it stood.
    pub fn compact<'b>(&mut self, body: &'b [u8]) -> Result<Compaction<'b>> {
        let transcript = self.liveset.read(body)?;
        self.compact_read(&transcript)
    }

    /// The same from a body that [`Liveset::read`] read already.
    ///
    /// # Errors
    ///
    /// As [`Liveset::compact`]; the session then stands where it stood.
    pub fn compact_read<'b>(&mut self, transcript: &Transcript<'b>) -> Result<Compaction<'b>> {
        let (last, is_outdated) = (self.last.as_ref(), self.is_outdated);
        let mut rebase = None;
        let start = |reading: &Reading<'_, 'b>| {
            let Some(last) = last else { return State::default() };
            rebase = cause(last, reading);
            let grown =
                rebase.is_none() && reading.counts.digests().take(last.counts.items()).eq(last.counts.digests());
            if grown && !is_outdated { last.state.clone() } else { State::default() }
        };
        let none = Counts::default();
        let before = last.map_or(&none, |last| &last.counts);
        let (mut compaction, decided) = self.liveset.run_read(transcript, &mut self.cache, before, |_| (), start)?;
        if let Some(last) = last {
            // A pin that came later holds from the start then, and what was cut comes back whole.
            let is_told_anew = decided.is_anew
                && decided.state.first_difference(&last.state).is_some_and(|first| first < last.counts.items());
            let rebase = rebase.or(is_told_anew.then_some("archive"));
            compaction.report.rebase = rebase.map(|cause| RebaseReport { cause: cause.to_owned() });
            compaction.report.client_rewrote = rewrote(last, &decided);
        }
        if let Some(cause) = self.declared.take() {
            compaction.report.rebase = Some(RebaseReport { cause });
        }
        self.last = Some(decided);
        self.is_outdated = false;
        Ok(compaction)
    }
}

/// Finds what changed besides the items.
fn cause(last: &Decided, reading: &Reading<'_, '_>) -> Option<&'static str> {
    let FixedPart { tools, system, model, budget } = reading.fixed();
    if last.fixed.model != model {
        return Some("model");
    }
    if last.fixed.budget != budget {
        return Some("window");
    }
    if last.fixed.tools != tools {
        return Some("tools");
    }
    (last.fixed.system != system).then_some("system")
}

/// Finds where the client changed items that it had sent before.
fn rewrote(last: &Decided, now: &Decided) -> Option<RewriteReport> {
    // A changed system text is a rebase, not a rewritten history.
    let system = if last.fixed.system.len() == now.fixed.system.len() { now.fixed.system.len() } else { 0 };
    let pairs = last.counts.digests().zip(now.counts.digests()).skip(system);
    let same = system + pairs.take_while(|(was, is)| was == is).count();
    if same >= last.counts.items() {
        return None;
    }
    let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let first_changed = now.state.first_difference(&last.state).map_or(same, |changed| changed.min(same));
    Some(RewriteReport { item: index(same), first_changed: index(first_changed) })
}
