//! What went over the wire, in full? Files for a folder that was asked for: bodies that commands can read, and heads.
//!
//! Bodies are written without their encoding, since nothing could be taken out of them otherwise. Takes out credentials:
//! whole values of headers that hold them, and what looks like a key in a body. Nothing else. A thread of its own works;
//! where it does not keep up, files are lost and counted, and no request waits.

use std::{
    borrow::Cow,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, SyncSender},
    },
    time::Duration,
};

use hyper::{HeaderMap, body::Bytes, http::request::Parts};
use prometheus_client::metrics::counter::Counter;
use regex::bytes::{Captures, Regex};
use serde_json::{Map, Value, json};

use crate::{
    error::{Error, Result},
    log::{now_ms, private},
    request::Encoding,
};

/// Bytes of all captures of one process; what comes on top is not captured.
const MAX_CAPTURED_BYTES: usize = 4 << 30;
/// Bytes that may wait for the disk.
const MAX_WAITING_BYTES: usize = 256 << 20;
/// Files that may wait for the disk.
const MAX_WAITING: usize = 1_024;
/// The largest answer that is captured: keys are looked for in the whole of it.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// How long the end of the process waits for the disk.
const FLUSH_TIME: Duration = Duration::from_secs(10);

/// Headers whose values are taken out, by a part of their name.
const SECRET_HEADERS: [&str; 6] = ["authorization", "api-key", "cookie", "token", "secret", "signature"];

/// Keys of vendors by their shapes; the letters behind the known beginning become `x`, so that nothing moves.
static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        r"(?P<known>\bsk-)[A-Za-z0-9_-]{16,}",
        r"(?P<k2>\bgh[opsu]_|\bgithub_pat_|\bglpat-|\bxox[abps]-)[A-Za-z0-9_-]{16,}",
        r"(?P<k3>\bAKIA|\bAIza)[A-Za-z0-9_-]{12,}",
        r"(?P<k4>\beyJ)[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        r"(?P<k5>\b[Bb]earer )[A-Za-z0-9._~+/-]{16,}",
    ];
    Regex::new(&shapes.join("|")).ok()
});

/// A folder that gets the traffic.
#[derive(Debug)]
pub(crate) struct Capture {
    files: SyncSender<Message>,
    waiting: Arc<AtomicUsize>,
    lost: Counter,
    /// What sets the files of this process apart from those of others.
    started: u64,
}

#[derive(Debug)]
enum Message {
    File(Unwritten),
    /// Everything before it is to be in the folder.
    Flush(SyncSender<()>),
}

/// A file on its way.
#[derive(Debug)]
struct Unwritten {
    name: String,
    bytes: Bytes,
    encoding: Encoding,
}

/// Which request is captured, and in which attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Number of the request in this process.
    pub(crate) request: u64,
    /// 1, or 2 where it was asked once more.
    pub(crate) attempt: u8,
}

/// The files of one attempt; the answer's is written when this goes.
#[derive(Debug)]
pub(crate) struct Taken {
    capture: Arc<Capture>,
    /// What the names of its files begin with.
    start: String,
    answer: Vec<u8>,
    encoding: Option<Encoding>,
}

impl Capture {
    /// Writes to a folder, making it where it is missing, for its owner alone.
    pub(crate) fn to(folder: &Path, lost: Counter) -> Result<Self> {
        let failed = |why| Error::Write { path: liveset_archive::shown(folder), why };
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(folder).map_err(failed)?;
        let (files, messages) = mpsc::sync_channel(MAX_WAITING);
        let waiting = Arc::new(AtomicUsize::new(0));
        let writer = Writer {
            folder: folder.to_owned(),
            room: MAX_CAPTURED_BYTES,
            waiting: waiting.clone(),
            lost: lost.clone(),
        };
        let write = move || writer.write_all(&messages);
        std::thread::Builder::new().name("capture".to_owned()).spawn(write).map_err(failed)?;
        Ok(Self { files, waiting, lost, started: now_ms() })
    }

    /// Takes a request: its head, its body as it was read, and as it left where that is another.
    pub(crate) fn request(
        self: &Arc<Self>,
        Attempt { request, attempt }: Attempt,
        parts: &Parts,
        body: Option<&Bytes>,
        edited: Option<&Bytes>,
    ) -> Taken {
        let again = if attempt > 1 { format!("-{attempt}") } else { String::new() };
        let start = format!("{}-{request:06}{again}", self.started);
        let path = parts.uri.path();
        let head = json!({"method": parts.method.as_str(), "path": path, "headers": headers(&parts.headers)});
        self.put(format!("{start}.request.head.json"), head.to_string().into(), Encoding::Identity);
        if let Some(body) = body {
            self.put(format!("{start}.request.json"), body.clone(), Encoding::Identity);
        }
        if let Some(edited) = edited {
            self.put(format!("{start}.sent.json"), edited.clone(), Encoding::Identity);
        }
        Taken { capture: self.clone(), start, answer: Vec::new(), encoding: None }
    }

    fn put(&self, name: String, bytes: Bytes, encoding: Encoding) {
        let len = bytes.len();
        let waiting = self.waiting.fetch_add(len, Ordering::Relaxed).saturating_add(len);
        let file = Unwritten { name, bytes, encoding };
        if waiting > MAX_WAITING_BYTES || self.files.try_send(Message::File(file)).is_err() {
            self.waiting.fetch_sub(len, Ordering::Relaxed);
            self.lost.inc();
        }
    }

    /// Waits until what was taken is in the folder, but not for long.
    pub(crate) fn flush(&self) {
        let (done, is_done) = mpsc::sync_channel(1);
        if self.files.try_send(Message::Flush(done)).is_ok() {
            // Where the thread is gone or stuck there is nothing to wait for.
            let _ = is_done.recv_timeout(FLUSH_TIME);
        }
    }
}

impl Taken {
    /// Takes an answer's head.
    pub(crate) fn answer(&mut self, status: u16, of: &HeaderMap) {
        let head = json!({"status": status, "headers": headers(of)});
        self.capture.put(format!("{}.answer.head.json", self.start), head.to_string().into(), Encoding::Identity);
        self.encoding = Encoding::of(of);
    }

    /// Takes the next bytes of its body, encoded as they are.
    pub(crate) fn answer_goes_on(&mut self, bytes: &[u8]) {
        let room = MAX_ANSWER_BYTES.saturating_sub(self.answer.len());
        self.answer.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(encoding) = self.encoding {
            self.capture.put(format!("{}.answer", self.start), std::mem::take(&mut self.answer).into(), encoding);
        }
    }
}

/// Who works for the folder, on a thread of its own.
struct Writer {
    folder: PathBuf,
    room: usize,
    waiting: Arc<AtomicUsize>,
    lost: Counter,
}

impl Writer {
    fn write_all(mut self, messages: &mpsc::Receiver<Message>) {
        for message in messages {
            match message {
                Message::File(file) => {
                    if self.write(&file).is_none() {
                        self.lost.inc();
                    }
                    self.waiting.fetch_sub(file.bytes.len(), Ordering::Relaxed);
                }
                Message::Flush(done) => drop(done.send(())),
            }
        }
    }

    /// What cannot be read is not written: a key could be in it.
    fn write(&mut self, file: &Unwritten) -> Option<()> {
        let plain = file.encoding.decoded(&file.bytes, MAX_WAITING_BYTES)?;
        let shown = redacted(&plain);
        self.room = self.room.checked_sub(shown.len())?;
        private(&self.folder.join(&file.name)).ok()?.write_all(&shown).ok()
    }
}

fn headers(headers: &HeaderMap) -> Value {
    let value = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        let is_secret = SECRET_HEADERS.iter().any(|part| name.as_str().contains(part));
        let shown = if is_secret { "redacted".into() } else { String::from_utf8_lossy(value.as_bytes()) };
        (name.as_str().to_owned(), Value::from(shown))
    };
    Value::Object(headers.iter().map(value).collect::<Map<_, _>>())
}

/// Overwrites what looks like a key, letter by letter.
fn redacted(body: &[u8]) -> Cow<'_, [u8]> {
    let Some(secrets) = SECRETS.as_ref() else { return Cow::Borrowed(b"") };
    secrets.replace_all(body, |found: &Captures<'_>| {
        let known = found.iter().skip(1).flatten().next().map_or(&b""[..], |known| known.as_bytes());
        let whole = found.get(0).map_or(0, |whole| whole.len());
        [known, &vec![b'x'; whole.saturating_sub(known.len())]].concat()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lose_their_letters_and_nothing_moves() {
        let letters = "a1b2c3d4".repeat(4);
        let body = format!(r#"{{"a":"sk-{letters} then ghp_{letters}","b":"skip sk-short"}}"#);
        let body = body.as_bytes();
        let shown = redacted(body);
        assert_eq!(shown.len(), body.len());
        let text = String::from_utf8(shown.into_owned()).unwrap();
        assert!(!text.contains("c3d4") && text.contains("sk-xxx") && text.contains("ghp_xxx"), "{text}");
        assert!(text.ends_with(r#""b":"skip sk-short"}"#), "{text}");
    }

    #[test]
    fn headers_with_credentials_lose_their_values() {
        let mut all = HeaderMap::new();
        for (name, value) in [("authorization", "Bearer a"), ("x-api-key", "a"), ("set-cookie", "a"), ("accept", "b")] {
            all.insert(name, hyper::header::HeaderValue::from_static(value));
        }
        let shown = headers(&all).to_string();
        assert_eq!(
            shown,
            r#"{"accept":"b","authorization":"redacted","set-cookie":"redacted","x-api-key":"redacted"}"#
        );
    }
}
