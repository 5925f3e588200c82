//! What went over the wire, in full? Files for a folder that was asked for: bodies that commands can read, and heads.
//!
//! Takes out credentials: whole values of headers that hold them, and what looks like a key in a body. Nothing else.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use hyper::{HeaderMap, body::Bytes, http::request::Parts};
use regex::bytes::{Captures, Regex};
use serde_json::{Map, Value, json};

use crate::{
    error::{Error, Result},
    log::{now_ms, private},
};

/// Bytes of all captures of one process; what comes on top is not captured.
const MAX_CAPTURED_BYTES: u64 = 4 << 30;

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
    folder: PathBuf,
    bytes: AtomicU64,
    /// What sets the files of this process apart from those of others.
    started: u64,
}

/// The files of one request.
#[derive(Debug)]
pub(crate) struct Taken {
    capture: Arc<Capture>,
    /// What the names of its files begin with.
    start: String,
    answer: Option<File>,
}

impl Capture {
    /// Writes to a folder, making it where it is missing, for its owner alone.
    pub(crate) fn to(folder: &Path) -> Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(folder).map_err(|why| Error::Write { path: liveset_archive::shown(folder), why })?;
        Ok(Self { folder: folder.to_owned(), bytes: AtomicU64::new(0), started: now_ms() })
    }

    /// Takes a request: its head, its body as it came, and as it left where that is another.
    pub(crate) fn request(self: &Arc<Self>, number: u64, parts: &Parts, body: &Bytes, edited: Option<&Bytes>) -> Taken {
        let start = format!("{}-{number:06}", self.started);
        let path = parts.uri.path();
        let head = json!({"method": parts.method.as_str(), "path": path, "headers": headers(&parts.headers)});
        self.write(&start, "request.head.json", head.to_string().as_bytes());
        self.write(&start, "request.json", &redacted(body));
        if let Some(edited) = edited {
            self.write(&start, "sent.json", &redacted(edited));
        }
        Taken { capture: self.clone(), start, answer: None }
    }

    fn write(&self, start: &str, what: &str, bytes: &[u8]) {
        // A capture is for looking: where it fails, the traffic goes on.
        if let Some(mut file) = self.room_for(bytes).then(|| self.file(start, what)).flatten() {
            let _ = file.write_all(bytes);
        }
    }

    fn room_for(&self, bytes: &[u8]) -> bool {
        let before = self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        before.saturating_add(bytes.len() as u64) <= MAX_CAPTURED_BYTES
    }

    fn file(&self, start: &str, what: &str) -> Option<File> {
        private(&self.folder.join(format!("{start}.{what}"))).ok()
    }
}

impl Taken {
    /// Takes an answer's head.
    pub(crate) fn answer(&mut self, status: u16, of: &HeaderMap) {
        let head = json!({"status": status, "headers": headers(of)});
        self.capture.write(&self.start, "answer.head.json", head.to_string().as_bytes());
        self.answer = self.capture.file(&self.start, "answer");
    }

    /// Takes the next bytes of its body, encoded as they are.
    pub(crate) fn answer_goes_on(&mut self, bytes: &[u8]) {
        if let Some(file) = self.answer.as_mut().filter(|_| self.capture.room_for(bytes)) {
            let _ = file.write_all(bytes);
        }
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
