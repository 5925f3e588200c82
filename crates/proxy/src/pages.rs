//! What does the proxy say of itself? `/healthz`, and the pages below `/liveset/`.
//!
//! Figures and hashes alone, for programs on this machine; no page of the web may read them.

use hyper::{
    HeaderMap, Response, StatusCode, Uri,
    header::{HOST, HeaderValue, ORIGIN},
    http::uri::Authority,
};
use liveset_archive::SqliteArchive;
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

/// Says whether a request names this machine as its host: a page of the web reaches us by a name that only pretends so.
pub(crate) fn is_for_this_machine(headers: &HeaderMap, authority: Option<&Authority>) -> bool {
    let named = headers.get(HOST).and_then(|value| value.to_str().ok()?.parse::<Authority>().ok());
    authority.cloned().or(named).is_some_and(|authority| is_loopback(authority.host()))
}

/// Says whether a page of another machine asks. What it sends is nobody's conversation here.
pub(crate) fn is_of_a_foreign_page(headers: &HeaderMap) -> bool {
    let host = |value: &HeaderValue| value.to_str().ok()?.parse::<Uri>().ok()?.host().map(str::to_owned);
    headers.get_all(ORIGIN).iter().any(|value| !host(value).is_some_and(|host| is_loopback(&host)))
}

/// Says whether a request may see our pages: it comes from this machine, and from no page at all.
pub(crate) fn is_local(headers: &HeaderMap, authority: Option<&Authority>) -> bool {
    !headers.contains_key(ORIGIN) && is_for_this_machine(headers, authority)
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Looks whether an archive takes what is written, by writing.
pub(crate) fn probe(archive: &SqliteArchive) -> Result<(), String> {
    archive.probe().map_err(|error| liveset_archive::one_line(&error.to_string()))
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
pub(crate) fn sessions(rows: &[crate::conversations::Row]) -> Response<Body> {
    of_text(StatusCode::OK, JSON, json!({ "sessions": rows }).to_string() + "\n")
}

/// Says no.
pub(crate) fn refused(status: StatusCode, why: &str) -> Response<Body> {
    of_text(status, TEXT, format!("{why}\n"))
}

#[cfg(test)]
mod tests {
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
    fn pages_of_other_machines_are_told_from_those_of_this_one() {
        let is_foreign = |origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            is_of_a_foreign_page(&headers)
        };
        for origin in ["https://evil.example", "http://localhost.evil.example", "null", "http://localhost@evil.example"]
        {
            assert!(is_foreign(origin), "{origin}");
        }
        for origin in ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:3000"] {
            assert!(!is_foreign(origin), "{origin}");
        }
        assert!(!is_of_a_foreign_page(&HeaderMap::new()));
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
