//! The way back: from a body that was handed out to the body that came in.
//!
//! Reads manifest and originals from the archive; never guesses from the text.

use std::cell::OnceCell;

use liveset_engine::manifest::{Manifest, body_hash};

use crate::{
    compact::Liveset,
    error::{Error, Result},
};

impl Liveset {
    /// Gives back the input of a body that was handed out with this archive, byte for byte.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use liveset::{Error, Liveset, MemoryArchive, Policy};
    /// let liveset = Liveset::new(Policy::default()).with_archive(Arc::new(MemoryArchive::new()));
    /// assert!(matches!(liveset.restore(b"{}"), Err(Error::NoManifest)));
    /// ```
    ///
    /// # Errors
    ///
    /// No archive is set, it does not know the body ([`Error::NoManifest`]), it cannot be read or is damaged
    /// ([`Error::Archive`]), or it lacks an original ([`Error::NoOriginal`]).
    pub fn restore(&self, output: &[u8]) -> Result<Vec<u8>> {
        let archive = self.archive.as_ref().ok_or(Error::NoArchive)?;
        let stored = archive.manifest(&body_hash(output))?.ok_or(Error::NoManifest)?;
        let manifest = Manifest::from_json(&stored)?;
        // The engine knows of no archive: what failed in it is kept here, since it says more than "missing".
        let failed = OnceCell::new();
        let restored = manifest.restore(output, |id| {
            let found = archive.original(id).map_err(Error::Archive);
            let found = found.and_then(|found| found.ok_or_else(|| Error::NoOriginal { id: id.to_owned() }));
            found.map_err(|error| failed.set(error)).ok()
        });
        match failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(restored?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use liveset_archive::{Archive, Error as ArchiveError, MemoryArchive, Release, Result as ArchiveResult};
    use liveset_engine::policy::Policy;

    use super::*;

    /// What becomes of each look-up of an original.
    #[derive(Clone, Copy)]
    enum Fault {
        Missing,
        Damaged,
    }

    /// An archive whose manifests are sound and whose originals are not.
    struct Faulty(MemoryArchive, Fault);

    impl Archive for Faulty {
        fn put(&self, release: &Release) -> ArchiveResult<()> {
            self.0.put(release)
        }

        fn original(&self, _: &str) -> ArchiveResult<Option<Vec<u8>>> {
            match self.1 {
                Fault::Missing => Ok(None),
                Fault::Damaged => {
                    Err(ArchiveError::Damaged { path: "a".into(), place: "original".into(), what: "a bit is wrong" })
                }
            }
        }

        fn manifest(&self, output: &str) -> ArchiveResult<Option<Vec<u8>>> {
            self.0.manifest(output)
        }
    }

    fn restored(fault: Fault) -> Result<Vec<u8>> {
        let log: String = (0..9_000).map(|at| format!("{at}: the pump stands still\\n")).collect();
        let body = format!(
            r#"{{"model":"gpt-4.1","messages":[{{"role":"user","content":"why?"}},
            {{"role":"assistant","tool_calls":[{{"id":"a","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},
            {{"role":"tool","tool_call_id":"a","content":"{log}"}}]}}"#
        );
        let liveset = Liveset::new(Policy::default()).with_archive(Arc::new(Faulty(MemoryArchive::new(), fault)));
        let compaction = liveset.compact(body.as_bytes())?;
        assert_ne!(compaction.body(), body.as_bytes());
        liveset.restore(compaction.body())
    }

    #[test]
    fn a_damaged_original_is_an_error_of_the_archive_and_not_a_missing_one() {
        assert!(matches!(restored(Fault::Damaged), Err(Error::Archive(ArchiveError::Damaged { .. }))));
    }

    #[test]
    fn a_missing_original_is_named() {
        let error = restored(Fault::Missing).err();
        assert!(matches!(&error, Some(Error::NoOriginal { id }) if id.len() >= 32), "{error:?}");
        assert!(error.is_some_and(|error| error.is_archive()));
    }
}
