//! How does a client reach the server? Standard input and output, or streamable HTTP on this machine.

use std::{convert::Infallible, future::Future, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Empty, combinators::BoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::AUTHORIZATION,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::{
    ServiceExt as _,
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use tokio::{net::TcpListener, runtime, sync::Semaphore};

use crate::{
    error::{Error, Result},
    server::Server,
};

/// Where on an HTTP server the protocol is spoken.
pub const HTTP_PATH: &str = "/mcp";

/// Connections at one time: agents of one machine. Others wait to be accepted.
const MAX_CONNECTIONS: usize = 64;
/// Bytes of a request: a question, never a text.
const MAX_REQUEST_BYTES: usize = 64 << 10;
/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a request may take in all, its body and a search of a large archive included.
const REQUEST_TIME: Duration = Duration::from_secs(60);
/// How long a lack of descriptors or memory is waited out before the next client is looked for.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Serves the client at standard input and output until it closes them.
///
/// # Errors
///
/// [`Error::Handshake`] when the client begins otherwise than the protocol says; [`Error::Runtime`].
pub fn serve_stdio(server: Server) -> Result<()> {
    run(async {
        let running = server.serve(stdio()).await.map_err(|error| Error::Handshake { why: error.to_string() })?;
        running.waiting().await.map(|_| ()).map_err(|error| Error::Runtime { why: error.into() })
    })
}

/// An address that clients can already connect to.
#[derive(Debug)]
pub struct Listener {
    listener: std::net::TcpListener,
    address: SocketAddr,
    token: Option<String>,
}

impl Listener {
    /// Listens on an address of this machine's own; port 0 means any free one.
    ///
    /// # Errors
    ///
    /// [`Error::NotLocal`] where others could connect: whoever reaches the server can read the archive.
    /// [`Error::Listen`] where the address is taken or not ours.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        if !address.ip().is_loopback() {
            return Err(Error::NotLocal { address });
        }
        let fail = |why| Error::Listen { address, why };
        let listener = std::net::TcpListener::bind(address).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        Ok(Self { listener, address, token: None })
    }

    /// Answers only requests that carry this as their bearer token. Without one every user of the machine is answered.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Gives the URL that clients are configured with.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{HTTP_PATH}", self.address)
    }
}

/// Serves streamable HTTP until `stop` is ready.
///
/// Requests of web pages are refused by their `Origin`, and names other than this machine's own by their `Host`: else
/// any page that the user opens could read the archive. The server keeps no conversation between requests.
///
/// # Errors
///
/// [`Error::Runtime`].
pub fn serve_http(server: &Server, listener: Listener, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    run(http(server, listener, stop))
}

async fn http(server: &Server, listener: Listener, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    let hosts = [listener.address.ip().to_string(), "localhost".to_owned()];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_REQUEST_BYTES);
    let all_ended = config.cancellation_token.clone();
    let server = server.clone();
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    let token: Option<Arc<str>> = listener.token.map(Into::into);
    let listener = TcpListener::from_std(listener.listener).map_err(|why| Error::Runtime { why })?;
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let accepting = async {
        loop {
            let Ok(permit) = connections.clone().acquire_owned().await else { return };
            // What fails here is one connection, or a lack of descriptors that passes.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            };
            let (service, token) = (service.clone(), token.clone());
            let answer = service_fn(move |request: Request<Incoming>| {
                let (service, token) = (service.clone(), token.clone());
                async move {
                    if request.uri().path() != HTTP_PATH {
                        return Ok::<_, Infallible>(empty(StatusCode::NOT_FOUND));
                    }
                    if token.is_some_and(|token| !carries(&request, &token)) {
                        return Ok(empty(StatusCode::UNAUTHORIZED));
                    }
                    let answered = tokio::time::timeout(REQUEST_TIME, service.handle(request)).await;
                    Ok(answered.unwrap_or_else(|_| empty(StatusCode::REQUEST_TIMEOUT)))
                }
            });
            tokio::spawn(async move {
                let _permit = permit;
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
                // A client that goes away in the middle is no failure of ours.
                let _ = builder.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop => {}
    }
    all_ended.cancel();
    Ok(())
}

fn empty(status: StatusCode) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = status;
    response
}

/// Says whether a request carries the token; takes as long whichever byte is wrong.
fn carries(request: &Request<Incoming>, token: &str) -> bool {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let given = given.unwrap_or_default();
    given.len() == token.len() && given.iter().zip(token.as_bytes()).fold(0, |wrong, (a, b)| wrong | (a ^ b)) == 0
}

/// Runs until the future is done. What still reads then is left behind: nobody waits for its answer, and a read of
/// standard input cannot be called off.
fn run(served: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build().map_err(|why| Error::Runtime { why })?;
    let done = runtime.block_on(served);
    runtime.shutdown_background();
    done
}
