//! One request and its answer: read, judge, send, hand on. The parent of all other steps; it decides their order.

mod leaving;
mod sending;
mod again;
mod refused;
mod own_pages;
mod recorder;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CONNECTION, HeaderValue, UPGRADE},
    http::request::Parts,
};
use liveset_archive::SqliteArchive;

use crate::{
    answer::{self, Use, refusal},
    capture::Capture,
    compaction::{Compactor, Purpose},
    config::{Doubt, Effect, ProxyConfig},
    error::Result,
    headers,
    judgement::{Doubted, Judgement, Outcome},
    log::{Line, Log},
    metrics::Metrics,
    pages::{self, Page},
    request::{Encoding, Held, NotRead, Reader, Received, Unread},
    routes::Route,
    rules::Rules,
    sender::Sender,
    upstream::{Body, Found, Upstreams},
};
use recorder::{Bodies, Recorder};

/// Everything that all requests share.
pub(crate) struct Exchange {
    config: ProxyConfig,
    upstreams: Upstreams,
    sender: Sender,
    reader: Reader,
    compactor: Compactor,
    archive: Option<Arc<SqliteArchive>>,
    metrics: Arc<Metrics>,
    log: Log,
    capture: Option<Arc<Capture>>,
    requests: AtomicU64,
    fallback: Mutex<Option<(&'static str, Instant)>>,
    /// Whether the newest originals could not be stored.
    is_archive_failing: AtomicBool,
    is_draining: AtomicBool,
}

/// The connection to the client is to break, as the one to the upstream did.
#[derive(Debug, thiserror::Error)]
#[error("the upstream broke off before it answered")]
pub(crate) struct BrokeOff;

/// A request on its way, and what is known of it.
struct Outgoing {
    number: u64,
    attempt: u8,
    started: Instant,
    route: Route,
    head: Parts,
    address: Uri,
    judgement: Judgement,
    of: Use,
    waited: Duration,
}

/// What is sent.
enum Payload {
    /// A body that is all here.
    Whole(Whole),
    /// A body that comes as it goes.
    Streaming(Body),
}

/// A body that is all here: as it came, and without its encoding where that could be taken off.
struct Whole {
    received: Bytes,
    plain: Option<Bytes>,
    /// What it takes of the memory for bodies.
    _held: Vec<Held>,
}

impl Whole {
    fn bodies<'w>(&'w self, edited: Option<&'w Bytes>) -> Bodies<'w> {
        Bodies { received: &self.received, plain: self.plain.as_ref(), edited }
    }
}

impl Payload {
    fn bodies(&self) -> Option<Bodies<'_>> {
        match self {
            Self::Whole(whole) => Some(whole.bodies(None)),
            Self::Streaming(_) => None,
        }
    }
}

impl Exchange {
    /// Makes ready for requests.
    pub(crate) fn new(config: ProxyConfig, rules: Rules) -> Result<Self> {
        let metrics = Arc::new(Metrics::new());
        let lost = metrics.lost_lines();
        let log = match &config.log {
            Some(path) => Log::to(path, lost)?,
            None => Log::off(lost),
        };
        let capture = config.capture.as_deref().map(|folder| Capture::to(folder, metrics.lost_files()));
        let capture = capture.transpose()?.map(Arc::new);
        let time_limit = Duration::from_millis(config.time_limit_ms);
        Ok(Self {
            upstreams: Upstreams::of(&config)?,
            sender: Sender::new()?,
            reader: Reader::new(config.max_body_bytes),
            archive: rules.ledger_archive(),
            compactor: Compactor::new(
                entering(rules, config.effect),
                config.compactions,
                time_limit,
                config.cache_bytes,
            ),
            metrics,
            log,
            capture,
            requests: AtomicU64::new(0),
            fallback: Mutex::new(None),
            is_archive_failing: AtomicBool::new(false),
            is_draining: AtomicBool::new(false),
            config,
        })
    }

    /// Answers one request.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> std::result::Result<Response<Body>, BrokeOff> {
        let started = Instant::now();
        let (mut head, body) = request.into_parts();
        if let Some(page) = Page::of(head.uri.path()) {
            return Ok(self.page(page, &head).await);
        }
        if !self.is_meant(&head) {
            let why = "the request names another host than this machine; --allow-remote takes any";
            return Ok(self.turned_away(started, Route::Pass, StatusCode::FORBIDDEN, why));
        }
        let found = self.upstreams.find(&head.method, &head.uri, &head.headers);
        let route = found.as_ref().map_or(Route::Pass, |found| found.route);
        if !self.admits(&head.headers) {
            let why = "the header `x-liveset-token` is missing or wrong";
            return Ok(self.turned_away(started, route, StatusCode::UNAUTHORIZED, why));
        }
        if is_for_a_socket(&head) {
            let why = "a model is asked by HTTP here, since nobody looks into a WebSocket";
            let mut refused = self.turned_away(started, Route::Pass, StatusCode::UPGRADE_REQUIRED, why);
            refused.headers_mut().insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
            return Ok(refused);
        }
        let Some(Found { address, .. }) = found else {
            let why = "nothing says which upstream takes this path; see --print-env";
            return Ok(self.turned_away(started, route, StatusCode::NOT_FOUND, why));
        };
        let is_bypassed =
            head.headers.get(headers::BYPASS).is_some_and(|value| value == "1") || is_signed(&head.headers);
        let is_foreign = pages::is_of_a_foreign_page(&head.headers);
        headers::for_upstream(&mut head.headers);
        let judgement = Judgement::without_report(Outcome::Passed);
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let (of, waited) = (self.use_of(), Duration::ZERO);
        let mut outgoing = Outgoing { number, attempt: 1, started, route, head, address, judgement, of, waited };
        let payload = match route {
            Route::Pass => Payload::Streaming(body.map_err(Into::into).boxed_unsync()),
            Route::Ask(_) | Route::Count(_) if is_foreign => {
                Payload::Streaming(body.map_err(Into::into).boxed_unsync())
            }
            Route::Count(_) if is_bypassed => Payload::Streaming(body.map_err(Into::into).boxed_unsync()),
            Route::Ask(_) | Route::Count(_) => match self.judge(&mut outgoing, body, is_bypassed).await {
                Ok(payload) => payload,
                Err(NotRead::Silent) => {
                    let why = "the body did not come to its end";
                    return Ok(self.turned_away(started, route, StatusCode::REQUEST_TIMEOUT, why));
                }
                Err(NotRead::Broken) => {
                    let why = "the body is no body of HTTP";
                    return Ok(self.turned_away(started, route, StatusCode::BAD_REQUEST, why));
                }
            },
        };
        if let Some(refused) = self.decided(&outgoing) {
            Recorder::new(self, &outgoing, payload.bodies()).was_refused(refused.status().as_u16());
            return Ok(refused);
        }
        self.send(outgoing, payload).await
    }

    /// Answers on a connection that came after the end began: pages alone.
    pub(crate) async fn answer_late(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> std::result::Result<Response<Body>, BrokeOff> {
        let (head, _) = request.into_parts();
        match Page::of(head.uri.path()) {
            Some(page) => Ok(self.page(page, &head).await),
            None => Ok(refusal(None, StatusCode::SERVICE_UNAVAILABLE, "the proxy is about to end")),
        }
    }

    /// Says that the end has begun.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Waits until log and capture are written, but not for long.
    pub(crate) fn flush(&self) {
        self.log.flush();
        if let Some(capture) = &self.capture {
            capture.flush();
        }
    }

    /// Refuses before anything was judged.
    fn turned_away(&self, started: Instant, route: Route, status: StatusCode, why: &str) -> Response<Body> {
        let request = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        self.log.write(&Line::turned_away(request, route, status.as_u16(), started.elapsed()));
        refusal(route.format(), status, why)
    }

    /// Says whether a request may be meant for us: where only this machine connects, it names this machine.
    fn is_meant(&self, head: &Parts) -> bool {
        let is_remote = self.config.allow_remote || !self.config.listen.ip().is_loopback();
        is_remote || pages::is_for_this_machine(&head.headers, head.uri.authority())
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.config.client_token else { return true };
        let given = headers.get(headers::TOKEN).map(HeaderValue::as_bytes).unwrap_or_default();
        // Takes as long whichever byte is wrong.
        given.len() == token.len() && given.iter().zip(token.as_bytes()).fold(0, |wrong, (a, b)| wrong | (a ^ b)) == 0
    }

    /// Reads a body and judges it.
    async fn judge(
        &self,
        outgoing: &mut Outgoing,
        body: Incoming,
        is_bypassed: bool,
    ) -> std::result::Result<Payload, NotRead> {
        let (received, held) = match self.reader.read(body).await? {
            Received::Whole(received, held) => (received, held),
            Received::Streaming(body, _) if is_bypassed => return Ok(Payload::Streaming(body)),
            Received::Streaming(body, why) => {
                outgoing.judgement = Judgement::without_report(Outcome::Doubted(doubted(why)));
                self.note(&outgoing.judgement);
                return Ok(Payload::Streaming(body));
            }
        };
        let mut held = vec![held];
        if is_bypassed {
            self.passes(outgoing.route, Encoding::of(&outgoing.head.headers), &received);
            return Ok(Payload::Whole(Whole { received, plain: None, _held: held }));
        }
        let asked = Instant::now();
        let plain = self.plain(&outgoing.head.headers, &received, &mut held).await;
        outgoing.judgement = match (&plain, outgoing.route) {
            (Ok(plain), Route::Ask(format)) => self.compactor.judge(format, Purpose::Ask, plain.clone()).await,
            (Ok(plain), Route::Count(format)) => self.compactor.judge(format, Purpose::Count, plain.clone()).await,
            (Ok(_), Route::Pass) => Judgement::without_report(Outcome::Passed),
            (Err(why), _) => Judgement::without_report(Outcome::Doubted(*why)),
        };
        outgoing.waited = asked.elapsed();
        self.note(&outgoing.judgement);
        Ok(Payload::Whole(Whole { received, plain: plain.ok(), _held: held }))
    }

    /// Takes the encoding off, on a thread where there is one, and takes memory for what is made of the body.
    async fn plain(
        &self,
        headers: &HeaderMap,
        received: &Bytes,
        held: &mut Vec<Held>,
    ) -> std::result::Result<Bytes, Doubted> {
        let plain = match Encoding::of(headers).ok_or(Doubted::Encoding)? {
            Encoding::Identity => received.clone(),
            encoding => {
                let (reader, received) = (self.reader.clone(), received.clone());
                let decoded = self.compactor.within_time(move || reader.decoded(encoding, &received)).await?;
                let (plain, more) = decoded.map_err(doubted)?;
                held.push(more);
                plain
            }
        };
        held.push(self.reader.room_for(&plain).map_err(doubted)?);
        Ok(plain)
    }

    /// Remembers what `/healthz` tells.
    fn note(&self, judgement: &Judgement) {
        if let Outcome::Doubted(why) = judgement.outcome {
            let mut newest = self.fallback.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *newest = Some((why.name(), Instant::now()));
        }
        match (judgement.outcome, &judgement.edited) {
            (Outcome::Doubted(Doubted::Archive), _) => self.is_archive_failing.store(true, Ordering::Relaxed),
            // It is handed out only where its originals were stored.
            (_, Some(_)) => self.is_archive_failing.store(false, Ordering::Relaxed),
            (_, None) => {}
        }
    }

    /// Refuses what is in doubt, where that was asked for.
    fn refused(&self, outgoing: &Outgoing) -> Option<Response<Body>> {
        if self.config.doubt == Doubt::Original || self.config.effect == Effect::Shadow {
            return None;
        }
        let (status, why) = match outgoing.judgement.outcome {
            Outcome::Unchanged | Outcome::Compacted | Outcome::Passed => return None,
            Outcome::CannotFit => (StatusCode::PAYLOAD_TOO_LARGE, "the body cannot be made to fit"),
            Outcome::Doubted(why) => (status_of(why), why.phrase()),
        };
        let mut response = refusal(outgoing.route.format(), status, why);
        answer::mark(response.headers_mut(), &outgoing.judgement, outgoing.of);
        Some(response)
    }

    fn use_of(&self) -> Use {
        match self.config.effect {
            Effect::Send => Use::Sent,
            Effect::Shadow => Use::Reported,
        }
    }
}

/// What is only reported is entered nowhere.
fn entering(rules: Rules, effect: Effect) -> Rules {
    match effect {
        Effect::Send => rules,
        Effect::Shadow => rules.without_entries(),
    }
}

/// Why the original goes out of a body that is not looked at.
fn doubted(why: Unread) -> Doubted {
    match why {
        Unread::Encoding => Doubted::Encoding,
        Unread::TooLarge => Doubted::TooLarge,
        Unread::Busy => Doubted::Busy,
    }
}

/// What a client hears where doubt is refused.
fn status_of(why: Doubted) -> StatusCode {
    match why {
        Doubted::Body | Doubted::Model => StatusCode::BAD_REQUEST,
        Doubted::Encoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Doubted::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Doubted::Archive | Doubted::Verify | Doubted::Busy | Doubted::TimeLimit | Doubted::Stopped => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

/// Says whether a model is to be asked over a WebSocket, into which nobody here looks: its client then asks by HTTP.
fn is_for_a_socket(head: &Parts) -> bool {
    let is_asking = matches!(Route::of(&Method::POST, head.uri.path()), Route::Ask(_));
    let is_handshake = head.method == Method::GET
        && headers::lists(&head.headers, &CONNECTION, "upgrade")
        && headers::lists(&head.headers, &UPGRADE, "websocket");
    is_asking && is_handshake
}

/// Says whether the body is signed in the headers, so that no byte of it may change.
fn is_signed(headers: &HeaderMap) -> bool {
    let is_aws = headers.get(AUTHORIZATION).is_some_and(|value| value.as_bytes().starts_with(b"AWS4-"));
    is_aws || ["content-digest", "content-md5", "digest"].iter().any(|name| headers.contains_key(*name))
}
