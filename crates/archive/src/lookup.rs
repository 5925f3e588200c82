//! What does an archive say of an id, and of words? The answers as data; finds nothing itself.

use std::fmt;

use crate::{Source, one_line};

/// What became of one original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It is here.
    Kept(Kept),
    /// It was stored, and is no longer.
    Gone(Gone),
    /// It was never stored in this scope. Another tenant's id is the same as one that nobody issued.
    Unknown,
}

/// An original and the calls it answers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The calls, newest first.
    pub sources: Vec<Source>,
}

/// Without the bytes: what is printed to find a mistake ends up in a log.
impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("bytes", &self.bytes.len()).field("sources", &self.sources).finish()
    }
}

/// What is still known of an original that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Why it went.
    pub why: Removal,
    /// The calls that would give it again, newest first; none after a purge.
    pub sources: Vec<Source>,
}

/// Why an original was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The archive was over its capacity.
    Evicted,
    /// Somebody asked for it.
    Purged,
}

impl Removal {
    /// Says it in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Evicted => "evicted",
            Self::Purged => "purged",
        }
    }
}

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Words, all of which an original holds: as words, parts of identifiers, or runs of characters inside a word. In
    /// what is indexed, runs without a break of over 96 bytes are data and no words, and runs are found by three
    /// characters or more inside words of four to 48 that hold a letter.
    pub words: String,
    /// Only originals of this session, weighed by what it holds.
    pub session: Option<String>,
    /// The most hits.
    pub limit: usize,
}

/// Hits of a search that names no limit.
pub const DEFAULT_HITS: usize = 10;

/// The most hits of one search: a list that nobody reads further.
pub const MAX_HITS: usize = 200;

impl Query {
    /// Searches everything in scope.
    ///
    /// ```
    /// assert_eq!(liveset_archive::Query::new("parse error").limit, liveset_archive::DEFAULT_HITS);
    /// ```
    #[must_use]
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), session: None, limit: DEFAULT_HITS }
    }
}

/// One original that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its content id.
    pub id: String,
    /// The newest call it answers.
    pub source: Source,
    /// The session of that call.
    pub session: String,
    /// Lines of the original.
    pub lines: usize,
    /// The line that holds most of the words, from 1; 0 where only the call does.
    pub line: usize,
    /// That line, shortened.
    pub text: String,
}

impl Hit {
    /// Writes it for a list: id, call and place, and under them the line that was found.
    ///
    /// ```
    /// use liveset_archive::{Hit, Source};
    /// let source = Source { tool: "read".into(), label: "a.rs".into(), ..Source::default() };
    /// let hit = Hit { id: "0f".repeat(16), source, session: String::new(), lines: 9, line: 2, text: " let a;".into() };
    /// assert_eq!(hit.told(), format!("{}  read a.rs, line 2 of 9\n    let a;\n", hit.id));
    /// ```
    #[must_use]
    pub fn told(&self) -> String {
        let (id, name) = (&self.id, self.source.told());
        match self.line {
            0 => format!("{id}  {name}, {} lines\n", self.lines),
            line => format!("{id}  {name}, line {line} of {}\n    {}\n", self.lines, one_line(self.text.trim())),
        }
    }
}

/// What a search found, and where it did not look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// What might hold the words too.
    pub not_searched: NotSearched,
}

/// What a search did not look at. Nothing in it is a reason why `hits` may end where the query's limit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotSearched {
    /// Originals in scope that the index does not know, or not to their end, and that were more than one search reads;
    /// and those that are damaged.
    pub originals: u64,
    /// Whether what was asked for stands inside more words, or in more originals, than one search follows.
    pub has_more: bool,
}

impl NotSearched {
    /// Says whether the search looked at all there is.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Says in one line what was not looked at; `None` where that is nothing.
    ///
    /// ```
    /// use liveset_archive::{Archive, MemoryArchive, Query};
    /// let found = MemoryArchive::new().search(&Query::new("pump"))?;
    /// assert_eq!(found.not_searched.told(), None);
    /// # Ok::<(), liveset_archive::Error>(())
    /// ```
    #[must_use]
    pub fn told(self) -> Option<String> {
        let more = "what was asked for may stand in more than one search follows";
        match (self.originals, self.has_more) {
            (0, false) => None,
            (0, true) => Some(more.to_owned()),
            (1, false) => Some("1 original was not searched".to_owned()),
            (originals, false) => Some(format!("{originals} originals were not searched")),
            (originals, true) => Some(format!("{originals} originals were not searched, and {more}")),
        }
    }
}
