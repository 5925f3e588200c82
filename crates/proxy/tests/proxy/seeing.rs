//! What the proxy tells of itself: figures and hashes, never content or credentials.

use liveset::WireFormat;
use serde_json::Value;

use crate::{
    bodies::Conversation,
    place::Setup,
    upstream::{Upstream, json},
};

const SECRET: &str = "Authorization: Bearer sk-very-secret-0123456789abcdef\r\nx-api-key: another-secret\r\n";

fn answering() -> Upstream {
    Upstream::new(|_| {
        vec![json(
            200,
            r#"{"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5}}"#,
        )]
    })
}

#[test]
fn the_log_tells_what_was_done_and_nothing_that_was_said() {
    let upstream = answering();
    let mut setup = Setup::to(&upstream);
    setup.config.log = Some(setup.path("proxy.jsonl"));
    let mut place = setup.start();
    let conversation = Conversation::of(WireFormat::Anthropic);
    for rounds in [2, 40] {
        place.client().post(conversation.path(), SECRET, &conversation.body(rounds));
    }
    place.client().post("/v1/messages/count_tokens", SECRET, b"not json");
    place.ended();
    let text = std::fs::read_to_string(place.path("proxy.jsonl")).unwrap();
    for said in ["secret", "parser", "cargo test", "checked", "not json"] {
        assert!(!text.contains(said), "{said}");
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [policy, small, large, odd] = lines.as_slice() else { panic!("{text}") };
    assert_eq!(policy["decides"]["settings"]["window"], 20_000);
    assert_eq!((&policy["decides"]["archive"], &policy["decides"]["contract"]), (&true.into(), &0.into()));
    assert_eq!((small["outcome"].as_str(), large["outcome"].as_str()), (Some("unchanged"), Some("compacted")));
    assert_eq!(large["policy"], policy["policy"]);
    assert_eq!(large["output"], liveset_archive::output_hash(&upstream.seen()[1].body));
    assert_eq!(large["conversation"], small["conversation"]);
    assert_eq!(
        large["edits"].as_array().unwrap().len(),
        large["edits"].as_array().unwrap().iter().filter(|edit| edit["original"].is_string()).count()
    );
    assert_eq!(
        (large["upstream_input_tokens"].as_u64(), large["upstream_cached_tokens"].as_u64()),
        (Some(100), Some(90))
    );
    assert_eq!((large["stop"].as_str(), large["ended"].as_str()), (Some("end_turn"), Some("whole")));
    assert_eq!(odd["fallback"], "body");
}

#[test]
fn a_capture_holds_the_traffic_without_its_credentials() {
    let upstream = answering();
    let mut setup = Setup::to(&upstream);
    setup.config.capture = Some(setup.path("capture"));
    let mut place = setup.start();
    let conversation = Conversation::of(WireFormat::Anthropic);
    let body = conversation.body(40);
    place.client().post(conversation.path(), SECRET, &body);
    place.ended();
    let mut files: Vec<_> =
        std::fs::read_dir(place.path("capture")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let names: Vec<String> =
        files.iter().map(|path| path.to_str().unwrap().split_once("-000001.").unwrap().1.to_owned()).collect();
    assert_eq!(names, ["answer", "answer.head.json", "request.head.json", "request.json", "sent.json"]);
    let read = |at: usize| std::fs::read(&files[at]).unwrap();
    assert_eq!((read(3), read(4)), (body, upstream.newest().body));
    assert!(read(0).starts_with(b"{\"stop_reason\""));
    for (at, name) in names.iter().enumerate() {
        assert!(!String::from_utf8(read(at)).unwrap().contains("secret"), "{name}");
    }
}

/// What a capture holds, by the ends of its files' names.
fn captured(place: &crate::place::Place) -> std::collections::BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(place.path("capture")).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().1.to_owned();
        (name, std::fs::read(path).unwrap())
    });
    named.collect()
}

#[test]
fn a_capture_shows_no_key_of_an_answer_or_of_a_compressed_body() {
    const KEY: &str = "sk-ant-api03-a1b2c3d4e5f6a1b2c3d4e5f6";
    let packed = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let told = format!("{{\"content\":\"the key is {KEY}\"}}");
    let answer = packed(&told);
    let upstream = Upstream::lenient(move |_| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: zstd\r\nContent-Length:";
        let head = format!("{head} {}\r\n\r\n", answer.len());
        vec![crate::upstream::Step::Write([head.as_bytes(), &answer].concat())]
    });
    let mut setup = Setup::to(&upstream);
    setup.config.capture = Some(setup.path("capture"));
    let mut place = setup.start();
    let body = format!(r#"{{"model":"gpt-4.1","messages":[{{"role":"user","content":"{KEY}"}}]}}"#);
    place.client().post("/v1/chat/completions", "Content-Encoding: zstd\r\n", &packed(&body));
    place.ended();
    let files = captured(&place);
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    assert!(text("000001.request.json").contains("sk-xxx") && text("000001.answer").contains("the key is sk-xxx"));
    assert!(files.values().all(|bytes| !String::from_utf8_lossy(bytes).contains("a1b2c3d4")));
}

#[test]
fn a_capture_keeps_both_attempts_apart() {
    let told = r#"{"error":{"message":"prompt is too long: 15000 tokens > 8000 maximum"}}"#;
    let upstream = Upstream::new(move |request| match request.body.len() {
        0..30_000 => crate::upstream::fine(request),
        _ => vec![json(400, told)],
    });
    let mut setup = Setup::to(&upstream);
    setup.config.capture = Some(setup.path("capture"));
    let mut place = setup.start();
    let conversation = Conversation::of(WireFormat::Anthropic);
    place.client().post(conversation.path(), "", &conversation.body(40));
    place.ended();
    let files = captured(&place);
    assert_eq!(files["000001.answer"], told.as_bytes());
    assert_eq!(files["000001-2.sent.json"], upstream.newest().body);
    assert_eq!(files["000001-2.request.json"], conversation.body(40));
}

#[test]
fn metrics_and_sessions_count_what_happened() {
    let upstream = answering();
    let place = Setup::to(&upstream).start();
    let conversation = Conversation::of(WireFormat::Anthropic);
    for rounds in 35..41 {
        place.client().post(conversation.path(), "", &conversation.body(rounds));
    }
    let page = place.client().get("/liveset/metrics");
    assert!(page.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = String::from_utf8(page.body).unwrap();
    assert!(text.ends_with("# EOF\n"));
    assert_eq!(place.metric("liveset_requests_total{format=\"anthropic\",outcome=\"compacted\"}"), 6);
    assert_eq!(place.metric("liveset_upstream_cached_tokens_total"), 6 * 90);
    assert!(place.metric("liveset_tokens_in_total") > place.metric("liveset_tokens_out_total"));
    assert_eq!(place.metric("liveset_added_seconds_count"), 6);
    let told: Value = serde_json::from_slice(&place.client().get("/liveset/sessions").body).unwrap();
    let sessions = told["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["requests"], 6);
}

#[test]
fn a_call_made_again_after_its_result_was_cut_is_counted_once() {
    let upstream = answering();
    let place = Setup::to(&upstream).start();
    let conversation = Conversation::of(WireFormat::Anthropic);
    let mut body: Value = serde_json::from_slice(&conversation.body(40)).unwrap();
    place.client().post(conversation.path(), "", body.to_string().as_bytes());
    let messages = body["messages"].as_array_mut().unwrap();
    let mut again = messages[1].clone();
    again["content"][1]["id"] = "toolu_again".into();
    let mut result = messages[2].clone();
    result["content"][0]["tool_use_id"] = "toolu_again".into();
    messages.extend([again, result]);
    for _ in 0..2 {
        place.client().post(conversation.path(), "", body.to_string().as_bytes());
    }
    let told: Value = serde_json::from_slice(&place.client().get("/liveset/sessions").body).unwrap();
    let figures = &told["sessions"][0]["reacquisition"];
    assert_eq!((figures["repeated"].as_u64(), figures["recalled"].as_u64()), (Some(1), Some(0)), "{told}");
    assert!(figures["cost_tokens"].as_u64().unwrap() > 100 && figures["saved_tokens"].as_u64().unwrap() > 10_000);
    assert_eq!(told["sessions"][0]["by_tool"]["Bash"]["repeated"], 1);
    assert_eq!(place.metric("liveset_reacquisitions_total{way=\"repeated\"}"), 1);
}

#[test]
fn pages_are_for_this_machine_and_for_those_who_know_the_token() {
    let upstream = answering();
    let mut setup = Setup::to(&upstream);
    setup.config.client_token = Some("letters".to_owned());
    let place = setup.start();
    let get = |headers: &str| {
        let mut client = place.client();
        client.write(format!("GET /liveset/sessions HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();
        client.answer().unwrap().status()
    };
    assert_eq!(get("Host: localhost\r\nx-liveset-token: letters\r\n"), 200);
    assert_eq!(get("Host: localhost\r\n"), 401);
    assert_eq!(get("Host: evil.example\r\nx-liveset-token: letters\r\n"), 403);
    assert_eq!(get("Host: localhost\r\nOrigin: http://evil.example\r\nx-liveset-token: letters\r\n"), 403);
    let body = Conversation::of(WireFormat::Anthropic).body(1);
    assert_eq!(place.client().post("/v1/messages", "", &body).status(), 401);
    assert_eq!(place.client().post("/v1/messages", "x-liveset-token: letters\r\n", &body).status(), 200);
    assert_eq!(upstream.newest().header("x-liveset-token"), None, "the token stays here");
}

#[test]
fn a_page_of_the_web_gets_no_further_than_without_us() {
    let upstream = answering();
    let place = Setup::to(&upstream).start();
    let conversation = Conversation::of(WireFormat::Anthropic);
    let body = conversation.body(40);
    let post = |host: &str, headers: &str| {
        let head =
            format!("POST /v1/messages HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        let mut client = place.client();
        client.write(&[head.as_bytes(), &body].concat()).unwrap();
        client.answer().unwrap()
    };
    assert_eq!(post("evil.example", "").status(), 403);
    assert!(upstream.seen().is_empty(), "a name that only pretends to be this machine reaches nobody");
    let answer = post("localhost", "Origin: https://evil.example\r\n");
    assert_eq!((answer.status(), answer.header("x-liveset-outcome")), (200, Some("passed")));
    assert_eq!(upstream.newest().body, body, "nothing of it was cut");
    let told: Value = serde_json::from_slice(&place.client().get("/liveset/sessions").body).unwrap();
    assert_eq!(told["sessions"].as_array().unwrap().len(), 0, "nor remembered");
    let answer = post("localhost", "Origin: http://localhost:3000\r\n");
    assert_eq!(answer.header("x-liveset-outcome"), Some("compacted"));
}

#[test]
fn what_is_refused_has_its_line_in_the_log_too() {
    let upstream = answering();
    let mut setup = Setup::to(&upstream);
    setup.config.log = Some(setup.path("proxy.jsonl"));
    setup.config.client_token = Some("letters".to_owned());
    setup.config.doubt = liveset_proxy::Doubt::Refuse;
    let mut place = setup.start();
    assert_eq!(place.client().post("/v1/messages", "", b"{}").status(), 401);
    assert_eq!(place.client().post("/v1/messages", "x-liveset-token: letters\r\n", b"not json").status(), 400);
    place.ended();
    let text = std::fs::read_to_string(place.path("proxy.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines.iter().map(|line| (line["status"].as_u64(), line["ended"].as_str())).collect();
    assert_eq!(told, [(Some(401), Some("refused")), (Some(400), Some("refused"))], "{text}");
    assert_eq!((&lines[1]["fallback"], &lines[1]["output"]), (&"body".into(), &Value::Null));
}
