//! What do the first values of a file look like? The ground on which a format is recognised, by shape alone.

use crate::json;

/// Most lines looked at. Session files may open with a long run of progress lines and snapshots.
const SAMPLE_LINES: usize = 400;

/// How the values stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The file is one JSON value.
    Single,
    /// The file has one JSON value per line.
    Lines,
}

/// The first values of a file, as raw JSON.
pub(crate) struct Sample<'a> {
    pub(crate) values: Vec<&'a str>,
    pub(crate) layout: Layout,
}

/// How well a file fits a format, and what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    No,
    /// It may be this format, nothing speaks against it.
    Weak(&'static str),
    /// Something that only this format has.
    Strong(&'static str),
}

impl<'a> Sample<'a> {
    /// Takes the first values of a text; `None` if it does not begin with JSON.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        if let Some(value) = json::value(text) {
            return Some(Self { values: vec![value], layout: Layout::Single });
        }
        let lines = text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES);
        let values: Vec<&str> = lines.map_while(json::value).collect();
        (!values.is_empty()).then_some(Self { values, layout: Layout::Lines })
    }
}
