//! How is an asked word found in the index of words? As a phrase of the words it is made of, or of the parts of those.

use super::words::{is_word, parts};

/// An asked word as the phrases that find it, any one of them. Words in quotes are never an operator of the query
/// language.
pub(super) struct Phrases(Vec<String>);

impl Phrases {
    /// `None` for what holds no word.
    pub(super) fn of(asked: &str) -> Option<Self> {
        let words: Vec<&str> = asked.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return None;
        }
        let of_parts: Vec<&str> = words.iter().flat_map(|word| parts(word)).collect();
        let mut phrases = vec![format!("whole: \"{}\"", words.join(" "))];
        if !of_parts.is_empty() {
            phrases.push(format!("parts: \"{}\"", of_parts.join(" ")));
        }
        Some(Self(phrases))
    }

    /// The same without the phrases that need not be asked for.
    pub(super) fn keeping(&self, mut is_kept: impl FnMut(&String) -> rusqlite::Result<bool>) -> rusqlite::Result<Self> {
        let mut kept = Vec::with_capacity(self.0.len());
        for phrase in &self.0 {
            if is_kept(phrase)? {
                kept.push(phrase.clone());
            }
        }
        Ok(Self(kept))
    }

    /// Writes it as a query of the index.
    pub(super) fn query(&self) -> String {
        format!("({})", self.0.join(" OR "))
    }
}

/// Writes asked words as a query of the index, which rows that hold all of them answer.
pub(super) fn all_of(asked: &[Phrases]) -> String {
    asked.iter().map(Phrases::query).collect::<Vec<_>>().join(" AND ")
}
