//! Does the file's name last? Creates the folders on the way to it and makes their entries durable.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::error::at;

/// Creates the missing folders above `path`, for this user alone.
pub(crate) fn create_above(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(at("create", folder))
}

/// Creates a file, empty and for this user alone.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Makes the entries that lead to `path` durable, up to the root: a file that was synced can still vanish with the
/// entry of its folder, and an earlier process may have crashed between creating and syncing.
#[cfg(unix)]
pub(crate) fn sync_above(path: &Path) -> Result<()> {
    // The real place, since a link may lead to another folder.
    let whole: PathBuf = path.canonicalize().map_err(at("find", path))?;
    for (depth, folder) in whole.ancestors().skip(1).enumerate() {
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Ok(()) => {}
            // Far folders may be closed to us or on read-only systems; then we did not create them either.
            Err(cause) if depth > 0 && is_not_ours(&cause) => break,
            Err(cause) => return Err(at("sync", folder)(cause)),
        }
    }
    Ok(())
}

/// Says whether a folder cannot have been made by us, rather than that its disk fails.
#[cfg(unix)]
fn is_not_ours(cause: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotFound, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(cause.kind(), InvalidInput | NotFound | PermissionDenied | ReadOnlyFilesystem | Unsupported)
}

/// Other systems offer no way to sync a folder; they order such changes themselves.
#[cfg(not(unix))]
pub(crate) fn sync_above(_path: &Path) -> Result<()> {
    Ok(())
}
