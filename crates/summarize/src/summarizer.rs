//! What is asked of the model? The writer of summaries that `liveset` calls.

use liveset::{Summarizer, SummaryError};
use serde_json::{Value, json};

use crate::{
    answer,
    endpoint::{Endpoint, Error},
    sender::Sender,
};

/// Where the prompt names the length that an answer may have.
const MAX_WORDS: &str = "{max_words}";
/// Where the prompt names the place of the text.
const TEXT: &str = "{text}";
/// What the model reads last, unless the prompt says that itself: small ones go on with the text where nothing follows it.
const ASK: &str = "\n---\nSummary of the text above, in at most {max_words} words:";
/// Words for 100 tokens, on the careful side: paths and numbers take more tokens than prose.
const WORDS_PER_100_TOKENS: u64 = 50;

/// A model that sums up old units.
#[derive(Debug)]
pub struct ModelSummarizer {
    endpoint: Endpoint,
    sender: Sender,
}

impl ModelSummarizer {
    /// Makes a writer of summaries. Nothing is sent until one is needed.
    ///
    /// # Errors
    ///
    /// The system's certificates cannot be read.
    pub fn new(endpoint: Endpoint) -> Result<Self, Error> {
        Ok(Self { sender: Sender::new()?, endpoint })
    }
}

impl ModelSummarizer {
    /// A prompt that names the place of the text is all that is sent.
    fn messages(&self, input: &str, words: u64) -> Value {
        let told = |text: &str| text.replace(MAX_WORDS, &words.to_string());
        if let Some((before, after)) = self.endpoint.prompt.split_once(TEXT) {
            return json!([{"role": "user", "content": told(before) + input + &told(after)}]);
        }
        let read = input.to_owned() + &told(ASK);
        json!([{"role": "system", "content": told(&self.endpoint.prompt)}, {"role": "user", "content": read}])
    }
}

impl Summarizer for ModelSummarizer {
    fn summarize(&self, input: &str, max_tokens: u64) -> Result<String, SummaryError> {
        let body = json!({
            "model": self.endpoint.model,
            "messages": self.messages(input, max_tokens * WORDS_PER_100_TOKENS / 100),
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": false,
        });
        answer::summary(&self.sender.post(&self.endpoint, body.to_string().into_bytes())?)
    }
}
