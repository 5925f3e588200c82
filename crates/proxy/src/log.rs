//! What is written down of each request? A line of JSON: hashes and figures, never content.
//!
//! A thread of its own writes; where it does not keep up, lines are lost and counted, and no request waits.

use std::{
    collections::BTreeSet,
    fs::File,
    io::Write as _,
    path::Path,
    sync::{
        Arc, Mutex,
        mpsc::{self, SyncSender, TrySendError},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use liveset::{EditKind, Report};
use prometheus_client::metrics::counter::Counter;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    named_policy::NamedPolicy,
    routes::Route,
};

/// Lines that may wait for the disk.
const MAX_WAITING: usize = 4_096;
/// How long the end of the process waits for the disk.
const FLUSH_TIME: Duration = Duration::from_secs(10);
/// How long a full queue is waited for before the next look.
const FLUSH_AGAIN: Duration = Duration::from_millis(10);
/// Policies that are told apart: one for each setting and learned window.
const MAX_NOTED: usize = 1_024;

/// The log.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    lines: Option<SyncSender<Message>>,
    lost: Counter,
    /// Policies that were written down.
    noted: Arc<Mutex<BTreeSet<String>>>,
}

#[derive(Debug)]
enum Message {
    Line(String),
    /// Everything before it is to be on its way to the disk.
    Flush(SyncSender<()>),
}

/// One request, and what came of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Line {
    /// Milliseconds since 1970.
    pub(crate) at: u64,
    /// Number of the request in this process.
    pub(crate) request: u64,
    /// What was done with it.
    pub(crate) route: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<&'static str>,
    /// Name of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
    pub(crate) outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fallback: Option<&'static str>,
    /// Whether the result was only reported.
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) shadow: bool,
    /// BLAKE3 of the body as it came, and its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<String>,
    pub(crate) input_bytes: usize,
    /// BLAKE3 of the body as it left, and its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    pub(crate) output_bytes: usize,
    /// What decided: its hash names the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contract: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<TokensLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) edits: Vec<EditLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sweeps: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rebase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prefix_change: Option<&'static str>,
    /// Milliseconds that the compaction took.
    pub(crate) waited_ms: f64,
    /// The upstream's status; none where it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// How the answer ended: `whole`, `broken`, `gone`, `refused`, `too_long` or why there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upstream_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upstream_cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upstream_output_tokens: Option<u64>,
    pub(crate) dropped_reasoning: u64,
    /// Milliseconds from the request's head to the answer's end.
    pub(crate) took_ms: f64,
}

/// Sizes as the report has them.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct TokensLine {
    before: u64,
    after: u64,
    window: u64,
}

/// An edit: where, what kind, in which step, and the name of its original.
#[derive(Debug, Serialize)]
pub(crate) struct EditLine {
    item: u32,
    kind: EditKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u8>,
    before: u64,
    after: u64,
    original: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_not(flag: &bool) -> bool {
    !flag
}

impl Line {
    /// What is known of a request that was refused before its body was looked at.
    pub(crate) fn turned_away(request: u64, route: Route, status: u16, took: Duration) -> Self {
        Self {
            at: now_ms(),
            request,
            route: route.name(),
            format: route.format().map(liveset::WireFormat::name),
            outcome: "refused",
            status: Some(status),
            ended: Some("refused"),
            took_ms: took.as_secs_f64() * 1e3,
            ..Self::default()
        }
    }

    /// Takes over what a report says, without its words: they may name tools and calls.
    pub(crate) fn reported(&mut self, report: &Report) {
        self.contract = Some(report.contract);
        let tokens = &report.tokens;
        self.tokens = Some(TokensLine { before: tokens.before, after: tokens.after, window: tokens.window });
        self.sweeps = report.sweeps.iter().map(|sweep| sweep.request_point).collect();
        self.rebase = report.rebase.as_ref().map(|rebase| rebase.cause.clone());
        let line = |edit: &liveset_engine::report::EditReport| EditLine {
            item: edit.item,
            kind: edit.kind,
            step: edit.step,
            before: edit.tokens_before,
            after: edit.tokens_after,
            original: edit.archive_id.clone(),
        };
        self.edits = report.edits.iter().map(line).collect();
    }
}

impl Log {
    /// Writes nothing.
    pub(crate) fn off(lost: Counter) -> Self {
        Self { lines: None, lost, noted: Arc::default() }
    }

    /// Appends to a file that only its owner may read.
    pub(crate) fn to(path: &Path, lost: Counter) -> Result<Self> {
        let failed = |why| Error::Write { path: liveset_archive::shown(path), why };
        let file = private(path).map_err(failed)?;
        let (lines, waiting) = mpsc::sync_channel(MAX_WAITING);
        let writer = Self { lines: Some(lines), lost: lost.clone(), noted: Arc::default() };
        let write = move || write_all(file, &waiting, &lost);
        std::thread::Builder::new().name("log".to_owned()).spawn(write).map_err(failed)?;
        Ok(writer)
    }

    /// Writes down a policy once, before the first line that names it, so that the log alone tells how bodies were made.
    pub(crate) fn note_policy(&self, policy: &NamedPolicy) {
        let mut noted = self.noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if noted.contains(&policy.hash) {
            return;
        }
        let line = serde_json::json!({"at": now_ms(), "policy": policy.hash, "decides": policy.settings});
        if self.put(&line) {
            if noted.len() >= MAX_NOTED {
                // Written down twice is no harm; not at all would be.
                noted.clear();
            }
            noted.insert(policy.hash.clone());
        }
    }

    /// Writes a line, if anybody wants it.
    pub(crate) fn write(&self, line: &Line) {
        self.put(line);
    }

    /// Says whether the line is on its way.
    fn put(&self, line: &impl Serialize) -> bool {
        let Some(lines) = &self.lines else { return false };
        let Ok(text) = serde_json::to_string(line) else { return false };
        let is_put = lines.try_send(Message::Line(text + "\n")).is_ok();
        if !is_put {
            self.lost.inc();
        }
        is_put
    }

    /// Says whether anybody wants lines.
    pub(crate) fn is_on(&self) -> bool {
        self.lines.is_some()
    }

    /// Waits until what was written is in the file, but not for long.
    pub(crate) fn flush(&self) {
        let Some(lines) = &self.lines else { return };
        let (done, is_done) = mpsc::sync_channel(1);
        let deadline = Instant::now() + FLUSH_TIME;
        let mut message = Message::Flush(done);
        while let Err(TrySendError::Full(back)) = lines.try_send(message) {
            if Instant::now() >= deadline {
                return;
            }
            message = back;
            std::thread::sleep(FLUSH_AGAIN);
        }
        // Where the thread is gone or stuck there is nothing to wait for.
        let _ = is_done.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

fn write_all(mut file: File, waiting: &mpsc::Receiver<Message>, lost: &Counter) {
    for message in waiting {
        match message {
            Message::Line(line) => {
                if file.write_all(line.as_bytes()).is_err() {
                    lost.inc();
                }
            }
            Message::Flush(done) => drop(done.send(())),
        }
    }
}

/// Opens a file to append to, for its owner alone where it is new.
pub(crate) fn private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Milliseconds since 1970; 0 on a clock that stands before it.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(hash: String) -> NamedPolicy {
        NamedPolicy { hash, settings: serde_json::Value::Null }
    }

    #[test]
    fn a_policy_that_found_no_room_is_written_down_the_next_time() {
        let (lines, waiting) = mpsc::sync_channel(1);
        let log = Log { lines: Some(lines), lost: Counter::default(), noted: Arc::default() };
        log.note_policy(&policy("a".to_owned()));
        log.note_policy(&policy("b".to_owned()));
        assert_eq!(log.lost.get(), 1);
        drop(waiting.recv());
        log.note_policy(&policy("b".to_owned()));
        assert!(matches!(waiting.recv(), Ok(Message::Line(line)) if line.contains("\"b\"")));
    }

    #[test]
    fn however_many_policies_there_are_each_is_written_down() {
        let (lines, waiting) = mpsc::sync_channel(2 * MAX_NOTED);
        let log = Log { lines: Some(lines), lost: Counter::default(), noted: Arc::default() };
        for number in 0..=MAX_NOTED {
            log.note_policy(&policy(number.to_string()));
        }
        assert_eq!(waiting.try_iter().count(), MAX_NOTED + 1);
    }
}
