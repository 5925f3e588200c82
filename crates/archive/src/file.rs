//! How are originals kept for good? One append-only file; never changes a byte that belongs to a whole record.

mod scan;

pub use scan::{MAX_LISTED_DAMAGE, Scan};

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::batch::{self, Entry, Key, Kind};
use crate::error::at;
use crate::folder;
use crate::index::{Index, MAX_ARCHIVE_BYTES, MAX_RECORDS, Slot};
use crate::record::{self, HEAD_LEN, HEADER_LEN, Head, Header, Mark};
use crate::{Archive, Error, Release, Result};

/// An archive in one file.
///
/// Records are only ever appended, each with a checksum over its head and one over its payload. What a crash leaves
/// of an unfinished record is passed over when reading and cut off by the next write; records before it are never
/// touched. Damage in the middle costs the damaged record alone. Several handles, threads and processes may share the
/// file: each call holds the file's advisory lock while it works. The file is created with mode 0600, missing folders
/// above it with 0700; an existing file keeps its mode.
///
/// ```
/// use liveset_archive::{Archive, FileArchive, Release};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("archive.liveset");
/// let id = "0f".repeat(16);
/// FileArchive::open(&path)?.put(&Release::new(b"body", vec![1], vec![(id.clone(), vec![2, 3])]))?;
/// assert_eq!(FileArchive::open(&path)?.original(&id)?, Some(vec![2, 3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileArchive {
    path: PathBuf,
    file: File,
    mark: Mark,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    index: Index,
    /// Up to where this process knows the file to be on the disk. What another process wrote it may have left in the
    /// system's cache, by crashing before its sync.
    synced_to: u64,
    /// Set when a write failed and what it left could not be taken back for certain.
    has_failed: bool,
}

/// Holds the advisory lock of the file.
struct FileLock<'a>(&'a File);

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        // Failing to unlock leaves the lock to end with the handle; nothing stored depends on it.
        let _ = self.0.unlock();
    }
}

impl FileArchive {
    /// Opens the archive at `path`, creating it where it is missing, and reads where its records stand.
    ///
    /// # Errors
    /// A file that is no archive or of another version, a damaged header, or the file system.
    pub fn open(path: impl AsRef<Path>) -> Result<FileArchive> {
        let path = path.as_ref().to_owned();
        folder::create_above(&path)?;
        let file = folder::open_private(&path).map_err(at("open", &path))?;
        let lock = lock(&file, &path)?;
        let mark = read_or_write_header(&file, &path)?;
        let mut index = Index::starting_at(HEADER_LEN as u64);
        index.read_on(&file, &path, &mark)?;
        drop(lock);
        let state = Mutex::new(State { index, synced_to: 0, has_failed: false });
        Ok(FileArchive { path, file, mark, state })
    }

    /// The path this archive was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the middle of the file that no longer form a record; 0 in a sound archive. Damaged payloads under a
    /// sound head are not counted here: reading them is an error.
    pub fn lost_bytes(&self) -> u64 {
        self.state().index.lost_bytes()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The index takes in a record only after the record was written, so it stays true whoever panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        let mut state = self.state();
        let _lock = lock_shared(&self.file, &self.path)?;
        // Another process may hold a newer manifest, so a hit is not enough.
        state.index.read_on(&self.file, &self.path, &self.mark)?;
        let Some(slot) = state.index.slot(key) else {
            return Ok(None);
        };
        let Some(payload) = self.read_payload(&slot)? else {
            let what = "the record fails its checksum";
            return Err(Error::Damaged { path: self.path.clone(), offset: slot.record, what });
        };
        state.index.mark_verified(key);
        Ok(Some(payload))
    }

    /// Reads a payload; `None` when it does not match its checksum.
    fn read_payload(&self, slot: &Slot) -> Result<Option<Vec<u8>>> {
        let fail = || at("read", &self.path);
        let len = usize::try_from(slot.payload_len).map_err(|_| fail()(io::ErrorKind::OutOfMemory.into()))?;
        let mut payload = vec![0; len];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(slot.payload())).map_err(fail())?;
        file.read_exact(&mut payload).map_err(fail())?;
        Ok((batch::sum_of(&payload) == slot.sum).then_some(payload))
    }

    /// Picks the entries that are not in the file yet, or only damaged.
    fn missing<'a>(&self, state: &mut State, entries: Vec<Entry<'a>>) -> Result<Vec<Entry<'a>>> {
        let mut missing = Vec::new();
        for entry in entries {
            let Some(slot) = state.index.slot(&entry.key) else {
                missing.push(entry);
                continue;
            };
            let is_same = slot.sum == entry.sum && slot.payload_len == entry.payload.len() as u64;
            if !is_same && entry.key.kind == Kind::Original {
                return Err(Error::Collision { id: batch::to_hex(&entry.key) });
            }
            // Before the caller relies on a copy it did not write, the copy is read once.
            if is_same && (slot.is_verified || self.read_payload(&slot)?.is_some()) {
                state.index.mark_verified(&entry.key);
            } else {
                missing.push(entry);
            }
        }
        Ok(missing)
    }

    /// Refuses what would pass a limit or would not last, before anything is written.
    fn check_room(&self, state: &State, missing: &[Entry<'_>]) -> Result<()> {
        let full = |what, limit| Err(Error::Full { path: self.path.clone(), what, limit });
        let added: u64 = missing.iter().map(|entry| (HEAD_LEN + entry.payload.len()) as u64).sum();
        if state.index.end().saturating_add(added) > MAX_ARCHIVE_BYTES {
            return full("its size in bytes", MAX_ARCHIVE_BYTES);
        }
        if state.index.records().saturating_add(missing.len()) > MAX_RECORDS {
            return full("its number of records", MAX_RECORDS as u64);
        }
        #[cfg(unix)]
        {
            let metadata = self.file.metadata().map_err(at("read", &self.path))?;
            if std::os::unix::fs::MetadataExt::nlink(&metadata) == 0 {
                return Err(Error::Removed { path: self.path.clone() });
            }
        }
        Ok(())
    }

    /// Writes heads and payloads from `end` on and brings them to the disk.
    fn append(&self, end: u64, heads: &[Head], missing: &[Entry<'_>]) -> io::Result<()> {
        let mut file = &self.file;
        // What an earlier crash left behind the last whole record goes now, and only now.
        if file.metadata()?.len() > end {
            file.set_len(end)?;
        }
        file.seek(SeekFrom::Start(end))?;
        for (head, entry) in heads.iter().zip(missing) {
            file.write_all(&head.encode(&self.mark))?;
            file.write_all(entry.payload)?;
        }
        file.sync_data()
    }
}

impl Archive for FileArchive {
    fn put(&self, release: &Release) -> Result<()> {
        let entries = batch::entries(release)?;
        let mut state = self.state();
        if state.has_failed {
            return Err(Error::Failed { path: self.path.clone() });
        }
        let _lock = lock(&self.file, &self.path)?;
        state.index.read_on(&self.file, &self.path, &self.mark)?;
        let missing = self.missing(&mut state, entries)?;
        self.check_room(&state, &missing)?;
        let end = state.index.end();
        if missing.is_empty() && state.synced_to >= end {
            return Ok(());
        }
        if state.synced_to == 0 {
            folder::sync_above(&self.path)?;
        }
        let heads: Vec<Head> = missing.iter().map(head_of).collect();
        if let Err(cause) = self.append(end, &heads, &missing) {
            // After a failed sync the system may drop what it could not write and call the next sync a success. So
            // the records go, and this handle trusts the file no more.
            state.has_failed = true;
            let _ = self.file.set_len(end);
            return Err(at("write", &self.path)(cause));
        }
        for head in &heads {
            state.index.push(head, true);
        }
        state.synced_to = state.index.end();
        Ok(())
    }

    fn original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        self.find(&Key::original(id)?)
    }

    fn manifest(&self, output: &str) -> Result<Option<Vec<u8>>> {
        self.find(&Key::manifest(output)?)
    }
}

fn head_of(entry: &Entry<'_>) -> Head {
    Head { key: entry.key, payload_len: entry.payload.len() as u64, sum: entry.sum }
}

fn lock<'a>(file: &'a File, path: &Path) -> Result<FileLock<'a>> {
    file.lock().map_err(at("lock", path))?;
    Ok(FileLock(file))
}

fn lock_shared<'a>(file: &'a File, path: &Path) -> Result<FileLock<'a>> {
    file.lock_shared().map_err(at("lock", path))?;
    Ok(FileLock(file))
}

/// Reads the mark of an archive, or makes a new archive of an empty file. Called under the lock.
fn read_or_write_header(mut file: &File, path: &Path) -> Result<Mark> {
    let mut found = Vec::with_capacity(HEADER_LEN + 1);
    // One byte more than a header tells a bare header of zeros from a file that merely begins with them.
    file.take(HEADER_LEN as u64 + 1).read_to_end(&mut found).map_err(at("read", path))?;
    if record::is_unfinished_header(&found) {
        let mark = record::new_mark();
        file.seek(SeekFrom::Start(0)).map_err(at("write", path))?;
        file.write_all(&record::encode_header(&mark)).map_err(at("write", path))?;
        return Ok(mark);
    }
    let foreign = || Error::NotAnArchive { path: path.to_owned() };
    match record::decode_header(found.first_chunk().ok_or_else(foreign)?) {
        Header::Good(mark) => Ok(mark),
        Header::Foreign => Err(foreign()),
        Header::Damaged => {
            Err(Error::Damaged { path: path.to_owned(), offset: 0, what: "the header fails its checksum" })
        }
        Header::OtherVersion(found) => {
            Err(Error::UnknownVersion { path: path.to_owned(), found, expected: record::VERSION })
        }
    }
}
