//! One call, all stages: read, count, plan, splice, verify, store, hand out.

use std::{borrow::Cow, sync::Arc};

use liveset_archive::{Archive, Error as ArchiveError};
use liveset_engine::{
    apply,
    budget::{Budget, WindowSource},
    counts::Counts,
    json::{self, Outline},
    plan::{Fit, Inputs, Plan, SessionEvent, State},
    policy::{ArchiveUse, Policy},
    report::{OutcomeKind, Report, TokenReport, Warning},
    summary::SummaryAnswers,
    transcript::{Transcript, WireFormat},
    verify, wire,
};
use liveset_tokens::{CountCache, Exactness, Model, Price, TokenCounter, Tokens};

use crate::{
    compaction::Compaction,
    error::{Error, Result},
    reading::{Decided, Reading},
    release,
    summarizer::Summarizer,
};

/// How much is checked before a body is handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thoroughness {
    /// Edited items and every byte between them.
    #[default]
    Edited,
    /// The whole body is read and counted a second time.
    Whole,
}

/// Compacts request bodies under one policy.
///
/// Cheap to clone; holds no state between calls. For a conversation that grows, [`Liveset::session`] counts only what
/// is new.
#[derive(Clone)]
pub struct Liveset {
    pub(crate) policy: Policy,
    pub(crate) archive: Option<Arc<dyn Archive>>,
    pub(crate) format: Option<WireFormat>,
    pub(crate) model: Option<String>,
    pub(crate) overhead: Tokens,
    thoroughness: Thoroughness,
    sessions: SessionUse,
    pub(crate) events: Vec<SessionEvent>,
    pub(crate) summarizer: Option<Arc<dyn Summarizer>>,
}

/// What the session of a body is to its archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionUse {
    Index,
    Border,
}

impl std::fmt::Debug for Liveset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Liveset").field("policy", &self.policy).field("format", &self.format).finish_non_exhaustive()
    }
}

/// What a bare message list does not say.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MessageOptions {
    /// The model that will read it.
    pub model: Option<String>,
    /// The JSON of the tools that go with it, to be counted.
    pub tools: Option<Vec<u8>>,
    /// The system text that goes with it, to be counted.
    pub system: Option<String>,
}

impl Liveset {
    /// Makes a compactor. No archive is used until one is given.
    #[must_use]
    pub fn new(mut policy: Policy) -> Self {
        policy.archive = ArchiveUse::Off;
        Self {
            policy,
            archive: None,
            format: None,
            model: None,
            overhead: Tokens(0),
            thoroughness: Thoroughness::Edited,
            sessions: SessionUse::Index,
            events: Vec::new(),
            summarizer: None,
        }
    }

    /// Stores originals and manifests in `archive` before a body is handed out.
    ///
    /// Where the policy's `recall_route` is `spill:RELATIVE`, hand in an archive that spills to that folder
    /// (`liveset_archive::Spilling`): bodies name its files.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use liveset::{Liveset, MemoryArchive, Policy};
    /// let liveset = Liveset::new(Policy::default()).with_archive(Arc::new(MemoryArchive::new()));
    /// # drop(liveset);
    /// ```
    #[must_use]
    pub fn with_archive(mut self, archive: Arc<dyn Archive>) -> Self {
        self.policy.archive = ArchiveUse::On;
        self.archive = Some(archive);
        self
    }

    /// Lets a body point only at what its own conversation stored. For archives that many share; who reads one of those
    /// should do so through [`Scope::strictly`](liveset_archive::Scope::strictly).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use liveset::{Liveset, MemoryArchive, Policy};
    /// let liveset = Liveset::new(Policy::default()).with_archive(Arc::new(MemoryArchive::new())).with_strict_sessions();
    /// # drop(liveset);
    /// ```
    #[must_use]
    pub fn with_strict_sessions(mut self) -> Self {
        self.sessions = SessionUse::Border;
        self
    }

    /// Reads bodies as `format` instead of finding it by shape.
    ///
    /// ```
    /// use liveset::{Liveset, Policy, WireFormat};
    /// let plain = br#"{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}"#;
    /// let liveset = Liveset::new(Policy::default());
    /// assert!(liveset.compact(plain).is_err(), "two formats fit");
    /// assert!(liveset.with_format(WireFormat::OpenaiChat).compact(plain).is_ok());
    /// ```
    #[must_use]
    pub fn with_format(mut self, format: WireFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Counts and limits as for `model`, whatever the body names.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Charges `overhead` tokens for system text and tools that the body lacks.
    #[must_use]
    pub fn with_overhead(mut self, overhead: Tokens) -> Self {
        self.overhead = overhead;
        self
    }

    /// Keeps every rule away from the call with this id and its result; more ids may follow.
    ///
    /// ```
    /// use liveset::{Liveset, Policy};
    /// let liveset = Liveset::new(Policy::default()).with_pin("call_1").with_pin("call_7");
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    /// assert!(liveset.compact(body)?.report().warnings[0].text.contains("call_7"), "no call has this id");
    /// # Ok::<(), liveset::Error>(())
    /// ```
    #[must_use]
    pub fn with_pin(mut self, call_id: impl Into<String>) -> Self {
        self.policy.pins.push(call_id.into());
        self
    }

    /// Replays what single requests of a conversation told: decisions from there on are those that were made then.
    ///
    /// Events stand at items of the conversation as the client sends it. For one that is still going on see
    /// [`Session::note`](crate::Session::note).
    ///
    /// ```
    /// use liveset::{Liveset, Policy, SessionEvent};
    /// let liveset = Liveset::new(Policy::default()).with_events([SessionEvent::too_long(0, 4_000)]);
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    /// assert_eq!(liveset.compact(body)?.report().tokens.window, 4_000);
    /// # Ok::<(), liveset::Error>(())
    /// ```
    #[must_use]
    pub fn with_events(mut self, events: impl IntoIterator<Item = SessionEvent>) -> Self {
        self.events = events.into_iter().collect();
        self
    }

    /// Lets a model write the summaries of step 4, where the policy's `summary.kind` is `model`.
    ///
    /// Answers are kept in the archive, under a hash of their input: without an archive no model is asked, and another model
    /// or prompt changes nothing that was summed up before. For one body a model is asked twice at most.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use liveset::{Liveset, MemoryArchive, Policy, Summarizer, SummaryError, SummaryKind};
    /// struct Green;
    /// impl Summarizer for Green {
    ///     fn summarize(&self, _input: &str, _max_tokens: u64) -> Result<String, SummaryError> {
    ///         Ok("The build is green.".into())
    ///     }
    /// }
    /// let mut policy = Policy::default();
    /// policy.summary.kind = SummaryKind::Model;
    /// let liveset = Liveset::new(policy).with_archive(Arc::new(MemoryArchive::new())).with_summarizer(Arc::new(Green));
    /// # drop(liveset);
    /// ```
    #[must_use]
    pub fn with_summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.summarizer = Some(summarizer);
        self
    }

    /// Asks no model: what was summed up before stands, and an extract where nothing was.
    #[must_use]
    pub fn without_summarizer(mut self) -> Self {
        self.summarizer = None;
        self
    }

    /// Checks more, or less, before a body is handed out.
    #[must_use]
    pub fn with_thoroughness(mut self, thoroughness: Thoroughness) -> Self {
        self.thoroughness = thoroughness;
        self
    }

    /// Compacts a request body.
    ///
    /// Sizes are in tokens of the body's model. Where nothing is over a limit, the output is the input. Where nothing
    /// fits, [`Compaction::fits`] is false and the report's `reason` says what holds the space.
    ///
    /// # Errors
    ///
    /// The body is not JSON, its format is unclear or other than said, its model is unknown and no window is set, or
    /// the archive cannot store the originals.
    pub fn compact<'b>(&self, body: &'b [u8]) -> Result<Compaction<'b>> {
        let mut cache = CountCache::default();
        let (compaction, _) = self.run(body, &mut cache, |_| (), |_| State::default())?;
        Ok(compaction)
    }

    /// Compacts a bare list of messages (or Responses items) and hands out a list.
    ///
    /// ```
    /// use liveset::{Liveset, MessageOptions, Policy};
    /// let messages = br#"[{"role":"tool","tool_call_id":"a","content":"ok"}]"#;
    /// let mut options = MessageOptions::default();
    /// options.model = Some("gpt-4.1".into());
    /// let compaction = Liveset::new(Policy::default()).compact_messages(messages, &options)?;
    /// assert_eq!(compaction.body(), messages);
    /// # Ok::<(), liveset::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Liveset::compact`].
    pub fn compact_messages<'b>(&self, messages: &'b [u8], options: &MessageOptions) -> Result<Compaction<'b>> {
        let mut liveset = self.clone();
        if let Some(model) = &options.model {
            liveset.model = Some(model.clone());
        }
        let (_, counter) = liveset.model_of(None);
        if let Some(tools) = &options.tools {
            liveset.overhead += counter.count(&String::from_utf8_lossy(tools));
        }
        if let Some(system) = &options.system {
            liveset.overhead += counter.count(system);
        }
        liveset.compact(messages)
    }

    /// Reads a body, for [`Session::compact_read`](crate::Session::compact_read): whoever looks at its items first reads
    /// it once.
    ///
    /// ```
    /// use liveset::{Liveset, Policy};
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    /// let liveset = Liveset::new(Policy::default());
    /// let transcript = liveset.read(body)?;
    /// assert_eq!(transcript.items.len(), 1);
    /// assert_eq!(liveset.session().compact_read(&transcript)?.body(), body);
    /// # Ok::<(), liveset::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The body is not JSON, or its format is unclear or other than said.
    pub fn read<'b>(&self, body: &'b [u8]) -> Result<Transcript<'b>> {
        let outline = Outline::read(body)?;
        let format = self.format.map_or_else(|| wire::detect(&outline), Ok)?;
        Ok(wire::read(format, &outline)?)
    }

    /// Runs all stages; `look` sees what was read and counted, `start` gives the state to go on from.
    pub(crate) fn run<'b>(
        &self,
        body: &'b [u8],
        cache: &mut CountCache,
        look: impl FnOnce(&Reading<'_, 'b>),
        start: impl FnOnce(&Reading<'_, 'b>) -> State,
    ) -> Result<(Compaction<'b>, Decided)> {
        self.run_read(&self.read(body)?, cache, &Counts::default(), look, start)
    }

    /// The same from a body that was read, where the one before in its conversation was counted.
    pub(crate) fn run_read<'b>(
        &self,
        transcript: &Transcript<'b>,
        cache: &mut CountCache,
        before: &Counts,
        look: impl FnOnce(&Reading<'_, 'b>),
        start: impl FnOnce(&Reading<'_, 'b>) -> State,
    ) -> Result<(Compaction<'b>, Decided)> {
        let (body, format) = (transcript.body, transcript.format);
        let name = self.model.clone().or_else(|| model_name(transcript));
        let (model, counter) = self.model_of(name.as_deref());
        let counts = Counts::grown(transcript, counter, cache, before)?.with_overhead(self.overhead);
        if model.is_none() && self.policy.window.is_none() && self.policy.default_window.is_none() {
            let name = name.filter(|name| !name.trim().is_empty());
            return Err(name.map_or(Error::NoModel, |name| Error::UnknownModel { name }));
        }
        let (budget, source) = Budget::of(&self.policy, model)?;
        let reading = Reading { transcript, counts: &counts, budget: &budget, model: name.as_deref() };
        look(&reading);
        let tokens = token_report(&counts, &budget, counter);
        if let Some(field) = transcript.server_state {
            let reason = format!("the history lives on the server (`{field}`), so nothing is edited");
            let report = Report::unchanged(format, &reason, tokens);
            let (state, fixed) = (State::default(), reading.fixed());
            let decided = Decided { state, fixed, counts: Counts::default(), is_anew: false };
            return Ok((as_it_came(body, report), decided));
        }
        let inputs = Inputs {
            transcript,
            counts: &counts,
            budget: &budget,
            events: &self.events,
            policy: &self.policy,
            counter,
            price: model.map_or(Price::DEFAULT, |model| model.price),
            answers: &SummaryAnswers::default(),
        };
        let carry_out = |state: State| -> Result<_> {
            let mut plan = self.planned(&inputs, state)?;
            let state = std::mem::take(&mut plan.state);
            let tokens = token_report(&counts, &plan.budget, counter);
            Ok((self.carry_out(body, &inputs, &reading, plan, tokens)?, state))
        };
        let (mut compaction, state, is_anew) = match carry_out(start(&reading)) {
            // Somebody removed what an earlier turn had stored. Decided anew, it is stored again.
            Err(Error::Archive(ArchiveError::Missing { .. })) => {
                let (compaction, state) = carry_out(State::default())?;
                (compaction, state, true)
            }
            done => {
                let (compaction, state) = done?;
                (compaction, state, false)
            }
        };
        let fixed = reading.fixed();
        let decided = Decided { state, fixed, counts, is_anew };
        if source == WindowSource::Default {
            let text =
                format!("the model table does not know `{}`, so `default_window` holds", name.unwrap_or_default());
            compaction.report.warnings.push(Warning::new("default_window", text));
        }
        Ok((compaction, decided))
    }

    pub(crate) fn model_of(&self, name: Option<&str>) -> (Option<&'static Model>, &'static dyn TokenCounter) {
        let name = self.model.as_deref().or(name);
        let model = name.and_then(liveset_tokens::model);
        let counter = model.map_or_else(liveset_tokens::unknown_counter, |model| liveset_tokens::counter(model.family));
        (model, counter)
    }

    fn carry_out<'b>(
        &self,
        body: &'b [u8],
        inputs: &Inputs<'_, 'b>,
        reading: &Reading<'_, 'b>,
        plan: Plan,
        mut tokens: TokenReport,
    ) -> Result<Compaction<'b>> {
        let format = inputs.transcript.format;
        if plan.edits.is_empty() {
            let mut report = Report::unchanged(format, reason_to_leave(&tokens), tokens);
            report.warnings = plan.warnings;
            if let Fit::Over { why } = plan.fit {
                report.outcome = OutcomeKind::CannotFit;
                report.reason = why;
            }
            return Ok(as_it_came(body, report));
        }
        let output = apply::splice(body, &apply::in_order(&plan.edits))?;
        if let Err(defect) = self.check(inputs, &plan, &output) {
            let mut report =
                Report::unchanged(format, "the plan failed its last check, so the original goes out", tokens);
            report.warnings.push(Warning::new("verify_failed", defect));
            return Ok(as_it_came(body, report));
        }
        if let Some(archive) = &self.archive {
            let mut release = release::of(reading, &plan, body, &output);
            release.is_strict = self.sessions == SessionUse::Border;
            archive.put(&release)?;
        }
        tokens.after = plan.tokens_after.0;
        let mut report = Report::unchanged(format, &reason_of(&plan), tokens);
        report.outcome = match &plan.fit {
            Fit::Fits => OutcomeKind::Compacted,
            Fit::Over { .. } => OutcomeKind::CannotFit,
        };
        report.edits = plan.edits.iter().map(liveset_engine::edit::Edit::report).collect();
        report.sweeps = plan.sweeps;
        report.warnings = plan.warnings;
        Ok(Compaction { input: body, body: Cow::Owned(output), report, edits: plan.edits, originals: plan.originals })
    }

    fn check(&self, inputs: &Inputs<'_, '_>, plan: &Plan, output: &[u8]) -> std::result::Result<(), String> {
        let min_gain = self.policy.min_gain;
        verify::edited(inputs.transcript, &plan.edits, output, inputs.counter, min_gain)
            .map_err(|defect| defect.to_string())?;
        match self.thoroughness {
            Thoroughness::Edited => Ok(()),
            Thoroughness::Whole => {
                let claimed = Tokens(plan.tokens_after.0.saturating_sub(self.overhead.0));
                verify::whole(inputs.transcript, &plan.edits, output, inputs.counter, claimed)
                    .map_err(|error| error.to_string())?
                    .map_err(|defect| defect.to_string())
            }
        }
    }
}

pub(crate) fn model_name(transcript: &Transcript<'_>) -> Option<String> {
    let literal = transcript.model?.of(transcript.body);
    json::decode(literal).ok().map(|name| name.text().to_owned())
}

pub(crate) fn token_report(counts: &Counts, budget: &Budget, counter: &dyn TokenCounter) -> TokenReport {
    TokenReport {
        before: counts.total().0,
        after: counts.total().0,
        window: budget.window.0,
        trigger: budget.trigger.0,
        target: budget.target.0,
        counter: counter.name().to_owned(),
        exact: matches!(counter.exactness(), Exactness::Exact),
    }
}

fn as_it_came(body: &[u8], report: Report) -> Compaction<'_> {
    Compaction { input: body, body: Cow::Borrowed(body), report, edits: Vec::new(), originals: Vec::new() }
}

fn reason_to_leave(tokens: &TokenReport) -> &'static str {
    if tokens.before <= tokens.trigger {
        "under the trigger, so nothing was to do"
    } else {
        "over the trigger, but nothing may go that is worth a sweep"
    }
}

fn reason_of(plan: &Plan) -> String {
    if let Fit::Over { why } = &plan.fit {
        return why.clone();
    }
    match plan.sweeps.len() {
        0 => "cut at intake only".to_owned(),
        1 => "one sweep".to_owned(),
        sweeps => format!("{sweeps} sweeps"),
    }
}
