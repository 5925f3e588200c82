//! What went wrong, in one line, and which exit code says so.

use std::{fmt, io::Write as _, path::Path};

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
        Self { code: STORE, what: what.to_string(), hint: None }
    }

    /// The body does not fit.
    pub(crate) fn cannot_fit(what: impl fmt::Display) -> Self {
        Self { code: CANNOT_FIT, what: format!("cannot fit: {what}"), hint: None }
    }

    /// A file could not be read.
    pub(crate) fn reading(path: &Path, error: &std::io::Error) -> Self {
        Self::usage(format_args!("cannot read `{}`: {}", path.display(), plain(error)))
    }

    /// A file could not be written.
    pub(crate) fn writing(path: &Path, error: &std::io::Error) -> Self {
        Self::store(format_args!("cannot write `{}`: {}", path.display(), plain(error)))
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

    /// Says it on standard error and gives the exit code.
    pub(crate) fn report(&self) -> u8 {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "liveset: {}", self.what);
        if let Some(hint) = &self.hint {
            let _ = writeln!(err, "hint: {hint}");
        }
        self.code
    }
}

impl From<liveset::Error> for Failure {
    fn from(error: liveset::Error) -> Self {
        if error.is_archive() {
            return Self::store(error);
        }
        match &error {
            liveset::Error::UnknownModel { .. } => {
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
        let failure = Self::usage(&error);
        match error {
            Input::Format { .. } => {
                failure.hint("say which it is with --format anthropic, openai-chat or openai-responses")
            }
            Input::Json { .. } => failure.hint("the file is cut off or no JSON; `--format` names trace formats"),
            Input::Missing { .. } | Input::WrongType { .. } => failure.hint("is `--format` the right one?"),
            Input::Policy { .. } => failure.hint("README lists the settings, `liveset compact --help` the flags"),
            _ => failure,
        }
    }
}

/// An I/O error without the number of the system's call.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
