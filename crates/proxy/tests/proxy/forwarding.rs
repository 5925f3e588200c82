//! What goes through goes through as it is: headers, bodies, frames, in both directions.

use std::io::Write as _;

use liveset::WireFormat;

use crate::{
    bodies::Conversation,
    place::{Place, Setup},
    upstream::{Step, Upstream, chunk, fine, json, stream_end, stream_head},
};

/// A body with everything that a careless reader would write otherwise, and too small to be cut.
const ODD: &[u8] = b" {\"model\":\"gpt-4.1\", \"x\":1E+2,\"x\":1.10,\"big\":36893488147419103233,\t\"messages\":[{\"role\":\"user\",\"content\":\"\\u00fc \\/ \\ud83d\"}]}\r\n";

#[test]
fn what_needs_no_cut_leaves_to_the_byte() {
    let upstream = Upstream::lenient(fine);
    let place = Setup::to(&upstream).start();
    let answer = place.client().post("/v1/chat/completions?a=b%20c", "", ODD);
    let seen = upstream.newest();
    assert_eq!(seen.body, ODD);
    assert_eq!(seen.first, "POST /v1/chat/completions?a=b%20c HTTP/1.1");
    assert_eq!(seen.header("content-length").unwrap(), ODD.len().to_string());
    assert_eq!(answer.header("x-liveset-outcome"), Some("unchanged"));
    assert_eq!(answer.header("x-upstream"), Some("yes"));
    assert_eq!(answer.body, br#"{"usage":{"input_tokens":7,"output_tokens":2}}"#);
}

#[test]
fn headers_reach_the_upstream_as_they_were_written_but_for_those_of_the_connection() {
    let upstream = Upstream::lenient(fine);
    let place = Setup::to(&upstream).start();
    let headers = "anthropic-Beta: a, b\r\nX-API-Key: secret\r\naNtHrOpIc-VeRsIoN: 2023-06-01\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Twice: 1\r\nX-Twice: 2\r\nx-liveset-bypass: 1\r\n";
    place.client().post("/v1/messages", headers, b"{}");
    let seen = upstream.newest();
    let names: Vec<&str> = seen.headers.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["anthropic-Beta", "X-API-Key", "aNtHrOpIc-VeRsIoN", "X-Twice"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert_eq!(seen.header("anthropic-beta"), Some("a, b"));
    assert_eq!(names.iter().filter(|name| **name == "X-Twice").count(), 2);
    for gone in ["x-hop", "x-liveset-bypass"] {
        assert_eq!(seen.header(gone), None, "{gone}");
    }
    assert_eq!(seen.header("host"), Some(upstream.address.as_str()), "the upstream's own name");
}

#[test]
fn a_cut_body_has_the_length_it_has() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    for format in WireFormat::ALL {
        let conversation = Conversation::of(format);
        let body = conversation.body(40);
        let answer = place.client().post(conversation.path(), "", &body);
        assert_eq!(
            answer.header("x-liveset-outcome"),
            Some("compacted"),
            "{format:?} {:?}",
            answer.header("x-liveset-fallback")
        );
        let seen = upstream.newest();
        assert!(seen.is_whole && seen.body.len() < body.len());
        assert_eq!(seen.header("content-length").unwrap(), seen.body.len().to_string());
        // What is not cut is what it was: the odd numbers in front, the line end behind.
        let start = br#"{"temperature": 1.0,"seed":36893488147419103233, "#;
        assert!(seen.body.starts_with(start) && seen.body.ends_with(b"}\n"));
        let (before, after) = answer.header("x-liveset-tokens").unwrap().split_once(" -> ").unwrap();
        assert!(after.parse::<u64>().unwrap() < before.parse::<u64>().unwrap());
    }
}

#[test]
fn compressed_bodies_are_understood_and_leave_untouched_where_nothing_is_cut() {
    let upstream = Upstream::new(|_| vec![json(200, "{}")]);
    let place = Setup::to(&upstream).start();
    let conversation = Conversation::of(WireFormat::OpenaiChat);
    let gzip = |body: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |body: &[u8]| zstd::encode_all(body, 3).unwrap();
    let plain = |rounds| conversation.body(rounds);
    place.client().post(conversation.path(), "", &plain(40));
    let cut = upstream.newest().body;
    for (name, small, large) in
        [("gzip", gzip(&plain(1)), gzip(&plain(40))), ("zstd", zstd(&plain(1)), zstd(&plain(40)))]
    {
        let header = format!("Content-Encoding: {name}\r\n");
        // The upstream here reads no compressed bodies: paths it does not know are not looked at.
        place.client().post("/openai-like/chat/completions", &header, &small);
        let seen = upstream.newest();
        assert_eq!((&seen.body, seen.header("content-encoding")), (&small, Some(name)));
        let answer = place.client().post(conversation.path(), &header, &large);
        assert_eq!(answer.header("x-liveset-outcome"), Some("compacted"));
        let seen = upstream.newest();
        assert_eq!((&seen.body, seen.header("content-encoding")), (&cut, None), "{name}");
    }
    let answer = place.client().post("/x/chat/completions", "Content-Encoding: compress\r\n", b"whatever");
    assert_eq!(answer.header("x-liveset-fallback"), Some("encoding"));
    assert_eq!(upstream.newest().body, b"whatever");
}

#[test]
fn events_reach_the_client_when_they_come_and_as_they_come() {
    let pieces: [&[u8]; 4] =
        [b"event: a\r\ndata: {\"x\":\"\xe2", b"\x86\x92\"}\r\n\r\n", b": ping\n\n", b"event: unheard_of\ndata: 1\n\n"];
    let upstream = Upstream::new(move |_| {
        let mut steps = vec![stream_head()];
        for piece in pieces {
            steps.extend([chunk(piece), Step::Wait]);
        }
        steps.push(stream_end());
        steps
    });
    let place = Setup::to(&upstream).start();
    let mut client = place.client();
    client.send(
        "/v1/messages",
        "",
        b"{\"model\":\"claude-sonnet-4-5\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
    );
    // Each piece is read before the upstream may write the next: nothing waits for more.
    let mut read = Vec::new();
    let mut one = [0];
    let mut wanted = 0;
    for piece in pieces {
        wanted += piece.len();
        let came = |read: &[u8]| read.windows(4).position(|end| end == b"\r\n\r\n").map(|at| body_len(&read[at + 4..]));
        while came(&read).is_none_or(|bytes| bytes < wanted) {
            std::io::Read::read_exact(&mut client.stream, &mut one).unwrap();
            read.push(one[0]);
        }
        upstream.go_on();
    }
    let mut whole = std::io::BufReader::new(std::io::Read::chain(&read[..], client.stream));
    let answer = crate::wire::Message::read(&mut whole).unwrap();
    assert_eq!(answer.body, pieces.concat());
    assert_eq!(answer.chunks, pieces.map(<[u8]>::len));
    assert!(answer.is_whole);
}

/// Bytes of a chunked body that came so far.
fn body_len(mut chunks: &[u8]) -> usize {
    let mut sum = 0;
    while let Some(at) = chunks.windows(2).position(|end| end == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&chunks[..at]).unwrap(), 16).unwrap();
        let Some(rest) = chunks.get(at + 2 + size + 2..) else { break };
        sum += size;
        chunks = rest;
    }
    sum
}

#[test]
fn answers_stay_compressed() {
    let zstd = zstd::encode_all(&b"{\"usage\":{\"input_tokens\":11}}"[..], 3).unwrap();
    let body = zstd.clone();
    let upstream = Upstream::lenient(move |_| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: zstd\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        vec![Step::Write([head.as_bytes(), &body].concat())]
    });
    let place = Setup::to(&upstream).start();
    let answer = place.client().post("/v1/chat/completions", "", ODD);
    assert_eq!((&answer.body, answer.header("content-encoding")), (&zstd, Some("zstd")));
    assert_eq!(place.metric("liveset_upstream_input_tokens_total"), 11, "a copy was read");
}

#[test]
fn everything_else_passes() {
    let upstream = Upstream::lenient(|request| {
        assert!(request.first.starts_with("GET /v1/models?limit=1 "));
        vec![json(404, "no such thing")]
    });
    let place = Setup::to(&upstream).start();
    let answer = place.client().get("/v1/models?limit=1");
    assert_eq!((answer.status(), answer.body.as_slice()), (404, &b"no such thing"[..]));
    assert_eq!(answer.header("x-liveset-outcome"), Some("passed"));
}

#[test]
fn a_body_in_chunks_passes_with_any_method() {
    let upstream = Upstream::lenient(fine);
    let place = Setup::to(&upstream).start();
    for method in ["GET", "DELETE", "PUT"] {
        let mut client = place.client();
        let head = format!("{method} /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.write(&[head.as_bytes(), b"5\r\nabcde\r\n0\r\n\r\n"].concat()).unwrap();
        assert_eq!(client.answer().unwrap().status(), 200);
        assert_eq!(upstream.newest().body, b"abcde", "{method}");
    }
}

#[test]
fn errors_of_the_upstream_are_the_clients() {
    for (status, body) in [
        (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#),
        (429, "{}"),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#),
    ] {
        let upstream = Upstream::lenient(move |_| vec![json(status, body)]);
        let place = Setup::to(&upstream).start();
        let answer = place.client().post("/v1/chat/completions", "", ODD);
        assert_eq!((answer.status(), answer.body.as_slice()), (status, body.as_bytes()));
        assert_eq!(upstream.seen().len(), 1, "nothing is asked again");
    }
}

#[test]
fn tokens_are_counted_of_the_body_that_would_be_sent() {
    let upstream = Upstream::new(|_| vec![json(200, r#"{"input_tokens":9}"#)]);
    let place = Setup::to(&upstream).start();
    let conversation = Conversation::of(WireFormat::Anthropic);
    let body = conversation.body(40);
    place.client().post(conversation.path(), "", &body);
    let sent = upstream.newest().body;
    place.client().post("/v1/messages/count_tokens", "", &body);
    assert_eq!(upstream.newest().body, sent);
}

/// A request to a model with these headers, and the status of its answer.
fn asks_with(place: &Place, method: &str, path: &str, headers: &str) -> (u16, Option<String>) {
    let mut client = place.client();
    client.write(format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes()).unwrap();
    let answer = client.answer().unwrap();
    let told = (answer.status(), answer.header("upgrade").map(str::to_owned));
    assert_eq!(client.get("/healthz").status(), 200, "the connection goes on");
    told
}

#[test]
fn a_websocket_to_a_model_is_answered_so_that_its_client_asks_by_http() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    for path in ["/v1/responses", "/openai/v1/responses"] {
        for asked in [
            "Connection: Upgrade\r\nUpgrade: websocket\r\n",
            "Connection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n",
            "Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: foo, websocket\r\n",
        ] {
            let told = asks_with(&place, "GET", path, &format!("{asked}{key}"));
            assert_eq!(told, (426, Some("HTTP/1.1".to_owned())), "{path} {asked}");
        }
    }
    assert!(upstream.seen().is_empty());
}

#[test]
fn what_only_looks_like_a_websocket_passes() {
    let upstream = Upstream::lenient(fine);
    let place = Setup::to(&upstream).start();
    let passing = [
        ("GET", "/v1/responses", "Upgrade: websocket\r\n"),
        ("GET", "/v1/responses", "Connection: keep-alive\r\nUpgrade: websocket\r\n"),
        ("GET", "/v1/responses", "Connection: Upgrade\r\nUpgrade: websockets\r\n"),
        ("GET", "/v1/models", "Connection: Upgrade\r\nUpgrade: websocket\r\n"),
    ];
    for (method, path, headers) in passing {
        assert_eq!(asks_with(&place, method, path, headers), (200, None), "{headers}");
    }
    assert_eq!(upstream.seen().len(), passing.len());
}
