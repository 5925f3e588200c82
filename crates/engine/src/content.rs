//! What kind of text is this? Recognises the content of a result from its lines and the path its call names.
//!
//! Looks at shapes of lines, never at meaning; unsure is plain. Decides nothing about what is kept.

pub mod blob;
pub mod build;
pub mod code;
pub mod delimited;
pub mod diff;
pub mod frames;
pub mod hits;
pub mod line;
pub mod listing;
pub mod log;
pub mod markdown;
mod markup;
mod path;
mod sample;
pub mod table;
mod terminal;
pub mod tests;
pub mod values;

pub use code::Language;
pub use path::named_kind;
pub use tests::Runner;

use sample::Census;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ContentKind {
    /// A program, in this language.
    Source(Language),
    /// A unified diff.
    Diff,
    /// Frames of a call stack and what was thrown.
    StackTrace,
    /// What a test runner printed.
    Tests(Runner),
    /// What a compiler, package manager or build tool printed.
    BuildLog,
    /// Lines of a service, each with its time or level.
    Log,
    /// One JSON value.
    Json,
    /// A JSON value on each line.
    JsonLines,
    /// Rows of cells between commas, semicolons or tabs.
    Delimited,
    /// HTML or XML.
    Markup,
    /// Markdown.
    Markdown,
    /// Names of files and folders.
    Listing,
    /// Places in files, each with the line found there.
    Hits,
    /// Rows under a heading, drawn or aligned.
    Table,
    /// Base64, hexadecimal or bytes that are no text.
    Blob,
    /// A screen drawn with control sequences.
    Terminal,
    /// Several of these, none of which rules.
    Mixed,
    /// Anything else.
    Plain,
}

impl ContentKind {
    /// Names the kind in words for people.
    ///
    /// ```
    /// use liveset_engine::content::{ContentKind, Language};
    /// assert_eq!(ContentKind::Source(Language::Rust).name(), "source code");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Source(_) => "source code",
            Self::Diff => "diff",
            Self::StackTrace => "stack trace",
            Self::Tests(_) => "test results",
            Self::BuildLog => "build log",
            Self::Log => "log",
            Self::Json => "JSON",
            Self::JsonLines => "JSON lines",
            Self::Delimited => "delimited rows",
            Self::Markup => "markup",
            Self::Markdown => "Markdown",
            Self::Listing => "listing",
            Self::Hits => "search hits",
            Self::Table => "table",
            Self::Blob => "blob",
            Self::Terminal => "terminal screen",
            Self::Mixed => "mixed text",
            Self::Plain => "plain text",
        }
    }

    /// Says whether it tells of something that ran, so that its error lines are news and no quotation.
    ///
    /// ```
    /// use liveset_engine::content::{ContentKind, Language};
    /// assert!(ContentKind::BuildLog.tells_of_a_run());
    /// assert!(!ContentKind::Source(Language::Rust).tells_of_a_run());
    /// ```
    #[must_use]
    pub fn tells_of_a_run(self) -> bool {
        match self {
            Self::StackTrace | Self::Tests(_) | Self::BuildLog | Self::Log | Self::Terminal => true,
            Self::Source(_)
            | Self::Diff
            | Self::Json
            | Self::JsonLines
            | Self::Delimited
            | Self::Markup
            | Self::Markdown
            | Self::Listing
            | Self::Hits
            | Self::Table
            | Self::Blob
            | Self::Mixed
            | Self::Plain => false,
        }
    }
}

/// Recognises a text; `path` is the file that its call names, if it names one.
///
/// ```
/// use liveset_engine::content::{ContentKind, recognise};
/// assert_eq!(recognise("{\"a\": 1}", None), ContentKind::Json);
/// assert_eq!(recognise("src/a.rs\nsrc/b.rs\nsrc/c.rs\n", None), ContentKind::Listing);
/// assert_eq!(recognise("Nothing to see here.\n", None), ContentKind::Plain);
/// ```
#[must_use]
pub fn recognise(text: &str, path: Option<&str>) -> ContentKind {
    if text.trim().is_empty() {
        return ContentKind::Plain;
    }
    if values::is_json(text) {
        return ContentKind::Json;
    }
    let census = Census::of(text);
    let lines = census.lines;
    let hint = path.and_then(named_kind);
    let found = census.terminal.kind(lines).or_else(|| census.blob.kind());
    let found = found.or_else(|| values::is_json_lines(text).then_some(ContentKind::JsonLines));
    let found = found.or_else(|| census.diff.kind(lines)).or_else(|| census.hits.kind(lines));
    let found = found.or_else(|| hint.filter(|hint| census.bears_out(*hint)));
    let found = found.or_else(|| census.tests.kind(lines)).or_else(|| census.frames.kind(lines));
    let found = found.or_else(|| census.log.kind(lines)).or_else(|| census.build.kind(lines));
    // A listing is never taken for a table, so it is asked first.
    let found = found.or_else(|| census.listing.kind(lines)).or_else(|| census.table.kind(lines));
    let found = found.or_else(|| census.delimited.kind(lines)).or_else(|| census.markup.kind(text, lines));
    let found = found.or_else(|| census.code.kind(lines)).or_else(|| census.markdown.kind(&census.code));
    found.unwrap_or(if census.is_mixed() { ContentKind::Mixed } else { ContentKind::Plain })
}

#[cfg(test)]
mod kinds;
