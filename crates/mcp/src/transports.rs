//! How does a client reach the server? Standard input and output, or streamable HTTP on this machine.

use std::{convert::Infallible, future::Future, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Empty};
use hyper::{Response, StatusCode, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use rmcp::{
    ServiceExt as _,
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use tokio::{net::TcpListener, runtime};

use crate::{
    error::{Error, Result},
    server::Server,
};

/// Where on an HTTP server the protocol is spoken.
pub const HTTP_PATH: &str = "/mcp";

/// How long a lack of descriptors or memory is waited out before the next client is looked for.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Serves the client at standard input and output until it closes them.
///
/// # Errors
///
/// [`Error::Handshake`] when the client begins otherwise than the protocol says; [`Error::Runtime`].
pub fn serve_stdio(server: Server) -> Result<()> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let running = server.serve(stdio()).await.map_err(|error| Error::Handshake { why: error.to_string() })?;
        running.waiting().await.map(|_| ()).map_err(|error| Error::Runtime { why: error.into() })
    });
    // A read of standard input cannot be called off: nobody waits for it.
    runtime.shutdown_background();
    served
}

/// An address that clients can already connect to.
#[derive(Debug)]
pub struct Listener {
    listener: std::net::TcpListener,
    address: SocketAddr,
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
        Ok(Self { listener, address })
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
/// any page that the user opens could read the archive.
///
/// # Errors
///
/// [`Error::Runtime`].
pub fn serve_http(server: &Server, listener: Listener, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    runtime()?.block_on(http(server, listener, stop))
}

async fn http(server: &Server, listener: Listener, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let all_ended = config.cancellation_token.clone();
    let server = server.clone();
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::from_std(listener.listener).map_err(|why| Error::Runtime { why })?;
    let accepting = async {
        loop {
            // What fails here is one connection, or a lack of descriptors that passes.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            };
            let service = service.clone();
            let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let service = service.clone();
                async move {
                    if request.uri().path() == HTTP_PATH {
                        return Ok::<_, Infallible>(service.handle(request).await);
                    }
                    let mut missing = Response::new(Empty::new().boxed());
                    *missing.status_mut() = StatusCode::NOT_FOUND;
                    Ok(missing)
                }
            });
            tokio::spawn(async move {
                let builder = auto::Builder::new(TokioExecutor::new());
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

fn runtime() -> Result<runtime::Runtime> {
    runtime::Builder::new_multi_thread().enable_all().build().map_err(|why| Error::Runtime { why })
}
