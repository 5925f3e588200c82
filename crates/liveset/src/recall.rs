//! How does an agent get an original back? Whole, in outline, by lines, or by what stands in them.
//!
//! Shows what is stored and makes nothing up: each answer says which part of the original it is.

mod outline;
mod view;

pub use view::{DEFAULT_CONTEXT, Part, View, line_range};

use liveset_archive::{Archive, Kept, Lookup, Removal, Source};

use crate::error::Result;

/// What came of a recall.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recall {
    /// The original, or the part of it that was asked for.
    Found(Recalled),
    /// Nothing can bring it back from here; asking again gives the same answer.
    Missed(Miss),
}

/// An original, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recalled {
    /// Its content id.
    pub id: String,
    /// The calls it answers, newest first.
    pub sources: Vec<Source>,
    /// What was asked for.
    pub part: Part,
}

/// Why there is no original.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Miss {
    /// Nobody issued this id here.
    Unknown,
    /// It was stored, and was removed since.
    Removed {
        /// Why.
        why: Removal,
        /// The calls that would give it again, newest first.
        sources: Vec<Source>,
    },
}

/// Looks an original up and shows the part of it that `view` names.
///
/// ```
/// use liveset::{Archive, MemoryArchive, recall::{Recall, View, recall}};
/// use liveset_archive::Release;
/// let archive = MemoryArchive::new();
/// let id = "0f".repeat(16);
/// archive.put(&Release::new(b"body", Vec::new(), vec![(id.clone(), b"one\ntwo\nthree".to_vec())]))?;
/// let Recall::Found(found) = recall(&archive, &id, &View::Lines { first: 2, last: 3 })? else { panic!() };
/// assert_eq!(found.part.bytes, b"two\nthree");
/// assert_eq!(found.heading(), "[lines 2-3 of 3]");
/// # Ok::<(), liveset::Error>(())
/// ```
///
/// # Errors
///
/// The id is malformed, or the archive cannot be read or is damaged. An id that nobody issued is no error but a
/// [`Recall::Missed`].
pub fn recall(archive: &dyn Archive, id: &str, view: &View) -> Result<Recall> {
    Ok(match archive.look_up(id)? {
        Lookup::Kept(Kept { bytes, sources }) => {
            Recall::Found(Recalled { id: id.to_owned(), sources, part: view.of(bytes) })
        }
        Lookup::Gone(gone) => Recall::Missed(Miss::Removed { why: gone.why, sources: gone.sources }),
        Lookup::Unknown => Recall::Missed(Miss::Unknown),
    })
}

impl Recalled {
    /// Says in one line which part of how many lines this is, and of which call.
    #[must_use]
    pub fn heading(&self) -> String {
        match self.sources.first() {
            None => format!("[{}]", self.part.told),
            Some(source) => format!("[{}; {}]", self.part.told, source.name()),
        }
    }
}

impl Miss {
    /// Says in one line that it is final, and what to do instead.
    ///
    /// ```
    /// use liveset::recall::Miss;
    /// assert!(Miss::Unknown.told("0f").starts_with("no original `0f` here"));
    /// ```
    #[must_use]
    pub fn told(&self, id: &str) -> String {
        match self {
            Self::Unknown => format!("no original `{id}` here, and asking again will not find it"),
            Self::Removed { why, .. } => {
                format!("original `{id}` was stored and is {} for good", why.name())
            }
        }
    }

    /// Names the call to run instead, where it is known.
    #[must_use]
    pub fn instead(&self) -> Option<String> {
        match self {
            Self::Removed { sources, .. } => sources.first().map(Source::name),
            Self::Unknown => None,
        }
    }
}
