//! What is stored together? The originals and the manifest of one body that is about to be handed out.

use std::fmt;

use crate::one_line;

/// Everything that must be durable before one compacted body may leave.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Release {
    /// BLAKE3-256 of the output body, 64 lower-case hexadecimal digits; see [`output_hash`].
    pub output: String,
    /// The engine's record of the edits; the archive does not look inside.
    pub manifest: Vec<u8>,
    /// Each cut text under its content id of 32 lower-case hexadecimal digits.
    pub originals: Vec<(String, Vec<u8>)>,
    /// The conversation that the body belongs to; an index for search, purge and eviction. Empty where it is unknown.
    pub session: String,
    /// Which call each original answers, by content id; one original may answer several.
    pub sources: Vec<(String, Source)>,
    /// Ids of originals that the body points at and that an earlier release stored. Those of `originals` need not be
    /// named again.
    pub points_at: Vec<String>,
    /// Whether the body may point only at what its own session stored. Where sessions are a border, an id that a client
    /// guessed, or saw in another conversation, must not become its own by being pointed at.
    pub is_strict: bool,
}

/// Sizes alone: what is printed to find a mistake ends up in a log, which is a second store of what it shows.
impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Release")
            .field("output", &self.output)
            .field("originals", &self.originals.len())
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// The call that an original is the answer of, or the argument of.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The tool's name.
    pub tool: String,
    /// The call's own words, without secrets; may be empty.
    pub label: String,
    /// The arguments as the client wrote them. Kept inside the archive and shown by no list or error.
    pub arguments: String,
}

/// Without the arguments, for the same reason.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("tool", &self.tool).field("label", &self.label).finish_non_exhaustive()
    }
}

impl Source {
    /// Names the call in one line: tool and label.
    ///
    /// ```
    /// let source = liveset_archive::Source { tool: "read".into(), label: "a.rs".into(), ..Default::default() };
    /// assert_eq!(source.name(), "read a.rs");
    /// ```
    #[must_use]
    pub fn name(&self) -> String {
        if self.label.is_empty() { self.tool.clone() } else { format!("{} {}", self.tool, self.label) }
    }

    /// The same for a list: in one line, whatever the label holds, and never empty.
    #[must_use]
    pub fn told(&self) -> String {
        let name = self.name();
        if name.is_empty() { "tool".to_owned() } else { one_line(&name) }
    }
}

impl Release {
    /// Makes the release of an output body, hashing the body.
    ///
    /// ```
    /// use liveset_archive::{Release, output_hash};
    ///
    /// let release = Release::new(b"{}", Vec::new(), Vec::new());
    /// assert_eq!(release.output, output_hash(b"{}"));
    /// ```
    pub fn new(output_body: &[u8], manifest: Vec<u8>, originals: Vec<(String, Vec<u8>)>) -> Release {
        Release { output: output_hash(output_body), manifest, originals, ..Release::default() }
    }
}

/// Names a body by its content: BLAKE3-256 as 64 lower-case hexadecimal digits.
///
/// ```
/// assert_eq!(liveset_archive::output_hash(b"{}").len(), 64);
/// ```
pub fn output_hash(body: &[u8]) -> String {
    blake3::hash(body).to_hex().to_string()
}
