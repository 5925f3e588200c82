//! How long does the proxy run, and for how many at a time? Accepts, limits, drains.
//!
//! What is done with a request is `exchange`'s business.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    runtime,
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::{
    config::ProxyConfig,
    connection::Guarded,
    error::{Error, Result},
    exchange::Exchange,
    rules::Rules,
};

/// How long the head of a request may take, and how long a connection may wait for its next one.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// Bytes of a head; also what is read of a body at a time.
const READ_BYTES: usize = 256 << 10;
/// Requests at one time on a connection of HTTP/2.
const MAX_STREAMS: u32 = 256;
/// Bytes of the headers of a request of HTTP/2.
const MAX_HEADER_BYTES: u32 = 64 << 10;
/// How often a connection of HTTP/2 is asked whether it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// How long a lack of descriptors or memory is waited out before the next client is looked for.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);
/// Connections that are still taken while answers end: for those who watch over the proxy.
const LATE_CONNECTIONS: usize = 16;
/// How long what is cut off may take to end.
const END_TIME: Duration = Duration::from_secs(1);
/// How long answers may take that are under way when the proxy ends: a long answer of a model.
const DRAIN_TIME: Duration = Duration::from_secs(300);

/// A proxy that clients can already connect to.
pub struct Proxy {
    listener: std::net::TcpListener,
    address: SocketAddr,
    connections: usize,
    exchange: Arc<Exchange>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Listens where the settings say; port 0 means any free one.
    ///
    /// ```
    /// use liveset::Policy;
    /// use liveset_proxy::{Proxy, ProxyConfig, Rules};
    /// let mut config = ProxyConfig::default();
    /// config.listen = "127.0.0.1:0".parse()?;
    /// let proxy = Proxy::bind(config, Rules::new(Policy::default()))?;
    /// assert!(proxy.url().starts_with("http://127.0.0.1:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Settings that cannot hold together, an address that is taken, a log that cannot be written.
    pub fn bind(config: ProxyConfig, rules: Rules) -> Result<Self> {
        let config = config.checked()?;
        let fail = |why| Error::Listen { address: config.listen, why };
        let listener = std::net::TcpListener::bind(config.listen).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let connections = config.connections;
        Ok(Self { listener, address, connections, exchange: Arc::new(Exchange::new(config, rules)?) })
    }

    /// Gives the base URL that clients are told.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves until `stop` is ready, then lets answers end that are under way, unless `hurry` is ready first.
    ///
    /// ```
    /// use liveset::Policy;
    /// use liveset_proxy::{Proxy, ProxyConfig, Rules};
    /// let mut config = ProxyConfig::default();
    /// config.listen = "127.0.0.1:0".parse()?;
    /// let proxy = Proxy::bind(config, Rules::new(Policy::default()))?;
    /// proxy.serve(std::future::ready(()), std::future::pending())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Runtime`].
    pub fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
        hurry: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let fail = |why| Error::Runtime { why };
        let runtime =
            runtime::Builder::new_multi_thread().thread_name("liveset-proxy").enable_all().build().map_err(fail)?;
        let exchange = self.exchange.clone();
        let served = runtime.block_on(self.run(stop, hurry));
        // What is cut off here still writes its line.
        runtime.shutdown_timeout(END_TIME);
        exchange.flush();
        served
    }

    async fn run(self, stop: impl Future<Output = ()>, hurry: impl Future<Output = ()>) -> Result<()> {
        let listener = TcpListener::from_std(self.listener).map_err(|why| Error::Runtime { why })?;
        let graceful = GracefulShutdown::new();
        let builder = builder();
        let accepting = accept(&listener, self.connections, |stream, permit| {
            let exchange = self.exchange.clone();
            let service = service_fn(move |request: Request<Incoming>| exchange.clone().answer(request));
            let connection = builder.serve_connection(TokioIo::new(Guarded::new(stream)), service).into_owned();
            until_gone(graceful.watch(connection), permit);
        });
        tokio::select! {
            () = accepting => {}
            () = stop => {}
        }
        self.exchange.drain();
        // Whoever watches over the proxy still learns what it does.
        let watching = accept(&listener, LATE_CONNECTIONS, |stream, permit| {
            let exchange = self.exchange.clone();
            let service = service_fn(move |request: Request<Incoming>| exchange.clone().answer_late(request));
            until_gone(builder.serve_connection(TokioIo::new(Guarded::new(stream)), service).into_owned(), permit);
        });
        tokio::select! {
            () = graceful.shutdown() => {}
            () = watching => {}
            () = tokio::time::sleep(DRAIN_TIME) => {}
            () = hurry => {}
        }
        Ok(())
    }
}

/// Accepts so many connections at a time, for as long as it is asked.
async fn accept(listener: &TcpListener, connections: usize, mut serve: impl FnMut(TcpStream, OwnedSemaphorePermit)) {
    let connections = Arc::new(Semaphore::new(connections));
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else { return };
        // What fails here is one connection, or a lack of descriptors that passes.
        match listener.accept().await {
            Ok((stream, _)) => serve(stream, permit),
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

/// Serves a connection to its end.
fn until_gone<E>(
    connection: impl Future<Output = std::result::Result<(), E>> + Send + 'static,
    permit: OwnedSemaphorePermit,
) {
    tokio::spawn(async move {
        let _permit = permit;
        // A client that goes away in the middle is no failure of ours.
        let _ = connection.await;
    });
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(READ_BYTES)
        .preserve_header_case(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_BYTES)
        .keep_alive_interval(KEEP_ALIVE)
        .adaptive_window(true);
    builder
}
