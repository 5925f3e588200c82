//! What can go wrong with an archive? Names the place; never shows what is stored.

use std::io;
use std::path::{Path, PathBuf};

use crate::shown::shown;

/// What every call of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a store or a look-up failed. After a failed `put` nothing of that release may be relied on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("cannot {action} `{}`: {cause}", shown(path))]
    Io {
        /// What was being done, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file does not start like an archive; it was left alone.
    #[error("`{}` is not a liveset archive", shown(path))]
    NotAnArchive {
        /// The file.
        path: PathBuf,
    },
    /// The archive was written by a version with another layout.
    #[error("archive `{}` has layout version {found}, expected {expected}", shown(path))]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// The version it states.
        found: u32,
        /// The version this crate writes.
        expected: u32,
    },
    /// The file is an archive of the kind that versions before this one wrote; it was left alone.
    #[error("`{}` is an archive of the older kind, an append-only file", shown(path))]
    OldKind {
        /// The file.
        path: PathBuf,
    },
    /// The file no longer holds what was written to it.
    #[error("archive `{}` is damaged in {place}: {what}", shown(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which record, or which part of the file.
        place: String,
        /// What is wrong there.
        what: &'static str,
    },
    /// The archive file was deleted while it was in use, so that nothing written to it would last.
    #[error("archive `{}` was removed while in use", shown(path))]
    Removed {
        /// Where the file was.
        path: PathBuf,
    },
    /// An earlier write failed and what became of it is unknown; this handle takes no more.
    #[error("archive `{}` takes no more writes after a failed one; open it again", shown(path))]
    Failed {
        /// The file.
        path: PathBuf,
    },
    /// An id is not lower-case hexadecimal of the right length.
    #[error("{what} must be {digits} lower-case hexadecimal digits, got {found} bytes of something else")]
    BadId {
        /// Which kind of id.
        what: &'static str,
        /// How many digits it must have.
        digits: usize,
        /// How many bytes were given.
        found: usize,
    },
    /// The body points at an original that an earlier release stored and the archive does not hold any more.
    #[error("the archive does not hold original `{id}`, at which the body points")]
    Missing {
        /// Its id.
        id: String,
    },
    /// A handle that sees one session alone was asked to store something for another; nothing of it was.
    #[error("this handle sees one session alone, and was asked to store for another")]
    OtherSession,
    /// Another process kept the file locked for too long.
    #[error("archive `{}` is busy: another process holds it", shown(path))]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// This store cannot do what was asked.
    #[error("this archive does not support {what}")]
    Unsupported {
        /// What was asked.
        what: &'static str,
    },
    /// A folder to spill to that a shell takes for somebody's home, or a command for a flag.
    #[error(
        "originals cannot be spilled below `{}`, which shells or commands misread; name a folder such as `.liveset`",
        shown(path)
    )]
    MisleadingFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Two different texts claim the same id; the first one stays.
    #[error("original `{id}` is already stored with other content")]
    Collision {
        /// The id both claim.
        id: String,
    },
    /// One release or one record is over its limit.
    #[error("{what} has {found}, the limit is {limit}")]
    TooLarge {
        /// What was too large, with its measure.
        what: &'static str,
        /// How much there was.
        found: u64,
        /// How much may be.
        limit: u64,
    },
    /// The archive has no room for this release; nothing of it was written.
    #[error("archive `{}` is full: {what} would pass {limit}", shown(path))]
    Full {
        /// The file.
        path: PathBuf,
        /// What is counted.
        what: &'static str,
        /// How much may be.
        limit: u64,
    },
}

impl Error {
    /// Says whether the system lets this user read alone.
    pub(crate) fn is_refused_write(&self) -> bool {
        let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem];
        matches!(self, Self::Io { cause, .. } if kinds.contains(&cause.kind()))
    }

    /// Says whether the release itself is at fault: nothing of it is stored, and the archive is as good as before.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::BadId { .. }
                | Self::Collision { .. }
                | Self::Missing { .. }
                | Self::OtherSession
                | Self::TooLarge { .. }
        )
    }
}

/// Turns a system error into ours by adding what was done, and to which path.
pub(crate) fn at<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
    move |cause| Error::Io { action, path: path.to_owned(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_whatever_the_file_is_called() {
        let path = PathBuf::from("a\nb\u{1b}c");
        let cause = || io::Error::other("no");
        for error in [
            at("open", &path)(cause()),
            Error::NotAnArchive { path: path.clone() },
            Error::UnknownVersion { path: path.clone(), found: 2, expected: 1 },
            Error::Damaged { path: path.clone(), place: "manifest 0f".into(), what: "it fails its checksum" },
            Error::OldKind { path: path.clone() },
            Error::Busy { path: path.clone() },
            Error::Removed { path: path.clone() },
            Error::Failed { path: path.clone() },
            Error::MisleadingFolder { path: path.clone() },
            Error::Full { path: path.clone(), what: "records", limit: 1 },
        ] {
            let text = error.to_string();
            assert!(text.contains(r"`a\nb\u{1b}c`") && !text.contains(char::is_control), "{text:?}");
        }
    }
}
