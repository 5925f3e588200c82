//! What is remembered of a request until its answer has ended? Figures for metrics and log, and the capture's files.
//!
//! Sees a copy of the answer, and holds no body itself.

use std::{sync::Arc, time::Instant};

use http_body_util::BodyExt as _;
use hyper::{HeaderMap, Response, body::Bytes};
use liveset_archive::output_hash;

use super::{Exchange, Outgoing};
use crate::{
    answer::{Ended, Onlooker, Use},
    capture::{Attempt, Taken},
    chain::Chain,
    judgement::{Outcome, Prefix},
    log::{Line, now_ms},
    observe::Observer,
    routes::Route,
    upstream::Body,
};

/// Sees one request to its end.
pub(super) struct Recorder {
    exchange: Arc<Exchange>,
    started: Instant,
    format: Option<&'static str>,
    line: Line,
    observer: Option<Observer>,
    taken: Option<Taken>,
    /// The conversation that a model was asked to go on with.
    asked: Option<Chain>,
}

/// A request's body: as it came, without its encoding where that could be taken off, and as it leaves where that is
/// another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bodies<'b> {
    pub(super) received: &'b Bytes,
    pub(super) plain: Option<&'b Bytes>,
    pub(super) edited: Option<&'b Bytes>,
}

impl Recorder {
    /// Begins with what is known before the request goes out.
    pub(super) fn new(exchange: Arc<Exchange>, outgoing: &Outgoing, bodies: Option<Bodies<'_>>) -> Self {
        exchange.metrics.in_flight().inc();
        let format = outgoing.route.format().map(liveset::WireFormat::name);
        let line = if exchange.log.is_on() { line(&exchange, outgoing, bodies) } else { Line::default() };
        let taken = exchange.capture.as_ref().zip(bodies).map(|(capture, bodies)| {
            let attempt = Attempt { request: outgoing.number, attempt: outgoing.attempt };
            capture.request(attempt, &outgoing.head, bodies.plain, bodies.edited)
        });
        let asked = matches!(outgoing.route, Route::Ask(_)).then(|| outgoing.judgement.chain.clone());
        Self { exchange, started: outgoing.started, format, line, observer: None, taken, asked }
    }

    /// Sees the head of the answer.
    pub(super) fn was_answered(&mut self, status: u16, headers: &HeaderMap) {
        self.exchange.metrics.answered(status);
        self.line.status = Some(status);
        self.observer = Some(if self.format.is_some() { Observer::of(headers) } else { Observer::blind() });
        if let Some(taken) = &mut self.taken {
            taken.answer(status, headers);
        }
    }

    /// Hears that the request was refused: nothing left.
    pub(super) fn was_refused(mut self, status: u16) {
        self.line.status = Some(status);
        (self.line.output, self.line.output_bytes) = (None, 0);
        self.line.ended = Some("refused");
    }

    /// Hears that there is no answer.
    pub(super) fn had_no_answer(&mut self, reason: &'static str) {
        self.exchange.metrics.broke(reason);
        self.line.ended = Some(reason);
    }

    /// Hears that a second attempt got no answer, and that the client gets the first one's.
    pub(super) fn broke_off(mut self) {
        self.had_no_answer("upstream_broke_off");
    }

    /// Sees an answer that said "too long", all of which has come, and that another request takes its place.
    pub(super) async fn was_too_long(mut self, answered: Response<Body>) {
        let (parts, body) = answered.into_parts();
        self.was_answered(parts.status.as_u16(), &parts.headers);
        if let Ok(read) = body.collect().await {
            self.sees(&read.to_bytes());
        }
        self.line.ended = Some("too_long");
    }
}

impl Onlooker for Recorder {
    fn sees(&mut self, bytes: &[u8]) {
        if let Some(observer) = &mut self.observer {
            observer.feed(bytes);
        }
        if let Some(taken) = &mut self.taken {
            taken.answer_goes_on(bytes);
        }
    }

    fn ends(&mut self, how: Ended) {
        self.line.ended = Some(how.name());
        if let Some(chain) = &self.asked {
            self.exchange.compactor.conversations().answered(chain, Instant::now());
        }
        match how {
            Ended::Whole => {}
            Ended::Broken | Ended::Gone => self.exchange.metrics.broke(how.name()),
        }
        let Some(mut observer) = self.observer.take() else { return };
        let figures = observer.finish();
        self.exchange.metrics.answer_figures(self.format, &figures);
        self.line.upstream_input_tokens = figures.input_tokens();
        self.line.upstream_cached_tokens = figures.cached_tokens();
        self.line.upstream_output_tokens = figures.output_tokens();
        self.line.dropped_reasoning = figures.dropped_reasoning;
        self.line.stop = figures.stop;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.exchange.metrics.in_flight().dec();
        if self.line.ended.is_none() {
            // The client went away before there was an answer.
            self.exchange.metrics.broke(Ended::Gone.name());
            self.line.ended = Some(Ended::Gone.name());
        }
        self.line.took_ms = self.started.elapsed().as_secs_f64() * 1e3;
        self.exchange.log.write(&self.line);
    }
}

fn line(exchange: &Exchange, outgoing: &Outgoing, bodies: Option<Bodies<'_>>) -> Line {
    let judgement = &outgoing.judgement;
    let mut line = Line {
        at: now_ms(),
        request: outgoing.number,
        route: outgoing.route.name(),
        format: outgoing.route.format().map(liveset::WireFormat::name),
        outcome: judgement.outcome.name(),
        shadow: outgoing.of == Use::Reported,
        waited_ms: outgoing.waited.as_secs_f64() * 1e3,
        ..Line::default()
    };
    if let Outcome::Doubted(why) = judgement.outcome {
        line.fallback = Some(why.name());
    }
    line.prefix_change = match judgement.prefix {
        Prefix::Kept => None,
        Prefix::Declared => Some("declared"),
        Prefix::Undeclared => Some("undeclared"),
    };
    if let Some(Bodies { received, edited, .. }) = bodies {
        let sent = edited.unwrap_or(received);
        line.input = Some(output_hash(received));
        line.input_bytes = received.len();
        line.output = Some(output_hash(sent));
        line.output_bytes = sent.len();
    }
    if let Some(policy) = &judgement.policy {
        exchange.log.note_policy(policy);
        line.policy = Some(policy.hash.clone());
    }
    if let Some(report) = &judgement.report {
        line.conversation = Some(judgement.chain.name());
        line.reported(report);
    }
    line
}
