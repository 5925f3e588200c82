//! Can originals be stored in this archive, and is what it holds still whole?

use std::{
    fs::{self, Metadata},
    io::ErrorKind,
    path::Path,
};

use liveset_archive::{Scan, shown};
use liveset_engine::report::grouped;

use super::{Finding, Status, counted};
use crate::{failure::Failure, setup};

/// Share of the capacity, in percent, over which it is worth a word.
const NEARLY_FULL_PERCENT: u64 = 90;
/// Places of damage that are named.
const MAX_PLACES: usize = 3;

/// Checks a file that is named as an archive.
pub(super) fn check(path: &Path) -> Vec<Finding> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return vec![missing(path)],
        Err(error) => return vec![Finding::of_failure("archive", &Failure::reading(path, &error))],
    };
    if found.is_file() && found.len() == 0 {
        // Opening it would make it an archive, and a check changes nothing.
        let text = format!("`{}` is empty: the first run makes an archive of it", shown(path));
        return [Finding::new(Status::Ok, "archive", text)].into_iter().chain(mode(path, &found)).collect();
    }
    match records(path, &found) {
        Ok(finding) => [finding].into_iter().chain(mode(path, &found)).collect(),
        // What is no archive of ours needs no advice on its permissions.
        Err(finding) => vec![finding],
    }
}

/// A file that is not there yet has to be made some day.
fn missing(path: &Path) -> Finding {
    let above =
        path.ancestors().skip(1).map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let folder = above.into_iter().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let text = format!("`{}` is not there", shown(path));
    match tempfile::tempfile_in(folder) {
        Ok(_) => Finding::new(Status::Ok, "archive", format!("{text} yet: the first run makes it, for you alone")),
        Err(error) => Finding::of_failure("archive", &Failure::writing(folder, &error))
            .hint("a run could not store what it cuts: name another place"),
    }
}

/// Reads every record; an error is a finding about something that is no archive here.
fn records(path: &Path, found: &Metadata) -> Result<Finding, Finding> {
    if !found.is_file() {
        let error =
            std::io::Error::from(if found.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput });
        return Err(Finding::of_failure("archive", &Failure::writing(path, &error)));
    }
    let scanned = setup::archive(path).and_then(|archive| Ok(archive.scan()?));
    let finding = verdict(path, &scanned.map_err(|failure| Finding::of_failure("archive", &failure))?);
    // A log is written beside the file, so both must be writable. The file is not opened for it.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match tempfile::tempfile_in(folder) {
        Ok(_) if !found.permissions().readonly() => Ok(finding),
        refused => {
            let error = refused.err().unwrap_or_else(|| ErrorKind::PermissionDenied.into());
            Err(Finding::of_failure("archive", &Failure::writing(path, &error))
                .hint("a run could not store what it cuts"))
        }
    }
}

fn verdict(path: &Path, scan: &Scan) -> Finding {
    let held = format!(
        "`{}`: {} of {} in {}",
        shown(path),
        counted(scan.originals, "original", "originals"),
        counted(scan.manifests, "body", "bodies"),
        counted(scan.bytes, "byte", "bytes")
    );
    if !scan.is_sound() {
        return damage(&held, scan);
    }
    if scan.bytes.saturating_mul(100) > scan.capacity_bytes.saturating_mul(NEARLY_FULL_PERCENT) {
        return Finding::new(Status::Warn, "archive", format!("{held}, nearly full")).hint(format!(
            "it takes {} bytes; then what no living conversation points at goes, longest unused first",
            grouped(scan.capacity_bytes)
        ));
    }
    Finding::new(Status::Ok, "archive", format!("{held}, all whole"))
}

fn damage(held: &str, scan: &Scan) -> Finding {
    let mut text = held.to_owned();
    if scan.damaged > 0 {
        let places = scan.places.iter().take(MAX_PLACES).cloned().collect::<Vec<_>>().join(", ");
        let more = if scan.damaged > MAX_PLACES as u64 { " and others" } else { "" };
        text.push_str(&format!("; {} damaged: {places}{more}", grouped(scan.damaged)));
    }
    if !scan.is_structure_sound {
        text.push_str("; the structure of the file is broken");
    }
    Finding::new(Status::Fail, "archive", text)
        .hint("restore the file from a copy; bodies whose originals are whole still come back from this one")
}

/// Originals hold whatever tools said, keys and all.
#[cfg(unix)]
fn mode(path: &Path, found: &Metadata) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = found.permissions().mode() & 0o777;
    if !found.is_file() {
        return None;
    }
    Some(match mode & 0o077 {
        0 => Finding::new(Status::Ok, "permissions", format!("mode {mode:04o}: only you may read it")),
        _ => Finding::new(Status::Warn, "permissions", format!("mode {mode:04o}: others may read what was cut"))
            .hint(format!("chmod 600 {}", shown(path))),
    })
}

#[cfg(not(unix))]
fn mode(_path: &Path, _found: &Metadata) -> Option<Finding> {
    None
}
