//! What did the client send? Reads a body into bounded memory and takes off its encoding.
//!
//! Never changes a byte: what is too large to be looked at streams on as it comes.

use std::{io::Read, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, channel::Channel};
use hyper::{
    HeaderMap,
    body::{Body as HttpBody, Bytes, Frame},
    header::CONTENT_ENCODING,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::{
    buffers::Buffers,
    upstream::{Body, BoxError},
};

/// How long a client may stay silent in the middle of a body.
const SILENCE: Duration = Duration::from_secs(60);
/// What a client must send in a second, on average and after [`SILENCE`]; the slowest of lines sends more.
const MIN_BYTES_PER_SECOND: u64 = 8 << 10;
/// Memory that a body's length is believed for; more is taken as it comes.
const BELIEVED_BYTES: usize = 1 << 20;
/// Bytes of all bodies that are held at one time; what comes on top streams through untouched.
const MAX_HELD_BYTES: usize = 1 << 30;
/// What one permit of the held bytes stands for.
const PERMIT_BYTES: usize = 4 << 10;
/// What is taken off an encoding of Brotli at a time.
const BROTLI_BYTES: usize = 16 << 10;
/// What comes off an encoding between two looks at how much is held.
const DECODED_BYTES: usize = 64 << 10;
/// Frames between a client that is still sending and the upstream: enough to keep both busy.
const FRAMES_BETWEEN: usize = 4;

/// Reads bodies.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    max_bytes: usize,
    held: Arc<Semaphore>,
    buffers: Buffers,
}

/// A body as it came.
pub(crate) enum Received {
    /// All of it, and what it takes of the memory for bodies.
    Whole(Bytes, Held),
    /// Not to be looked at, and why.
    Streaming(Body, Unread),
}

/// The share of all held bytes that one body takes; given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held(Option<OwnedSemaphorePermit>);

/// Why a body that came is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is not encoded as its headers say.
    Encoding,
    /// It is larger than what is looked at.
    TooLarge,
    /// Other bodies take all memory that there is for them.
    Busy,
}

/// Why a body did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRead {
    /// The client stopped sending, or sent next to nothing.
    Silent,
    /// What was sent is no HTTP body, or the client is gone.
    Broken,
}

impl Reader {
    /// Makes a reader that holds bodies of at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self::holding(max_bytes, MAX_HELD_BYTES)
    }

    fn holding(max_bytes: usize, held_bytes: usize) -> Self {
        Self { max_bytes, held: Arc::new(Semaphore::new(held_bytes / PERMIT_BYTES)), buffers: Buffers::default() }
    }

    /// Reads a body to its end, or as much as may be held. What is declared takes no memory from others, only what came.
    pub(crate) async fn read<B>(&self, mut body: B) -> Result<Received, NotRead>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin + Send + 'static,
    {
        let declared = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
        if declared.is_some_and(|bytes| bytes > self.max_bytes) {
            return Ok(Received::Streaming(body.map_err(Into::into).boxed_unsync(), Unread::TooLarge));
        }
        let declared = declared.unwrap_or_default();
        let mut read = self.buffers.take(declared).unwrap_or_else(|| Vec::with_capacity(declared.min(BELIEVED_BYTES)));
        let mut held = Held::default();
        let begun = Instant::now();
        loop {
            let paid_for = Duration::from_secs(read.len() as u64 / MIN_BYTES_PER_SECOND);
            let Some(frame) = next(&mut body, begun + SILENCE + paid_for).await? else { break };
            let Ok(data) = frame.into_data() else { continue };
            read.extend_from_slice(&data);
            let why = match () {
                () if read.len() > self.max_bytes => Unread::TooLarge,
                () if !held.grow(&self.held, read.len()) => Unread::Busy,
                () => continue,
            };
            return Ok(Received::Streaming(rest_behind(read.into(), body), why));
        }
        Ok(Received::Whole(self.buffers.lend(read), held))
    }

    /// Takes memory for the edited body beside one that is read, which is no larger by much.
    pub(crate) fn room_for(&self, plain: &Bytes) -> Result<Held, Unread> {
        let mut held = Held::default();
        if held.grow(&self.held, plain.len()) { Ok(held) } else { Err(Unread::Busy) }
    }

    /// Takes the encoding off, within the memory for all bodies. Takes its time: for a thread that may.
    pub(crate) fn decoded(&self, encoding: Encoding, body: &Bytes) -> Result<(Bytes, Held), Unread> {
        let mut held = Held::default();
        let decoded = encoding.decode(body, self.max_bytes, |bytes| held.grow(&self.held, bytes))?;
        Ok((decoded, held))
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

async fn next<B: HttpBody<Data = Bytes> + Unpin>(
    body: &mut B,
    deadline: Instant,
) -> Result<Option<Frame<Bytes>>, NotRead> {
    match timeout_at(deadline.min(Instant::now() + SILENCE), body.frame()).await {
        Err(_) => Err(NotRead::Silent),
        Ok(None) => Ok(None),
        Ok(Some(Err(_))) => Err(NotRead::Broken),
        Ok(Some(Ok(frame))) => Ok(Some(frame)),
    }
}

/// Puts what was read in front of what is still to come.
pub(crate) fn rest_behind<B>(read: Bytes, mut body: B) -> Body
where
    B: HttpBody<Data = Bytes> + Unpin + Send + 'static,
{
    let (mut frames, channel) = Channel::new(FRAMES_BETWEEN);
    tokio::spawn(async move {
        if frames.send_data(read).await.is_err() {
            return;
        }
        loop {
            match next(&mut body, Instant::now() + SILENCE).await {
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
        self.decode(body, max_bytes, |_| true).ok()
    }

    fn decode(self, body: &Bytes, max: usize, has_room: impl FnMut(usize) -> bool) -> Result<Bytes, Unread> {
        let encoded = &body[..];
        match self {
            Self::Identity => Ok(body.clone()),
            Self::Gzip => bounded(flate2::read::MultiGzDecoder::new(encoded), max, has_room),
            Self::Brotli => bounded(brotli_decompressor::Decompressor::new(encoded, BROTLI_BYTES), max, has_room),
            Self::Zstd => match zstd::stream::read::Decoder::with_buffer(encoded) {
                Ok(decoder) => bounded(decoder, max, has_room),
                Err(_) => Err(Unread::Encoding),
            },
        }
    }
}

/// Reads to the end within `max_bytes`, and asks for room before each step.
fn bounded(mut decoder: impl Read, max_bytes: usize, mut has_room: impl FnMut(usize) -> bool) -> Result<Bytes, Unread> {
    let mut decoded = Vec::new();
    loop {
        let before = decoded.len();
        if !has_room(decoded.capacity().max(before.saturating_add(DECODED_BYTES))) {
            return Err(Unread::Busy);
        }
        let mut step = decoder.by_ref().take(DECODED_BYTES as u64);
        step.read_to_end(&mut decoded).map_err(|_| Unread::Encoding)?;
        match decoded.len() {
            len if len > max_bytes => return Err(Unread::TooLarge),
            len if len == before => return Ok(decoded.into()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        pin::Pin,
        task::{Context, Poll, ready},
    };

    use base64::Engine as _;
    use hyper::{body::SizeHint, header::HeaderValue};
    use tokio::time::{Sleep, sleep};

    use super::*;

    /// A body that declares a length and sends so many bytes every ten seconds.
    struct Trickle {
        declared: u64,
        left: usize,
        bytes: usize,
        pause: Pin<Box<Sleep>>,
    }

    impl Trickle {
        fn of(declared: u64, frames: usize, bytes: usize) -> Self {
            Self { declared, left: frames, bytes, pause: Box::pin(sleep(PAUSE)) }
        }
    }

    const PAUSE: Duration = Duration::from_secs(10);

    impl HttpBody for Trickle {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            if self.left == 0 {
                return Poll::Ready(None);
            }
            ready!(self.pause.as_mut().poll(context));
            self.pause = Box::pin(sleep(PAUSE));
            self.left -= 1;
            Poll::Ready(Some(Ok(Frame::data(vec![b'x'; self.bytes].into()))))
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.declared)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_client_only_declares_takes_no_room_from_others() {
        let reader = Reader::holding(64 << 20, 1 << 20);
        let slow: Vec<_> = (0..16)
            .map(|_| {
                let reader = reader.clone();
                tokio::spawn(async move { reader.read(Trickle::of(64 << 20, 3, 100)).await.is_ok() })
            })
            .collect();
        tokio::time::sleep(PAUSE * 2).await;
        let Ok(Received::Whole(read, _held)) = reader.read(Trickle::of(500_000, 1, 500_000)).await else {
            panic!("there was room");
        };
        assert_eq!(read.len(), 500_000);
        let second = reader.read(Trickle::of(600_000, 1, 600_000)).await;
        assert!(matches!(second, Ok(Received::Streaming(_, Unread::Busy))), "together they are too much");
        for slow in slow {
            assert!(slow.await.unwrap());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_hardly_moves_is_given_up() {
        let reader = Reader::new(1 << 20);
        let begun = Instant::now();
        let read = reader.read(Trickle::of(1_000_000, 1_000_000, 1)).await;
        assert!(matches!(read, Err(NotRead::Silent)));
        assert!(begun.elapsed() < SILENCE * 2);
        let read = reader.read(Trickle::of(1_000_000, 10, 100_000)).await;
        assert!(matches!(read, Ok(Received::Whole(..))), "slow, but moving");
    }

    #[test]
    fn what_comes_off_an_encoding_counts_as_held() {
        let reader = Reader::holding(64 << 20, 1 << 20);
        let bomb = Bytes::from(zstd::encode_all(&vec![0; 32 << 20][..], 3).unwrap());
        assert!(matches!(reader.decoded(Encoding::Zstd, &bomb), Err(Unread::Busy)));
        let small = Bytes::from(zstd::encode_all(&[0; 400_000][..], 3).unwrap());
        let (plain, held) = reader.decoded(Encoding::Zstd, &small).unwrap();
        assert_eq!(plain.len(), 400_000);
        assert!(reader.room_for(&plain).is_ok(), "what is made of it has room");
        assert!(matches!(reader.room_for(&vec![0; 1 << 20].into()), Err(Unread::Busy)));
        drop(held);
        assert_eq!(reader.held.available_permits(), (1 << 20) / PERMIT_BYTES, "all of it was given back");
    }

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
