//! How is an answer's encoding taken off piece by piece? For looking only; the answer itself goes on as it came.

use std::io::{self, Write};

/// Encoded bytes that are taken at a time.
const PIECE_BYTES: usize = 4 << 10;
/// Bytes that one piece may become; what becomes more is no answer of a model.
const MAX_DECODED_BYTES: usize = 8 << 20;

/// Takes an encoding off.
pub(super) enum Decoder {
    /// None.
    Identity,
    /// gzip.
    Gzip(Box<flate2::write::MultiGzDecoder<Bounded>>),
    /// zlib, which the header calls `deflate`.
    Deflate(Box<flate2::write::ZlibDecoder<Bounded>>),
    /// Brotli.
    Brotli(Box<brotli_decompressor::DecompressorWriter<Bounded>>),
    /// Zstandard.
    Zstd(Box<zstd::stream::write::Decoder<'static, Bounded>>),
}

/// What came off one piece; more than it may hold is an error.
#[derive(Debug, Default)]
pub(super) struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_DECODED_BYTES {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Identity => "Identity",
            Self::Gzip(_) => "Gzip",
            Self::Deflate(_) => "Deflate",
            Self::Brotli(_) => "Brotli",
            Self::Zstd(_) => "Zstd",
        })
    }
}

impl Decoder {
    /// Finds the decoder of an encoding; `None` where nobody here reads it.
    pub(super) fn named(encoding: &str) -> Option<Self> {
        let into = Bounded::default();
        match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Identity),
            "gzip" | "x-gzip" => Some(Self::Gzip(Box::new(flate2::write::MultiGzDecoder::new(into)))),
            "deflate" => Some(Self::Deflate(Box::new(flate2::write::ZlibDecoder::new(into)))),
            "br" => Some(Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(into, PIECE_BYTES)))),
            "zstd" => zstd::stream::write::Decoder::new(into).ok().map(|decoder| Self::Zstd(Box::new(decoder))),
            _ => None,
        }
    }

    /// Takes the encoding off and shows what comes out; says whether more is of any use: the bytes were so encoded, and
    /// whoever is shown them wants to see on.
    pub(super) fn decode(&mut self, bytes: &[u8], mut show: impl FnMut(&[u8]) -> bool) -> bool {
        if matches!(self, Self::Identity) {
            return show(bytes);
        }
        bytes.chunks(PIECE_BYTES).all(|piece| {
            let written = match self {
                Self::Identity => Ok(()),
                Self::Gzip(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
                Self::Deflate(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
                Self::Brotli(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
                Self::Zstd(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
            };
            let Bounded(plain) = match self {
                Self::Identity => return true,
                Self::Gzip(decoder) => decoder.get_mut(),
                Self::Deflate(decoder) => decoder.get_mut(),
                Self::Brotli(decoder) => decoder.get_mut(),
                Self::Zstd(decoder) => decoder.get_mut(),
            };
            let goes_on = show(plain);
            plain.clear();
            goes_on && written.is_ok()
        })
    }
}
