//! Why can a trace not be read? One line each: what and where, never the content.

/// A reason why a trace gives no request body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is larger than the importers take.
    #[error("trace has {found} bytes, expected at most {limit}")]
    TooLarge {
        /// Size of the file in bytes.
        found: usize,
        /// The most that is read.
        limit: usize,
    },
    /// The file has more lines than the importers take.
    #[error("trace has more than {limit} lines")]
    TooManyLines {
        /// The most that is read.
        limit: usize,
    },
    /// The file holds more conversations than the importers take.
    #[error("trace has more than {limit} conversations")]
    TooManyConversations {
        /// The most that is read.
        limit: usize,
    },
    /// The client's compactions carry more from history to history than the importers take.
    #[error("trace carries more than {limit} items over its compactions and rollbacks")]
    TooMuchCarried {
        /// The most that is read.
        limit: usize,
    },
    /// A byte is no part of UTF-8 text.
    #[error("byte {byte} (line {line}) is not UTF-8")]
    NotUtf8 {
        /// Line number from 1.
        line: usize,
        /// Offset in the file.
        byte: usize,
    },
    /// A line, or the file, is not the JSON that its format calls for.
    #[error("line {line} (byte {byte}) is not {expected}")]
    Malformed {
        /// Line number from 1.
        line: usize,
        /// Offset of the line in the file.
        byte: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// The file reads well but holds nothing that a model was asked.
    #[error("no conversation found, expected {expected}")]
    NoConversation {
        /// What should be in such a file.
        expected: &'static str,
    },
    /// The request point asked for does not exist.
    #[error("request point {point} does not exist, the conversation has {points} (counted from 0)")]
    NoSuchPoint {
        /// The point asked for.
        point: usize,
        /// How many there are.
        points: usize,
    },
    /// The history asked for does not exist.
    #[error("history {history} does not exist, the conversation has {histories} (counted from 0)")]
    NoSuchHistory {
        /// The history asked for.
        history: usize,
        /// How many there are.
        histories: usize,
    },
}
