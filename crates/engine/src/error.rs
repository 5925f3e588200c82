//! What can be wrong with an input, and where.
//!
//! Never holds the user's content, so an error may be logged.

/// Why a body, a policy or a plan could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not JSON.
    #[error("invalid JSON at byte {offset}: expected {expected}")]
    Json {
        /// Byte of the body at which reading stopped.
        offset: usize,
        /// What would have been accepted there.
        expected: &'static str,
    },
    /// The bytes are not UTF-8.
    #[error("invalid UTF-8 at byte {offset}")]
    Utf8 {
        /// First byte that is no part of a character.
        offset: usize,
    },
    /// A limit on input was passed.
    #[error("{what} at byte {offset} is over the limit of {limit}")]
    Limit {
        /// What was counted.
        what: &'static str,
        /// Byte of the body at which the limit was passed.
        offset: usize,
        /// The limit, in the unit that `what` names.
        limit: usize,
    },
    /// A value has another type than the wire format says.
    #[error("`{field}` at byte {offset} is {found}, expected {expected}")]
    WrongType {
        /// Name of the field.
        field: &'static str,
        /// Byte of the body at which the value starts.
        offset: usize,
        /// What the wire format says.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A field is absent.
    #[error("`{field}` is missing from the object at byte {offset}")]
    Missing {
        /// Name of the field.
        field: &'static str,
        /// Byte of the body at which the object starts.
        offset: usize,
    },
    /// The body's shape fits no wire format, or several.
    #[error("the body's wire format is unclear: {why}")]
    Format {
        /// What was seen.
        why: String,
    },
    /// A policy or a table that decides bytes is wrong.
    #[error("policy: {why}")]
    Policy {
        /// What is wrong, with key and line.
        why: String,
    },
    /// A manifest does not lead back.
    #[error("cannot restore: {why}")]
    Manifest {
        /// What is wrong.
        why: &'static str,
    },
    /// Edits are unsorted, overlap, or reach past the end of the body.
    #[error("edit at byte {offset} overlaps another or reaches past the end of the body")]
    Edit {
        /// Start of the offending edit.
        offset: usize,
    },
}

/// Short for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The same error, its offset counted from the start of the body instead of the value at `start`.
    #[must_use]
    pub(crate) fn moved(self, start: usize) -> Self {
        let moved = |offset: usize| offset.saturating_add(start);
        match self {
            Self::Json { offset, expected } => Self::Json { offset: moved(offset), expected },
            Self::Utf8 { offset } => Self::Utf8 { offset: moved(offset) },
            Self::Limit { what, offset, limit } => Self::Limit { what, offset: moved(offset), limit },
            Self::WrongType { field, offset, expected, found } => {
                Self::WrongType { field, offset: moved(offset), expected, found }
            }
            Self::Missing { field, offset } => Self::Missing { field, offset: moved(offset) },
            Self::Edit { offset } => Self::Edit { offset: moved(offset) },
            Self::Format { .. } | Self::Policy { .. } | Self::Manifest { .. } => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn every_place_in_the_body_moves() {
        let at = |offset: usize| {
            [
                Error::Json { offset, expected: "a value" },
                Error::Utf8 { offset },
                Error::Limit { what: "nesting", offset, limit: 3 },
                Error::WrongType { field: "f", offset, expected: "a string", found: "null" },
                Error::Missing { field: "f", offset },
                Error::Edit { offset },
            ]
        };
        assert_eq!(at(2).map(|error| error.moved(40)), at(42));
        assert_eq!(Error::Utf8 { offset: usize::MAX }.moved(1), Error::Utf8 { offset: usize::MAX });
    }
}
