//! Which original is this? The name of a text, computed from the text alone.
//!
//! Never depends on how the text was escaped, on time, or on whether an archive is in use.

use std::fmt;

/// Name of an original: the first 128 bits of BLAKE3 over its bytes, shown as 32 lower-case hex digits.
///
/// For text the bytes are the decoded text in generalised UTF-8 (WTF-8: a lone surrogate stays what it was); the
/// parts of one result are joined by `\n`. For a picture or document they are the JSON value as it stood.
///
/// ```
/// use liveset_engine::ContentId;
/// assert_eq!(ContentId::of(b"a log").to_string().len(), 32);
/// assert_eq!(ContentId::of(b"a log"), ContentId::of(b"a log"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId([u8; 16]);

impl ContentId {
    /// Computes the name of an original.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut id = [0; 16];
        let hash = blake3::hash(bytes);
        for (to, from) in id.iter_mut().zip(hash.as_bytes()) {
            *to = *from;
        }
        Self(id)
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
