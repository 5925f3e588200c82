//! `mcp`: a server for one client or for this machine; it reads, answers in pages, and lets no web page in.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use liveset_archive::{Archive as _, Release, Source, SqliteArchive};
use serde_json::{Value, json};

use crate::program::Place;

const ID: &str = "0f3c5e0d9a1b2c3d4e5f60718293a4b5";

/// A place whose archive holds one original in a session.
fn place_with(text: &str) -> Place {
    let place = Place::new();
    let mut release = Release::new(b"body", vec![1], vec![(ID.to_owned(), text.into())]);
    let source = Source { tool: "read_log".into(), label: "a.log".into(), arguments: "{}".into() };
    release.sources = vec![(ID.to_owned(), source)];
    release.session = "s".into();
    SqliteArchive::open(place.path("a.db")).unwrap().put(&release).unwrap();
    place
}

/// Opens a conversation over standard input, sends requests, and gives the answers to them in order.
fn asked(place: &Place, flags: &str, requests: &[(&str, Value)]) -> Vec<Value> {
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let mut lines = vec![json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})];
    lines.push(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (id, (method, params)) in (1..).zip(requests) {
        lines.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }
    let mut command = place.command(&format!("mcp --archive a.db {flags}"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // One at a time: answers may come in any order.
    let mut answers = Vec::new();
    for line in lines {
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        if line.get("id").is_some() {
            let mut answer = String::new();
            stdout.read_line(&mut answer).unwrap();
            answers.push(serde_json::from_str(&answer).unwrap());
        }
    }
    drop(stdin);
    assert!(child.wait().unwrap().success(), "it ends well when the client goes");
    answers.split_off(1)
}

/// A server on a free port; ends with its test.
struct HttpServer {
    child: Child,
    address: String,
}

impl HttpServer {
    fn start(place: &Place, flags: &str) -> Self {
        let mut command = place.command(&format!("mcp --archive a.db --http 127.0.0.1:0 {flags}"));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("liveset: MCP server at http://").unwrap();
        let address = url.strip_suffix("/mcp").unwrap().to_owned();
        Self { child, address }
    }

    /// Sends a request and gives the status of its answer.
    fn status(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        String::from_utf8(start[9..].to_vec()).unwrap()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn call(tool: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": tool, "arguments": arguments}))
}

fn said(answer: &Value) -> (bool, &str) {
    let result = &answer["result"];
    (result["isError"] == true, result["content"][0]["text"].as_str().unwrap())
}

#[test]
fn pages_behind_one_another_are_the_original() {
    let text: String = (0..4_000).map(|line| format!("line {line} of the log\n")).collect();
    let place = place_with(&text);
    let (mut read, mut offset) = (String::new(), 0);
    loop {
        let answers = asked(&place, "", &[call("recall", json!({"id": ID, "offset": offset}))]);
        let (is_error, page) = said(&answers[0]);
        assert!(!is_error && page.len() < 33_000);
        let (heading, rest) = page.split_once('\n').unwrap();
        assert!(heading.starts_with("[all 4000 lines; read_log a.log; bytes "), "{heading}");
        let Some((body, footer)) = rest.rsplit_once("[not all of it: go on with `offset`: ") else {
            read.push_str(rest);
            break;
        };
        read.push_str(body);
        offset = footer.trim_end_matches(']').parse::<usize>().unwrap();
    }
    assert_eq!(read, text);
}

#[test]
fn what_is_asked_wrongly_is_said_in_a_line_and_the_server_goes_on() {
    let place = place_with("one\n");
    let requests = [
        call("recall", json!({"id": "0f"})),
        call("recall", json!({"id": ID, "outline": true, "grep": "x"})),
        call("recall", json!({"id": ID, "handle": 1})),
        call("search", json!({})),
        ("tools/call", json!({"name": "delete", "arguments": {}})),
        ("resources/read", json!({"uri": "liveset://sessions/none"})),
        ("resources/list", json!({"cursor": "x"})),
        call("recall", json!({"id": ID})),
    ];
    let answers = asked(&place, "", &requests);
    for answer in &answers[..4] {
        let (is_error, text) = said(answer);
        assert!(is_error && !text.contains('\n'), "{text}");
    }
    assert!(answers[4..7].iter().all(|answer| answer["error"]["code"].is_i64()), "{answers:?}");
    assert_eq!(said(&answers[7]), (false, "[all 1 line; read_log a.log]\none\n"));
}

#[test]
fn a_session_that_is_a_border_hides_what_others_stored() {
    let place = place_with("needle\n");
    let requests =
        [call("recall", json!({"id": ID})), call("search", json!({"query": "needle"})), ("resources/list", json!({}))];
    let inside = asked(&place, "--session s", &requests);
    assert!(said(&inside[0]).1.ends_with("needle\n") && said(&inside[1]).1.starts_with(ID));
    let outside = asked(&place, "--session other", &requests);
    let unknown = asked(&place, "", &[call("recall", json!({"id": "f".repeat(32)}))]);
    assert_eq!(said(&outside[0]).1.replace(ID, "ID"), said(&unknown[0]).1.replace(&"f".repeat(32), "ID"));
    assert_eq!(said(&outside[1]).1, "nothing that was pruned holds all of these words");
    assert_eq!(outside[2]["result"]["resources"], json!([]));
}

#[test]
fn what_keeps_a_server_from_starting_is_one_line() {
    let place = place_with("one\n");
    place.write("notes.txt", "no archive");
    for (flags, code, told) in [
        ("--http 0.0.0.0:0", 2, "can be reached from other machines"),
        ("--http nowhere", 2, "--http"),
        ("--token-file notes.txt", 2, "--http"),
        ("--archive notes.txt", 4, "notes.txt"),
    ] {
        let run = place.run(&format!("mcp {flags}"));
        assert_eq!(run.code, code, "{}", run.err);
        assert!(run.out.is_empty() && run.err.contains(told), "{}", run.err);
    }
    let run = place.pipe("mcp --archive a.db", b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!((run.code, run.out.is_empty()), (2, true), "{}", run.err);
}

#[test]
fn over_http_no_web_page_and_no_other_name_of_this_machine_gets_in() {
    let place = place_with("one\n");
    let server = HttpServer::start(&place, "");
    let address = &server.address;
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let status = |path: &str, host: &str, more: &str| {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{hello}",
            hello.len()
        );
        server.status(&request)
    };
    assert_eq!(status("/mcp", address, ""), "200");
    assert_eq!(status("/", address, ""), "404");
    assert_eq!(status("/mcp", address, "Origin: https://example.org\r\n"), "403");
    assert_eq!(status("/mcp", "example.org", ""), "403");
}

#[test]
fn over_http_a_token_is_asked_for_where_one_is_set() {
    let place = place_with("one\n");
    place.write("token", "s3cr3t\n");
    let server = HttpServer::start(&place, "--token-file token");
    let address = &server.address;
    let status = |more: &str| {
        let request = format!("GET /mcp HTTP/1.1\r\nHost: {address}\r\n{more}Connection: close\r\n\r\n");
        server.status(&request)
    };
    for wrong in ["", "Authorization: Bearer s3cr3\r\n", "Authorization: Bearer s3cr3T\r\n"] {
        assert_eq!(status(wrong), "401", "{wrong}");
    }
    assert_ne!(status("Authorization: Bearer s3cr3t\r\n"), "401");
    place.write("token", " \n");
    let empty = place.run("mcp --archive a.db --http 127.0.0.1:0 --token-file token");
    assert_eq!(empty.code, 2, "{}", empty.err);
}
