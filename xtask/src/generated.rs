//! Which files are made from code, and are they fresh? Writes those files and no other.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use liveset::{Policy, Report};

use crate::repository;

/// One file that is made from code: its path from the root, and what makes its text.
pub(crate) struct Generated {
    pub(crate) path: &'static str,
    pub(crate) text: fn() -> Result<String>,
}

/// Every generated file of the repository. To add one: a row here, then `cargo xtask gen`.
const GENERATED: &[Generated] = &[
    Generated { path: "docs/report.schema.json", text: || Ok(Report::json_schema() + "\n") },
    Generated { path: "docs/policy.schema.json", text: || Ok(Policy::json_schema() + "\n") },
];

/// Writes each generated file that is not fresh.
pub(crate) fn write_all() -> Result<ExitCode> {
    for path in write_stale(GENERATED, repository::root())? {
        println!("wrote {path}");
    }
    println!("{} generated files are fresh", GENERATED.len());
    Ok(ExitCode::SUCCESS)
}

/// Tells which generated files are not fresh, and fails when there are any.
pub(crate) fn check_all() -> Result<ExitCode> {
    let stale = stale(GENERATED, repository::root())?;
    for (file, _) in &stale {
        println!("{} is not fresh; run `cargo xtask gen`", file.path);
    }
    println!("{} of {} generated files are fresh", GENERATED.len() - stale.len(), GENERATED.len());
    Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many files are generated, and the paths of those that are not fresh.
pub(crate) fn freshness() -> Result<(usize, Vec<&'static str>)> {
    let stale = stale(GENERATED, repository::root())?;
    Ok((GENERATED.len(), stale.iter().map(|(file, _)| file.path).collect()))
}

/// Lists the files whose text on disk is not what the code makes, with the text they should have.
fn stale<'a>(files: &'a [Generated], root: &Path) -> Result<Vec<(&'a Generated, String)>> {
    let mut stale = Vec::new();
    for file in files {
        let fresh = (file.text)().with_context(|| format!("cannot generate `{}`", file.path))?;
        let on_disk = match fs::read_to_string(root.join(file.path)) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", file.path)),
        };
        if on_disk.as_ref() != Some(&fresh) {
            stale.push((file, fresh));
        }
    }
    Ok(stale)
}

fn write_stale(files: &[Generated], root: &Path) -> Result<Vec<&'static str>> {
    let mut written = Vec::new();
    for (file, fresh) in stale(files, root)? {
        let path = root.join(file.path);
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        fs::write(&path, fresh).with_context(|| format!("cannot write `{}`", file.path))?;
        written.push(file.path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[Generated] = &[
        Generated { path: "a.txt", text: || Ok("made\n".to_owned()) },
        Generated { path: "deep/b.txt", text: || Ok("made too\n".to_owned()) },
    ];

    #[test]
    fn missing_and_changed_files_are_stale_until_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "edited by hand\n").unwrap();
        assert_eq!(write_stale(FILES, folder.path()).unwrap(), ["a.txt", "deep/b.txt"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "made\n");
        assert_eq!(write_stale(FILES, folder.path()).unwrap(), [""; 0]);
        fs::remove_file(folder.path().join("deep/b.txt")).unwrap();
        let stale = stale(FILES, folder.path()).unwrap();
        assert_eq!(stale.iter().map(|(file, _)| file.path).collect::<Vec<_>>(), ["deep/b.txt"]);
    }

    #[test]
    fn a_generator_that_fails_is_an_error_that_names_its_file() {
        let failing = [Generated { path: "c.txt", text: || anyhow::bail!("no source") }];
        let error = stale(&failing, Path::new(".")).err().unwrap();
        assert!(format!("{error:#}").contains("c.txt"));
    }
}
