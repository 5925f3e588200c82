//! What went wrong, in one line, and which exit code says so.

use std::{
    fmt,
    io::{ErrorKind, Write as _},
    path::Path,
};

use liveset_archive::{one_line, shown};

use crate::args::InputFormat;

/// A check found defects.
pub(crate) const DEFECTS: u8 = 1;
/// Bad usage, or input that cannot be read.
pub(crate) const USAGE: u8 = 2;
/// The body cannot be made to fit.
pub(crate) const CANNOT_FIT: u8 = 3;
/// The archive or an output failed; nothing is lost.
pub(crate) const STORE: u8 = 4;

/// A failure: one line for people, an exit code for scripts.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    what: String,
    hint: Option<String>,
}

impl Failure {
    /// Input or usage is wrong.
    pub(crate) fn usage(what: impl fmt::Display) -> Self {
        Self { code: USAGE, what: what.to_string(), hint: None }
    }

    /// Something could not be stored or written.
    pub(crate) fn store(what: impl fmt::Display) -> Self {
        Self { code: STORE, what: plain(what), hint: None }
    }

    /// The body does not fit.
    pub(crate) fn cannot_fit(what: impl fmt::Display) -> Self {
        Self { code: CANNOT_FIT, what: format!("cannot fit: {what}"), hint: None }
    }

    /// A file could not be read.
    pub(crate) fn reading(path: &Path, error: &std::io::Error) -> Self {
        Self::usage(format_args!("cannot read `{}`: {}", shown(path), plain_lower(error)))
    }

    /// A file could not be written.
    pub(crate) fn writing(path: &Path, error: &std::io::Error) -> Self {
        Self::store(format_args!("cannot write `{}`: {}", shown(path), plain_lower(error)))
    }

    /// The same failure with the next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure, said of a file.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        self.what = format!("{name}: {}", self.what);
        self
    }

    /// What is wrong, and the next step, each in one line: arguments may hold anything, and move no cursor.
    pub(crate) fn told(&self) -> (String, Option<String>) {
        (one_line(&self.what), self.hint.as_deref().map(one_line))
    }

    /// Says it on standard error and gives the exit code.
    pub(crate) fn report(&self) -> u8 {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "liveset: {}", one_line(&self.what));
        if let Some(hint) = &self.hint {
            let _ = writeln!(err, "hint: {}", one_line(hint));
        }
        self.code
    }
}

impl From<liveset::Error> for Failure {
    fn from(error: liveset::Error) -> Self {
        if error.is_archive() {
            return of_archive(error);
        }
        match &error {
            liveset::Error::UnknownModel { .. } | liveset::Error::NoModel => {
                Self::usage(&error).hint("name a window with --window TOKENS, or a known model with --model NAME")
            }
            liveset::Error::Input(inner) => Self::from(inner.clone()),
            _ => Self::usage(error),
        }
    }
}

impl From<liveset_engine::Error> for Failure {
    fn from(error: liveset_engine::Error) -> Self {
        use liveset_engine::Error as Input;
        // A manifest is the archive's, not the user's.
        if matches!(error, Input::Manifest { .. }) {
            return Self::store(error).hint(DAMAGED);
        }
        if let Input::Policy { why } = &error {
            return policy(why);
        }
        let failure = Self::usage(&error);
        match error {
            Input::Format { .. } => {
                failure.hint(format!("say which it is with --format: {}", InputFormat::names().join(", ")))
            }
            Input::Json { .. } => {
                failure.hint("the input is no JSON; is it a trace? `--format` names the formats that are known")
            }
            Input::Missing { .. } | Input::WrongType { .. } => failure.hint("is `--format` the right one?"),
            _ => failure,
        }
    }
}

impl From<clap::Error> for Failure {
    /// Clap writes paragraphs: the first says what is wrong, later ones give tips and the usage.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let (what, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let (values, what): (Vec<&str>, Vec<&str>) =
            what.lines().map(str::trim).partition(|line| line.starts_with('['));
        let what = what.join(" ");
        let failure = Self::usage(what.strip_prefix("error: ").unwrap_or(&what));
        let values = values.first().map(|line| line.trim_matches(['[', ']']).to_owned());
        let after = |start: &str| rest.lines().find_map(|line| Some(line.trim().strip_prefix(start)?.to_owned()));
        let usage = || after("Usage: ").map(|usage| format!("usage: {usage}"));
        let hint = after("tip: ").or(values).or_else(usage);
        failure.hint(hint.unwrap_or_else(|| "`--help` lists what there is".to_owned()))
    }
}

/// What to do about an archive that no longer holds what was written to it.
const DAMAGED: &str = "restore the archive from a copy, or take the body from where it came; bodies whose originals are \
whole still come back";

/// An archive's error: what and where it says itself.
fn of_archive(error: liveset::Error) -> Failure {
    match error {
        liveset::Error::Archive(error) => Failure::from(error),
        liveset::Error::NoManifest => Failure::store(error).hint(
            "is it exactly what `compact` wrote, with this archive? A body that `compact` left unchanged is its own original",
        ),
        liveset::Error::NoOriginal { .. } => Failure::store(error).hint(DAMAGED),
        _ => Failure::store(error),
    }
}

impl From<liveset_archive::Error> for Failure {
    fn from(error: liveset_archive::Error) -> Self {
        use liveset_archive::Error as Archive;
        let failure = Self::store(&error);
        match error {
            Archive::Io { cause, .. } => failure.hint(of_io(cause.kind())),
            Archive::Removed { .. } => failure.hint("nothing was handed out: run it again, which makes a new file"),
            Archive::Failed { .. } => failure
                .hint("nothing was handed out: run it again; `liveset archive verify` tells whether the file is whole"),
            Archive::BadId { .. } => failure.hint("`liveset search WORDS` finds originals and names their ids"),
            Archive::Collision { .. } => failure
                .hint("nothing was handed out; another archive, with --archive PATH, knows nothing of the first text"),
            Archive::OtherSession => failure.hint("name the session that it is for"),
            Archive::TooLarge { .. } => failure.hint("cut less at once: a smaller body, or a larger --window"),
            Archive::Unsupported { .. } => failure.hint("an archive file does: name one with --archive PATH"),
            Archive::Damaged { .. } => failure.hint(DAMAGED),
            Archive::OldKind { .. } => failure
                .hint("name a new file, or move this one away: the version that wrote it still restores its bodies"),
            Archive::Missing { .. } => failure.hint("run it again: what is missing is stored again"),
            Archive::Busy { .. } => failure.hint("run it again when the other process is done"),
            Archive::NotAnArchive { .. } => failure.hint("name a file that `compact --archive` wrote, or a new one"),
            Archive::UnknownVersion { .. } => failure.hint("it belongs to another version of liveset: use that one"),
            Archive::Full { .. } => failure.hint(
                "more room with --archive-capacity, a new file with --archive, or `liveset archive gc --everything`",
            ),
            _ => failure,
        }
    }
}

/// What to do about a file that the system refuses.
fn of_io(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "the disk has no room: free some, or name a file elsewhere with --archive PATH"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a file that you may write with --archive PATH; what is stored there can be read all the same"
        }
        ErrorKind::IsADirectory => "name a file, not a folder",
        _ => "name another file with --archive PATH; `liveset archive verify` tells whether this one is whole",
    }
}

/// Where the policy names the nearest key, that is the next step and the list of all keys is noise.
fn policy(why: &str) -> Failure {
    match why.split_once("; did you mean ") {
        Some((what, key)) => {
            let what = what.split(", expected one of").next().unwrap_or(what);
            Failure::usage(format_args!("policy: {what}")).hint(format!("did you mean {key}"))
        }
        None => Failure::usage(format_args!("policy: {why}"))
            .hint("`liveset schema policy` lists the settings, `liveset compact --help` the flags"),
    }
}

/// An I/O error without the number of the system's call.
fn plain(error: impl fmt::Display) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// The same where the whole text is the system's.
fn plain_lower(error: &std::io::Error) -> String {
    plain(error).to_lowercase()
}
