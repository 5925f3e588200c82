//! What is stored together? The originals and the manifest of one body that is about to be handed out.

/// Everything that must be durable before one compacted body may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// BLAKE3-256 of the output body, 64 lower-case hexadecimal digits; see [`output_hash`].
    pub output: String,
    /// The engine's record of the edits; the archive does not look inside.
    pub manifest: Vec<u8>,
    /// Each cut text under its content id of 32 lower-case hexadecimal digits.
    pub originals: Vec<(String, Vec<u8>)>,
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
        Release { output: output_hash(output_body), manifest, originals }
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
