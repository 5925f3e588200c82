//! Do the commands of the README work? Runs the `sh` blocks of its quick start, with the binary just built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::repository;

/// The heading whose blocks are run.
const HEADING: &str = "Quick start";

/// How the README starts the program from a fresh clone. The runner puts the binary of the tests in its place: the
/// commands are what is checked, and a second, optimised build of everything would double the time.
const FROM_SOURCE: &str = "cargo run --release -p liveset-cli --";

/// Builds the program and runs each block; gives the number of blocks.
pub(crate) fn run_examples() -> Result<usize> {
    let text = fs::read_to_string(repository::root().join("README.md")).context("cannot read `README.md`")?;
    let blocks = shell_blocks(&text, HEADING);
    ensure!(!blocks.is_empty(), "`README.md` has no `sh` block under \"{HEADING}\"");
    let binary = build_binary()?;
    let folder = fresh_folder()?;
    for block in &blocks {
        run_block(block, &binary, &folder)?;
    }
    Ok(blocks.len())
}

fn run_block(block: &str, binary: &Path, folder: &Path) -> Result<()> {
    let script = block.replace(FROM_SOURCE, "liveset");
    let mut search = vec![binary.parent().unwrap_or(binary).to_owned()];
    search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let status = Command::new("sh")
        .args(["-eu", "-c", &script])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(search)?)
        // The archive of the person who runs the tests is none of our business.
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .status()
        .context("cannot start `sh`")?;
    ensure!(status.success(), "a README example failed with {status}:\n{block}");
    Ok(())
}

fn build_binary() -> Result<PathBuf> {
    let mut build =
        repository::cargo(&["build", "--quiet", "-p", "liveset-cli", "--message-format=json-render-diagnostics"]);
    let output = build.stderr(std::process::Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "the program does not build");
    let messages = String::from_utf8_lossy(&output.stdout);
    let Some(path) = messages.lines().rev().find_map(executable) else {
        bail!("cargo named no executable of `liveset-cli`");
    };
    Ok(PathBuf::from(path))
}

/// The path in cargo's `"executable":"…"`; the build has one executable.
fn executable(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("\"executable\":\"")?;
    let (path, _) = rest.split_once('"')?;
    Some(path.replace("\\\\", "\\"))
}

/// A folder of its own, so that examples may write files, with the files that examples read.
fn fresh_folder() -> Result<PathBuf> {
    let root = repository::root();
    let folder = root.join("target").join("readme");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot clear `{}`", folder.display()))?;
    }
    copy_folder(&root.join("examples"), &folder.join("examples"))?;
    Ok(folder)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create `{}`", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list `{}`", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).with_context(|| format!("cannot copy `{}`", entry.path().display()))?;
        }
    }
    Ok(())
}

/// The contents of the blocks fenced as `sh` between a heading and the next one of its level or above.
fn shell_blocks(markdown: &str, heading: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut section_level = None;
    // The block that is open: `None` outside of any, otherwise its text if it is wanted.
    let mut open: Option<Option<String>> = None;
    for line in markdown.lines() {
        match &mut open {
            Some(block) if line.trim() == "```" => {
                blocks.extend(block.take());
                open = None;
            }
            Some(Some(block)) => {
                block.push_str(line);
                block.push('\n');
            }
            Some(None) => {}
            None => match line.trim_start().strip_prefix("```") {
                Some(language) => {
                    open = Some((section_level.is_some() && language.trim() == "sh").then(String::new));
                }
                None => section_level = level_after(line, heading, section_level),
            },
        }
    }
    blocks
}

/// The level of the wanted section that we are in after this line, if we are in it.
fn level_after(line: &str, heading: &str, current: Option<usize>) -> Option<usize> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    match line.get(level..) {
        Some(title) if level > 0 && title.trim() == heading => Some(level),
        _ => current.filter(|&current| level == 0 || level > current),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sh_blocks_of_the_section_are_taken() {
        let text = "# T\n```sh\nno\n```\n## Quick start\nwords\n```sh\none\n# Quick end\ntwo\n```\n```text\nno\n```\n\
                    ### Detail\n```sh\nthree\n```\n## Next\n```sh\nno\n```\n";
        assert_eq!(shell_blocks(text, "Quick start"), ["one\n# Quick end\ntwo\n", "three\n"]);
        assert_eq!(shell_blocks(text, "Other"), [""; 0]);
    }

    #[test]
    fn a_block_that_fails_is_an_error_also_in_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("liveset");
        assert!(run_block("false\ntrue\n", &binary, folder.path()).is_err());
        assert!(run_block("echo \"$NEVER_SET_ANYWHERE\"\n", &binary, folder.path()).is_err());
        assert!(run_block("true\n", &binary, folder.path()).is_ok());
    }

    #[test]
    fn the_executable_is_found_in_cargos_message() {
        let message = r#"{"reason":"compiler-artifact","executable":"C:\\a b\\liveset.exe","fresh":true}"#;
        assert_eq!(executable(message).as_deref(), Some(r"C:\a b\liveset.exe"));
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#), None);
    }
}
