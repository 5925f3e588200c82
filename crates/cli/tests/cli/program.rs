//! Runs the binary and writes down what came of it.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Every command, as `help` lists them.
pub(crate) const COMMANDS: [&str; 20] = [
    "compact",
    "shape",
    "inspect",
    "explain",
    "count",
    "check",
    "restore",
    "recall",
    "search",
    "archive",
    "proxy",
    "mcp",
    "eval",
    "replay",
    "diff",
    "policy",
    "doctor",
    "schema",
    "completions",
    "man",
];

/// A folder to run in.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    /// Where the archive of this user is: nobody's own is touched.
    data: tempfile::TempDir,
}

/// What a run left behind.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), data: tempfile::tempdir().unwrap() }
    }

    /// A folder that holds one file.
    pub(crate) fn with(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        place.write(name, bytes);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder that holds this user's data.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Names all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The binary with these words, without what the caller's terminal would add.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_liveset"));
        command.args(words.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        for name in ["COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.env("XDG_DATA_HOME", self.data()).env("HOME", self.data());
        command
    }

    pub(crate) fn run(&self, words: &str) -> Run {
        Run::of(self.command(words).output().unwrap())
    }

    /// Runs with `bytes` on standard input.
    pub(crate) fn pipe(&self, words: &str, bytes: &[u8]) -> Run {
        let mut command = self.command(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(bytes));
            Run::of(child.wait_with_output().unwrap())
        })
    }
}

/// An archive's bytes with a flipped bit in a stored text: compressed texts begin with zstd's magic number.
pub(crate) fn damaged_text(archive: &[u8]) -> Vec<u8> {
    let mut bytes = archive.to_vec();
    let at = bytes.windows(4).position(|start| start == [0x28, 0xb5, 0x2f, 0xfd]).unwrap();
    bytes[at + 40] ^= 1;
    bytes
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    /// Exit code and both streams, as a snapshot.
    pub(crate) fn shown(&self) -> String {
        let mut shown = format!("exit {}\n", self.code);
        for (name, text) in [("out", self.text()), ("err", &self.err)] {
            for line in text.lines() {
                shown.push_str(format!("{name} | {line}").trim_end());
                shown.push('\n');
            }
        }
        shown
    }
}
