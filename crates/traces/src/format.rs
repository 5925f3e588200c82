//! Which trace formats are there? One row per importer; nothing is read here.

use crate::claude_code;
use crate::codex;
use crate::conversation::Conversation;
use crate::error::Error;
use crate::gemini;
use crate::inspect;
use crate::intercode;
use crate::langchain;
use crate::message_lists;
use crate::openhands;
use crate::pi;
use crate::sample::{Fit, Sample};
use crate::source::Source;
use crate::swe_agent;
use crate::tau2;
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
    /// A rollout file of Codex, of either generation: one JSON object per line.
    Codex,
    /// A trajectory of SWE-agent (text actions or function calls) or of mini-swe-agent: one JSON object.
    SweAgent,
    /// A session file of pi: one JSON object per line.
    Pi,
    /// Results of tau2: one JSON object with many conversations.
    Tau2,
    /// A session file of Gemini CLI: one JSON object.
    Gemini,
    /// Output of OpenHands, of benchmarks or the resolver: one JSON object per line.
    Openhands,
    /// A log of Inspect: one JSON object with many samples.
    Inspect,
    /// Messages of LangChain as it serialises them: one JSON list.
    Langchain,
    /// Results of InterCode: one JSON object with many tasks.
    Intercode,
    /// A list of Anthropic messages, an object that holds one, or lines of either.
    AnthropicMessages,
    /// A list of OpenAI Chat messages, an object that holds one, or lines of either.
    OpenaiChat,
    /// A list of OpenAI Responses input items, an object that holds one, or lines of either.
    OpenaiResponses,
}

impl TraceFormat {
    /// All formats, in the order of the documentation.
    pub const ALL: [TraceFormat; 13] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::SweAgent,
        Self::Pi,
        Self::Tau2,
        Self::Gemini,
        Self::Openhands,
        Self::Inspect,
        Self::Langchain,
        Self::Intercode,
        Self::AnthropicMessages,
        Self::OpenaiChat,
        Self::OpenaiResponses,
    ];

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
            Self::Codex => &CODEX,
            Self::SweAgent => &SWE_AGENT,
            Self::Pi => &PI,
            Self::Tau2 => &TAU2,
            Self::Gemini => &GEMINI,
            Self::Openhands => &OPENHANDS,
            Self::Inspect => &INSPECT,
            Self::Langchain => &LANGCHAIN,
            Self::Intercode => &INTERCODE,
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

const CODEX: Importer = Importer { name: "codex", fit: codex::fit, read: codex::read };

const SWE_AGENT: Importer = Importer { name: "swe-agent", fit: swe_agent::fit, read: swe_agent::read };

const PI: Importer = Importer { name: "pi", fit: pi::fit, read: pi::read };

const TAU2: Importer = Importer { name: "tau2", fit: tau2::fit, read: tau2::read };

const GEMINI: Importer = Importer { name: "gemini", fit: gemini::fit, read: gemini::read };

const OPENHANDS: Importer = Importer { name: "openhands", fit: openhands::fit, read: openhands::read };

const INSPECT: Importer = Importer { name: "inspect", fit: inspect::fit, read: inspect::read };

const LANGCHAIN: Importer = Importer { name: "langchain", fit: langchain::fit, read: langchain::read };

const INTERCODE: Importer = Importer { name: "intercode", fit: intercode::fit, read: intercode::read };

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
