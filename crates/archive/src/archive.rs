//! What must a store of originals promise? The trait; it holds no storage itself.

use std::sync::Arc;

use crate::{Error, Found, Lookup, Query, Release, Result};

/// A store of originals and manifests.
///
/// No text is changed or removed through this trait; a look-up writes nothing, but that a search may have the store's own
/// index brought up to date behind its answer. A store may be shared between threads.
pub trait Archive: Send + Sync {
    /// Stores a release's originals and its manifest, and returns only when they are durable.
    ///
    /// Storing the same release again adds nothing. A manifest for an output that has one already becomes the newest;
    /// originals keep their first content.
    ///
    /// # Errors
    /// A malformed id, an id with other content, a limit, an original that the body points at and the archive does not
    /// hold, or the file system. On any error the body must not be handed out.
    fn put(&self, release: &Release) -> Result<()>;

    /// Looks up one original by its content id; `None` when the archive does not hold it.
    ///
    /// # Errors
    /// A malformed id, damage found by the checksum, or the file system.
    fn original(&self, id: &str) -> Result<Option<Vec<u8>>>;

    /// Looks up the newest manifest of an output body by the body's hash; `None` when the body is unknown.
    ///
    /// # Errors
    /// A malformed hash, damage found by the checksum, or the file system.
    fn manifest(&self, output: &str) -> Result<Option<Vec<u8>>>;

    /// Looks up one original with the calls it answers, and tells what is gone from what never was.
    ///
    /// # Errors
    /// As [`Archive::original`]; [`Error::Unsupported`] of a store that keeps no calls.
    fn look_up(&self, _id: &str) -> Result<Lookup> {
        Err(Error::Unsupported { what: "looking up calls" })
    }

    /// Finds originals by words, best first, and says what it did not look at. Waits for no writer.
    ///
    /// # Errors
    /// Damage, or the file system; [`Error::Unsupported`] of a store that has no index.
    fn search(&self, _query: &Query) -> Result<Found> {
        Err(Error::Unsupported { what: "search" })
    }

    /// Looks up the summary of an input, by the input's BLAKE3 in 64 digits.
    ///
    /// # Errors
    /// A malformed hash, or the file system; [`Error::Unsupported`] of a store that keeps none.
    fn summary(&self, _input: &str) -> Result<Option<String>> {
        Err(Error::Unsupported { what: "summaries" })
    }

    /// Stores the summary of an input, durably, and gives the one that holds: the first stays.
    ///
    /// # Errors
    /// A malformed hash, a limit, or the file system; [`Error::Unsupported`] of a store that keeps none.
    fn put_summary(&self, _input: &str, _text: &str) -> Result<String> {
        Err(Error::Unsupported { what: "summaries" })
    }
}

/// A shared store is the same store.
impl<A: Archive + ?Sized> Archive for Arc<A> {
    fn put(&self, release: &Release) -> Result<()> {
        (**self).put(release)
    }

    fn original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        (**self).original(id)
    }

    fn manifest(&self, output: &str) -> Result<Option<Vec<u8>>> {
        (**self).manifest(output)
    }

    fn look_up(&self, id: &str) -> Result<Lookup> {
        (**self).look_up(id)
    }

    fn search(&self, query: &Query) -> Result<Found> {
        (**self).search(query)
    }

    fn summary(&self, input: &str) -> Result<Option<String>> {
        (**self).summary(input)
    }

    fn put_summary(&self, input: &str, text: &str) -> Result<String> {
        (**self).put_summary(input, text)
    }
}
