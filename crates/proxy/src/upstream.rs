//! Where does a request go, and over which client? Prefixes, vendors, connections.
//!
//! Knows no body and changes no header: it puts a base in front of a path and sends.

use std::time::Duration;

use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap, Request, Response, Uri, Version,
    body::{Bytes, Incoming},
    http::uri::Scheme,
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use liveset::WireFormat;

use crate::{
    config::{ProxyConfig, UpstreamConfig},
    error::{Error, Result},
    routes::Route,
};

/// What a body may fail with.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// A body on its way, of either direction.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// How long a connection may take: a vendor is far, a name server slow, and a client asks again.
const CONNECT_TIME: Duration = Duration::from_secs(15);
/// How long an idle connection is kept; vendors close theirs after about a minute.
const IDLE_TIME: Duration = Duration::from_secs(50);
/// Idle connections to one place: as many as parallel agents of one machine use.
const IDLE_CONNECTIONS: usize = 64;
/// How often a silent connection is probed, so that a lost one is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// The vendors that are known without a setting.
const VENDORS: [(&str, &str, &[WireFormat]); 2] = [
    ("/anthropic", "https://api.anthropic.com", &[WireFormat::Anthropic]),
    ("/openai", "https://api.openai.com", &[WireFormat::OpenaiChat, WireFormat::OpenaiResponses]),
];

/// Makes a body of bytes that are there already.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Places that requests go to.
#[derive(Debug)]
pub(crate) struct Upstreams {
    places: Vec<Place>,
}

/// One place.
#[derive(Clone, Debug)]
struct Place {
    prefix: String,
    base: Uri,
    formats: Vec<WireFormat>,
}

impl Upstreams {
    /// Puts the places of the settings before the vendors that are known.
    pub(crate) fn of(config: &ProxyConfig) -> Result<Self> {
        let vendors = VENDORS.iter().map(|(prefix, base_url, formats)| UpstreamConfig {
            prefix: (*prefix).to_owned(),
            base_url: (*base_url).to_owned(),
            formats: formats.to_vec(),
        });
        let places = config.upstream.iter().cloned().chain(vendors).map(|upstream| {
            let base = base_of(&upstream.base_url)?;
            Ok(Place { prefix: upstream.prefix, base, formats: upstream.formats })
        });
        Ok(Self { places: places.collect::<Result<_>>()? })
    }

    /// Finds the address that a request goes to, and the path by which its route is told.
    ///
    /// Without a prefix the dialect decides; where the path names none, the headers that only one vendor's clients send.
    pub(crate) fn address(&self, uri: &Uri, route: Route, headers: &HeaderMap) -> Option<Uri> {
        let (place, path) = match self.by_prefix(uri.path()) {
            Some(found) => found,
            None => {
                let format = route.format().unwrap_or_else(|| vendor_of(headers));
                (self.places.iter().find(|place| place.formats.contains(&format))?, uri.path())
            }
        };
        place.address(path, uri.query())
    }

    fn by_prefix<'u>(&self, path: &'u str) -> Option<(&Place, &'u str)> {
        let named = self.places.iter().filter(|place| !place.prefix.is_empty());
        let fitting = named.filter_map(|place| Some((place, path.strip_prefix(&place.prefix)?)));
        fitting.filter(|(_, rest)| rest.is_empty() || rest.starts_with('/')).max_by_key(|(place, _)| place.prefix.len())
    }
}

impl Place {
    fn address(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let mut whole = format!("{}{path}", self.base.path().trim_end_matches('/'));
        if let Some(query) = query {
            whole.push('?');
            whole.push_str(query);
        }
        let mut parts = self.base.clone().into_parts();
        parts.path_and_query = Some(if whole.is_empty() { "/".parse().ok()? } else { whole.parse().ok()? });
        Uri::from_parts(parts).ok()
    }
}

/// Whose client sends these headers, where the path does not tell.
fn vendor_of(headers: &HeaderMap) -> WireFormat {
    let is_anthropic = headers.contains_key("anthropic-version") || headers.contains_key("x-api-key");
    if is_anthropic { WireFormat::Anthropic } else { WireFormat::OpenaiChat }
}

fn base_of(base_url: &str) -> Result<Uri> {
    let wrong = || Error::Setting {
        key: "upstream.base_url",
        found: format!("`{base_url}`"),
        expected: "an address such as `https://api.openai.com`",
    };
    let uri: Uri = base_url.parse().map_err(|_| wrong())?;
    let is_http = uri.scheme().is_some_and(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
    if is_http && uri.authority().is_some() && uri.query().is_none() { Ok(uri) } else { Err(wrong()) }
}

/// Sends requests over pooled connections, HTTP/1.1 or 2 as the other side speaks.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    client: Client<HttpsConnector<HttpConnector>, Body>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nobody could be reached: the client is told so.
    Unreachable,
    /// The connection broke: the client's breaks too, as it would have without us.
    Broken,
}

impl Sender {
    /// Makes a client that trusts whom this machine trusts.
    pub(crate) fn new() -> Result<Self> {
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
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_preserve_header_case(true)
            .http2_adaptive_window(true)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .build(https);
        Ok(Self { client })
    }

    /// Sends a request and gives the answer's head; its body comes as it comes.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> std::result::Result<Response<Incoming>, NoAnswer> {
        // Which version is spoken is settled when connecting.
        *request.version_mut() = Version::HTTP_11;
        self.client.request(request).await.map_err(|error| match error.is_connect() {
            true => NoAnswer::Unreachable,
            false => NoAnswer::Broken,
        })
    }
}

#[cfg(test)]
mod tests {
    use hyper::Method;

    use super::*;

    fn upstreams() -> Upstreams {
        let mut config = ProxyConfig::default();
        config.upstream.push(UpstreamConfig::new("/local", "http://127.0.0.1:8080"));
        config.upstream.push(UpstreamConfig::new("/router", "https://router.example/api/"));
        Upstreams::of(&config).unwrap()
    }

    fn check(path: &str, headers: &HeaderMap, address: &str) {
        let uri: Uri = path.parse().unwrap();
        let route = Route::of(&Method::POST, uri.path());
        assert_eq!(upstreams().address(&uri, route, headers).unwrap().to_string(), address);
    }

    #[test]
    fn a_path_without_a_prefix_goes_to_the_vendor_of_its_dialect() {
        let none = HeaderMap::new();
        check("/v1/messages?beta=true", &none, "https://api.anthropic.com/v1/messages?beta=true");
        check("/v1/responses", &none, "https://api.openai.com/v1/responses");
        check("/v1/models", &none, "https://api.openai.com/v1/models");
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", hyper::header::HeaderValue::from_static("2023-06-01"));
        check("/v1/models", &headers, "https://api.anthropic.com/v1/models");
    }

    #[test]
    fn a_prefix_is_taken_off_and_a_base_put_in_front() {
        let none = HeaderMap::new();
        check("/local/v1/messages", &none, "http://127.0.0.1:8080/v1/messages");
        check("/router/v1/chat/completions", &none, "https://router.example/api/v1/chat/completions");
        check("/openai/v1/responses", &none, "https://api.openai.com/v1/responses");
        check("/localhost/v1/responses", &none, "https://api.openai.com/localhost/v1/responses");
    }

    #[test]
    fn a_base_must_be_an_address_of_http() {
        for wrong in ["api.openai.com", "ftp://a", "/v1", "https://a/?b"] {
            assert!(base_of(wrong).is_err(), "{wrong}");
        }
    }
}
