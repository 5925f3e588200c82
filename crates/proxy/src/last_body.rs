//! What is kept of the newest body of a conversation, so that the next one is read from where it goes on?
//!
//! Saves work alone: the next body is compared with it byte by byte, and what differs is read.

use hyper::body::Bytes;
use liveset::WireFormat;
use liveset_engine::{Result, wire::GrowingBody};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Where the first landmark of a body ends; each further one ends at twice the place. What is shorter is read whole.
const FIRST_LANDMARK: usize = 4 << 10;
/// Bytes of a landmark. It is a hint: what it leads to is compared in full.
const LANDMARK_BYTES: usize = 1 << 10;

/// The text of a body that was read, and what it says.
pub(crate) struct LastBody {
    text: Bytes,
    read: GrowingBody<'static>,
}

impl LastBody {
    /// Keeps a body that was read.
    pub(crate) fn new(text: Bytes, read: GrowingBody<'_>) -> Self {
        Self { text, read: read.without_text() }
    }

    /// How long its text is.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Its dialect.
    pub(crate) fn format(&self) -> WireFormat {
        self.read.transcript.format
    }

    /// Reads the body that goes on with it.
    pub(crate) fn extend(self, body: &[u8]) -> Result<GrowingBody<'_>> {
        self.read.extend(&self.text, body)
    }
}

/// Gives what stands for the beginnings of a body, the longest first: two bodies that share one begin alike, as a rule.
pub(crate) fn landmarks(format: WireFormat, body: &[u8]) -> impl Iterator<Item = u64> {
    let ends = std::iter::successors(Some(FIRST_LANDMARK), |end| end.checked_mul(2));
    let ends: Vec<usize> = ends.take_while(|&end| end <= body.len()).collect();
    ends.into_iter().rev().filter_map(move |end| {
        let block = body.get(end - LANDMARK_BYTES..end)?;
        Some(xxh3_64_with_seed(block, (end as u64) << 2 | format as u64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_grew_shares_the_landmarks_of_its_beginning() {
        let (short, long) = (vec![b'a'; 20_000], vec![b'a'; 40_000]);
        let marks = |body: &[u8]| landmarks(WireFormat::Anthropic, body).collect::<Vec<_>>();
        assert_eq!((marks(&short[..4_095]).len(), marks(&short).len(), marks(&long).len()), (0, 3, 4));
        assert_eq!(marks(&short), marks(&long)[1..]);
        assert_ne!(marks(&short), landmarks(WireFormat::OpenaiChat, &short).collect::<Vec<_>>());
    }
}
