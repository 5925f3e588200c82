//! How does a request go out, and its answer back? Once; a second time only where an upstream said "too long".

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Body as _, Bytes},
    header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING},
};
use liveset::WireFormat;

use super::{
    BrokeOff, Exchange, Outgoing, Payload,
    recorder::{Bodies, Recorder},
    refused,
};
use crate::{
    answer::{self, Use, Watched, refusal},
    config::Effect,
    headers,
    judgement::{Judgement, Outcome},
    retry::{self, TooLong},
    routes::Route,
    sender::NoAnswer,
    upstream::{Body, whole},
};

type Sent = std::result::Result<Response<Body>, NoAnswer>;
type Answered = std::result::Result<Response<Body>, BrokeOff>;

impl Exchange {
    /// Sends a request and hands its answer on.
    pub(super) async fn send(self: Arc<Self>, mut outgoing: Outgoing, payload: Payload) -> Answered {
        let (received, plain, _held) = match payload {
            Payload::Whole { received, plain, held } => (received, plain, held),
            Payload::Streaming(body) => {
                let recorder = Recorder::new(self.clone(), &outgoing, None);
                let sent = self.sender.send(streaming_request(&outgoing, body)).await;
                return self.hand_on(&outgoing, sent, recorder);
            }
        };
        let edited = self.edited(&outgoing.judgement, plain.as_ref()).cloned();
        if edited.is_none() && outgoing.judgement.edited.is_some() && outgoing.of == Use::Sent {
            outgoing.of = Use::NoGain;
        }
        self.leaves(outgoing.route, &outgoing.judgement, edited.as_ref());
        let bodies = Bodies { received: &received, plain: plain.as_ref(), edited: edited.as_ref() };
        let recorder = Recorder::new(self.clone(), &outgoing, Some(bodies));
        let sent = self.sender.send(whole_request(&outgoing, &received, edited.as_ref())).await;
        let answered = match sent {
            Ok(answered) if retry::may_be(answered.status()) && self.may_shorten(&outgoing) => answered,
            sent => return self.hand_on(&outgoing, sent, recorder),
        };
        let (answered, too_long) = refused::read(answered).await;
        let again = match (too_long, &plain, outgoing.route) {
            (Some(too_long), Some(plain), Route::Ask(format)) => {
                self.shortened(&outgoing, format, plain.clone(), too_long).await
            }
            _ => None,
        };
        let again =
            again.and_then(|(shorter, waited)| Some((self.edited(&shorter, plain.as_ref())?.clone(), shorter, waited)));
        let Some((body, shorter, waited)) = again.filter(|(body, ..)| Some(body) != edited.as_ref()) else {
            return self.hand_on(&outgoing, Ok(answered), recorder);
        };
        let first = (
            std::mem::replace(&mut outgoing.judgement, shorter),
            std::mem::replace(&mut outgoing.waited, waited),
            std::mem::replace(&mut outgoing.of, Use::Sent),
        );
        if self.decided(&outgoing).is_some() {
            // The upstream's own words tell the client more than a refusal of ours.
            (outgoing.judgement, outgoing.waited, outgoing.of) = first;
            return self.hand_on(&outgoing, Ok(answered), recorder);
        }
        self.leaves(outgoing.route, &outgoing.judgement, Some(&body));
        outgoing.attempt += 1;
        let second = Recorder::new(self.clone(), &outgoing, Some(Bodies { edited: Some(&body), ..bodies }));
        let sent = self.sender.send(whole_request(&outgoing, &received, Some(&body))).await;
        let status = sent.as_ref().ok().map(Response::status);
        self.tried(&outgoing, status).await;
        match sent {
            Ok(sent) => {
                recorder.was_too_long(answered).await;
                self.hand_on(&outgoing, Ok(sent), second)
            }
            Err(_) => {
                // The vendor's own word on the first request says more than our silence on the second.
                second.broke_off();
                (outgoing.judgement, outgoing.waited, outgoing.of) = first;
                self.hand_on(&outgoing, Ok(answered), recorder)
            }
        }
    }

    /// The edited body, where it is to go out. Held against the body without its encoding: a model reads that one.
    fn edited<'j>(&self, judgement: &'j Judgement, plain: Option<&Bytes>) -> Option<&'j Bytes> {
        let edited = judgement.edited.as_ref().filter(|_| self.config.effect == Effect::Send)?;
        match judgement.outcome {
            Outcome::CannotFit if plain.is_none_or(|plain| edited.len() >= plain.len()) => None,
            Outcome::CannotFit | Outcome::Compacted | Outcome::Unchanged => Some(edited),
            Outcome::Passed | Outcome::Doubted(_) => None,
        }
    }

    fn may_shorten(&self, outgoing: &Outgoing) -> bool {
        let chain = &outgoing.judgement.chain;
        let is_judged = self.config.effect == Effect::Send && outgoing.judgement.report.is_some();
        is_judged && matches!(outgoing.route, Route::Ask(_)) && !self.compactor.conversations().was_in_vain(chain)
    }

    /// Judges a body again by the window that its upstream leaves.
    async fn shortened(
        &self,
        outgoing: &Outgoing,
        format: WireFormat,
        plain: Bytes,
        too_long: TooLong,
    ) -> Option<(Judgement, Duration)> {
        let tokens = &outgoing.judgement.report.as_ref()?.tokens;
        self.metrics.was_too_long();
        let window = too_long.window(tokens.after, tokens.window);
        let asked = Instant::now();
        let shorter = self.compactor.judge_shorter(format, plain, outgoing.judgement.chain.clone(), window).await;
        Some((shorter, asked.elapsed()))
    }

    fn hand_on(&self, outgoing: &Outgoing, sent: Sent, mut recorder: Recorder) -> Answered {
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
fn whole_request(outgoing: &Outgoing, received: &Bytes, edited: Option<&Bytes>) -> Request<Body> {
    let mut headers = outgoing.head.headers.clone();
    if let Some(edited) = edited {
        headers.remove(CONTENT_ENCODING);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(edited.len()));
    }
    request_of(outgoing, headers, whole(edited.unwrap_or(received).clone()))
}
