//! Which dialects are generated and checked?

/// The dialect of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
}

impl Format {
    /// All dialects.
    pub const ALL: [Format; 3] = [Self::Anthropic, Self::OpenaiChat, Self::OpenaiResponses];

    /// Gives the name that flags, file names and reports use.
    ///
    /// ```
    /// assert_eq!(liveset_testkit::Format::OpenaiChat.name(), "openai-chat");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
        }
    }

    /// Gives the field that holds the history.
    #[must_use]
    pub fn history_field(self) -> &'static str {
        match self {
            Self::Anthropic | Self::OpenaiChat => "messages",
            Self::OpenaiResponses => "input",
        }
    }
}
