//! What can go wrong in a run? A strategy, a command from outside, or a body that nobody can read.

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A strategy of ours failed.
    #[error("a preset failed: {0}")]
    Strategy(#[source] liveset::Error),
    /// What was handed out is no body.
    #[error("what a condition handed out is no body: {0}")]
    Body(#[source] liveset_engine::Error),
    /// A command failed.
    #[error("`{command}` gave no body: {why}")]
    Command {
        /// Its line.
        command: String,
        /// What the system says.
        why: String,
    },
}

/// What a run gives.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(super) fn command(command: &str, why: &std::io::Error) -> Self {
        Self::Command { command: command.to_owned(), why: why.to_string() }
    }
}
