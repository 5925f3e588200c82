//! Over which connection does a request go? HTTP/1.1 or 2 as the other side speaks, over as many as it takes.
//!
//! A pool has one connection of HTTP/2 for each place, and whoever finds it full waits. So there are lanes, each with a pool
//! of its own and few requests at a time.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http_body_util::BodyExt as _;
use hyper::{
    Request, Response, Version,
    body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint},
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Builder, Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use crate::{
    error::{Error, Result},
    upstream::{Body, BoxError},
};

/// How long a connection may take: a vendor is far, a name server slow, and a client asks again.
const CONNECT_TIME: Duration = Duration::from_secs(15);
/// How long an idle connection is kept; vendors close theirs after about a minute.
const IDLE_TIME: Duration = Duration::from_secs(50);
/// Idle connections of one lane to one place: as many as it has requests at a time.
const IDLE_CONNECTIONS: usize = LANE_REQUESTS;
/// How often a silent connection is probed, so that a lost one is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// Requests of a lane at a time while there are lanes with fewer: some servers take no more on a connection.
const FEW_REQUESTS: usize = 4;
/// Requests of a lane at a time: fewer than any known vendor takes on a connection.
const LANE_REQUESTS: usize = 16;
/// Lanes: with their requests as many as there are connections of clients by default.
const LANES: usize = 64;
/// What of an answer over HTTP/2 may wait for its client.
const STREAM_WINDOW: u32 = 256 << 10;
/// The same for all of a connection: a client that takes nothing holds up its own answer alone.
const CONNECTION_WINDOW: u32 = STREAM_WINDOW * LANE_REQUESTS as u32;

/// Sends requests.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    lanes: Arc<[Lane]>,
}

/// A pool of connections.
#[derive(Debug)]
struct Lane {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    requests: Arc<AtomicUsize>,
}

/// A request's place in its lane, until its answer has ended.
#[derive(Debug)]
struct Slot(Arc<AtomicUsize>);

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nobody could be reached: the client is told so.
    Unreachable,
    /// The connection broke: the client's breaks too, as it would have without us.
    Broken,
}

impl Sender {
    /// Makes clients that trust whom this machine trusts.
    pub(crate) fn new() -> Result<Self> {
        Self::of(&mut Client::builder(TokioExecutor::new()))
    }

    fn of(builder: &mut Builder) -> Result<Self> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_TIME));
        http.set_keepalive(Some(KEEP_ALIVE));
        let https = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(|why| Error::NoRoots { why })?
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(http);
        builder
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_preserve_header_case(true)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .http2_keep_alive_interval(KEEP_ALIVE);
        let lane = || Lane { client: builder.build(https.clone()), requests: Arc::default() };
        Ok(Self { lanes: std::iter::repeat_with(lane).take(LANES).collect() })
    }

    /// Sends a request and gives the answer's head; its body comes as it comes.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> std::result::Result<Response<Body>, NoAnswer> {
        // Which version is spoken is settled when connecting.
        *request.version_mut() = Version::HTTP_11;
        let Some(lane) = self.lane() else { return Err(NoAnswer::Unreachable) };
        let slot = Slot::of(lane);
        let answered = lane.client.request(request).await.map_err(|error| match error.is_connect() {
            true => NoAnswer::Unreachable,
            false => NoAnswer::Broken,
        })?;
        Ok(answered.map(|body| InSlot { body, _slot: slot }.boxed_unsync()))
    }

    /// The first lane that has room, so that connections are used again; else the one with the fewest requests.
    fn lane(&self) -> Option<&Lane> {
        let load = |lane: &&Lane| lane.requests.load(Ordering::Relaxed);
        let with_room = |most: usize| self.lanes.iter().find(|lane| load(lane) < most);
        with_room(FEW_REQUESTS).or_else(|| with_room(LANE_REQUESTS)).or_else(|| self.lanes.iter().min_by_key(load))
    }
}

impl Slot {
    fn of(lane: &Lane) -> Self {
        lane.requests.fetch_add(1, Ordering::Relaxed);
        Self(lane.requests.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An answer's body, which keeps its place in the lane.
struct InSlot {
    body: Incoming,
    _slot: Slot,
}

impl HttpBody for InSlot {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use hyper::service::service_fn;
    use hyper_util::{rt::TokioIo, server::conn::auto};
    use tokio::{net::TcpListener, sync::Barrier};

    use super::*;
    use crate::upstream::whole;

    /// More than one connection of HTTP/2 takes here.
    const REQUESTS: usize = 3 * LANE_REQUESTS;

    /// An upstream of HTTP/2 that takes so many requests on a connection and answers nobody until all have come.
    async fn answering_all_at_once(streams: usize) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let all = Arc::new(Barrier::new(REQUESTS));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let all = all.clone();
                tokio::spawn(async move {
                    let mut builder = auto::Builder::new(TokioExecutor::new());
                    builder.http2().max_concurrent_streams(streams as u32);
                    let service = service_fn(move |_: Request<Incoming>| {
                        let all = all.clone();
                        async move {
                            all.wait().await;
                            Ok::<_, std::convert::Infallible>(Response::new(whole("here")))
                        }
                    });
                    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
                    let _ = connection.await;
                });
            }
        });
        format!("http://{address}/")
    }

    #[tokio::test]
    async fn a_connection_that_is_full_holds_nobody_up() {
        for streams in [LANE_REQUESTS, FEW_REQUESTS] {
            all_are_answered(streams).await;
        }
    }

    async fn all_are_answered(streams: usize) {
        let url = answering_all_at_once(streams).await;
        let sender = Sender::of(Client::builder(TokioExecutor::new()).http2_only(true)).unwrap();
        let asked: Vec<_> = (0..REQUESTS)
            .map(|_| {
                let (sender, url) = (sender.clone(), url.clone());
                tokio::spawn(async move {
                    let answered = sender.send(Request::get(url).body(whole("")).unwrap()).await.unwrap();
                    answered.into_body().collect().await.unwrap().to_bytes()
                })
            })
            .collect();
        for asked in asked {
            let answer = tokio::time::timeout(Duration::from_secs(60), asked).await;
            assert_eq!(answer.expect("one waited for another").unwrap(), "here");
        }
        assert!(sender.lanes.iter().all(|lane| lane.requests.load(Ordering::Relaxed) == 0));
    }
}
