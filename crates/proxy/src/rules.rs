//! By which policy are bodies compacted, and where do their originals go? What the proxy is handed besides its settings.
//!
//! Cuts nothing itself.

use std::sync::Arc;

use liveset::{Archive, Liveset, Policy, SessionEvent, SqliteArchive, Summarizer, Thoroughness, WireFormat};

use crate::{ledger::Ledger, named_policy::NamedPolicy};

/// By which policy bodies are compacted, and where their originals go.
#[derive(Clone)]
pub struct Rules {
    policy: Policy,
    archive: Option<Arc<dyn Archive>>,
    ledger: Option<Ledger>,
    model: Option<String>,
    are_sessions_strict: bool,
    are_entered: bool,
    thoroughness: Thoroughness,
    summarizer: Option<Arc<dyn Summarizer>>,
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
        Self {
            policy,
            archive: None,
            ledger: None,
            model: None,
            are_sessions_strict: false,
            are_entered: true,
            thoroughness,
            summarizer: None,
        }
    }

    /// Stores originals in `archive` before a body goes out, and keeps the ledger of conversations in `ledger`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use liveset::{Policy, SqliteArchive};
    /// let folder = tempfile::tempdir()?;
    /// let archive = Arc::new(SqliteArchive::open(folder.path().join("archive.db"))?);
    /// let rules = liveset_proxy::Rules::new(Policy::default()).with_archive(archive.clone(), archive);
    /// # drop(rules);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_archive(mut self, archive: Arc<dyn Archive>, ledger: Arc<SqliteArchive>) -> Self {
        self.archive = Some(archive);
        self.ledger = Some(Ledger::new(ledger));
        self
    }

    /// Counts and limits as for `model`, whatever bodies name.
    ///
    /// ```
    /// let rules = liveset_proxy::Rules::new(liveset::Policy::default()).with_model("gpt-4.1");
    /// # drop(rules);
    /// ```
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Lets a body point only at what its own conversation stored.
    ///
    /// ```
    /// let rules = liveset_proxy::Rules::new(liveset::Policy::default()).with_strict_sessions();
    /// # drop(rules);
    /// ```
    #[must_use]
    pub fn with_strict_sessions(mut self) -> Self {
        self.are_sessions_strict = true;
        self
    }

    /// Reads and counts each edited body a second time before it goes out.
    ///
    /// ```
    /// use liveset::{Policy, Thoroughness};
    /// let rules = liveset_proxy::Rules::new(Policy::default()).with_thoroughness(Thoroughness::Edited);
    /// # drop(rules);
    /// ```
    #[must_use]
    pub fn with_thoroughness(mut self, thoroughness: Thoroughness) -> Self {
        self.thoroughness = thoroughness;
        self
    }

    /// Lets a model write summaries, where the policy's `summary.kind` is `model`. A request waits for it, so the proxy's
    /// time limit must leave it the time.
    #[must_use]
    pub fn with_summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.summarizer = Some(summarizer);
        self
    }

    /// Enters nothing into the ledger, since nothing that is decided will leave.
    pub(crate) fn without_entries(mut self) -> Self {
        self.are_entered = false;
        // Nor is a model asked: what was summed up before is found all the same.
        self.summarizer = None;
        self
    }

    /// Whether what is decided is entered into the ledger.
    pub(crate) fn are_entered(&self) -> bool {
        self.are_entered
    }

    /// The policy of new conversations.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Names a policy, with what decides beside it.
    pub(crate) fn named(&self, policy: &Policy, events: &[SessionEvent]) -> NamedPolicy {
        NamedPolicy::of(policy, events, self.archive.is_some(), self.model.as_deref())
    }

    /// The archive that the ledger is kept in.
    pub(crate) fn ledger_archive(&self) -> Option<Arc<SqliteArchive>> {
        self.ledger.as_ref().map(Ledger::archive)
    }

    /// The ledger of conversations, where there is one.
    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Makes the compactor of conversations that go by a policy.
    pub(crate) fn liveset(&self, policy: Policy, format: WireFormat) -> Liveset {
        let mut liveset = Liveset::new(policy).with_format(format).with_thoroughness(self.thoroughness);
        if let Some(archive) = &self.archive {
            liveset = liveset.with_archive(archive.clone());
        }
        if let Some(model) = &self.model {
            liveset = liveset.with_model(model);
        }
        if let Some(summarizer) = &self.summarizer {
            liveset = liveset.with_summarizer(summarizer.clone());
        }
        if self.are_sessions_strict { liveset.with_strict_sessions() } else { liveset }
    }
}
