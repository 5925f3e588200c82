//! When the upstream or the client breaks off, the other one sees what it would have seen without us.

use liveset::WireFormat;

use crate::{
    bodies::Conversation,
    place::Setup,
    upstream::{Step, Upstream, chunk, fine, json, stream_end, stream_head},
};

const SMALL: &[u8] = br#"{"model":"gpt-4.1","stream":true,"messages":[{"role":"user","content":"a"}]}"#;
const PATH: &str = "/v1/chat/completions";

#[test]
fn a_break_before_or_in_the_head_breaks_the_clients_connection() {
    for steps in [vec![Step::Break], vec![Step::Write(b"HTTP/1.1 200 OK\r\nContent-Ty".to_vec()), Step::Break]] {
        let upstream = Upstream::new(move |_| steps.clone());
        let place = Setup::to(&upstream).start();
        let mut client = place.client();
        client.send(PATH, "", SMALL);
        assert!(client.answer().is_none(), "no answer is made up");
        assert_eq!(place.metric("liveset_broken_answers_total{reason=\"upstream_broke_off\"}"), 1);
        assert_eq!(place.client().get("/healthz").status(), 200);
    }
}

#[test]
fn a_break_in_the_body_breaks_the_clients_body_there() {
    let upstream = Upstream::new(|_| vec![stream_head(), chunk(b"data: 1\n\n"), Step::Wait, Step::Break]);
    let place = Setup::to(&upstream).start();
    let mut client = place.client();
    client.send(PATH, "", SMALL);
    upstream.wait_for(1);
    upstream.go_on();
    let answer = client.answer().unwrap();
    assert_eq!((answer.status(), answer.body.as_slice(), answer.is_whole), (200, &b"data: 1\n\n"[..], false));
    assert_eq!(place.metric("liveset_broken_answers_total{reason=\"broken\"}"), 1);
}

#[test]
fn a_break_in_an_error_leaves_the_client_what_came_of_it() {
    let head = b"HTTP/1.1 400 Told\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let upstream =
        Upstream::new(|_| vec![Step::Write(head.to_vec()), chunk(b"{\"error\":{\"mess"), Step::Wait, Step::Break]);
    let place = Setup::to(&upstream).start();
    let mut client = place.client();
    client.send(PATH, "", SMALL);
    upstream.wait_for(1);
    upstream.go_on();
    let answer = client.answer().unwrap();
    assert_eq!((answer.status(), answer.body.as_slice(), answer.is_whole), (400, &b"{\"error\":{\"mess"[..], false));
}

#[test]
fn where_the_shorter_request_breaks_the_first_answer_reaches_the_client() {
    let told = r#"{"error":{"message":"prompt is too long: 15000 tokens > 8000 maximum"}}"#;
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let upstream = Upstream::new(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => vec![json(400, told)],
        _ => vec![Step::Break],
    });
    let place = Setup::to(&upstream).start();
    let conversation = Conversation::of(WireFormat::OpenaiChat);
    let answer = place.client().post(conversation.path(), "", &conversation.body(40));
    assert_eq!((answer.status(), answer.body.as_slice()), (400, told.as_bytes()));
    assert!(upstream.seen().len() > 1, "it was tried");
    assert_eq!(place.metric("liveset_requests_in_flight"), 0);
}

#[test]
fn an_upstream_that_cannot_be_reached_is_said_in_the_vendors_words() {
    // Port 1 of this machine: nobody listens there.
    let place = Setup::to_url("http://127.0.0.1:1").start();
    let answer = place.client().post("/v1/messages", "", SMALL);
    assert_eq!(answer.status(), 502);
    let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(told["error"]["type"], "api_error");
}

#[test]
fn a_client_that_goes_away_takes_its_request_back() {
    let silent = Upstream::new(|_| vec![Step::Wait, json(200, "{}")]);
    let talking = Upstream::new(|_| vec![stream_head(), chunk(b"data: 1\n\n"), Step::Wait, stream_end()]);
    for upstream in [silent, talking] {
        let place = Setup::to(&upstream).start();
        let mut client = place.client();
        client.send(PATH, "", SMALL);
        upstream.wait_for(1);
        drop(client);
        upstream.wait_for_gone(1);
        assert_eq!(place.client().get("/healthz").status(), 200);
        assert_eq!(place.metric("liveset_broken_answers_total{reason=\"gone\"}"), 1);
        assert_eq!(place.metric("liveset_requests_in_flight"), 0);
    }
}

#[test]
fn answers_under_way_end_when_the_proxy_is_asked_to_end() {
    let upstream =
        Upstream::new(|_| vec![stream_head(), chunk(b"data: 1\n\n"), Step::Wait, chunk(b"data: 2\n\n"), stream_end()]);
    let mut place = Setup::to(&upstream).start();
    let mut client = place.client();
    client.send(PATH, "", SMALL);
    upstream.wait_for(1);
    place.stop();
    place.wait_for_draining();
    assert_eq!(place.client().post(PATH, "", SMALL).status(), 503, "nothing new is begun");
    upstream.go_on();
    let answer = client.answer().unwrap();
    assert_eq!((answer.body.as_slice(), answer.is_whole), (&b"data: 1\n\ndata: 2\n\n"[..], true));
    place.ended();
}

#[test]
fn a_full_disk_sends_the_original_and_the_next_request_is_as_good_as_new() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.capacity = Some(1);
    let place = setup.start();
    let conversation = Conversation::of(WireFormat::OpenaiResponses);
    for rounds in [40, 41] {
        let body = conversation.body(rounds);
        let answer = place.client().post(conversation.path(), "", &body);
        assert_eq!(answer.header("x-liveset-fallback"), Some("archive"));
        assert_eq!(upstream.newest().body, body, "nothing is cut whose original is not stored");
        let health = place.client().get("/healthz");
        assert_eq!(health.status(), 503);
        assert!(String::from_utf8(health.body).unwrap().contains("\"degraded\""));
    }
}
