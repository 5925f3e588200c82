//! Which numbers belong to a part of a seed? A stream of its own for each label, so that parts keep theirs.

use sha2::{Digest as _, Sha256};

use crate::prng::Prng;

/// Starts the stream of a label: the first 64 bits of its SHA-256 are the seed.
///
/// ```
/// use liveset_eval::irbench::stream;
/// assert_eq!(stream("static/1").bits(), stream("static/1").bits());
/// assert_ne!(stream("static/1").bits(), stream("hidden/high/1").bits());
/// ```
#[must_use]
pub fn stream(label: &str) -> Prng {
    let digest = Sha256::digest(label.as_bytes());
    Prng::new(digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
}
