//! Where bytes and words go. A failed run leaves old files as they were.

use std::{
    io::{self, IsTerminal as _, Write as _, stderr, stdout},
    path::Path,
};

use crate::failure::Failure;

/// Writes bytes to a file, whole or not at all, or to standard output.
pub(crate) fn bytes(to: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match to.filter(|path| *path != Path::new("-")) {
        Some(path) => file(path, bytes).map_err(|error| Failure::writing(path, &error)),
        None => standard(bytes),
    }
}

/// Writes text to standard output.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    standard(text.as_bytes())
}

/// Writes text to standard error.
pub(crate) fn note(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
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
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
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
