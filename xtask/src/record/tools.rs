//! What do the agent's tools do? Real reads, searches, edits and commands in a copy of the repository.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::script::Step;

/// What the copy is called in everything that is written down.
const SHOWN_ROOT: &str = "/repo";
/// Lines that one read gives.
const MAX_LINES: usize = 400;
/// Characters that one command's output gives, as agents cut it.
const MAX_OUTPUT_CHARS: usize = 30_000;

/// A copy of the repository in which the agent works.
pub(crate) struct Workshop {
    folder: tempfile::TempDir,
}

/// What a tool said.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) failed: bool,
}

impl Workshop {
    /// Clones the newest commit.
    pub(crate) fn clone_of(root: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let done = Command::new("git")
            .args(["clone", "--quiet", "--local"])
            .arg(root)
            .arg(folder.path().join("repo"))
            .status()?;
        if !done.success() {
            bail!("git could not copy the repository");
        }
        Ok(Self { folder })
    }

    /// Replaces texts that stand once, and folds that into the newest commit: the copy shows no trace of it.
    pub(crate) fn take_back(&self, changes: &[(&str, &str, &str)]) -> Result<()> {
        for (path, now, before) in changes {
            self.edit(path, now, before)?;
        }
        let amend = "git -c user.name=example -c user.email=example@localhost -c commit.gpgsign=false \
                     commit --quiet --all --amend --no-edit --no-verify";
        let done = self.shell(amend)?;
        if done.failed {
            bail!("the copy could not be taken back to before the mend: {}", done.text);
        }
        Ok(())
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Runs one step.
    pub(crate) fn run(&self, step: &Step) -> Result<Answer> {
        let answer = match step {
            Step::Read { path, offset, limit } => self.read(path, *offset, *limit)?,
            Step::Grep { pattern, path } => self
                .shell(&format!("grep -rnE --include='*.rs' --include='*.md' --include='*.toml' '{pattern}' {path}"))?,
            Step::Bash { command } => self.shell(command)?,
            Step::Edit { path, old, new } => self.edit(path, old, new)?,
        };
        Ok(Answer { text: self.shown(&answer.text), failed: answer.failed })
    }

    /// Drops what would differ from machine to machine without telling anything.
    fn shown(&self, text: &str) -> String {
        let text = text.replace(&self.root().display().to_string(), SHOWN_ROOT);
        let text = text.replace(&self.folder.path().display().to_string(), SHOWN_ROOT);
        if text.chars().count() <= MAX_OUTPUT_CHARS {
            return text;
        }
        text.chars().take(MAX_OUTPUT_CHARS).collect::<String>() + "\n... output cut at 30000 characters"
    }

    fn read(&self, path: &str, offset: usize, limit: Option<usize>) -> Result<Answer> {
        let text = fs::read_to_string(self.root().join(path)).with_context(|| format!("the script reads {path}"))?;
        let lines = text.lines().enumerate().skip(offset.saturating_sub(1)).take(limit.unwrap_or(MAX_LINES));
        let text: Vec<String> = lines.map(|(at, line)| format!("{:>6}\u{2192}{line}", at + 1)).collect();
        Ok(Answer { text: text.join("\n"), failed: false })
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> Result<Answer> {
        let file = self.root().join(path);
        let text = fs::read_to_string(&file).with_context(|| format!("the script edits {path}"))?;
        if text.matches(old).count() != 1 {
            bail!("the script's old text stands {} times in {path}", text.matches(old).count());
        }
        let edited = text.replacen(old, new, 1);
        fs::write(&file, &edited)?;
        let from = text.get(..text.find(old).unwrap_or(0)).unwrap_or_default().lines().count().saturating_sub(4);
        let around = edited.lines().enumerate().skip(from).take(new.lines().count() + 8);
        let around: Vec<String> = around.map(|(at, line)| format!("{:>6}\u{2192}{line}", at + 1)).collect();
        let text =
            format!("The file {SHOWN_ROOT}/{path} has been updated. Here's a snippet of it:\n{}", around.join("\n"));
        Ok(Answer { text, failed: false })
    }

    fn shell(&self, command: &str) -> Result<Answer> {
        let output = Command::new("bash")
            .args(["-c", command])
            .current_dir(self.root())
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_TERM_PROGRESS_WHEN", "never")
            .env("RUST_BACKTRACE", "0")
            .env("CARGO_TARGET_DIR", self.folder.path().join("target"))
            .output()?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        let text = text.trim_end().to_owned();
        match output.status.code() {
            Some(0) => Ok(Answer { text, failed: false }),
            code => Ok(Answer { text: format!("Exit code {}\n{text}", code.unwrap_or(-1)), failed: true }),
        }
    }
}

/// The tools as the request defines them.
pub(crate) fn definitions() -> Value {
    let tool = |name: &str, about: &str, properties: Value, required: Value| {
        json!({"name": name, "description": about,
               "input_schema": {"type": "object", "properties": properties, "required": required}})
    };
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    json!([
        tool(
            "Read",
            "Reads a file, with line numbers.",
            json!({"file_path": text, "offset": number, "limit": number}),
            json!(["file_path"])
        ),
        tool(
            "Grep",
            "Searches files for a regular expression.",
            json!({"pattern": text, "path": text}),
            json!(["pattern"])
        ),
        tool("Bash", "Runs a shell command.", json!({"command": text}), json!(["command"])),
        tool(
            "Edit",
            "Replaces a text that stands once in a file.",
            json!({"file_path": text, "old_string": text, "new_string": text}),
            json!(["file_path", "old_string", "new_string"])
        ),
    ])
}

impl Step {
    /// Gives the call as the model would write it.
    pub(crate) fn call(&self) -> (&'static str, Value) {
        let full = |path: &str| format!("{SHOWN_ROOT}/{path}");
        match self {
            Self::Read { path, offset: 0, limit: None } => ("Read", json!({"file_path": full(path)})),
            Self::Read { path, offset, limit } => {
                ("Read", json!({"file_path": full(path), "offset": offset, "limit": limit.unwrap_or(MAX_LINES)}))
            }
            Self::Grep { pattern, path } => ("Grep", json!({"pattern": pattern, "path": full(path)})),
            Self::Bash { command } => ("Bash", json!({"command": command})),
            Self::Edit { path, old, new } => {
                ("Edit", json!({"file_path": full(path), "old_string": old, "new_string": new}))
            }
        }
    }
}
