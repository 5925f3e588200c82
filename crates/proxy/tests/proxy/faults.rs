//! Kinds 11 to 13 of the fault catalogue, over HTTP: order and roles, the prompt cache, streams and values in transit.

use std::{fs, path::PathBuf};

use liveset::WireFormat;
use serde_json::Value;

use crate::{
    bodies::{Conversation, Marks},
    place::{Place, Setup},
    upstream::{Upstream, chunk, fine, stream_end, stream_head},
};

/// The bodies of a case, in the order of their names.
fn bodies(format: WireFormat, number: &str) -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(format.name());
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let is_case = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{number}-"));
    let folder = folders.into_iter().find(is_case).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
    files.sort();
    files.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A proxy with a budget as the cases state them: all of it is used before anything goes.
fn place(upstream: &Upstream, budget: u64) -> Place {
    let mut setup = Setup::to(upstream);
    setup.policy.window = Some(budget);
    setup.policy.reserve = Some(0);
    setup.policy.trigger = 100;
    setup.policy.target = 100;
    setup.policy.min_sweep_gain = 0;
    setup.start()
}

fn sent(upstream: &Upstream, place: &Place, path: &str, body: &[u8]) -> Vec<u8> {
    let answer = place.client().post(path, "", body);
    assert_eq!((answer.status(), answer.header("x-liveset-fallback")), (200, None));
    upstream.newest().body
}

fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

#[test]
fn f53_f54_f55_rules_roles_and_shapes_stay() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    for format in WireFormat::ALL {
        let conversation = Conversation::of(format);
        let body = conversation.body(40);
        let out = sent(&upstream, &place, conversation.path(), &body);
        assert!(out.len() < body.len());
        let (before, after) = (read(&body), read(&out));
        for field in ["system", "instructions", "tools", "model", "stream", "seed", "temperature"] {
            assert_eq!(before[field], after[field], "{field}");
        }
        let (before, after) = (conversation.pieces(&body), conversation.pieces(&out));
        let chain = |pieces: &[Value]| -> Vec<Value> {
            let said = pieces.iter().filter(|piece| piece["role"] == "system" || piece["role"] == "user");
            said.filter(|piece| !piece.to_string().contains("tool_result")).cloned().collect()
        };
        assert_eq!(chain(&before), chain(&after), "what system and user said");
        let first = after.iter().find(|piece| piece["role"] != "system").unwrap();
        assert_eq!(first["role"], "user");
        // Lists of blocks stay lists, and results stay results.
        let shape = |piece: &Value| (piece["role"].clone(), piece["type"].clone(), piece["content"].is_array());
        assert!(before.iter().map(shape).eq(after.iter().map(shape)), "{format:?}");
    }
}

#[test]
fn f56_what_fits_keeps_its_bytes_and_its_content_length() {
    let upstream = Upstream::lenient(fine);
    let place = place(&upstream, 8_000);
    let [body] = bodies(WireFormat::Anthropic, "F56").try_into().unwrap();
    assert_eq!(sent(&upstream, &place, "/v1/messages", &body), body);
    assert_eq!(upstream.newest().header("content-length").unwrap(), body.len().to_string());
}

#[test]
fn f57_f58_the_next_turn_begins_with_the_turn_before() {
    let [first, second] = bodies(WireFormat::Anthropic, "F58").try_into().unwrap();
    let upstream = Upstream::lenient(fine);
    let run = |bodies: [&[u8]; 2]| {
        let mut setup = Setup::to(&upstream);
        setup.policy.window = Some(900);
        setup.policy.reserve = Some(0);
        setup.policy.trigger = 100;
        setup.policy.target = 80;
        setup.policy.min_sweep_gain = 0;
        let place = setup.start();
        bodies.map(|body| sent(&upstream, &place, "/v1/messages", body))
    };
    let [one, two] = run([&first, &second]);
    assert!(one.len() < first.len());
    let pieces = |body: &[u8]| Conversation::of(WireFormat::Anthropic).pieces(body);
    assert!(pieces(&two).starts_with(&pieces(&one)));
    assert_eq!(run([&second, &first]), [two, one], "in another process and the other order");
}

#[test]
fn f59_four_cache_marks_stay_where_they_are() {
    let [body] = bodies(WireFormat::Anthropic, "F59").try_into().unwrap();
    let upstream = Upstream::lenient(fine);
    let place = place(&upstream, 770);
    let out = sent(&upstream, &place, "/v1/messages", &body);
    assert!(out.len() < body.len());
    let marks = |body: &[u8]| -> Vec<(usize, usize, Value)> {
        let messages = read(body)["messages"].as_array().unwrap().clone();
        let blocks = messages.iter().enumerate().flat_map(|(at, message)| {
            let blocks = message["content"].as_array().cloned().unwrap_or_default();
            blocks.into_iter().enumerate().map(move |(place, block)| (at, place, block["cache_control"].clone()))
        });
        blocks.filter(|(_, _, mark)| !mark.is_null()).collect()
    };
    assert_eq!(marks(&out), marks(&body));
    assert_eq!(String::from_utf8_lossy(&out).matches("cache_control").count(), 4);
}

#[test]
fn f60_a_stream_cut_at_any_byte_reaches_the_client_to_the_byte() {
    const STREAM: &str = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\r\n\r\n\
        : keep-alive\n\ndata: {\"delta\":{\"text\":\"→ 漢 🙂\"}}\n\ndata: [DONE]\r\n\r\n";
    let upstream = Upstream::lenient(|request| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let at: usize = text.split("cut ").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        let (before, after) = STREAM.as_bytes().split_at(at);
        // A piece of no bytes would be the end.
        let pieces = [before, after].into_iter().filter(|piece| !piece.is_empty()).map(chunk);
        std::iter::once(stream_head()).chain(pieces).chain([stream_end()]).collect()
    });
    let place = Setup::to(&upstream).start();
    let mut client = place.client();
    for at in 0..=STREAM.len() {
        let body = format!(r#"{{"model":"claude-sonnet-4-5","messages":[{{"role":"user","content":"cut {at}"}}]}}"#);
        let answer = client.post("/v1/messages", "", body.as_bytes());
        assert_eq!((answer.body.as_slice(), answer.is_whole), (STREAM.as_bytes(), true), "cut at {at}");
    }
    let times = STREAM.len() as u64 + 1;
    assert_eq!(place.metric("liveset_upstream_input_tokens_total"), 5 * times, "each was read as a whole");
}

#[test]
fn f61_no_tool_is_put_into_a_body_and_a_recall_call_is_the_clients() {
    const CALL: &[u8] = b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"recall\",\"arguments\":\"{}\"}}]}}]}\n\n";
    let upstream = Upstream::new(|_| vec![stream_head(), chunk(CALL), stream_end()]);
    let place = Setup::to(&upstream).start();
    let conversation = Conversation { is_streaming: true, ..Conversation::of(WireFormat::Anthropic) };
    let body = conversation.body(40);
    let answer = place.client().post(conversation.path(), "", &body);
    assert_eq!(answer.body, CALL);
    assert_eq!(read(&upstream.newest().body)["tools"], read(&body)["tools"]);
}

#[test]
fn f62_conversations_with_the_same_system_text_go_by_their_own_bodies() {
    let [a, b] = bodies(WireFormat::OpenaiChat, "F62").try_into().unwrap();
    let upstream = Upstream::new(fine);
    let path = "/v1/chat/completions";
    let alone = [&a, &b].map(|body| sent(&upstream, &place(&upstream, 1_000), path, body));
    assert!(alone[0].len() < a.len() && alone[1].len() < b.len());
    let shared = place(&upstream, 1_000);
    for _ in 0..2 {
        assert_eq!([&a, &b].map(|body| sent(&upstream, &shared, path, body)), alone);
    }
    let before = upstream.seen().len();
    std::thread::scope(|scope| {
        for body in [&a, &b] {
            let shared = &shared;
            scope.spawn(move || shared.client().post(path, "", body));
        }
    });
    let mut at_once: Vec<Vec<u8>> = upstream.seen().into_iter().skip(before).map(|seen| seen.body).collect();
    at_once.sort();
    let mut expected = alone.to_vec();
    expected.sort();
    assert_eq!(at_once, expected);
}

#[test]
fn f63_numbers_keep_their_form_in_a_body_that_is_cut() {
    let [body] = bodies(WireFormat::OpenaiChat, "F63").try_into().unwrap();
    let upstream = Upstream::new(fine);
    let out = sent(&upstream, &place(&upstream, 660), "/v1/chat/completions", &body);
    assert!(out.len() < body.len());
    let count = |body: &[u8], number: &str| String::from_utf8_lossy(body).matches(number).count();
    for number in
        ["738529527931269425", "36893488147419103233", "9007199254740993", "0.70", "1.0", "1.10", "1E+2", "-0.0"]
    {
        assert!(count(&body, number) > 0, "{number}");
        assert_eq!(count(&out, number), count(&body, number), "{number}");
    }
}

#[test]
fn marks_that_move_with_each_request_change_no_decision() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    let with = |marks| Conversation { marks, ..Conversation::of(WireFormat::Anthropic) };
    for rounds in [30, 31, 32] {
        let bodies = [Marks::Off, Marks::Moving].map(|marks| {
            let conversation = with(marks);
            let out = sent(&upstream, &place, conversation.path(), &conversation.body(rounds));
            conversation.pieces(&out)
        });
        assert_eq!(bodies[0], bodies[1]);
    }
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
}
