//! In which dialect is a body written? Only what the importers need to know of it; the engine knows the rest.

/// The dialect of the bodies an importer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
}

impl Wire {
    /// Gives the name of the wire format, as the engine spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
        }
    }

    /// Gives the key of the conversation.
    pub(crate) fn messages_key(self) -> &'static str {
        match self {
            Self::Anthropic | Self::OpenaiChat => "messages",
            Self::OpenaiResponses => "input",
        }
    }

    /// Gives the key of system text that stands outside the conversation.
    pub(crate) fn system_key(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("system"),
            Self::OpenaiChat => None,
            Self::OpenaiResponses => Some("instructions"),
        }
    }
}
