//! Where there is doubt the original goes out, and says so.

use liveset::WireFormat;
use liveset_proxy::{Doubt, Effect};

use crate::{
    bodies::Conversation,
    place::{ArchiveOf, Setup},
    upstream::{Upstream, fine, json},
};

const LARGE: Conversation =
    Conversation { format: WireFormat::Anthropic, marks: crate::bodies::Marks::Off, is_streaming: false, task: "t" };

#[test]
fn what_is_no_body_of_its_format_goes_out_as_it_came() {
    let upstream = Upstream::lenient(fine);
    let place = Setup::to(&upstream).start();
    for body in [&b""[..], b"not json", b"[1,2", b"{\"messages\":7}", b"\xff\xfe"] {
        let answer = place.client().post("/v1/messages", "", body);
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.header("x-liveset-fallback"), Some("body"), "{body:?}");
        assert_eq!(upstream.newest().body, body);
    }
    assert_eq!(place.metric("liveset_fallbacks_total{reason=\"body\"}"), 5);
}

#[test]
fn an_unknown_model_passes_unless_a_window_is_set() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.policy.window = None;
    let place = setup.start();
    let body = br#"{"model":"nobodys-model","messages":[{"role":"user","content":"a"}]}"#;
    let answer = place.client().post("/v1/chat/completions", "", body);
    assert_eq!(answer.header("x-liveset-fallback"), Some("unknown_model"));
    assert_eq!(upstream.newest().body, body);
    let mut setup = Setup::to(&upstream);
    setup.policy.window = None;
    setup.policy.default_window = Some(8_000);
    let answer = setup.start().client().post("/v1/chat/completions", "", body);
    assert_eq!(answer.header("x-liveset-outcome"), Some("unchanged"));
}

#[test]
fn a_broken_archive_lets_nothing_cut_leave() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    let body = LARGE.body(40);
    assert_eq!(place.client().get("/healthz").status(), 200);
    // Whoever removes the file removes what was promised to be kept.
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(place.path(&format!("archive.db{end}")));
    }
    let answer = place.client().post(LARGE.path(), "", &body);
    assert_eq!(answer.header("x-liveset-fallback"), Some("archive"));
    assert_eq!(upstream.newest().body, body);
    let health = place.client().get("/healthz");
    assert_eq!(health.status(), 503);
    assert!(String::from_utf8(health.body).unwrap().contains("degraded"));
}

#[test]
fn what_takes_too_long_goes_out_as_it_came() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.config.time_limit_ms = 0;
    let place = setup.start();
    let body = LARGE.body(40);
    let answer = place.client().post(LARGE.path(), "", &body);
    assert_eq!(answer.header("x-liveset-fallback"), Some("time_limit"));
    assert_eq!(upstream.newest().body, body);
}

#[test]
fn what_is_too_large_to_be_looked_at_streams_through() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.config.max_body_bytes = 10_000;
    let place = setup.start();
    let body = LARGE.body(40);
    let answer = place.client().post(LARGE.path(), "", &body);
    assert_eq!(answer.header("x-liveset-fallback"), Some("too_large"));
    assert_eq!(upstream.newest().body, body);
    // The same without a length in front.
    let mut client = place.client();
    client.write(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    for piece in body.chunks(7_000) {
        client.write(&[format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()).unwrap();
    }
    client.write(b"0\r\n\r\n").unwrap();
    assert_eq!(client.answer().unwrap().header("x-liveset-fallback"), Some("too_large"));
    assert_eq!(upstream.newest().body, body);
}

#[test]
fn what_cannot_fit_leaves_as_small_as_it_lawfully_may() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.policy.window = Some(600);
    setup.policy.reserve = Some(100);
    let place = setup.start();
    let body = LARGE.body(40);
    let answer = place.client().post(LARGE.path(), "", &body);
    assert_eq!(answer.header("x-liveset-outcome"), Some("cannot_fit"));
    assert!(upstream.newest().body.len() < body.len());
    let gzip = |body: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, body).unwrap();
        encoder.finish().unwrap()
    };
    // What the user said stays, and packs well.
    let long_task = format!("\"text\":\"{}\"", "many words ".repeat(10_000));
    let wordy = String::from_utf8(body).unwrap().replacen("\"text\":\"t\"", &long_task, 1).into_bytes();
    place.client().post(LARGE.path(), "", &wordy);
    let sent = upstream.newest().body;
    let compressed = gzip(&wordy);
    assert!(compressed.len() < sent.len() && sent.len() < wordy.len());
    place.client().post(LARGE.path(), "Content-Encoding: gzip\r\n", &compressed);
    assert_eq!(upstream.newest().body, sent, "what counts is what the model reads");
    let nothing_to_take = br#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"WORDS"}]}"#;
    let text = String::from_utf8_lossy(nothing_to_take).replace("WORDS", &"many words ".repeat(1_000));
    let answer = place.client().post("/v1/messages", "", text.as_bytes());
    assert_eq!(answer.header("x-liveset-outcome"), Some("cannot_fit"));
    assert_eq!(upstream.newest().body, text.as_bytes());
}

#[test]
fn strict_refuses_what_is_in_doubt_in_the_vendors_words() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.config.doubt = Doubt::Refuse;
    let place = setup.start();
    let answer = place.client().post("/v1/messages", "", b"not json");
    assert_eq!(answer.status(), 400);
    let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((told["type"].as_str(), told["error"]["type"].as_str()), (Some("error"), Some("invalid_request_error")));
    let answer = place.client().post("/v1/responses", "", b"not json");
    let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert!(told["error"]["message"].as_str().unwrap().starts_with("liveset: "));
    assert!(upstream.seen().is_empty(), "nothing went out");
    assert_eq!(place.client().post(LARGE.path(), "", &LARGE.body(40)).status(), 200);
}

#[test]
fn a_bypass_and_a_shadow_send_the_original() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    let body = LARGE.body(40);
    let answer = place.client().post(LARGE.path(), "x-liveset-bypass: 1\r\n", &body);
    assert_eq!(answer.header("x-liveset-outcome"), Some("passed"));
    assert_eq!(upstream.newest().body, body);
    let mut setup = Setup::to(&upstream);
    setup.config.effect = Effect::Shadow;
    let shadow = setup.start();
    let answer = shadow.client().post(LARGE.path(), "", &body);
    assert_eq!((answer.header("x-liveset-outcome"), answer.header("x-liveset-shadow")), (Some("compacted"), Some("1")));
    assert_eq!(upstream.newest().body, body);
}

#[test]
fn a_signed_body_is_not_touched() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    let body = LARGE.body(40);
    let answer = place.client().post(LARGE.path(), "Authorization: AWS4-HMAC-SHA256 Credential=x\r\n", &body);
    assert_eq!(answer.header("x-liveset-outcome"), Some("passed"));
    assert_eq!(upstream.newest().body, body);
}

#[test]
fn too_long_is_asked_once_more_by_a_smaller_window_that_stays() {
    let too_long = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 15000 tokens > 8000 maximum"}}"#;
    let upstream = Upstream::new(move |request| match request.body.len() {
        0..30_000 => fine(request),
        _ => vec![json(400, too_long)],
    });
    for archive in [ArchiveOf::Folder, ArchiveOf::Nowhere] {
        let mut setup = Setup::to(&upstream);
        setup.archive = archive;
        let mut place = setup.start();
        let before = upstream.seen().len();
        let answer = place.client().post(LARGE.path(), "", &LARGE.body(40));
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.header("x-liveset-rebase"), Some("window"));
        assert_eq!(upstream.seen().len() - before, 2, "once more");
        assert_eq!(place.metric("liveset_too_long_total"), 1);
        let answer = place.client().post(LARGE.path(), "", &LARGE.body(41));
        assert_eq!(answer.status(), 200);
        assert_eq!(upstream.seen().len() - before, 3, "the next request fits at once");
        if archive == ArchiveOf::Folder {
            place.ended();
            let again = Setup::to(&upstream).beside(&place).start();
            let sent = upstream.newest().body;
            again.client().post(LARGE.path(), "", &LARGE.body(41));
            assert_eq!(upstream.newest().body, sent, "after a restart too");
        }
    }
}

#[test]
fn a_smaller_window_is_known_to_all_who_share_the_ledger() {
    let too_long = r#"{"error":{"type":"exceed_context_size_error","n_prompt_tokens":15000,"n_ctx":8000}}"#;
    let upstream = Upstream::new(move |request| match request.body.len() {
        0..30_000 => fine(request),
        _ => vec![json(400, too_long)],
    });
    let one = Setup::to(&upstream).start();
    let other = Setup::to(&upstream).beside(&one).start();
    for (place, rounds, asked) in [(&one, 5, 1), (&other, 6, 2), (&one, 40, 4), (&other, 41, 5), (&one, 42, 6)] {
        let answer = place.client().post(LARGE.path(), "", &LARGE.body(rounds));
        assert_eq!((answer.status(), upstream.seen().len()), (200, asked), "after {rounds} rounds");
    }
    assert_eq!(other.metric("liveset_too_long_total"), 0, "it knew from the ledger");
}

#[test]
fn a_count_of_tokens_takes_no_declaration_from_the_request_behind_it() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.archive = ArchiveOf::Nowhere;
    let place = setup.start();
    let count = |rounds| place.client().post("/v1/messages/count_tokens", "", &LARGE.body(rounds));
    let ask = |rounds| place.client().post(LARGE.path(), "", &LARGE.body(rounds));
    assert_eq!(count(40).header("x-liveset-rebase"), Some("no_ledger"));
    assert_eq!(ask(40).header("x-liveset-rebase"), Some("no_ledger"));
    assert_eq!(ask(41).header("x-liveset-rebase"), None);
    let mut rounds = 42;
    while count(rounds).header("x-liveset-sweep").is_none() {
        assert_eq!(ask(rounds).header("x-liveset-sweep"), None);
        rounds += 1;
    }
    assert!(ask(rounds).header("x-liveset-sweep").is_some());
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"true\"}"), 2, "the rebase and the sweep");
}

#[test]
fn an_error_that_cannot_be_helped_reaches_the_client_as_it_is() {
    let too_long =
        r#"{"error":{"message":"This model's maximum context length is 10 tokens","code":"context_length_exceeded"}}"#;
    let upstream = Upstream::new(move |_| vec![json(400, too_long)]);
    let place = Setup::to(&upstream).start();
    let body = br#"{"model":"gpt-4.1","messages":[{"role":"user","content":"a"}]}"#;
    let answer = place.client().post("/v1/chat/completions", "", body);
    assert_eq!((answer.status(), answer.body.as_slice()), (400, too_long.as_bytes()));
    assert_eq!(upstream.seen().len(), 1);
}
