//! What is known of a body that was judged? Its outcome, the body to send, and how it stands to the one before it.
//!
//! Data alone.

use std::sync::Arc;

use hyper::body::Bytes;
use liveset::Report;

use crate::{chain::Chain, named_policy::NamedPolicy, reacquisition::Returned};

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
    /// Other bodies take all memory that there is for them.
    Busy,
    /// It took too long, or all threads were taken.
    TimeLimit,
    /// The thread stopped; a mistake of ours.
    Stopped,
}

impl Doubted {
    /// All reasons.
    pub(crate) const ALL: [Self; 9] = [
        Self::Body,
        Self::Encoding,
        Self::TooLarge,
        Self::Model,
        Self::Archive,
        Self::Verify,
        Self::Busy,
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
            Self::Busy => "busy",
            Self::TimeLimit => "time_limit",
            Self::Stopped => "stopped",
        }
    }

    /// The same as a phrase.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::Body => "the body is not what its path says",
            Self::Encoding => "the body's encoding is not known",
            Self::TooLarge => "the body is larger than what is looked at",
            Self::Model => "the model is not in the table and no window is set",
            Self::Archive => "the originals cannot be stored",
            Self::Verify => "the edited body failed its last check",
            Self::Busy => "other bodies take all memory that there is for them",
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
    /// What decided.
    pub(crate) policy: Option<Arc<NamedPolicy>>,
}

impl Judgement {
    /// The same, with what was done and why.
    pub(crate) fn with_report(self, report: Report) -> Self {
        Self { report: Some(report), ..self }
    }

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
            policy: None,
        }
    }
}
