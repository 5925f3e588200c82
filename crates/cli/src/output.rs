//! Where bytes and words go. A failed run leaves old files as they were.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _, stderr, stdout},
    path::{Path, PathBuf},
};

use crate::failure::Failure;

/// Permissions of a new file, before the user's mask.
#[cfg(unix)]
const NEW_FILE_MODE: u32 = 0o666;

/// Writes bytes to a file, whole or not at all, or to standard output.
pub(crate) fn bytes(to: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match to.filter(|path| !is_standard(path)) {
        Some(path) => file(path, bytes).map_err(|error| Failure::writing(path, &error)),
        None => standard(bytes),
    }
}

/// Says whether a path stands for standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes text to standard output.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    standard(text.as_bytes())
}

/// Writes text to standard error.
pub(crate) fn note(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}

/// Refuses to write two things to one place: the second would replace the first.
pub(crate) fn apart(places: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let named: Vec<(&str, PathBuf)> =
        places.iter().filter_map(|(flag, path)| path.map(|path| (*flag, resolved(path)))).collect();
    for (at, (flag, path)) in named.iter().enumerate() {
        if let Some((other, _)) = named.iter().take(at).find(|(_, earlier)| earlier == path) {
            return Err(Failure::usage(format_args!("`{other}` and `{flag}` name the same file")));
        }
    }
    Ok(())
}

/// Follows links as far as the path exists.
fn resolved(path: &Path) -> PathBuf {
    let whole = path.canonicalize().ok();
    let below = || Some(folder(path).canonicalize().ok()?.join(path.file_name()?));
    whole.or_else(below).unwrap_or_else(|| path.to_owned())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn standard(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // The reader has seen enough: `liveset inspect | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::writing(Path::new("standard output"), &error)),
        Ok(()) => Ok(()),
    }
}

fn file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays a link: what it points at is replaced.
    let path = &resolved(path);
    let old = match fs::metadata(path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // Devices and pipes are written to, never replaced.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut new = new_file(folder(path))?;
    new.write_all(bytes)?;
    if let Some(old) = old {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(NEW_FILE_MODE));
    }
    builder.tempfile_in(folder)
}

/// Says whether words on standard error or output may have colour.
pub(crate) fn colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Says whether standard error is a terminal.
pub(crate) fn error_is_terminal() -> bool {
    stderr().is_terminal()
}

/// Says whether standard output is a terminal.
pub(crate) fn output_is_terminal() -> bool {
    stdout().is_terminal()
}
