//! Clearing all but the newest results: in a batch over a trigger (Anthropic's context editing, LangChain), or at each
//! request (observation masking, as SWE-agent's history processor).

use std::collections::{BTreeMap, BTreeSet};

use super::body::{ResultItem, Scale};
use super::{Error, Sent, Setting, Strategy};

/// Results that clearing keeps: Anthropic's and LangChain's default.
const KEEP: usize = 3;
/// Share of the window that clearing must free, in percent (`clear_at_least`).
const CLEAR_AT_LEAST_PERCENT: u64 = 5;
/// What stands where a result was.
const CLEARED: &str = "[cleared]";
/// Messages whose results masking keeps: the default of SWE-agent.
const MASK_KEEPS: usize = 5;

/// Clears in batches, for good.
#[derive(Debug)]
pub(super) struct KeepLast {
    scale: Scale,
    at_least: u64,
    /// How many of the oldest results are cleared.
    cleared: usize,
}

impl KeepLast {
    pub(super) fn new(setting: &Setting) -> Self {
        let scale = Scale::new(setting.format, setting.window_tokens);
        Self { scale, at_least: setting.window_tokens * CLEAR_AT_LEAST_PERCENT / 100, cleared: 0 }
    }
}

impl Strategy for KeepLast {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        let read = self.scale.read(body)?;
        let results = read.results();
        // A client that compacted by itself begins anew.
        self.cleared = if self.cleared > results.len() { 0 } else { self.cleared };
        let tokens = |results: &[ResultItem]| results.iter().map(|result| result.tokens).sum::<u64>();
        let gone = tokens(results.get(..self.cleared).unwrap_or_default());
        let end = results.len().saturating_sub(KEEP);
        let more = tokens(results.get(self.cleared..end).unwrap_or_default());
        if read.tokens().saturating_sub(gone) > self.scale.trigger() && more >= self.at_least.max(1) {
            self.cleared = end;
        }
        let texts = results.iter().take(self.cleared).map(|result| (result.item, CLEARED.to_owned())).collect();
        Ok(Sent::plain(read.with_texts(&texts)))
    }
}

/// Masks at each request.
#[derive(Debug)]
pub(super) struct Masking {
    scale: Scale,
}

impl Masking {
    pub(super) fn new(setting: &Setting) -> Self {
        Self { scale: Scale::new(setting.format, setting.window_tokens) }
    }
}

impl Strategy for Masking {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        let read = self.scale.read(body)?;
        let results = read.results();
        let numbers: BTreeSet<u32> = results.iter().map(|result| result.number).collect();
        let kept: BTreeSet<u32> = numbers.into_iter().rev().take(MASK_KEEPS).collect();
        let mut texts = BTreeMap::new();
        for result in results.iter().filter(|result| !kept.contains(&result.number)) {
            let lines = read.text(result.item).map_or(0, |text| text.lines().count());
            texts.insert(result.item, format!("Old environment output: ({lines} lines omitted)"));
        }
        Ok(Sent::plain(read.with_texts(&texts)))
    }
}
