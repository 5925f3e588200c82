//! Which headers go on, and which belong to one connection alone?
//!
//! Changes no value of what goes on.

use hyper::{
    HeaderMap,
    header::{
        CONNECTION, EXPECT, HOST, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
    },
};

/// Asks for one request to go through as it is; never sent on.
pub(crate) const BYPASS: HeaderName = HeaderName::from_static("x-liveset-bypass");
/// Says who may use the proxy; never sent on.
pub(crate) const TOKEN: HeaderName = HeaderName::from_static("x-liveset-token");

/// Headers that mean one connection (RFC 9110, 7.6.1), and `expect`, which was answered when the body was read.
const OF_THE_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    EXPECT,
];

/// Takes out what belongs to the client's connection, and what is meant for the proxy.
pub(crate) fn for_upstream(headers: &mut HeaderMap) {
    for_next_hop(headers);
    for name in [HOST, BYPASS, TOKEN] {
        headers.remove(name);
    }
}

/// Takes out what belongs to one connection, the headers that `connection` names included.
pub(crate) fn for_next_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_THE_CONNECTION) {
        headers.remove(name);
    }
}

/// Says whether a header that is a list holds an element, in whichever of its lines.
pub(crate) fn lists(headers: &HeaderMap, name: &HeaderName, element: &str) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|value| value.split(',')).any(|found| found.trim().eq_ignore_ascii_case(element))
}

#[cfg(test)]
mod tests {
    use hyper::header::{AUTHORIZATION, HeaderValue};

    use super::*;

    #[test]
    fn what_connection_names_stays_behind_and_the_rest_goes_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "x-hop, keep-alive"),
            ("x-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("host", "localhost:8787"),
            ("x-liveset-bypass", "1"),
            ("authorization", "Bearer secret"),
            ("anthropic-beta", "a,b"),
            ("trailer", "x-sum"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        for_upstream(&mut headers);
        let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["anthropic-beta", AUTHORIZATION.as_str(), "trailer"]);
    }
}
