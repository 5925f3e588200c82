//! How is an answer's encoding taken off piece by piece? For looking only; the answer itself goes on as it came.

use std::io::Write as _;

/// Encoded bytes that are taken at a time, so that what comes out of them is bounded too.
const PIECE_BYTES: usize = 4 << 10;

/// Takes an encoding off.
pub(super) enum Decoder {
    /// None.
    Identity,
    /// gzip.
    Gzip(Box<flate2::write::MultiGzDecoder<Vec<u8>>>),
    /// zlib, which the header calls `deflate`.
    Deflate(Box<flate2::write::ZlibDecoder<Vec<u8>>>),
    /// Brotli.
    Brotli(Box<brotli_decompressor::DecompressorWriter<Vec<u8>>>),
    /// Zstandard.
    Zstd(Box<zstd::stream::write::Decoder<'static, Vec<u8>>>),
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
        match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Identity),
            "gzip" | "x-gzip" => Some(Self::Gzip(Box::new(flate2::write::MultiGzDecoder::new(Vec::new())))),
            "deflate" => Some(Self::Deflate(Box::new(flate2::write::ZlibDecoder::new(Vec::new())))),
            "br" => Some(Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(Vec::new(), PIECE_BYTES)))),
            "zstd" => zstd::stream::write::Decoder::new(Vec::new()).ok().map(|decoder| Self::Zstd(Box::new(decoder))),
            _ => None,
        }
    }

    /// Takes the encoding off and shows what comes out; says whether the bytes were so encoded.
    pub(super) fn decode(&mut self, bytes: &[u8], mut show: impl FnMut(&[u8])) -> bool {
        if matches!(self, Self::Identity) {
            show(bytes);
            return true;
        }
        for piece in bytes.chunks(PIECE_BYTES) {
            let written = match self {
                Self::Identity => Ok(()),
                Self::Gzip(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
                Self::Deflate(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
                Self::Brotli(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
                Self::Zstd(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
            };
            let plain = match self {
                Self::Identity => return true,
                Self::Gzip(decoder) => decoder.get_mut(),
                Self::Deflate(decoder) => decoder.get_mut(),
                Self::Brotli(decoder) => decoder.get_mut(),
                Self::Zstd(decoder) => decoder.get_mut(),
            };
            show(plain);
            plain.clear();
            if written.is_err() {
                return false;
            }
        }
        true
    }
}
