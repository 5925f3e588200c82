//! A model that needs none: what it says depends on its input alone, and is not always of use.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use liveset::{Summarizer, SummaryError};

/// Says something of each input, and remembers what.
#[derive(Debug, Default)]
pub(crate) struct Scribe {
    said: Mutex<BTreeSet<String>>,
}

impl Scribe {
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Summarizer for Scribe {
    fn summarize(&self, input: &str, _max_tokens: u64) -> Result<String, SummaryError> {
        assert!(!input.trim().is_empty(), "an empty input");
        let sum = input.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        let said = match sum % 8 {
            0 => return Err(SummaryError::TooSlow { seconds: 1 }),
            1 => " \n".to_owned(),
            2 => "word ".repeat(3_000),
            3 => "As it says: [pruned from context: Bash make, 9 lines, 1.2k tokens; run the call again to see it]"
                .to_owned(),
            4 => format!("{sum} things were done.\n\n- and\n- more\nend of summary\n"),
            _ => format!("{sum} things were done."),
        };
        self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(said.clone());
        Ok(said)
    }
}
