//! Which record stands where? Walks the heads of the file, over damage where need be; reads no payload.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::batch::{Key, Sum};
use crate::error::at;
use crate::record::{HEAD_LEN, Head, MARK_LEN, Mark};
use crate::{Error, Result};

/// The largest archive file, in bytes. A bound against a full disk; years of one person's sessions stay below it.
pub const MAX_ARCHIVE_BYTES: u64 = 64 << 30;

/// The most records of one archive: their places are held in memory, about 130 bytes each.
pub const MAX_RECORDS: usize = 4_000_000;

/// How much is read at a time when looking for the next record behind a damaged one.
const SEARCH_BYTES: usize = 64 << 10;

/// Where one payload stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Where its record begins.
    pub(crate) record: u64,
    pub(crate) payload_len: u64,
    pub(crate) sum: Sum,
    /// Whether this process has seen the payload match its checksum, or wrote it.
    pub(crate) is_verified: bool,
}

impl Slot {
    pub(crate) fn payload(&self) -> u64 {
        self.record + HEAD_LEN as u64
    }
}

/// The places of all records up to `end`.
#[derive(Debug)]
pub(crate) struct Index {
    slots: HashMap<Key, Slot>,
    /// Where the next record goes. Bytes behind it are what a crash left of an unfinished record.
    end: u64,
    /// Records read or written so far; a key may have more than one.
    records: usize,
    /// Bytes that belong to no readable record.
    lost_bytes: u64,
}

/// What stands at a place in the file.
enum Found {
    Record(Head),
    /// Nothing more, or what a crash left of an unfinished record.
    End,
    /// Damage, up to the given place.
    Damage(u64),
}

impl Index {
    pub(crate) fn starting_at(end: u64) -> Index {
        Index { slots: HashMap::new(), end, records: 0, lost_bytes: 0 }
    }

    pub(crate) fn slot(&self, key: &Key) -> Option<Slot> {
        self.slots.get(key).copied()
    }

    /// Every key with where its newest record stands, in no order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (&Key, &Slot)> {
        self.slots.iter()
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn records(&self) -> usize {
        self.records
    }

    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    pub(crate) fn mark_verified(&mut self, key: &Key) {
        if let Some(slot) = self.slots.get_mut(key) {
            slot.is_verified = true;
        }
    }

    /// Takes in a record that stands at `end`. A later record of a key replaces the earlier one: of a manifest it is
    /// the newer, and an original is written again only when its first copy was damaged.
    pub(crate) fn push(&mut self, head: &Head, is_verified: bool) {
        let slot = Slot { record: self.end, payload_len: head.payload_len, sum: head.sum, is_verified };
        self.slots.insert(head.key, slot);
        self.end = slot.payload() + head.payload_len;
        self.records += 1;
    }

    /// Reads the heads that were written since `end`, by this process or another.
    pub(crate) fn read_on(&mut self, file: &File, path: &Path, mark: &Mark) -> Result<()> {
        let file_len = file.metadata().map_err(at("read", path))?.len();
        if file_len > MAX_ARCHIVE_BYTES {
            return Err(Error::Full { path: path.to_owned(), what: "its size in bytes", limit: MAX_ARCHIVE_BYTES });
        }
        if file_len < self.end {
            let what = "records that were there are gone";
            return Err(Error::Damaged { path: path.to_owned(), offset: file_len, what });
        }
        while self.end < file_len {
            match look(file, mark, self.end, file_len).map_err(at("read", path))? {
                Found::Record(head) => self.push(&head, false),
                Found::End => break,
                Found::Damage(up_to) => {
                    self.lost_bytes += up_to - self.end;
                    self.end = up_to;
                }
            }
            if self.records > MAX_RECORDS {
                let limit = MAX_RECORDS as u64;
                return Err(Error::Full { path: path.to_owned(), what: "its number of records", limit });
            }
        }
        Ok(())
    }
}

/// Tells what stands at `from`.
///
/// Only what is surely the rest of an unfinished write counts as the end and may be overwritten: a record that the
/// file is too short for, or space that was never written. Anything else that cannot be read stays in the file.
fn look(mut file: &File, mark: &Mark, from: u64, file_len: u64) -> io::Result<Found> {
    let left = file_len - from;
    if left < HEAD_LEN as u64 {
        return Ok(Found::End);
    }
    let mut head = [0; HEAD_LEN];
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(&mut head)?;
    if let Some(head) = Head::decode(&head, mark) {
        let is_whole = head.payload_len <= left - HEAD_LEN as u64;
        return Ok(if is_whole { Found::Record(head) } else { Found::End });
    }
    match next_head(file, mark, from + 1, file_len)? {
        Some(next) => Ok(Found::Damage(next)),
        None if is_all_zero(file, from, file_len)? => Ok(Found::End),
        None => Ok(Found::Damage(file_len)),
    }
}

/// Finds the next place at or after `from` where a head of this file stands.
fn next_head(mut file: &File, mark: &Mark, mut from: u64, file_len: u64) -> io::Result<Option<u64>> {
    let mut window = vec![0; SEARCH_BYTES];
    while file_len.saturating_sub(from) >= HEAD_LEN as u64 {
        let len = fill(file, from, file_len, &mut window)?;
        for (place, bytes) in window[..len].windows(MARK_LEN).enumerate() {
            let candidate = from + place as u64;
            if bytes != mark || file_len - candidate < HEAD_LEN as u64 {
                continue;
            }
            let mut head = [0; HEAD_LEN];
            file.seek(SeekFrom::Start(candidate))?;
            file.read_exact(&mut head)?;
            if Head::decode(&head, mark).is_some() {
                return Ok(Some(candidate));
            }
        }
        // A mark may lie over the border of two windows.
        from += (len - (MARK_LEN - 1)) as u64;
    }
    Ok(None)
}

fn is_all_zero(file: &File, mut from: u64, file_len: u64) -> io::Result<bool> {
    let mut window = vec![0; SEARCH_BYTES];
    while from < file_len {
        let len = fill(file, from, file_len, &mut window)?;
        if window[..len].iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        from += len as u64;
    }
    Ok(true)
}

fn fill(mut file: &File, from: u64, file_len: u64, window: &mut [u8]) -> io::Result<usize> {
    let len = window.len().min(usize::try_from(file_len - from).unwrap_or(usize::MAX));
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(&mut window[..len])?;
    Ok(len)
}
