//! How are originals kept in a test? In memory, with the rules of the durable archives but none of their promise.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::batch::{self, Key, Kind};
use crate::{Archive, Error, Release, Result};

/// An archive that forgets everything when it is dropped.
///
/// ```
/// use liveset_archive::{Archive, MemoryArchive};
///
/// assert_eq!(MemoryArchive::new().original(&"00".repeat(16))?, None);
/// # Ok::<(), liveset_archive::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryArchive {
    records: Mutex<HashMap<Key, Vec<u8>>>,
}

impl MemoryArchive {
    /// Makes an empty archive.
    pub fn new() -> MemoryArchive {
        MemoryArchive::default()
    }

    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        // Every change below is one insert, so a panic elsewhere cannot have left half of one.
        self.records.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

impl Archive for MemoryArchive {
    fn put(&self, release: &Release) -> Result<()> {
        let entries = batch::entries(release)?;
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in &entries {
            let other = records.get(&entry.key).is_some_and(|stored| stored != entry.payload);
            if other && entry.key.kind == Kind::Original {
                return Err(Error::Collision { id: batch::to_hex(&entry.key) });
            }
        }
        records.extend(entries.iter().map(|entry| (entry.key, entry.payload.to_vec())));
        Ok(())
    }

    fn original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.find(&Key::original(id)?))
    }

    fn manifest(&self, output: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.find(&Key::manifest(output)?))
    }
}
