//! How does a request get there and back within its time? One request on a thread of its own.
//!
//! The caller waits and may itself run on any runtime; nothing is kept between requests.

use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, StatusCode, body::Bytes, header};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use liveset::SummaryError;

use crate::endpoint::{Endpoint, Error};

/// Bytes of an answer at most: a summary is short.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// Tries at most, where nobody answers or asks to come back later.
const MAX_TRIES: usize = 3;
/// Time before the second try; it doubles.
const PAUSE: Duration = Duration::from_millis(250);

/// Sends requests to one endpoint.
#[derive(Debug)]
pub(crate) struct Sender {
    connector: HttpsConnector<HttpConnector>,
}

/// What came back, or did not.
enum Tried {
    Done(Result<Bytes, SummaryError>),
    Again(SummaryError),
}

impl Sender {
    pub(crate) fn new() -> Result<Self, Error> {
        let builder = HttpsConnectorBuilder::new().with_native_roots();
        let builder = builder.map_err(|error| Error::Certificates { why: error.to_string() })?;
        Ok(Self { connector: builder.https_or_http().enable_http1().build() })
    }

    /// Posts a body, and gives that of an answer with status 200.
    pub(crate) fn post(&self, endpoint: &Endpoint, body: Vec<u8>) -> Result<Bytes, SummaryError> {
        let body = Bytes::from(body);
        let on_thread = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| SummaryError::Unreachable { why: error.to_string() })?;
            let answer = runtime.block_on(self.within_time(endpoint, body));
            // A resolver that never answers is not waited for.
            runtime.shutdown_background();
            answer
        };
        // A runtime cannot wait for another one on the same thread.
        std::thread::scope(|scope| scope.spawn(on_thread).join())
            .unwrap_or_else(|_| Err(SummaryError::Unreachable { why: "the request broke off".to_owned() }))
    }

    async fn within_time(&self, endpoint: &Endpoint, body: Bytes) -> Result<Bytes, SummaryError> {
        let seconds = endpoint.timeout.as_secs_f64().ceil() as u64;
        let tries = self.tries(endpoint, body);
        tokio::time::timeout(endpoint.timeout, tries).await.unwrap_or(Err(SummaryError::TooSlow { seconds }))
    }

    async fn tries(&self, endpoint: &Endpoint, body: Bytes) -> Result<Bytes, SummaryError> {
        let mut pause = PAUSE;
        let mut tried = 1;
        loop {
            match self.once(endpoint, body.clone()).await {
                Tried::Done(done) => return done,
                Tried::Again(why) if tried == MAX_TRIES => return Err(why),
                Tried::Again(_) => tokio::time::sleep(pause).await,
            }
            pause *= 2;
            tried += 1;
        }
    }

    async fn once(&self, endpoint: &Endpoint, body: Bytes) -> Tried {
        let unreachable = |why: &str| SummaryError::Unreachable { why: why.to_owned() };
        let request = Request::post(endpoint.uri.clone()).header(header::CONTENT_TYPE, "application/json");
        let request = match &endpoint.key {
            Some(key) => request.header(header::AUTHORIZATION, format!("Bearer {key}")),
            None => request,
        };
        let Ok(request) = request.body(Full::new(body)) else {
            return Tried::Done(Err(unreachable("the key cannot stand in a header")));
        };
        let client = Client::builder(TokioExecutor::new()).build(self.connector.clone());
        let answer = match client.request(request).await {
            Ok(answer) => answer,
            Err(error) if error.is_connect() => return Tried::Again(unreachable("no connection")),
            Err(_) => return Tried::Again(unreachable("the connection broke off")),
        };
        let status = answer.status();
        if status != StatusCode::OK {
            let why = SummaryError::Refused { why: format!("status {}", status.as_u16()) };
            let is_passing = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            return if is_passing { Tried::Again(why) } else { Tried::Done(Err(why)) };
        }
        match Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await {
            Ok(read) => Tried::Done(Ok(read.to_bytes())),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                Tried::Done(Err(SummaryError::Unusable { why: "the answer is too long to be read".to_owned() }))
            }
            Err(_) => Tried::Again(unreachable("the answer broke off")),
        }
    }
}
