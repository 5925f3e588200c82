//! How does an answer reach the client? Frame by frame as it comes, with a few headers of ours on top.
//!
//! Holds no frame back and changes none; whoever observes sees a copy.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use hyper::{
    HeaderMap, Response, StatusCode,
    body::{Body as HttpBody, Bytes, Frame, SizeHint},
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
};
use liveset::WireFormat;
use serde_json::json;

use crate::{
    judgement::{Judgement, Outcome},
    upstream::{Body, BoxError, whole},
};

const OUTCOME: HeaderName = HeaderName::from_static("x-liveset-outcome");
const TOKENS: HeaderName = HeaderName::from_static("x-liveset-tokens");
const EDITS: HeaderName = HeaderName::from_static("x-liveset-edits");
const SWEEP: HeaderName = HeaderName::from_static("x-liveset-sweep");
const REASON: HeaderName = HeaderName::from_static("x-liveset-reason");
const FALLBACK: HeaderName = HeaderName::from_static("x-liveset-fallback");
const REBASE: HeaderName = HeaderName::from_static("x-liveset-rebase");
const REWROTE: HeaderName = HeaderName::from_static("x-liveset-client-rewrote");
const SHADOW: HeaderName = HeaderName::from_static("x-liveset-shadow");

/// Letters of a reason in a header.
const MAX_REASON_CHARS: usize = 300;

/// How an answer came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All of it was handed on.
    Whole,
    /// The upstream broke off.
    Broken,
    /// The client went away.
    Gone,
}

impl Ended {
    /// The word that metrics and log use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Broken => "broken",
            Self::Gone => "gone",
        }
    }
}

/// Who sees a copy of an answer.
pub(crate) trait Onlooker: Send {
    /// Sees the next bytes.
    fn sees(&mut self, bytes: &[u8]);
    /// Hears that it is over, once.
    fn ends(&mut self, how: Ended);
}

/// An answer's body on its way to the client.
pub(crate) struct Watched<O: Onlooker> {
    body: Body,
    /// The break, held for one turn: what came before it is written out first.
    broken: Option<BoxError>,
    onlooker: Option<O>,
}

impl<O: Onlooker> Watched<O> {
    /// Shows `body` to an onlooker as it passes.
    pub(crate) fn new(body: Body, onlooker: O) -> Self {
        Self { body, broken: None, onlooker: Some(onlooker) }
    }

    fn ended(&mut self, how: Ended) {
        if let Some(mut onlooker) = self.onlooker.take() {
            onlooker.ends(how);
        }
    }
}

impl<O: Onlooker + Unpin> HttpBody for Watched<O> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(error) = self.broken.take() {
            return Poll::Ready(Some(Err(error)));
        }
        let polled = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Err(error))) => {
                self.broken = Some(error);
                self.ended(Ended::Broken);
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            polled => polled,
        };
        match &polled {
            Poll::Pending | Poll::Ready(Some(Err(_))) => {}
            Poll::Ready(None) => self.ended(Ended::Whole),
            Poll::Ready(Some(Ok(frame))) => {
                if let (Some(bytes), Some(onlooker)) = (frame.data_ref(), &mut self.onlooker) {
                    onlooker.sees(bytes);
                }
                // Where the end is known nobody may ask for one more frame.
                if self.body.is_end_stream() {
                    self.ended(Ended::Whole);
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.broken.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<O: Onlooker> Drop for Watched<O> {
    fn drop(&mut self) {
        let how = if self.body.is_end_stream() { Ended::Whole } else { Ended::Gone };
        self.ended(how);
    }
}

/// Whether the result of a compaction was sent or only reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// What goes out is what was judged.
    Sent,
    /// The original went out, as it was asked.
    Reported,
    /// The original went out, since what was judged is no smaller.
    NoGain,
}

/// Says in headers what was done.
pub(crate) fn mark(headers: &mut HeaderMap, judgement: &Judgement, of: Use) {
    put(headers, OUTCOME, judgement.outcome.name());
    if of == Use::Reported {
        put(headers, SHADOW, "1");
    }
    if let Outcome::Doubted(why) = judgement.outcome {
        put(headers, FALLBACK, why.name());
        put(headers, REASON, why.phrase());
    }
    let Some(report) = &judgement.report else { return };
    let (after, edits) = match of {
        Use::Sent | Use::Reported => (report.tokens.after, report.edits.len()),
        Use::NoGain => (report.tokens.before, 0),
    };
    put(headers, TOKENS, &format!("{} -> {after}", report.tokens.before));
    put(headers, EDITS, &edits.to_string());
    put(headers, REASON, &report.reason);
    if of == Use::NoGain {
        return;
    }
    if judgement.new_sweeps > 0 {
        put(headers, SWEEP, &judgement.new_sweeps.to_string());
    }
    if let Some(rebase) = &report.rebase {
        put(headers, REBASE, &rebase.cause);
    }
    if let Some(rewrote) = &report.client_rewrote {
        put(headers, REWROTE, &format!("item {}, leaves otherwise from {}", rewrote.item, rewrote.first_changed));
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).take(MAX_REASON_CHARS).collect();
    if let Ok(value) = HeaderValue::try_from(plain) {
        headers.insert(name, value);
    }
}

/// Makes an answer of ours in the words of a vendor, so that its clients understand it.
pub(crate) fn refusal(format: Option<WireFormat>, status: StatusCode, message: &str) -> Response<Body> {
    let message = format!("liveset: {message}");
    let kind = match status {
        StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::NOT_FOUND => "not_found_error",
        status if status.is_client_error() => "invalid_request_error",
        _ => "api_error",
    };
    let body = match format {
        Some(WireFormat::Anthropic) => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Some(WireFormat::OpenaiChat | WireFormat::OpenaiResponses) | None => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
    };
    of_text(status, "application/json", body.to_string())
}

/// Makes an answer of ours.
pub(crate) fn of_text(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
