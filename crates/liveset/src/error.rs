//! What can go wrong in a call of the library.

/// Why a body could not be compacted or restored. The input is untouched in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The body, the policy or a manifest is not what it should be.
    #[error(transparent)]
    Input(#[from] liveset_engine::Error),
    /// The archive could not store or read originals.
    #[error("archive: {0}")]
    Archive(#[from] liveset_archive::Error),
    /// The model is unknown and no window is set.
    #[error("model `{name}` is not in the model table and no window is set")]
    UnknownModel {
        /// The name in the body or option.
        name: String,
    },
    /// No model is named and no window is set.
    #[error("no model is named and no window is set")]
    NoModel,
    /// There is no way back for this body.
    #[error("the archive has no manifest for this body: it was never handed out by it, or was changed since")]
    NoManifest,
    /// The archive has the manifest of this body, but lacks a text that it cut.
    #[error("the archive does not hold original `{id}`, which this body needs")]
    NoOriginal {
        /// Content id of what is missing.
        id: String,
    },
    /// Restore needs an archive.
    #[error("no archive is set")]
    NoArchive,
}

impl Error {
    /// Says whether storing or reading originals failed, as opposed to the input being wrong.
    #[must_use]
    pub fn is_archive(&self) -> bool {
        matches!(self, Self::Archive(_) | Self::NoManifest | Self::NoOriginal { .. } | Self::NoArchive)
    }
}

/// Short for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
