//! Installs what a test tries the proxy with, into the folder of this build, where an earlier run did not.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Says that a test checked nothing, and why.
pub(crate) fn skipped(what: &str, why: &str) {
    liveset_testkit::skipped(format_args!("{what} not tried"), why);
}

/// A Python that has these packages, which `probe` imports.
pub(crate) fn python_with(name: &str, probe: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = home(name)?;
    let program = folder.join("bin/python");
    let has_packages = || done(Command::new(&program).args(["-c", probe]));
    if has_packages().is_err() {
        done(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        done(Command::new(&program).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
        has_packages()?;
    }
    Ok(program)
}

pub(crate) fn home(name: &str) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

pub(crate) fn done(command: &mut Command) -> Result<(), String> {
    let name = format!("`{}`", command.get_program().to_string_lossy());
    let Output { status, stderr, .. } =
        command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    let told = String::from_utf8_lossy(&stderr);
    let last = told.lines().last().unwrap_or_default();
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {last}")) }
}
