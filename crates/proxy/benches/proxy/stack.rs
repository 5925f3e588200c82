//! Client, upstream, raw pass-through and proxies, all on hyper, all in this process.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt::Write as _,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use http_body_util::{BodyExt as _, Full, channel::Channel, combinators::BoxBody};
use hyper::{
    Request, Response, Uri,
    body::{Bytes, Incoming},
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use liveset::{Policy, SqliteArchive, WireFormat};
use liveset_proxy::{Proxy, ProxyConfig, Rules, UpstreamConfig};
use tokio::{net::TcpListener, runtime::Runtime};

/// A way to the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Line {
    /// None in between.
    Direct,
    /// A pass-through that looks at nothing and hands each frame on as it comes.
    Raw,
    /// The same, but the request goes on once all of it is there: the least that whoever decides by the whole body can do.
    Buffered,
    /// The proxy, where everything fits.
    Roomy,
    /// The proxy, with a window for a third of a body of so many bytes.
    Proxy(usize),
    /// The same with an archive.
    Stored(usize),
}

/// How the upstream answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answering {
    Whole,
    Stream,
}

type HttpClient = Client<HttpConnector, Full<Bytes>>;

/// A client on one line.
pub(crate) struct Connected {
    client: HttpClient,
    address: SocketAddr,
}

/// Everything that runs.
pub(crate) struct Stack {
    runtime: Runtime,
    upstream: SocketAddr,
    raw: SocketAddr,
    buffered: SocketAddr,
    proxies: Mutex<BTreeMap<Line, SocketAddr>>,
    newest: Arc<Mutex<[usize; 4]>>,
    folder: tempfile::TempDir,
}

/// A conversation of about so many bytes.
pub(crate) struct Conversation {
    bytes: usize,
    number: usize,
}

/// Bytes of one round in a body, about.
const ROUND_BYTES: usize = 4_400;

impl Conversation {
    pub(crate) fn of(bytes: usize, number: usize) -> Self {
        Self { bytes, number }
    }

    pub(crate) fn rounds(&self) -> usize {
        self.bytes / ROUND_BYTES
    }

    /// The body after so many rounds, each a call and its result.
    pub(crate) fn body(&self, rounds: usize, answering: Answering) -> Bytes {
        let stream = answering == Answering::Stream;
        let mut body = format!(
            r#"{{"model":"gpt-4.1","stream":{stream},"messages":[{{"role":"user","content":"task {}"}}"#,
            self.number
        );
        for round in 0..rounds {
            let _ = write!(
                body,
                r#",{{"role":"assistant","content":"Step {round}.","tool_calls":[{{"id":"call_{round}","type":"function","function":{{"name":"shell","arguments":"{{\"command\":\"make part_{round}\"}}"}}}}]}}"#
            );
            let _ = write!(body, r#",{{"role":"tool","tool_call_id":"call_{round}","content":""#);
            for line in 0..86 {
                let seed = (round * 86 + line) * 2_654_435_761 % 99_991;
                let _ = write!(body, r"part {round} line {line}: value {seed} was checked twice\n");
            }
            body.push_str(r#""}"#);
        }
        body.push_str("]}");
        body.into()
    }
}

impl Stack {
    pub(crate) fn start() -> Self {
        let runtime = Runtime::new().expect("a runtime starts");
        let newest = Arc::new(Mutex::new([0; 4]));
        let upstream = runtime.block_on(serve(upstream(newest.clone())));
        let raw = runtime.block_on(serve(raw(upstream)));
        let buffered = runtime.block_on(serve(buffered(upstream)));
        let folder = tempfile::tempdir().expect("there is room for an archive");
        Self { runtime, upstream, raw, buffered, proxies: Mutex::default(), newest, folder }
    }

    pub(crate) fn connect(&self, line: Line) -> Connected {
        let address = match line {
            Line::Direct => self.upstream,
            Line::Raw => self.raw,
            Line::Buffered => self.buffered,
            Line::Roomy | Line::Proxy(_) | Line::Stored(_) => self.proxy(line),
        };
        Connected { client: client(), address }
    }

    pub(crate) fn post(&self, line: &mut Connected, body: Bytes, answering: Answering) {
        let uri: Uri = format!("http://{}/v1/chat/completions", line.address).parse().expect("an address");
        let request = Request::post(uri).body(Full::new(body)).expect("a request");
        self.runtime.block_on(async {
            let mut answer = line.client.request(request).await.expect("an answer").into_body();
            if answering == Answering::Stream {
                answer.frame().await.expect("a first frame").expect("a frame");
            } else {
                answer.collect().await.expect("a body");
            }
        });
    }

    /// Looks whether the newest four requests reached the upstream as they should: alike, or the last one cut.
    pub(crate) fn check_newest(&self, is_cut: bool) {
        let [direct, raw, buffered, proxied] = *self.newest.lock().expect("nobody stopped");
        assert_eq!([direct; 2], [raw, buffered]);
        assert_eq!(proxied < direct, is_cut, "{direct} bytes came as {proxied}");
    }

    fn proxy(&self, line: Line) -> SocketAddr {
        let mut proxies = self.proxies.lock().expect("nobody stopped");
        *proxies.entry(line).or_insert_with(|| self.start_proxy(line))
    }

    fn start_proxy(&self, line: Line) -> SocketAddr {
        let mut config = ProxyConfig::default();
        config.listen = "127.0.0.1:0".parse().expect("an address");
        let mut every = UpstreamConfig::new("", format!("http://{}", self.upstream));
        every.formats = vec![WireFormat::OpenaiChat];
        config.upstream = vec![every];
        let mut policy = Policy::default();
        policy.window = Some(match line {
            Line::Proxy(bytes) | Line::Stored(bytes) => bytes as u64 / 8,
            Line::Direct | Line::Raw | Line::Buffered | Line::Roomy => 10_000_000,
        });
        let mut rules = Rules::new(policy);
        if let Line::Stored(bytes) = line {
            let place = self.folder.path().join(format!("{bytes}.db"));
            let archive = Arc::new(SqliteArchive::open(place).expect("an archive"));
            rules = rules.with_archive(archive.clone(), archive);
        }
        let proxy = Proxy::bind(config, rules).expect("the proxy starts");
        let address = proxy.url().trim_start_matches("http://").parse().expect("an address");
        std::thread::spawn(|| proxy.serve(std::future::pending(), std::future::pending()));
        address
    }
}

pub(crate) fn client() -> HttpClient {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).build(connector)
}

type Answer = Response<BoxBody<Bytes, hyper::Error>>;

/// Serves with whatever answers requests.
pub(crate) async fn serve<F>(answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static) -> SocketAddr
where
    F: Future<Output = Answer> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let answer = answer.clone();
            let service = service_fn(move |request| {
                let answered = answer(request);
                async move { Ok::<_, Infallible>(answered.await) }
            });
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

/// Reads a body to its end, notes its size, and answers.
fn upstream(
    newest: Arc<Mutex<[usize; 4]>>,
) -> impl Fn(Request<Incoming>) -> std::pin::Pin<Box<dyn Future<Output = Answer> + Send>> + Clone {
    move |request| {
        let newest = newest.clone();
        Box::pin(async move {
            let body = request.into_body().collect().await.expect("a body").to_bytes();
            let is_stream =
                body.get(..64).is_some_and(|start| start.windows(13).any(|part| part == b"\"stream\":true"));
            {
                let mut newest = newest.lock().expect("nobody stopped");
                *newest = [newest[1], newest[2], newest[3], body.len()];
            }
            if is_stream {
                let (mut frames, body) = Channel::new(1);
                tokio::spawn(async move {
                    let _ = frames.send_data(Bytes::from_static(b"data: {\"choices\":[]}\n\n")).await;
                });
                let mut answer = Response::new(body.boxed());
                answer
                    .headers_mut()
                    .insert("content-type", hyper::header::HeaderValue::from_static("text/event-stream"));
                return answer;
            }
            let told = Bytes::from_static(b"{\"usage\":{\"prompt_tokens\":1}}");
            Response::new(Full::new(told).map_err(|never| match never {}).boxed())
        })
    }
}

/// Hands everything on as it comes.
fn raw(
    upstream: SocketAddr,
) -> impl Fn(Request<Incoming>) -> std::pin::Pin<Box<dyn Future<Output = Answer> + Send>> + Clone {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<HttpConnector, Incoming> = Client::builder(TokioExecutor::new()).build(connector);
    move |request| {
        let client = client.clone();
        Box::pin(async move {
            client.request(readdressed(request, upstream)).await.expect("an answer").map(|body| body.boxed())
        })
    }
}

/// Reads a request to its end, and hands it on then.
fn buffered(
    upstream: SocketAddr,
) -> impl Fn(Request<Incoming>) -> std::pin::Pin<Box<dyn Future<Output = Answer> + Send>> + Clone {
    let client = client();
    move |request| {
        let client = client.clone();
        Box::pin(async move {
            let (head, body) = readdressed(request, upstream).into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            let request = Request::from_parts(head, Full::new(body));
            client.request(request).await.expect("an answer").map(|body| body.boxed())
        })
    }
}

fn readdressed(mut request: Request<Incoming>, upstream: SocketAddr) -> Request<Incoming> {
    let path = request.uri().path().to_owned();
    *request.uri_mut() = format!("http://{upstream}{path}").parse().expect("an address");
    request.headers_mut().remove("host");
    request
}
