//! Which trace formats are there? One row per importer; nothing is read here.

use crate::claude_code;
use crate::conversation::Conversation;
use crate::error::Error;
use crate::message_lists;
use crate::sample::{Fit, Sample};
use crate::source::Source;
use crate::wire::Wire;

/// How an agent wrote down what it did.
///
/// ```
/// use liveset_traces::TraceFormat;
///
/// assert_eq!(TraceFormat::named("claude-code"), Some(TraceFormat::ClaudeCode));
/// assert_eq!(TraceFormat::ClaudeCode.name(), "claude-code");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TraceFormat {
    /// A session file of Claude Code: one JSON object per line.
    ClaudeCode,
    /// A list of Anthropic messages, an object that holds one, or lines of either.
    AnthropicMessages,
    /// A list of OpenAI Chat messages, an object that holds one, or lines of either.
    OpenaiChat,
    /// A list of OpenAI Responses input items, an object that holds one, or lines of either.
    OpenaiResponses,
}

impl TraceFormat {
    /// All formats, in the order of the documentation.
    pub const ALL: [TraceFormat; 4] =
        [Self::ClaudeCode, Self::AnthropicMessages, Self::OpenaiChat, Self::OpenaiResponses];

    /// Gives the name that flags and reports use; never that of a wire format.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.importer().name
    }

    /// Finds the format that has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Gives the format's row of the table.
    pub(crate) fn importer(self) -> &'static Importer {
        match self {
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::AnthropicMessages => &ANTHROPIC_MESSAGES,
            Self::OpenaiChat => &OPENAI_CHAT,
            Self::OpenaiResponses => &OPENAI_RESPONSES,
        }
    }
}

/// One importer: its name, how it knows its files, how it reads them.
pub(crate) struct Importer {
    pub(crate) name: &'static str,
    pub(crate) fit: fn(&Sample<'_>) -> Fit,
    pub(crate) read: fn(Source) -> Result<Vec<Conversation>, Error>,
}

const CLAUDE_CODE: Importer = Importer { name: "claude-code", fit: claude_code::fit, read: claude_code::read };

const ANTHROPIC_MESSAGES: Importer = Importer {
    name: "anthropic-messages",
    fit: |sample| message_lists::fit(sample, Wire::Anthropic),
    read: |source| message_lists::read(source, Wire::Anthropic),
};

const OPENAI_CHAT: Importer = Importer {
    name: "openai-chat-messages",
    fit: |sample| message_lists::fit(sample, Wire::OpenaiChat),
    read: |source| message_lists::read(source, Wire::OpenaiChat),
};

const OPENAI_RESPONSES: Importer = Importer {
    name: "openai-responses-items",
    fit: |sample| message_lists::fit(sample, Wire::OpenaiResponses),
    read: |source| message_lists::read(source, Wire::OpenaiResponses),
};
