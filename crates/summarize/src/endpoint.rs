//! Who is asked, and how? The endpoint's address, model, key, prompt and time limit.

use std::time::Duration;

use hyper::Uri;

/// What the model is told, unless the caller says something else. `{max_words}` becomes the length that it may write.
pub const DEFAULT_PROMPT: &str = include_str!("prompt.txt");

/// How long an answer may take, unless the caller says something else: a request of the agent waits for it.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// What is wrong with a setting. One line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is none of a chat endpoint.
    #[error("`{url}` is no address of an endpoint; hint: like http://127.0.0.1:8080/v1")]
    Url {
        /// As it was given.
        url: String,
    },
    /// The prompt says nothing.
    #[error("the prompt for summaries is blank")]
    Prompt,
    /// The system's certificates could not be read.
    #[error("the certificates of this system cannot be read: {why}")]
    Certificates {
        /// What went wrong.
        why: String,
    },
}

/// An OpenAI-compatible chat endpoint, and how it is asked.
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) uri: Uri,
    pub(crate) model: String,
    pub(crate) key: Option<String>,
    pub(crate) prompt: String,
    pub(crate) timeout: Duration,
}

/// Without the key.
impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { uri, model, timeout, .. } = self;
        f.debug_struct("Endpoint")
            .field("uri", uri)
            .field("model", model)
            .field("timeout", timeout)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Names an endpoint by its base address, to which `/chat/completions` is added, and a model that it serves.
    ///
    /// # Errors
    ///
    /// The address is not `http` or `https` with a host.
    pub fn new(url: &str, model: impl Into<String>) -> Result<Self, Error> {
        let wrong = || Error::Url { url: url.to_owned() };
        let uri: Uri = format!("{}/chat/completions", url.trim_end_matches('/')).parse().map_err(|_| wrong())?;
        let is_known =
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty());
        // A user's name or password in an address would end up in messages.
        let is_plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        if !is_known || !is_plain {
            return Err(wrong());
        }
        let prompt = DEFAULT_PROMPT.to_owned();
        Ok(Self { uri, model: model.into(), key: None, prompt, timeout: DEFAULT_TIMEOUT })
    }

    /// Sends this key with each request.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Tells the model something else than [`DEFAULT_PROMPT`]. Where the prompt says `{text}`, the text stands there, and
    /// nothing else is sent.
    ///
    /// # Errors
    ///
    /// The prompt is blank.
    pub fn with_prompt(mut self, prompt: impl Into<String>) -> Result<Self, Error> {
        self.prompt = prompt.into();
        if self.prompt.trim().is_empty() { Err(Error::Prompt) } else { Ok(self) }
    }

    /// Waits this long for an answer, from the first try to the last byte.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_a_chat_endpoint() {
        let path = |url: &str| Endpoint::new(url, "m").map(|endpoint| endpoint.uri.to_string());
        assert_eq!(path("http://127.0.0.1:8080/v1/").unwrap(), "http://127.0.0.1:8080/v1/chat/completions");
        for wrong in ["", "v1", "ftp://a/b", "http://", "https://me:secret@a/v1", "http://a b"] {
            let error = path(wrong).unwrap_err().to_string();
            assert!(error.contains("hint:") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn no_key_is_shown() {
        let endpoint = Endpoint::new("http://a/v1", "m").unwrap().with_key("sk-secret");
        assert!(!format!("{endpoint:?}").contains("secret"));
    }
}
