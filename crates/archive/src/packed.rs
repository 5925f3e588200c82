//! How does a text lie in a store? Compressed where that pays, checked by its hash when it comes back.

use crate::records::{MAX_RECORD_BYTES, Sum, sum_of};

/// Shorter texts are kept as they are: the frame around a compressed text takes its share of the gain.
const MIN_PACKED_BYTES: usize = 192;

/// zstd's fastest level of its usual ones: a release waits for it, and the next levels gain a tenth in size.
const LEVEL: i32 = 1;

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
