//! How does a request go out, and its answer back?
//!
//! Tries once; what follows where an upstream said "too long" stands in `again`.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Body as _, Bytes},
    header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING},
};

use super::{BrokeOff, Exchange, Outgoing, Payload, again::Refused, recorder::Recorder};
use crate::{
    answer::{self, Use, Watched, refusal},
    config::Effect,
    headers,
    judgement::{Judgement, Outcome},
    retry,
    sender::NoAnswer,
    upstream::{Body, whole},
};

pub(super) type Sent = std::result::Result<Response<Body>, NoAnswer>;
pub(super) type Answered = std::result::Result<Response<Body>, BrokeOff>;

impl Exchange {
    /// Sends a request and hands its answer on.
    pub(super) async fn send(self: Arc<Self>, mut outgoing: Outgoing, payload: Payload) -> Answered {
        let whole = match payload {
            Payload::Whole(whole) => whole,
            Payload::Streaming(body) => {
                let recorder = Recorder::new(self.clone(), &outgoing, None);
                let sent = self.sender.send(streaming_request(&outgoing, body)).await;
                return self.hand_on(&outgoing, sent, recorder);
            }
        };
        let edited = self.edited(&outgoing.judgement, whole.plain.as_ref()).cloned();
        if edited.is_none() && outgoing.judgement.edited.is_some() && outgoing.of == Use::Sent {
            outgoing.of = Use::NoGain;
        }
        self.leaves(outgoing.route, &outgoing.judgement, edited.as_ref());
        let recorder = Recorder::new(self.clone(), &outgoing, Some(whole.bodies(edited.as_ref())));
        match self.sender.send(whole_request(&outgoing, &whole.received, edited.as_ref())).await {
            Ok(answered) if retry::may_be(answered.status()) && self.may_shorten(&outgoing) => {
                self.send_shorter(outgoing, &whole, Refused { answered, recorder, edited }).await
            }
            sent => self.hand_on(&outgoing, sent, recorder),
        }
    }

    /// The edited body, where it is to go out. Held against the body without its encoding: a model reads that one.
    pub(super) fn edited<'j>(&self, judgement: &'j Judgement, plain: Option<&Bytes>) -> Option<&'j Bytes> {
        let edited = judgement.edited.as_ref().filter(|_| self.config.effect == Effect::Send)?;
        match judgement.outcome {
            Outcome::CannotFit if plain.is_none_or(|plain| edited.len() >= plain.len()) => None,
            Outcome::CannotFit | Outcome::Compacted | Outcome::Unchanged => Some(edited),
            Outcome::Passed | Outcome::Doubted(_) => None,
        }
    }

    pub(super) fn hand_on(&self, outgoing: &Outgoing, sent: Sent, mut recorder: Recorder) -> Answered {
        match sent {
            Ok(answered) => {
                let (mut parts, body) = answered.into_parts();
                recorder.was_answered(parts.status.as_u16(), &parts.headers);
                headers::for_next_hop(&mut parts.headers);
                answer::mark(&mut parts.headers, &outgoing.judgement, outgoing.of);
                Ok(Response::from_parts(parts, Watched::new(body, recorder).boxed_unsync()))
            }
            Err(NoAnswer::Broken) => {
                recorder.had_no_answer("upstream_broke_off");
                Err(BrokeOff)
            }
            Err(NoAnswer::Unreachable) => {
                recorder.had_no_answer("upstream_unreachable");
                let format = outgoing.route.format();
                let mut response = refusal(format, StatusCode::BAD_GATEWAY, "the upstream cannot be reached");
                answer::mark(response.headers_mut(), &outgoing.judgement, outgoing.of);
                Ok(response)
            }
        }
    }
}

fn request_of(outgoing: &Outgoing, headers: HeaderMap, body: Body) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = outgoing.head.method.clone();
    *request.uri_mut() = outgoing.address.clone();
    *request.headers_mut() = headers;
    *request.extensions_mut() = outgoing.head.extensions.clone();
    request
}

/// The request with a body that comes as it goes. Some methods have one only where a header says so.
fn streaming_request(outgoing: &Outgoing, body: Body) -> Request<Body> {
    let mut headers = outgoing.head.headers.clone();
    if !body.is_end_stream() && body.size_hint().exact().is_none() {
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    request_of(outgoing, headers, body)
}

/// The request with its body as it came, or with the edited one.
pub(super) fn whole_request(outgoing: &Outgoing, received: &Bytes, edited: Option<&Bytes>) -> Request<Body> {
    let mut headers = outgoing.head.headers.clone();
    if let Some(edited) = edited {
        headers.remove(CONTENT_ENCODING);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(edited.len()));
    }
    request_of(outgoing, headers, whole(edited.unwrap_or(received).clone()))
}
