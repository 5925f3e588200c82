//! How much of a request stands in the prompt cache, and does it extend the last one? Items compared as the model reads
//! them.

use liveset::WireFormat;
use liveset_engine::Error;

use crate::strategies::Scale;

/// What one request holds of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) tokens: u64,
    /// Tokens of the beginning that is the same as before.
    pub(crate) read_tokens: u64,
    /// Whether all of the request before is its beginning.
    pub(crate) extends: bool,
}

/// Compares each request with the one before.
#[derive(Debug)]
pub(crate) struct Meter {
    scale: Scale,
    last: Option<Vec<u128>>,
}

impl Meter {
    pub(crate) fn new(format: WireFormat) -> Self {
        Self { scale: Scale::new(format, 0), last: None }
    }

    pub(crate) fn read(&mut self, body: &[u8]) -> Result<Reading, Error> {
        let read = self.scale.read(body)?;
        let items: Vec<(u128, u64)> = (0..read.transcript.items.len()).map(|at| read.item(at)).collect();
        let last = self.last.take();
        let digests: Vec<u128> = items.iter().map(|(digest, _)| *digest).collect();
        let same = last.iter().flatten().zip(&digests).take_while(|(before, now)| before == now).count();
        let cached: u64 = items.iter().take(same).map(|(_, tokens)| tokens).sum();
        let reading = Reading {
            tokens: read.tokens(),
            read_tokens: if last.is_some() { cached + read.request_tokens() } else { 0 },
            extends: last.as_ref().is_none_or(|last| last.len() == same),
        };
        self.last = Some(digests);
        Ok(reading)
    }
}
