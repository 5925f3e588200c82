//! Which kinds of record does an importer not know? Counted and named, so that nothing is lost in silence.

use std::collections::{BTreeMap, BTreeSet};

use crate::warning::Warning;

/// Most kinds that are told apart. A file that has more is no file of its format.
const MAX_KINDS: usize = 24;

/// Longest name that is shown. Kinds are short words; anything longer is content that must not be quoted.
const MAX_NAME: usize = 48;

/// The name of what has none, or none that may be shown.
const NAMELESS: &str = "?";

/// Counts of unknown kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unknown {
    /// Addresses of the records of each kind in the text of the file: one that a compaction carries on counts once.
    records: BTreeMap<String, BTreeSet<usize>>,
}

impl Unknown {
    /// Counts a record, told from others by a slice of the file that is its own.
    pub(crate) fn note(&mut self, kind: Option<&str>, record: &str) {
        let is_plain = |name: &&str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
            !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(plain)
        };
        let name = kind.filter(is_plain).unwrap_or(NAMELESS);
        let is_full = self.records.len() >= MAX_KINDS && !self.records.contains_key(name);
        let name = if is_full { NAMELESS } else { name };
        self.records.entry(name.to_owned()).or_default().insert(record.as_ptr() as usize);
    }

    /// Says of each kind that it was left out.
    pub(crate) fn left_out(self) -> impl Iterator<Item = Warning> {
        self.counts().map(|(kind, records)| Warning::UnknownRecords { kind, records })
    }

    /// Says of each kind that it stands in the bodies as it stands in the trace.
    pub(crate) fn passed_through(self) -> impl Iterator<Item = Warning> {
        self.counts().map(|(kind, items)| Warning::UnknownItems { kind, items })
    }

    fn counts(self) -> impl Iterator<Item = (String, usize)> {
        self.records.into_iter().map(|(kind, records)| (kind, records.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_and_content_is_never_shown() {
        let mut unknown = Unknown::default();
        let file = "abcdef";
        let kinds = [Some("new_thing"), Some("new_thing"), Some("a secret text"), Some(""), None];
        for (at, kind) in kinds.into_iter().enumerate() {
            unknown.note(kind, &file[at..]);
            unknown.note(kind, &file[at..]);
        }
        let expected = [
            Warning::UnknownRecords { kind: "?".to_owned(), records: 3 },
            Warning::UnknownRecords { kind: "new_thing".to_owned(), records: 2 },
        ];
        assert_eq!(unknown.left_out().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn any_number_of_kinds_makes_a_bounded_list() {
        let mut unknown = Unknown::default();
        (0..1_000).for_each(|kind| unknown.note(Some(&kind.to_string()), ""));
        assert_eq!(unknown.passed_through().count(), MAX_KINDS + 1);
    }
}
