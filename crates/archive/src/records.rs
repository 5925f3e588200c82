//! Is this release fit to be stored? Checked in full before the first byte is written, so that a bad release leaves
//! nothing behind.

use std::collections::HashMap;

use crate::{Error, Release, Result};

/// The longest original or manifest, in bytes. No larger than the largest request body the engine reads, since an
/// original is a part of one.
pub const MAX_RECORD_BYTES: u64 = 256 << 20;

/// The most originals in one release: well over the number of tool results a window of any model holds.
pub const MAX_RELEASE_RECORDS: usize = 1 << 20;

/// Digits of a content id: 128 bits.
pub const ID_DIGITS: usize = 32;

/// Reads a content id as people and models write it: blanks around it and capitals do not matter.
///
/// ```
/// use liveset_archive::read_id;
/// assert_eq!(read_id(" 0F3C5E0D9A1B2C3D4E5F60718293A4B5\n").as_deref(), Some("0f3c5e0d9a1b2c3d4e5f60718293a4b5"));
/// assert_eq!(read_id("0f"), None);
/// ```
#[must_use]
pub fn read_id(text: &str) -> Option<String> {
    let id = text.trim().to_ascii_lowercase();
    (id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

/// Digits of a body's hash: 256 bits.
const OUTPUT_DIGITS: usize = 64;

/// What a record is; part of its key, so that an id never meets an output hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Original,
    Manifest,
}

/// Names one record. Ids shorter than the field are filled up with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) id: [u8; 32],
}

impl Key {
    pub(crate) fn original(id: &str) -> Result<Key> {
        let id = from_hex("content id", ID_DIGITS, id)?;
        Ok(Key { kind: Kind::Original, id })
    }

    pub(crate) fn manifest(output: &str) -> Result<Key> {
        let id = from_hex("output hash", OUTPUT_DIGITS, output)?;
        Ok(Key { kind: Kind::Manifest, id })
    }
}

/// The content hash of a payload. Its 256 bits are what tells two texts with one 128-bit id apart.
pub(crate) type Sum = [u8; 32];

pub(crate) fn sum_of(payload: &[u8]) -> Sum {
    *blake3::hash(payload).as_bytes()
}

/// One record that a release asks to be stored.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Key,
    pub(crate) payload: &'a [u8],
    pub(crate) sum: Sum,
}

/// Lists what a release asks to be stored: each original once, then the manifest.
///
/// The manifest stands last, so that what a crash leaves of a release is originals without a manifest, never a
/// manifest without its originals.
pub(crate) fn entries(release: &Release) -> Result<Vec<Entry<'_>>> {
    if release.originals.len() > MAX_RELEASE_RECORDS {
        return Err(too_large("number of originals", release.originals.len() as u64, MAX_RELEASE_RECORDS as u64));
    }
    let mut seen: HashMap<Key, Sum> = HashMap::with_capacity(release.originals.len());
    let mut entries = Vec::with_capacity(release.originals.len() + 1);
    for (id, payload) in &release.originals {
        let entry = entry(Key::original(id)?, payload, "original, in bytes,")?;
        match seen.insert(entry.key, entry.sum) {
            None => entries.push(entry),
            Some(first) if first == entry.sum => {}
            Some(_) => return Err(Error::Collision { id: id.clone() }),
        }
    }
    entries.push(entry(Key::manifest(&release.output)?, &release.manifest, "manifest, in bytes,")?);
    Ok(entries)
}

fn entry<'a>(key: Key, payload: &'a [u8], what: &'static str) -> Result<Entry<'a>> {
    let len = payload.len() as u64;
    if len > MAX_RECORD_BYTES {
        return Err(too_large(what, len, MAX_RECORD_BYTES));
    }
    Ok(Entry { key, payload, sum: sum_of(payload) })
}

fn too_large(what: &'static str, found: u64, limit: u64) -> Error {
    Error::TooLarge { what, found, limit }
}

fn from_hex(what: &'static str, digits: usize, text: &str) -> Result<[u8; 32]> {
    let bad = || Error::BadId { what, digits, found: text.len() };
    if text.len() != digits {
        return Err(bad());
    }
    let mut id = [0; 32];
    for (byte, pair) in id.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        for &digit in pair {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return Err(bad()),
            };
            *byte = *byte << 4 | value;
        }
    }
    Ok(id)
}

/// The id of an original as it was given.
pub(crate) fn to_hex(key: &Key) -> String {
    let digits = match key.kind {
        Kind::Original => ID_DIGITS,
        Kind::Manifest => OUTPUT_DIGITS,
    };
    let mut text = blake3::Hash::from_bytes(key.id).to_hex().to_string();
    text.truncate(digits);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let id = "00ff10a9".repeat(4);
        assert_eq!(to_hex(&Key::original(&id).unwrap()), id);
    }

    #[test]
    fn ids_that_are_not_exact_lower_case_hexadecimal_are_refused() {
        let bad = [String::new(), "ab".repeat(15), "AB".repeat(16), "ab".repeat(17), "xy".repeat(16), "ü".repeat(16)];
        for id in bad {
            assert!(matches!(Key::original(&id), Err(Error::BadId { digits: 32, .. })), "{id}");
        }
        assert!(matches!(Key::manifest(&"ab".repeat(16)), Err(Error::BadId { digits: 64, .. })));
    }

    #[test]
    fn the_manifest_stands_last_and_a_repeated_original_once() {
        let id = "ab".repeat(16);
        let release = Release::new(b"body", Vec::new(), vec![(id.clone(), vec![1]), (id, vec![1])]);
        let kinds: Vec<Kind> = entries(&release).unwrap().iter().map(|entry| entry.key.kind).collect();
        assert_eq!(kinds, [Kind::Original, Kind::Manifest]);
    }

    #[test]
    fn too_many_originals_are_refused() {
        let originals = vec![(String::new(), Vec::new()); MAX_RELEASE_RECORDS + 1];
        let release = Release::new(b"body", Vec::new(), originals);
        assert!(matches!(entries(&release), Err(Error::TooLarge { .. })));
    }
}
