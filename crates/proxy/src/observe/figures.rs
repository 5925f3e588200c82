//! Which figures stand in an answer or in one event of it? Three vendors' names for the same few things.

use serde::{Deserialize, Deserializer, de::IgnoredAny};

/// What is looked for before a text is read: all that is of interest stands beside one of these.
const SIGNS: [&[u8]; 4] = [b"\"usage\"", b"_reason\"", b"\"status\"", b"\"input_transformations\""];
/// Letters of the word for why an answer stopped; a vendor's is short.
const MAX_STOP_CHARS: usize = 40;

/// What an answer said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerFigures {
    usage: Usage,
    /// Why it stopped, in the vendor's word.
    pub(crate) stop: Option<String>,
    /// Pieces of reasoning that the vendor says it dropped.
    pub(crate) dropped_reasoning: u64,
}

/// Sizes as the vendors call them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Usage {
    #[serde(deserialize_with = "leniently")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "leniently")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "leniently")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "leniently")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "leniently")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "leniently")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "leniently")]
    input_tokens_details: Option<Details>,
    #[serde(deserialize_with = "leniently")]
    prompt_tokens_details: Option<Details>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(deserialize_with = "leniently")]
    cached_tokens: Option<u64>,
}

/// The parts of an answer or event that hold what is of interest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    #[serde(deserialize_with = "leniently")]
    usage: Option<Usage>,
    #[serde(deserialize_with = "leniently")]
    stop_reason: Option<String>,
    #[serde(deserialize_with = "leniently")]
    finish_reason: Option<String>,
    #[serde(deserialize_with = "leniently")]
    status: Option<String>,
    #[serde(deserialize_with = "leniently")]
    input_transformations: Option<Vec<IgnoredAny>>,
    #[serde(deserialize_with = "leniently")]
    message: Option<Box<Part>>,
    #[serde(deserialize_with = "leniently")]
    response: Option<Box<Part>>,
    #[serde(deserialize_with = "leniently")]
    delta: Option<Box<Part>>,
    #[serde(deserialize_with = "leniently")]
    choices: Option<Vec<Part>>,
}

/// Reads what is of the kind that is looked for; another kind says nothing, and hides nothing beside it.
fn leniently<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Read<T> {
        Known(T),
        Other(IgnoredAny),
    }
    match Read::deserialize(deserializer)? {
        Read::Known(known) => Ok(Some(known)),
        Read::Other(IgnoredAny) => Ok(None),
    }
}

impl AnswerFigures {
    /// Says whether a text may hold anything of interest.
    pub(super) fn may_be_in(text: &[u8]) -> bool {
        SIGNS.iter().any(|sign| memchr::memmem::find(text, sign).is_some())
    }

    /// Takes in an answer, or one event of it. What is no JSON says nothing.
    pub(super) fn read(&mut self, text: &[u8]) {
        if let Ok(part) = serde_json::from_slice::<Part>(text) {
            self.take(part);
        }
    }

    fn take(&mut self, part: Part) {
        if let Some(usage) = part.usage {
            self.usage.take(usage);
        }
        if let Some(word) = part.stop_reason.or(part.finish_reason).or(part.status) {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            self.stop = Some(word.chars().filter(|c| is_plain(*c)).take(MAX_STOP_CHARS).collect());
        }
        if let Some(dropped) = part.input_transformations {
            self.dropped_reasoning = self.dropped_reasoning.max(dropped.len() as u64);
        }
        let inner = [part.message, part.response, part.delta].into_iter().flatten().map(|part| *part);
        for part in inner.chain(part.choices.into_iter().flatten()) {
            self.take(part);
        }
    }

    /// All tokens of the input, cached ones included.
    pub(crate) fn input_tokens(&self) -> Option<u64> {
        let usage = &self.usage;
        let figures = usage.input_tokens.or(usage.prompt_tokens)?;
        // Anthropic counts what was cached beside the rest, the others within.
        let beside =
            usage.cache_read_input_tokens.unwrap_or(0).saturating_add(usage.cache_creation_input_tokens.unwrap_or(0));
        Some(figures.saturating_add(beside))
    }

    /// Tokens of the input that came out of the vendor's cache.
    pub(crate) fn cached_tokens(&self) -> Option<u64> {
        let within = |details: Option<Details>| details.and_then(|details| details.cached_tokens);
        let usage = &self.usage;
        usage.cache_read_input_tokens.or(within(usage.input_tokens_details)).or(within(usage.prompt_tokens_details))
    }

    /// Tokens of the answer.
    pub(crate) fn output_tokens(&self) -> Option<u64> {
        self.usage.output_tokens.or(self.usage.completion_tokens)
    }
}

impl Usage {
    /// What comes later is the newer figure.
    fn take(&mut self, newer: Self) {
        let put = |old: &mut Option<u64>, new: Option<u64>| *old = new.or(*old);
        put(&mut self.input_tokens, newer.input_tokens);
        put(&mut self.prompt_tokens, newer.prompt_tokens);
        put(&mut self.output_tokens, newer.output_tokens);
        put(&mut self.completion_tokens, newer.completion_tokens);
        put(&mut self.cache_read_input_tokens, newer.cache_read_input_tokens);
        put(&mut self.cache_creation_input_tokens, newer.cache_creation_input_tokens);
        self.input_tokens_details = newer.input_tokens_details.or(self.input_tokens_details);
        self.prompt_tokens_details = newer.prompt_tokens_details.or(self.prompt_tokens_details);
    }
}
