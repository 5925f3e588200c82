//! Where does a request go? Prefixes and vendors.
//!
//! Knows no body and changes no header: it puts a base in front of a path.

use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{HeaderMap, Method, Uri, body::Bytes, header::AUTHORIZATION, http::uri::Scheme};
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

/// The vendors that are known without a setting.
const VENDORS: [(&str, &str, &[WireFormat]); 2] = [
    ("/anthropic", "https://api.anthropic.com", &[WireFormat::Anthropic]),
    ("/openai", "https://api.openai.com", &[WireFormat::OpenaiChat, WireFormat::OpenaiResponses]),
];

/// Makes a body of bytes that are there already.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Places that requests go to, the first that fits before the others.
#[derive(Debug)]
pub(crate) struct Upstreams {
    places: Vec<Place>,
}

/// One place.
#[derive(Clone, Debug)]
struct Place {
    kind: Kind,
    prefix: String,
    base: Uri,
    formats: Vec<WireFormat>,
}

/// Who named a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The settings.
    Set,
    /// Nobody: its prefix stands for wherever the settings send its formats.
    Vendor,
}

/// Where a request goes, and what is done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its whole address.
    pub(crate) address: Uri,
    /// What its path says behind the prefix.
    pub(crate) route: Route,
}

impl Upstreams {
    /// Puts the places of the settings before the vendors that are known.
    pub(crate) fn of(config: &ProxyConfig) -> Result<Self> {
        let set = config.upstream.iter().map(|upstream| {
            let UpstreamConfig { prefix, base_url, formats } = upstream.clone();
            Ok(Place { kind: Kind::Set, prefix, base: base_of(&base_url)?, formats })
        });
        let vendors = VENDORS.iter().map(|(prefix, base_url, formats)| {
            let prefix = (*prefix).to_owned();
            Ok(Place { kind: Kind::Vendor, prefix, base: base_of(base_url)?, formats: formats.to_vec() })
        });
        Ok(Self { places: set.chain(vendors).collect::<Result<_>>()? })
    }

    /// Finds where a request goes; `None` where nothing tells, since a key must not reach another vendor than its own.
    ///
    /// Without a prefix the dialect decides; where the path names none, the headers that only one vendor's clients send.
    pub(crate) fn find(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Found> {
        let by_prefix = self.by_prefix(uri.path());
        let path = by_prefix.map_or(uri.path(), |(_, rest)| rest);
        let route = Route::of(method, path);
        let place = match (by_prefix, route.format()) {
            (Some((place, _)), format) => match place.kind {
                Kind::Set => place,
                Kind::Vendor => {
                    let named = format.filter(|format| place.formats.contains(format));
                    self.of_format(named.or_else(|| place.formats.first().copied())?)?
                }
            },
            (None, Some(format)) => self.of_format(format)?,
            (None, None) => match vendor_of(headers) {
                Some(format) => self.of_format(format)?,
                None => self.of_all()?,
            },
        };
        Some(Found { address: place.address(path, uri.query())?, route })
    }

    fn of_format(&self, format: WireFormat) -> Option<&Place> {
        self.places.iter().find(|place| place.formats.contains(&format))
    }

    /// The place that all formats go to, where there is only one.
    fn of_all(&self) -> Option<&Place> {
        let [first, others @ ..] = WireFormat::ALL.map(|format| self.of_format(format));
        first.filter(|first| others.iter().flatten().all(|other| other.base == first.base))
    }

    /// Finds the place of the longest prefix that fits, the first of those that are as long.
    fn by_prefix<'u>(&self, path: &'u str) -> Option<(&Place, &'u str)> {
        let named = self.places.iter().filter(|place| !place.prefix.is_empty());
        let fitting = named.filter_map(|place| Some((place, path.strip_prefix(&place.prefix)?)));
        let fitting = fitting.filter(|(_, rest)| rest.is_empty() || rest.starts_with('/'));
        fitting.reduce(|best, next| if next.0.prefix.len() > best.0.prefix.len() { next } else { best })
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

/// Whose client sends these headers, where the path does not tell: by their names, else by the shape of the key.
fn vendor_of(headers: &HeaderMap) -> Option<WireFormat> {
    let has = |start: &str| headers.keys().any(|name| name.as_str().starts_with(start));
    let key = headers.get(AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let has_key = |start: &[u8]| key.is_some_and(|key| key.starts_with(start));
    match () {
        () if has("anthropic-") || has("x-api-key") || has_key(b"sk-ant-") => Some(WireFormat::Anthropic),
        () if has("openai-") || has_key(b"sk-") => Some(WireFormat::OpenaiChat),
        () => None,
    }
}

/// Reads a base; its error shows nothing in front of an `@`, which may be a password.
fn base_of(base_url: &str) -> Result<Uri> {
    let wrong = || Error::Setting {
        key: "upstream.base_url",
        found: format!("`{}`", base_url.rsplit('@').next().unwrap_or_default()),
        expected: "an address such as `https://api.openai.com`, without user and password",
    };
    let uri: Uri = base_url.parse().map_err(|_| wrong())?;
    let is_http = uri.scheme().is_some_and(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
    let is_plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    if is_http && is_plain && uri.query().is_none() { Ok(uri) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn upstreams() -> Upstreams {
        let mut config = ProxyConfig::default();
        config.upstream.push(UpstreamConfig::new("/local", "http://127.0.0.1:8080"));
        config.upstream.push(UpstreamConfig::new("/router", "https://router.example/api/"));
        Upstreams::of(&config).unwrap()
    }

    fn address(upstreams: &Upstreams, path: &str, headers: &[(&'static str, &'static str)]) -> Option<String> {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        let found = upstreams.find(&Method::POST, &path.parse().unwrap(), &headers);
        found.map(|found| found.address.to_string())
    }

    fn check(path: &str, expected: &str) {
        assert_eq!(address(&upstreams(), path, &[]).unwrap(), expected);
    }

    #[test]
    fn a_path_without_a_prefix_goes_to_the_vendor_of_its_dialect() {
        check("/v1/messages?beta=true", "https://api.anthropic.com/v1/messages?beta=true");
        check("/v1/responses", "https://api.openai.com/v1/responses");
    }

    #[test]
    fn a_path_without_a_dialect_goes_to_the_vendor_whose_client_asks_or_nowhere() {
        for headers in [
            ("anthropic-version", "2023-06-01"),
            ("anthropic-beta", "oauth"),
            ("x-api-key", "k"),
            ("authorization", "Bearer sk-ant-oat01-k"),
        ] {
            let found = address(&upstreams(), "/v1/models", &[headers]);
            assert_eq!(found.unwrap(), "https://api.anthropic.com/v1/models", "{headers:?}");
        }
        for headers in [("openai-organization", "o"), ("authorization", "Bearer sk-proj-k")] {
            let found = address(&upstreams(), "/v1/models", &[headers]);
            assert_eq!(found.unwrap(), "https://api.openai.com/v1/models", "{headers:?}");
        }
        for headers in [&[][..], &[("authorization", "Bearer ey.J.x")]] {
            assert_eq!(address(&upstreams(), "/api/oauth/usage", headers), None, "{headers:?}");
        }
    }

    #[test]
    fn a_prefix_is_taken_off_and_a_base_put_in_front() {
        check("/local/v1/messages", "http://127.0.0.1:8080/v1/messages");
        check("/router/v1/chat/completions", "https://router.example/api/v1/chat/completions");
        check("/openai/v1/responses", "https://api.openai.com/v1/responses");
        check("/openai/v1/models", "https://api.openai.com/v1/models");
        check("/anthropic/api/oauth/usage", "https://api.anthropic.com/api/oauth/usage");
        check("/localhost/v1/responses", "https://api.openai.com/localhost/v1/responses");
    }

    #[test]
    fn what_is_done_is_told_by_the_path_behind_the_prefix() {
        let route = |path: &str| {
            upstreams().find(&Method::POST, &path.parse().unwrap(), &HeaderMap::new()).map(|found| found.route)
        };
        assert_eq!(route("/local/messages"), Some(Route::Ask(WireFormat::Anthropic)));
        assert_eq!(route("/local/messages/count_tokens"), Some(Route::Count(WireFormat::Anthropic)));
        assert_eq!(route("/local/threads/t_1/messages"), Some(Route::Pass));
    }

    #[test]
    fn the_settings_come_before_the_vendors() {
        let mut config = ProxyConfig::default();
        config.upstream.push(UpstreamConfig::new("/anthropic", "https://gateway.example"));
        config.upstream.push(UpstreamConfig::new("/anthropic", "https://second.example"));
        let by_prefix = Upstreams::of(&config).unwrap();
        let found = address(&by_prefix, "/anthropic/v1/messages", &[]);
        assert_eq!(found.unwrap(), "https://gateway.example/v1/messages");
        let mut gateway = UpstreamConfig::new("", "https://gateway.example");
        gateway.formats = vec![WireFormat::Anthropic];
        config.upstream = vec![gateway];
        let by_format = Upstreams::of(&config).unwrap();
        for path in ["/v1/messages", "/anthropic/v1/messages"] {
            assert_eq!(address(&by_format, path, &[]).unwrap(), "https://gateway.example/v1/messages");
        }
        let found = address(&by_format, "/openai/v1/models", &[]);
        assert_eq!(found.unwrap(), "https://api.openai.com/v1/models");
    }

    #[test]
    fn one_place_for_all_formats_takes_every_path() {
        let mut config = ProxyConfig::default();
        let mut all = UpstreamConfig::new("", "http://127.0.0.1:8080");
        all.formats = WireFormat::ALL.to_vec();
        config.upstream = vec![all];
        let upstreams = Upstreams::of(&config).unwrap();
        assert_eq!(address(&upstreams, "/v1/models", &[]).unwrap(), "http://127.0.0.1:8080/v1/models");
    }

    #[test]
    fn a_base_must_be_an_address_of_http_and_holds_no_password() {
        for wrong in ["api.openai.com", "ftp://a", "/v1", "https://a/?b", "https://me:secret@a", "ftp://me:secret@a"] {
            let error = base_of(wrong).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
