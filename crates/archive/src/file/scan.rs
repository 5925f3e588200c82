//! Is everything still there? Reads each record once; changes nothing.

use super::{FileArchive, lock_shared};
use crate::Result;
use crate::batch::Kind;
use crate::error::at;
use crate::index::Slot;

/// Places of damage that a scan lists; more are only counted, since one bad stretch of a disk hits many records.
pub const MAX_LISTED_DAMAGE: usize = 100;

/// What a reading of every record found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// Originals, damaged ones included.
    pub originals: usize,
    /// Manifests, damaged ones included: one for each body that was handed out.
    pub manifests: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// Records that fail their checksum.
    pub damaged: usize,
    /// Where the first [`MAX_LISTED_DAMAGE`] of them begin, in order.
    pub damaged_at: Vec<u64>,
    /// Bytes in the middle of the file that no longer form a record.
    pub lost_bytes: u64,
    /// Bytes at the end that an unfinished write left; the next write cuts them off.
    pub unfinished_bytes: u64,
}

impl Scan {
    /// Says whether all that was ever stored can be read.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damaged == 0 && self.lost_bytes == 0
    }
}

impl FileArchive {
    /// Reads every record and checks it against its checksum.
    ///
    /// ```
    /// use liveset_archive::{Archive, FileArchive, Release};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let archive = FileArchive::open(folder.path().join("archive.liveset"))?;
    /// archive.put(&Release::new(b"body", vec![1], vec![("0f".repeat(16), vec![2, 3])]))?;
    /// let scan = archive.scan()?;
    /// assert_eq!((scan.originals, scan.manifests, scan.is_sound()), (1, 1, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The file system, or records that were there and are gone. Damage is no error here but what a scan looks for.
    pub fn scan(&self) -> Result<Scan> {
        let mut state = self.state();
        let lock = lock_shared(&self.file, &self.path)?;
        state.index.read_on(&self.file, &self.path, &self.mark)?;
        let bytes = self.file.metadata().map_err(at("read", &self.path))?.len();
        // Whole records never change, so others may write while these are read.
        drop(lock);
        let mut scan = Scan {
            bytes,
            lost_bytes: state.index.lost_bytes(),
            unfinished_bytes: bytes.saturating_sub(state.index.end()),
            ..Scan::default()
        };
        let mut slots: Vec<Slot> = Vec::with_capacity(state.index.records());
        for (key, slot) in state.index.slots() {
            match key.kind {
                Kind::Original => scan.originals += 1,
                Kind::Manifest => scan.manifests += 1,
            }
            slots.push(*slot);
        }
        // In the order of the file, which disks read best.
        slots.sort_unstable_by_key(|slot| slot.record);
        for slot in slots {
            if self.read_payload(&slot)?.is_none() {
                scan.damaged += 1;
                if scan.damaged_at.len() < MAX_LISTED_DAMAGE {
                    scan.damaged_at.push(slot.record);
                }
            }
        }
        Ok(scan)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Archive as _, Release};

    fn archive_of_two() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.liveset");
        let originals = vec![("0a".repeat(16), vec![7; 500]), ("0b".repeat(16), vec![8; 500])];
        FileArchive::open(&path).unwrap().put(&Release::new(b"body", vec![1, 2], originals)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_damaged_record_is_counted_and_placed() {
        let (_folder, path) = archive_of_two();
        let mut bytes = fs::read(&path).unwrap();
        // The first payload begins behind the header and its head.
        bytes[crate::record::HEADER_LEN + crate::record::HEAD_LEN] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let scan = FileArchive::open(&path).unwrap().scan().unwrap();
        assert_eq!((scan.originals, scan.manifests, scan.damaged, scan.lost_bytes), (2, 1, 1, 0));
        assert_eq!(scan.damaged_at, [crate::record::HEADER_LEN as u64]);
        assert!(!scan.is_sound());
        assert_eq!(fs::read(&path).unwrap(), bytes, "a scan changes nothing");
    }

    #[test]
    fn a_damaged_head_and_an_unfinished_end_are_told_apart() {
        let (_folder, path) = archive_of_two();
        let sound = fs::read(&path).unwrap();
        let mut bytes = sound.clone();
        bytes[crate::record::HEADER_LEN + 20] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let scan = FileArchive::open(&path).unwrap().scan().unwrap();
        assert_eq!((scan.originals, scan.lost_bytes, scan.unfinished_bytes), (1, 612, 0));
        let mut bytes = sound;
        bytes.extend_from_slice(&[0; 50]);
        fs::write(&path, &bytes).unwrap();
        let scan = FileArchive::open(&path).unwrap().scan().unwrap();
        assert_eq!((scan.is_sound(), scan.unfinished_bytes), (true, 50));
    }
}
