//! What does the proxy say of itself? `/healthz`, and the pages below `/liveset/`.
//!
//! Figures and hashes alone, for programs on this machine; no page of the web may read them.

use hyper::{
    HeaderMap, Response, StatusCode,
    header::{HOST, ORIGIN},
    http::uri::Authority,
};
use liveset_archive::{SqliteArchive, output_hash};
use serde_json::json;

use crate::{answer::of_text, upstream::Body};

/// A page of the proxy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// Whether it works.
    Health,
    /// What happened so far.
    Metrics,
    /// What is remembered of conversations.
    Sessions,
    /// Below `/liveset/`, and nothing.
    Unknown,
}

/// What `/healthz` tells.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    /// Whether originals can be stored; `None` without an archive.
    pub(crate) archive: Option<Result<(), String>>,
    /// Whether no new connection is taken.
    pub(crate) is_draining: bool,
    /// The newest reason for which an original went out, and how many seconds ago.
    pub(crate) fallback: Option<(&'static str, u64)>,
    /// Requests under way.
    pub(crate) in_flight: i64,
}

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

impl Page {
    /// Finds the page of a path; `None` where it is not ours.
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path {
            "/healthz" => Some(Self::Health),
            "/liveset/metrics" => Some(Self::Metrics),
            "/liveset/sessions" => Some(Self::Sessions),
            _ if path == "/liveset" || path.starts_with("/liveset/") => Some(Self::Unknown),
            _ => None,
        }
    }
}

/// Says whether a request comes from this machine and from no page of the web: such a page has an origin, or reaches us by
/// a name that only pretends to be here.
pub(crate) fn is_local(headers: &HeaderMap, authority: Option<&Authority>) -> bool {
    if headers.contains_key(ORIGIN) {
        return false;
    }
    let named = headers.get(HOST).and_then(|value| value.to_str().ok()?.parse::<Authority>().ok());
    let Some(authority) = authority.cloned().or(named) else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Looks whether an archive takes what is written, by a row that is written once.
pub(crate) fn probe(archive: &SqliteArchive) -> Result<(), String> {
    let probed = archive.put_summary(&output_hash(b"liveset healthz"), "ok");
    probed.map(drop).map_err(|error| liveset_archive::one_line(&error.to_string()))
}

/// Tells whether the proxy works.
pub(crate) fn health(health: &Health) -> Response<Body> {
    let archive_failed = matches!(health.archive, Some(Err(_)));
    let status = match (health.is_draining, archive_failed) {
        (true, _) => "draining",
        (false, true) => "degraded",
        (false, false) => "ok",
    };
    let archive = match &health.archive {
        None => json!("off"),
        Some(Ok(())) => json!("ok"),
        Some(Err(why)) => json!({ "failed": why }),
    };
    let fallback = health.fallback.map(|(reason, ago)| json!({"reason": reason, "seconds_ago": ago}));
    let told = json!({
        "status": status,
        "archive": archive,
        "last_fallback": fallback,
        "requests_in_flight": health.in_flight,
    });
    let code = if status == "ok" { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    of_text(code, JSON, format!("{told}\n"))
}

/// Hands out the counters.
pub(crate) fn metrics(text: String) -> Response<Body> {
    of_text(StatusCode::OK, OPENMETRICS, text)
}

/// Hands out the list of conversations.
pub(crate) fn sessions(rows: &[crate::conversation::Row]) -> Response<Body> {
    of_text(StatusCode::OK, JSON, json!({ "sessions": rows }).to_string() + "\n")
}

/// Says no.
pub(crate) fn refused(status: StatusCode, why: &str) -> Response<Body> {
    of_text(status, TEXT, format!("{why}\n"))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn local(host: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static(host));
        is_local(&headers, None)
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for host in ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "LOCALHOST"] {
            assert!(local(host), "{host}");
        }
        for host in ["evil.example:8787", "127.0.0.1.evil.example", "192.168.0.1", ""] {
            assert!(!local(host), "{host}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        headers.insert(ORIGIN, HeaderValue::from_static("http://localhost"));
        assert!(!is_local(&headers, None), "a page asks");
    }

    #[test]
    fn health_tells_the_truth() {
        let mut told = Health { archive: Some(Ok(())), is_draining: false, fallback: None, in_flight: 0 };
        assert_eq!(health(&told).status(), StatusCode::OK);
        told.archive = Some(Err("disk full".into()));
        assert_eq!(health(&told).status(), StatusCode::SERVICE_UNAVAILABLE);
        told = Health { archive: None, is_draining: true, ..told };
        assert_eq!(health(&told).status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
