//! Protecting the newest tokens of results and pruning what lies behind, once that is worth it: opencode's rule.

use super::body::Scale;
use super::{Error, Sent, Setting, Strategy};

/// Tokens of the newest results that are never pruned.
const PROTECTED_TOKENS: u64 = 40_000;
/// Tokens that pruning must free.
const MINIMUM_TOKENS: u64 = 20_000;
/// What stands where a result was.
const PRUNED: &str = "[Old tool result content cleared]";

/// Prunes for good.
#[derive(Debug)]
pub(super) struct ProtectAndPrune {
    scale: Scale,
    /// How many of the oldest results are pruned.
    pruned: usize,
}

impl ProtectAndPrune {
    pub(super) fn new(setting: &Setting) -> Self {
        Self { scale: Scale::new(setting.format, setting.window_tokens), pruned: 0 }
    }
}

impl Strategy for ProtectAndPrune {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        let read = self.scale.read(body)?;
        let results = read.results();
        self.pruned = if self.pruned > results.len() { 0 } else { self.pruned };
        let (mut seen, mut end, mut frees) = (0, self.pruned, 0);
        for (at, result) in results.iter().enumerate().skip(self.pruned).rev() {
            seen += result.tokens;
            if seen > PROTECTED_TOKENS {
                end = end.max(at + 1);
                frees += result.tokens;
            }
        }
        if frees > MINIMUM_TOKENS {
            self.pruned = end;
        }
        let texts = results.iter().take(self.pruned).map(|result| (result.item, PRUNED.to_owned())).collect();
        Ok(Sent::plain(read.with_texts(&texts)))
    }
}
