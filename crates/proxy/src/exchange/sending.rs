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
    BrokeOff, Cargo, Errand, Exchange, refused,
    witness::{Bodies, Witness},
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
    pub(super) async fn send(self: Arc<Self>, mut errand: Errand, cargo: Cargo) -> Answered {
        let (received, plain, _held) = match cargo {
            Cargo::Whole { received, plain, held } => (received, plain, held),
            Cargo::Streaming(body) => {
                let witness = Witness::new(self.clone(), &errand, None);
                let sent = self.sender.send(streaming_request(&errand, body)).await;
                return self.hand_on(&errand, sent, witness);
            }
        };
        let edited = self.edited(&errand.judgement, plain.as_ref()).cloned();
        if edited.is_none() && errand.judgement.edited.is_some() && errand.of == Use::Sent {
            errand.of = Use::NoGain;
        }
        self.leaves(errand.route, &errand.judgement, edited.as_ref());
        let bodies = Bodies { received: &received, plain: plain.as_ref(), edited: edited.as_ref() };
        let witness = Witness::new(self.clone(), &errand, Some(bodies));
        let sent = self.sender.send(whole_request(&errand, &received, edited.as_ref())).await;
        let answered = match sent {
            Ok(answered) if retry::may_be(answered.status()) && self.may_shorten(&errand) => answered,
            sent => return self.hand_on(&errand, sent, witness),
        };
        let (answered, too_long) = refused::read(answered).await;
        let again = match (too_long, &plain, errand.route) {
            (Some(too_long), Some(plain), Route::Ask(format)) => {
                self.shortened(&errand, format, plain.clone(), too_long).await
            }
            _ => None,
        };
        let again =
            again.and_then(|(shorter, waited)| Some((self.edited(&shorter, plain.as_ref())?.clone(), shorter, waited)));
        let Some((body, shorter, waited)) = again.filter(|(body, ..)| Some(body) != edited.as_ref()) else {
            return self.hand_on(&errand, Ok(answered), witness);
        };
        let first = (
            std::mem::replace(&mut errand.judgement, shorter),
            std::mem::replace(&mut errand.waited, waited),
            std::mem::replace(&mut errand.of, Use::Sent),
        );
        if self.decided(&errand).is_some() {
            // The upstream's own words tell the client more than a refusal of ours.
            (errand.judgement, errand.waited, errand.of) = first;
            return self.hand_on(&errand, Ok(answered), witness);
        }
        self.leaves(errand.route, &errand.judgement, Some(&body));
        errand.attempt += 1;
        let second = Witness::new(self.clone(), &errand, Some(Bodies { edited: Some(&body), ..bodies }));
        let sent = self.sender.send(whole_request(&errand, &received, Some(&body))).await;
        let status = sent.as_ref().ok().map(Response::status);
        self.tried(&errand, status).await;
        match sent {
            Ok(sent) => {
                witness.was_too_long(answered).await;
                self.hand_on(&errand, Ok(sent), second)
            }
            Err(_) => {
                // The vendor's own word on the first request says more than our silence on the second.
                second.broke_off();
                (errand.judgement, errand.waited, errand.of) = first;
                self.hand_on(&errand, Ok(answered), witness)
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

    fn may_shorten(&self, errand: &Errand) -> bool {
        let chain = &errand.judgement.chain;
        let is_judged = self.config.effect == Effect::Send && errand.judgement.report.is_some();
        is_judged && matches!(errand.route, Route::Ask(_)) && !self.compactor.conversations().was_in_vain(chain)
    }

    /// Judges a body again by the window that its upstream leaves.
    async fn shortened(
        &self,
        errand: &Errand,
        format: WireFormat,
        plain: Bytes,
        too_long: TooLong,
    ) -> Option<(Judgement, Duration)> {
        let tokens = &errand.judgement.report.as_ref()?.tokens;
        self.metrics.was_too_long();
        let window = too_long.window(tokens.after, tokens.window);
        let asked = Instant::now();
        let shorter = self.compactor.judge_shorter(format, plain, errand.judgement.chain.clone(), window).await;
        Some((shorter, asked.elapsed()))
    }

    fn hand_on(&self, errand: &Errand, sent: Sent, mut witness: Witness) -> Answered {
        match sent {
            Ok(answered) => {
                let (mut parts, body) = answered.into_parts();
                witness.was_answered(parts.status.as_u16(), &parts.headers);
                headers::for_next_hop(&mut parts.headers);
                answer::mark(&mut parts.headers, &errand.judgement, errand.of);
                Ok(Response::from_parts(parts, Watched::new(body, witness).boxed_unsync()))
            }
            Err(NoAnswer::Broken) => {
                witness.had_no_answer("upstream_broke_off");
                Err(BrokeOff)
            }
            Err(NoAnswer::Unreachable) => {
                witness.had_no_answer("upstream_unreachable");
                let format = errand.route.format();
                let mut response = refusal(format, StatusCode::BAD_GATEWAY, "the upstream cannot be reached");
                answer::mark(response.headers_mut(), &errand.judgement, errand.of);
                Ok(response)
            }
        }
    }
}

fn request_of(errand: &Errand, headers: HeaderMap, body: Body) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = errand.head.method.clone();
    *request.uri_mut() = errand.address.clone();
    *request.headers_mut() = headers;
    *request.extensions_mut() = errand.head.extensions.clone();
    request
}

/// The request with a body that comes as it goes. Some methods have one only where a header says so.
fn streaming_request(errand: &Errand, body: Body) -> Request<Body> {
    let mut headers = errand.head.headers.clone();
    if !body.is_end_stream() && body.size_hint().exact().is_none() {
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    request_of(errand, headers, body)
}

/// The request with its body as it came, or with the edited one.
fn whole_request(errand: &Errand, received: &Bytes, edited: Option<&Bytes>) -> Request<Body> {
    let mut headers = errand.head.headers.clone();
    if let Some(edited) = edited {
        headers.remove(CONTENT_ENCODING);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(edited.len()));
    }
    request_of(errand, headers, whole(edited.unwrap_or(received).clone()))
}
