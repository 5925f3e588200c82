//! What did the client send? Reads a body into bounded memory and takes off its encoding.
//!
//! Never changes a byte: what is too large to be looked at streams on as it comes.

use std::{io::Read, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, channel::Channel};
use hyper::{
    HeaderMap,
    body::{Body as _, Bytes, Frame, Incoming},
    header::CONTENT_ENCODING,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::upstream::{Body, BoxError};

/// How long a client may stay silent in the middle of a body.
const SILENCE: Duration = Duration::from_secs(60);
/// Bytes of all bodies that are held at one time; what comes on top streams through untouched.
const MAX_HELD_BYTES: usize = 1 << 30;
/// What one permit of the held bytes stands for.
const PERMIT_BYTES: usize = 4 << 10;
/// What is taken off an encoding of Brotli at a time.
const BROTLI_BYTES: usize = 16 << 10;
/// Frames between a client that is still sending and the upstream: enough to keep both busy.
const FRAMES_BETWEEN: usize = 4;

/// Reads bodies.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    max_bytes: usize,
    held: Arc<Semaphore>,
}

/// A body as it came.
pub(crate) enum Received {
    /// All of it. The permit gives its memory back when it is dropped.
    Whole(Bytes, Held),
    /// Too much to be looked at.
    Streaming(Body),
}

/// The share of all held bytes that one body takes.
#[derive(Debug, Default)]
pub(crate) struct Held(Option<OwnedSemaphorePermit>);

/// Why a body did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRead {
    /// The client stopped sending.
    Silent,
    /// What was sent is no HTTP body, or the client is gone.
    Broken,
}

impl Reader {
    /// Makes a reader that holds bodies of at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, held: Arc::new(Semaphore::new(MAX_HELD_BYTES / PERMIT_BYTES)) }
    }

    /// Reads a body to its end, or as much as may be held.
    pub(crate) async fn read(&self, mut body: Incoming) -> Result<Received, NotRead> {
        let declared = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
        let mut read = Vec::with_capacity(declared.unwrap_or_default().min(self.max_bytes));
        let mut held = Held::default();
        if declared.is_some_and(|bytes| bytes > self.max_bytes || !held.grow(&self.held, bytes)) {
            return Ok(Received::Streaming(body.map_err(BoxError::from).boxed_unsync()));
        }
        while let Some(frame) = next(&mut body).await? {
            let Ok(data) = frame.into_data() else { continue };
            read.extend_from_slice(&data);
            if read.len() > self.max_bytes || !held.grow(&self.held, read.len()) {
                return Ok(Received::Streaming(rest_behind(read.into(), body)));
            }
        }
        Ok(Received::Whole(read.into(), held))
    }
}

impl Held {
    /// Takes what `bytes` need on top of what is taken; says whether there was room.
    fn grow(&mut self, all: &Arc<Semaphore>, bytes: usize) -> bool {
        let taken = self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = bytes.div_ceil(PERMIT_BYTES).saturating_sub(taken);
        let Ok(missing) = u32::try_from(missing) else { return false };
        let Ok(more) = all.clone().try_acquire_many_owned(missing) else { return false };
        match &mut self.0 {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        true
    }
}

async fn next(body: &mut Incoming) -> Result<Option<Frame<Bytes>>, NotRead> {
    match tokio::time::timeout(SILENCE, body.frame()).await {
        Err(_) => Err(NotRead::Silent),
        Ok(None) => Ok(None),
        Ok(Some(Err(_))) => Err(NotRead::Broken),
        Ok(Some(Ok(frame))) => Ok(Some(frame)),
    }
}

/// Reads the start of a body: all of it, or `max_bytes` and a little more with what is still to come.
pub(crate) async fn read_start(mut body: Incoming, max_bytes: usize) -> Result<(Bytes, Option<Incoming>), NotRead> {
    let mut read = Vec::new();
    while let Some(frame) = next(&mut body).await? {
        let Ok(data) = frame.into_data() else { continue };
        read.extend_from_slice(&data);
        if read.len() > max_bytes {
            return Ok((read.into(), Some(body)));
        }
    }
    Ok((read.into(), None))
}

/// Puts what was read in front of what is still to come.
pub(crate) fn rest_behind(read: Bytes, mut body: Incoming) -> Body {
    let (mut frames, channel) = Channel::new(FRAMES_BETWEEN);
    tokio::spawn(async move {
        if frames.send_data(read).await.is_err() {
            return;
        }
        loop {
            match next(&mut body).await {
                Ok(None) => return,
                Ok(Some(frame)) => {
                    // Where nobody takes it any more, nothing more is read.
                    if frames.send(frame).await.is_err() {
                        return;
                    }
                }
                Err(_) => return frames.abort("the body ended early".into()),
            }
        }
    });
    channel.boxed_unsync()
}

/// How a body is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As it stands.
    Identity,
    /// gzip.
    Gzip,
    /// Brotli.
    Brotli,
    /// Zstandard.
    Zstd,
}

impl Encoding {
    /// Reads the headers; `None` where they name what nobody here understands.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut named = headers.get_all(CONTENT_ENCODING).iter();
        let Some(name) = named.next() else { return Some(Self::Identity) };
        let name = name.to_str().ok()?.trim().to_ascii_lowercase();
        match (name.as_str(), named.next()) {
            ("" | "identity", None) => Some(Self::Identity),
            ("gzip" | "x-gzip", None) => Some(Self::Gzip),
            ("br", None) => Some(Self::Brotli),
            ("zstd", None) => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Takes the encoding off; `None` where the bytes are not so encoded, or hold more than `max_bytes`.
    pub(crate) fn decoded(self, body: &Bytes, max_bytes: usize) -> Option<Bytes> {
        match self {
            Self::Identity => Some(body.clone()),
            Self::Gzip => bounded(flate2::read::MultiGzDecoder::new(&body[..]), max_bytes),
            Self::Brotli => bounded(brotli_decompressor::Decompressor::new(&body[..], BROTLI_BYTES), max_bytes),
            Self::Zstd => bounded(zstd::stream::read::Decoder::with_buffer(&body[..]).ok()?, max_bytes),
        }
    }
}

fn bounded(decoder: impl Read, max_bytes: usize) -> Option<Bytes> {
    let mut decoded = Vec::new();
    let limit = u64::try_from(max_bytes).ok()?.saturating_add(1);
    decoder.take(limit).read_to_end(&mut decoded).ok()?;
    (decoded.len() <= max_bytes).then(|| decoded.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::Engine as _;
    use hyper::header::HeaderValue;

    use super::*;

    fn named(name: &'static str) -> Option<Encoding> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
        Encoding::of(&headers)
    }

    #[test]
    fn encodings_are_told_by_their_names() {
        assert_eq!(Encoding::of(&HeaderMap::new()), Some(Encoding::Identity));
        assert_eq!((named("gzip"), named("ZSTD")), (Some(Encoding::Gzip), Some(Encoding::Zstd)));
        assert_eq!((named("br"), named("compress"), named("gzip, zstd")), (Some(Encoding::Brotli), None, None));
    }

    #[test]
    fn an_encoding_comes_off_and_a_bomb_does_not() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&[b'a'; 10_000]).unwrap();
        let gzip = Bytes::from(gzip.finish().unwrap());
        let zstd = Bytes::from(zstd::encode_all(&[b'a'; 10_000][..], 3).unwrap());
        let brotli = base64::engine::general_purpose::STANDARD.decode("Gw8n+CXC4rFAINkDAA==").unwrap();
        for (encoding, body) in
            [(Encoding::Gzip, gzip), (Encoding::Brotli, Bytes::from(brotli)), (Encoding::Zstd, zstd)]
        {
            assert_eq!(encoding.decoded(&body, 10_000).unwrap(), vec![b'a'; 10_000]);
            assert_eq!(encoding.decoded(&body, 9_999), None);
            assert_eq!(encoding.decoded(&body.slice(..body.len() / 2), 10_000), None, "{encoding:?} cut short");
        }
    }
}
