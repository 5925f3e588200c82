//! How does the original body come back? What restore needs beside the originals.
//!
//! Restore reads the manifest and the originals, never the text of a tombstone or gap.

use serde::{Deserialize, Serialize};

use crate::{
    content_id::ContentId,
    edit::{Back, Edit},
    error::{Error, Result},
    json,
    policy::CONTRACT,
};

/// The way back from an output body to its input.
///
/// ```
/// use liveset_engine::manifest::Manifest;
/// let manifest = Manifest::of(b"{}", b"{}", &[]);
/// assert_eq!(manifest.restore(b"{}", |_| None)?, b"{}");
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of everything that decides bytes.
    pub contract: u32,
    /// BLAKE3 of the output body, hex.
    pub output: String,
    /// BLAKE3 of the input body, hex.
    pub input: String,
    /// What to put back, in the output's order.
    pub pieces: Vec<Piece>,
}

/// One place in the output and what stood there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// First byte in the output.
    pub at: usize,
    /// Bytes in the output.
    pub len: usize,
    /// Name of the original.
    pub original: String,
    /// How its bytes are written again.
    pub back: Back,
}

/// Hex BLAKE3 of a body: the name under which its manifest is kept.
#[must_use]
pub fn body_hash(body: &[u8]) -> String {
    blake3::hash(body).to_hex().to_string()
}

impl Manifest {
    /// Writes the way back for a list of edits.
    #[must_use]
    pub fn of(input: &[u8], output: &[u8], edits: &[Edit]) -> Self {
        let mut splices: Vec<_> =
            edits.iter().flat_map(|edit| edit.splices.iter().map(move |splice| (splice, edit.archive_id))).collect();
        splices.sort_by_key(|(splice, _)| splice.span);
        let mut pieces = Vec::with_capacity(splices.len());
        let (mut from, mut at) = (0, 0);
        for (splice, original) in splices {
            at += splice.span.start() - from;
            let len = splice.with.len();
            pieces.push(Piece { at, len, original: original.to_string(), back: splice.back.clone() });
            at += len;
            from = splice.span.end();
        }
        Self { contract: CONTRACT, output: body_hash(output), input: body_hash(input), pieces }
    }

    /// Writes the manifest as JSON.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a manifest's JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Manifest`] when it is none.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|_| Error::Manifest { why: "it cannot be read" })
    }

    /// Gives the input body back, byte for byte.
    ///
    /// # Errors
    ///
    /// [`Error::Manifest`] when the output is another body, an original is missing, or the result is not the input.
    pub fn restore(&self, output: &[u8], original: impl Fn(&str) -> Option<Vec<u8>>) -> Result<Vec<u8>> {
        let wrong = |why| Error::Manifest { why };
        if body_hash(output) != self.output {
            return Err(wrong("it belongs to another body"));
        }
        let mut out = Vec::with_capacity(output.len());
        let mut at = 0;
        for piece in &self.pieces {
            out.extend_from_slice(output.get(at..piece.at).ok_or(wrong("a place lies outside the body"))?);
            match &piece.back {
                Back::Raw(raw) => out.extend_from_slice(raw.as_bytes()),
                Back::Verbatim => out.extend(original(&piece.original).ok_or(wrong("an original is missing"))?),
                Back::Text { start, end } | Back::Nested { start, end } => {
                    let text = original(&piece.original).ok_or(wrong("an original is missing"))?;
                    let part = text.get(*start..*end).and_then(|part| std::str::from_utf8(part).ok());
                    let once = json::encode_inner(part.ok_or(wrong("an original is not what it was"))?);
                    let is_nested = matches!(piece.back, Back::Nested { .. });
                    let written = if is_nested { json::encode_inner(&once) } else { once };
                    out.extend(written.bytes());
                }
            }
            at = piece.at.saturating_add(piece.len);
        }
        out.extend_from_slice(output.get(at..).ok_or(wrong("a place lies outside the body"))?);
        if body_hash(&out) == self.input { Ok(out) } else { Err(wrong("what comes back is not what went in")) }
    }
}

/// An original to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its name.
    pub id: ContentId,
    /// Its bytes: decoded text (WTF-8), or a JSON value as it stood.
    pub bytes: Vec<u8>,
}
