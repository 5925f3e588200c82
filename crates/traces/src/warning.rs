//! What did the importer have to leave out or move? Facts about the trace, never its content.

use std::fmt;

/// Something in a trace that keeps a body from being exactly what was sent.
///
/// Line numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// The last line was cut off (a live session ends so) and was dropped.
    CutOffLine {
        /// The line.
        line: usize,
    },
    /// A line names a parent that is not in the file; file order was followed instead.
    MissingParent {
        /// The line.
        line: usize,
    },
    /// Message lines on branches that the newest line does not descend from were left out.
    AbandonedBranch {
        /// How many lines.
        lines: usize,
    },
    /// Lines whose text reached the model in a form that the trace does not hold were left out.
    AttachmentsLeftOut {
        /// How many lines.
        lines: usize,
    },
    /// Records of a kind that the importer does not know were left out.
    UnknownRecords {
        /// The kind, by the name that the trace gives it.
        kind: String,
        /// How many records.
        records: usize,
    },
    /// Items of a kind that the importer does not know stand in the bodies as they stand in the trace.
    UnknownItems {
        /// The kind, by the name that the trace gives it.
        kind: String,
        /// How many items.
        items: usize,
    },
    /// Replies that broke off or failed were left out: the client never sends them back.
    FailedReplies {
        /// How many replies.
        replies: usize,
    },
    /// The client compacted here, and the trace does not hold what it kept: user texts and summary stand for it.
    CompactionRebuilt {
        /// The line.
        line: usize,
    },
    /// The client cleared old results by itself here; the trace does not say what stood in their place,
    /// so that the bodies after it still hold them.
    ResultsCleared {
        /// The line.
        line: usize,
    },
    /// A message line without readable content was left out.
    UnreadableMessage {
        /// The line.
        line: usize,
    },
    /// The trace has no calls as the wire knows them (no ids): actions and observations stand as text.
    CallsAsText {
        /// How many actions.
        calls: usize,
    },
    /// A text without a visible character was left out, because a provider refuses it.
    BlankText {
        /// The line.
        line: usize,
    },
    /// A result came after a later assistant message; it was moved to its call, where a provider wants it.
    LateResult {
        /// The line of the result.
        line: usize,
    },
    /// A result answers no call of this history and was left out.
    OrphanResult {
        /// The line of the result.
        line: usize,
    },
    /// A second result for a call was left out.
    DuplicateResult {
        /// The line of the second result.
        line: usize,
    },
    /// A second call with the id of an earlier one was left out.
    DuplicateCall {
        /// The line of the second call.
        line: usize,
    },
    /// The conversation went on past calls without a result: a provider would refuse these bodies.
    UnansweredCalls {
        /// The line of the first such call of a message.
        line: usize,
        /// How many calls of that message.
        calls: usize,
    },
    /// The history opens with an assistant message: a provider would refuse these bodies.
    StartsWithAssistant {
        /// The line of that message.
        line: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOffLine { line } => write!(out, "line {line} is cut off and was dropped"),
            Self::MissingParent { line } => {
                write!(out, "the parent of line {line} is not in the file, file order was followed")
            }
            Self::AbandonedBranch { lines } => {
                write!(out, "{lines} message lines on abandoned branches were left out")
            }
            Self::AttachmentsLeftOut { lines } => {
                write!(out, "{lines} attachment lines were left out, their wire text is not in the trace")
            }
            Self::UnknownRecords { kind, records } => {
                write!(out, "{records} records of the unknown kind `{kind}` were left out")
            }
            Self::UnknownItems { kind, items } => {
                write!(out, "{items} items of the unknown kind `{kind}` were passed through")
            }
            Self::FailedReplies { replies } => {
                write!(out, "{replies} replies that broke off or failed were left out")
            }
            Self::CompactionRebuilt { line } => {
                write!(
                    out,
                    "what the client kept at line {line} is not in the trace, user texts and summary stand for it"
                )
            }
            Self::ResultsCleared { line } => {
                write!(out, "the client cleared old results at line {line}, the bodies still hold them")
            }
            Self::UnreadableMessage { line } => write!(out, "line {line} has no readable content and was left out"),
            Self::CallsAsText { calls } => {
                write!(out, "{calls} actions stand as text, the trace has no ids for calls")
            }
            Self::BlankText { line } => write!(out, "a blank text at line {line} was left out"),
            Self::LateResult { line } => write!(out, "the late result at line {line} was moved to its call"),
            Self::OrphanResult { line } => write!(out, "the result at line {line} has no call and was left out"),
            Self::DuplicateResult { line } => {
                write!(out, "the result at line {line} answers a call again and was left out")
            }
            Self::DuplicateCall { line } => write!(out, "the call at line {line} repeats an id and was left out"),
            Self::UnansweredCalls { line, calls } => {
                write!(out, "{calls} calls of the message at line {line} never got a result")
            }
            Self::StartsWithAssistant { line } => {
                write!(out, "the history opens with the assistant message at line {line}")
            }
        }
    }
}
