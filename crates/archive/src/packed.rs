//! How does a text lie in a store? Compressed where that pays, checked by its hash when it comes back.

use std::{num::NonZero, thread};

use crate::records::{MAX_RECORD_BYTES, Sum, sum_of};

/// Shorter texts are kept as they are: the frame around a compressed text takes its share of the gain.
const MIN_PACKED_BYTES: usize = 192;

/// zstd's fastest level of its usual ones: a release waits for it, and the next levels gain a tenth in size.
const LEVEL: i32 = 1;

/// Threads that pack one release at most: the others have work of their own.
const MAX_HANDS: usize = 4;

/// Bytes that are worth a thread: it is started in a tenth of the time that packing them takes.
const SHARE_BYTES: usize = 128 << 10;

/// How the bytes of a text are kept. The numbers are part of the file's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Zstd,
}

impl Form {
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Plain => 0,
            Self::Zstd => 1,
        }
    }

    pub(crate) fn of_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Plain),
            1 => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Packs texts, one after the other: what zstd works with is made once, which costs as much as packing a short text.
#[derive(Default)]
pub(crate) struct Packer {
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl Packer {
    /// Packs a text.
    pub(crate) fn pack(&mut self, text: &[u8]) -> (Form, Vec<u8>) {
        if text.len() >= MIN_PACKED_BYTES
            && let Some(packed) = self.compressed(text)
            && packed.len() < text.len()
        {
            return (Form::Zstd, packed);
        }
        (Form::Plain, text.to_vec())
    }

    fn compressed(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        if self.compressor.is_none() {
            self.compressor = Some(zstd::bulk::Compressor::new(LEVEL).ok()?);
        }
        self.compressor.as_mut()?.compress(text).ok()
    }
}

/// Packs texts, in their order: a release waits for it, and packing is most of what it waits for but the disk. So others
/// help where there is much.
pub(crate) fn pack_all(texts: &[&[u8]]) -> Vec<(Form, Vec<u8>)> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let hands = processors.min(MAX_HANDS).min(bytes / SHARE_BYTES).max(1);
    let mut parts = shared_out(texts, bytes.div_ceil(hands)).into_iter();
    let mine = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let help = |part| (part, thread::Builder::new().spawn_scoped(scope, move || pack_in_turn(part)));
        let others: Vec<_> = parts.map(help).collect();
        let mut packed = pack_in_turn(mine);
        for (part, helper) in others {
            // Where no thread could be had it is done here.
            let done = helper.ok().and_then(|helper| helper.join().ok());
            packed.extend(done.unwrap_or_else(|| pack_in_turn(part)));
        }
        packed
    })
}

/// Cuts texts into parts of neighbours that each hold about a share of the bytes, however long each text is. Each
/// part but the last holds a share at least, so that there are no more parts than shares, and one for what comes behind.
fn shared_out<'t>(texts: &'t [&'t [u8]], share: usize) -> Vec<&'t [&'t [u8]]> {
    let mut bytes = 0_usize;
    let ends_part = |text: &&[u8]| {
        bytes = bytes.saturating_add(text.len());
        let is_full = bytes >= share.max(1);
        if is_full {
            bytes = 0;
        }
        is_full
    };
    texts.split_inclusive(ends_part).collect()
}

fn pack_in_turn(texts: &[&[u8]]) -> Vec<(Form, Vec<u8>)> {
    let mut packer = Packer::default();
    texts.iter().map(|text| packer.pack(text)).collect()
}

/// Unpacks a text; `None` when it is not the one that was packed.
pub(crate) fn unpack(form: Form, packed: &[u8], len: u64, sum: &Sum) -> Option<Vec<u8>> {
    if len > MAX_RECORD_BYTES {
        return None;
    }
    let text = match form {
        Form::Plain => packed.to_vec(),
        Form::Zstd => zstd::bulk::decompress(packed, usize::try_from(len).ok()?).ok()?,
    };
    (text.len() as u64 == len && sum_of(&text) == *sum).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_texts_are_packed_as_each_alone() {
        let texts: Vec<Vec<u8>> = (0..97_u8).map(|at| vec![at; usize::from(at) * 200]).collect();
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        for count in [0, 1, 2, 96, 97] {
            let alone: Vec<_> = texts[..count].iter().map(|text| Packer::default().pack(text)).collect();
            assert_eq!(pack_all(&texts[..count]), alone);
        }
    }

    #[test]
    fn threads_share_the_bytes_of_a_release_and_not_its_texts() {
        let lens = |lens: &[usize], share: usize| {
            let texts: Vec<Vec<u8>> = lens.iter().map(|len| vec![0; *len]).collect();
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let parts = shared_out(&texts, share);
            parts.iter().map(|part| part.iter().map(|text| text.len()).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        assert_eq!(lens(&[90, 1, 1, 1, 1, 90], 92), [vec![90, 1, 1], vec![1, 1, 90]]);
        assert_eq!(lens(&[200, 1, 1, 1], 102), [vec![200], vec![1, 1, 1]], "the long one alone");
        assert_eq!(lens(&[1, 1, 1, 200], 102), [vec![1, 1, 1, 200]]);
        assert_eq!(lens(&[0, 0, 0], 0), [vec![0, 0, 0]], "nothing to pack is worth no thread");
        assert_eq!(lens(&[], 0), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn a_text_comes_back_and_any_change_is_noticed() {
        let mut packer = Packer::default();
        for text in [Vec::new(), b"short".to_vec(), b"line of a log\n".repeat(900), (0..=255).collect()] {
            let (form, packed) = packer.pack(&text);
            let (len, sum) = (text.len() as u64, sum_of(&text));
            assert!(packed.len() <= text.len());
            assert_eq!(unpack(form, &packed, len, &sum), Some(text));
            for place in 0..packed.len() {
                let mut other = packed.clone();
                other[place] ^= 1;
                // A flipped bit that changes no text (a checksum of zstd's own, say) is no damage.
                assert!(unpack(form, &other, len, &sum).is_none_or(|back| sum_of(&back) == sum), "{place}");
            }
            assert_eq!(unpack(form, &packed, len + 1, &sum), None);
        }
    }
}
