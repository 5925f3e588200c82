//! Exact counts for the public vocabularies.
//!
//! The byte-pair encoding itself is `toktok-rs`; this file guards its inputs and names it.

use std::sync::OnceLock;

use toktok::Tokenizer;

use crate::{
    counter::{Exactness, TokenCounter},
    tokens::Tokens,
};

/// Long texts are encoded in parts of about this size, so that the list of ids stays small and warm.
const PART_BYTES: usize = 32 * 1024;

/// The encoder keeps places in 32 bits; a part without a border that is longer than this is charged by its bytes.
const MAX_PART_BYTES: usize = 1 << 30;

/// The encoder loads 16 bytes at once and masks what lies past the end; with these to spare it reads our own buffer.
const SPARE_BYTES: usize = 16;

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

    fn tokenizer(&self) -> Option<&Tokenizer> {
        self.loaded.get_or_init(|| Tokenizer::builtin(self.encoding).ok()).as_ref()
    }
}

impl TokenCounter for Vocabulary {
    fn count(&self, text: &str) -> Tokens {
        match self.tokenizer() {
            Some(tokenizer) => count_in_parts(tokenizer, text.as_bytes()),
            // Embedded data that does not load is a broken build; a byte is never less than its tokens.
            None => Tokens(text.len() as u64),
        }
    }

    fn name(&self) -> &str {
        self.name
    }

    fn exactness(&self) -> Exactness {
        match self.tokenizer() {
            Some(_) => Exactness::Exact,
            None => Exactness::Estimated { upper_percent: 0 },
        }
    }
}

fn count_in_parts(tokenizer: &Tokenizer, text: &[u8]) -> Tokens {
    let (mut buffer, mut ids) = (Vec::new(), Vec::new());
    let mut total = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let (part, tail) = split_part(rest);
        rest = tail;
        if part.len() > MAX_PART_BYTES {
            total = total.saturating_add(part.len() as u64);
            continue;
        }
        buffer.clear();
        buffer.reserve(part.len() + SPARE_BYTES);
        buffer.extend_from_slice(part);
        ids.clear();
        tokenizer.encode_into(&buffer, &mut ids);
        total = total.saturating_add(ids.len() as u64);
    }
    Tokens(total)
}

/// Cuts about `PART_BYTES` off the front, at a place that no token spans.
///
/// Such a place lies between a line feed and an ASCII letter: in both patterns a word takes no line feed in front,
/// and a run of blanks that ends in a line feed is one piece whether or not text follows.
fn split_part(bytes: &[u8]) -> (&[u8], &[u8]) {
    let border = bytes
        .get(PART_BYTES - 1..)
        .and_then(|late| late.windows(2).position(|pair| pair[0] == b'\n' && pair[1].is_ascii_alphabetic()));
    border.and_then(|at| bytes.split_at_checked(PART_BYTES + at)).unwrap_or((bytes, &[]))
}
