//! How does a record lie in the file? The byte layout; reads and writes no file itself.
//!
//! All numbers are little-endian. The file is a header, then records back to back:
//!
//! ```text
//! header   magic 12 | version 4 | mark 16 | checksum of the 32 bytes before 16
//! record   head 112 | payload
//! head     mark 16 | kind 1, zeros 7 | payload length 8 | key 32 | payload checksum 32 | checksum of the 96 before 16
//! ```
//!
//! The mark is 16 random bytes that one file repeats in each head. It lets a reader find the next record behind a
//! damaged one, and no stored text can pass for a record, because whoever wrote the text does not know the mark.
//! The head has a checksum of its own, so that a damaged length never leads a reader astray.

use std::hash::{BuildHasher, RandomState};

use crate::batch::{Key, Kind, MAX_RECORD_BYTES, Sum};

const MAGIC: [u8; 12] = *b"liveset-arch";

/// The layout above. A file with another version is left alone.
pub(crate) const VERSION: u32 = 1;

pub(crate) const HEADER_LEN: usize = 48;
pub(crate) const HEAD_LEN: usize = 112;
pub(crate) const MARK_LEN: usize = 16;

/// The bytes that begin each record of one file.
pub(crate) type Mark = [u8; MARK_LEN];

/// Draws a mark for a new file.
pub(crate) fn new_mark() -> Mark {
    // Each `RandomState` has keys of its own, seeded by the system; hashing nothing shows 64 bits of them.
    let half = || RandomState::new().hash_one(()).to_le_bytes();
    let mut mark = [0; MARK_LEN];
    mark[..8].copy_from_slice(&half());
    mark[8..].copy_from_slice(&half());
    mark
}

/// What the first bytes of a file say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Good(Mark),
    OtherVersion(u32),
    Damaged,
    Foreign,
}

pub(crate) fn encode_header(mark: &Mark) -> [u8; HEADER_LEN] {
    let mut header = [0; HEADER_LEN];
    header[..12].copy_from_slice(&MAGIC);
    header[12..16].copy_from_slice(&VERSION.to_le_bytes());
    header[16..32].copy_from_slice(mark);
    let sum = short_sum(&header[..32]);
    header[32..].copy_from_slice(&sum);
    header
}

pub(crate) fn decode_header(header: &[u8; HEADER_LEN]) -> Header {
    if header[..12] != MAGIC {
        return Header::Foreign;
    }
    // The version is looked at first: another layout may keep its checksum elsewhere.
    let version = u32::from_le_bytes(part(header, 12));
    if version != VERSION {
        return Header::OtherVersion(version);
    }
    if header[32..] != short_sum(&header[..32]) {
        return Header::Damaged;
    }
    Header::Good(part(header, 16))
}

/// Whether these are what a crash can leave of a header: its beginning, or space never written.
pub(crate) fn is_unfinished_header(bytes: &[u8]) -> bool {
    if bytes.len() >= HEADER_LEN {
        return bytes.len() == HEADER_LEN && bytes.iter().all(|&byte| byte == 0);
    }
    let known = bytes.len().min(MAGIC.len());
    bytes[..known] == MAGIC[..known] || bytes.iter().all(|&byte| byte == 0)
}

/// What stands before a payload. Invariant: `payload_len` is within [`MAX_RECORD_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) key: Key,
    pub(crate) payload_len: u64,
    pub(crate) sum: Sum,
}

impl Head {
    pub(crate) fn encode(&self, mark: &Mark) -> [u8; HEAD_LEN] {
        let mut head = [0; HEAD_LEN];
        head[..16].copy_from_slice(mark);
        head[16] = match self.key.kind {
            Kind::Original => 1,
            Kind::Manifest => 2,
        };
        head[24..32].copy_from_slice(&self.payload_len.to_le_bytes());
        head[32..64].copy_from_slice(&self.key.id);
        head[64..96].copy_from_slice(&self.sum);
        let sum = short_sum(&head[..96]);
        head[96..].copy_from_slice(&sum);
        head
    }

    /// Reads a head; `None` when these bytes are not a whole head of this file.
    pub(crate) fn decode(head: &[u8; HEAD_LEN], mark: &Mark) -> Option<Head> {
        if head[..16] != *mark || head[96..] != short_sum(&head[..96]) {
            return None;
        }
        let kind = match head[16] {
            1 => Kind::Original,
            2 => Kind::Manifest,
            _ => return None,
        };
        let payload_len = u64::from_le_bytes(part(head, 24));
        if payload_len > MAX_RECORD_BYTES {
            return None;
        }
        Some(Head { key: Key { kind, id: part(head, 32) }, payload_len, sum: part(head, 64) })
    }
}

/// Copies `N` bytes from `at`; zeros where the source is too short, which its checksum then refuses.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes.iter().skip(at)) {
        *to = *from;
    }
    out
}

fn short_sum(bytes: &[u8]) -> [u8; 16] {
    part(blake3::hash(bytes).as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Mark = [7; MARK_LEN];

    fn head() -> Head {
        let key = Key { kind: Kind::Manifest, id: [3; 32] };
        Head { key, payload_len: 4096, sum: [9; 32] }
    }

    #[test]
    fn a_head_reads_back_as_written() {
        assert_eq!(Head::decode(&head().encode(&MARK), &MARK), Some(head()));
    }

    #[test]
    fn any_flipped_bit_makes_a_head_and_a_header_invalid() {
        let (head, header) = (head().encode(&MARK), encode_header(&MARK));
        for bit in 0..8 * HEAD_LEN {
            let mut flipped = head;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::decode(&flipped, &MARK), None, "bit {bit}");
        }
        for bit in 0..8 * HEADER_LEN {
            let mut flipped = header;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(decode_header(&flipped), Header::Good(_)), "bit {bit}");
        }
    }

    #[test]
    fn a_head_of_another_file_is_no_head_of_this_one() {
        assert_eq!(Head::decode(&head().encode(&[8; MARK_LEN]), &MARK), None);
    }

    #[test]
    fn a_payload_over_the_limit_is_never_believed() {
        let long = Head { payload_len: MAX_RECORD_BYTES + 1, ..head() };
        assert_eq!(Head::decode(&long.encode(&MARK), &MARK), None);
    }

    #[test]
    fn two_files_have_two_marks() {
        assert_ne!(new_mark(), new_mark());
    }

    #[test]
    fn each_beginning_of_a_header_counts_as_unfinished_but_other_text_does_not() {
        let header = encode_header(&MARK);
        for len in 0..HEADER_LEN {
            assert!(is_unfinished_header(&header[..len]), "{len}");
        }
        assert!(is_unfinished_header(&[0; HEADER_LEN]));
        assert!(!is_unfinished_header(&header));
        assert!(!is_unfinished_header(b"notes"));
    }
}
