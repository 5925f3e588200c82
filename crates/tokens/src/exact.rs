//! Exact counts for the public vocabularies.
//!
//! The byte-pair encoding itself is `toktok-rs`; this file guards its inputs and names it.

use std::sync::OnceLock;

use toktok::Tokenizer;

use crate::{
    counter::{Exactness, TokenCounter},
    tokens::Tokens,
};

/// A public vocabulary, loaded when it first counts.
pub(crate) struct Vocabulary {
    name: &'static str,
    encoding: &'static str,
    loaded: OnceLock<Option<Tokenizer>>,
}

/// `o200k_base`: GPT-4o and later.
pub(crate) static O200K: Vocabulary = Vocabulary::new("o200k", "o200k_base");
/// `cl100k_base`: GPT-3.5 and GPT-4.
pub(crate) static CL100K: Vocabulary = Vocabulary::new("cl100k", "cl100k_base");

impl Vocabulary {
    const fn new(name: &'static str, encoding: &'static str) -> Self {
        Self { name, encoding, loaded: OnceLock::new() }
    }
}

impl TokenCounter for Vocabulary {
    fn count(&self, text: &str) -> Tokens {
        if text.is_empty() {
            return Tokens(0);
        }
        match self.loaded.get_or_init(|| Tokenizer::builtin(self.encoding).ok()) {
            Some(tokenizer) => Tokens(tokenizer.count(text.as_bytes()) as u64),
            // Embedded data that does not load is a broken build; a byte is never less than its tokens.
            None => Tokens(text.len() as u64),
        }
    }

    fn name(&self) -> &str {
        self.name
    }

    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }
}
