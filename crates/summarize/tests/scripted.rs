//! Against a server of this test that answers as it is told: what is asked, and what comes of each answer.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use liveset::{Liveset, MemoryArchive, Policy, Summarizer as _, SummaryError, SummaryKind, WireFormat};
use liveset_summarize::{Endpoint, ModelSummarizer};
use serde_json::{Value, json};

/// What the server does with one request.
#[derive(Clone)]
enum Does {
    /// Answers with this status and body.
    Says(u16, String),
    /// Begins an answer and breaks off.
    BreaksOff,
    /// Says nothing until the client goes.
    IsSilent,
}

/// A server that takes one request after the other, and remembers them.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    fn start(script: Vec<Does>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = asked.clone();
        thread::spawn(move || {
            for does in script {
                let (mut stream, _) = listener.accept().unwrap();
                let request = read(&stream);
                noted.lock().unwrap().push(request);
                answer(&mut stream, does);
            }
        });
        Self { url, asked }
    }

    fn summarizer(&self) -> ModelSummarizer {
        let endpoint = Endpoint::new(&self.url, "small").unwrap().with_key("sk-test");
        ModelSummarizer::new(endpoint.with_timeout(Duration::from_secs(20))).unwrap()
    }

    fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().unwrap().clone()
    }
}

/// Reads a request: its head, and its body as JSON.
fn read(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

fn answer(stream: &mut TcpStream, does: Does) {
    match does {
        Does::Says(status, body) => {
            let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
        Does::BreaksOff => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\":").unwrap(),
        Does::IsSilent => {
            let _ = stream.read(&mut [0]);
        }
    }
}

fn says(text: &str) -> Does {
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    Does::Says(200, json!({"choices": [choice]}).to_string())
}

#[test]
fn the_model_is_asked_with_prompt_input_and_limit_and_nothing_else() {
    let server = Server::start(vec![says(" All green. ")]);
    assert_eq!(server.summarizer().summarize("## user\nfix it", 400).unwrap(), "All green.");
    let (head, body) = server.asked().remove(0);
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer sk-test\r\n"), "{head}");
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("small"), &json!(400)));
    let read = "## user\nfix it\n---\nSummary of the text above, in at most 200 words:";
    assert_eq!(body["messages"][1], json!({"role": "user", "content": read}));
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("under 200 words") && !prompt.contains('{'), "{prompt}");
    let server = Server::start(vec![says("done")]);
    let endpoint =
        Endpoint::new(&server.url, "small").unwrap().with_prompt("Read {text}; say {max_words} words.").unwrap();
    ModelSummarizer::new(endpoint).unwrap().summarize("a {max_words}", 400).unwrap();
    let (head, body) = server.asked().remove(0);
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
    assert_eq!(body["messages"], json!([{"role": "user", "content": "Read a {max_words}; say 200 words."}]));
}

#[test]
fn who_asks_to_come_back_is_asked_again() {
    let busy = || Does::Says(429, "{}".to_owned());
    let server = Server::start(vec![busy(), Does::BreaksOff, says("done")]);
    assert_eq!(server.summarizer().summarize("x", 100).unwrap(), "done");
    let server = Server::start(vec![busy(), Does::Says(503, String::new()), busy()]);
    let error = server.summarizer().summarize("x", 100).unwrap_err();
    assert_eq!(error, SummaryError::Refused { why: "status 429".into() });
}

#[test]
fn no_answer_of_use_is_told_in_one_line_without_content() {
    for (does, told) in [
        (Does::Says(401, "secret".into()), "refused: status 401"),
        (Does::Says(302, String::new()), "refused: status 302"),
        (Does::Says(200, "<html>secret".into()), "not usable: the answer is no completion"),
        (Does::Says(200, "x".repeat(5 << 20)), "not usable: the answer is too long to be read"),
    ] {
        let server = Server::start(vec![does]);
        assert_eq!(server.summarizer().summarize("x", 100).unwrap_err().to_string(), told);
        assert_eq!(server.asked().len(), 1, "{told}: asked once");
    }
}

#[test]
fn a_silent_server_and_one_that_is_not_there_end_in_time() {
    let server = Server::start(vec![Does::IsSilent]);
    let endpoint = Endpoint::new(&server.url, "m").unwrap().with_timeout(Duration::from_millis(300));
    let error = ModelSummarizer::new(endpoint).unwrap().summarize("x", 100).unwrap_err();
    assert_eq!(error, SummaryError::TooSlow { seconds: 1 });
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = Endpoint::new(&format!("http://{gone}"), "m").unwrap();
    let error = ModelSummarizer::new(endpoint).unwrap().summarize("x", 100).unwrap_err();
    assert_eq!(error.to_string(), "no answer: no connection");
}

/// A conversation of calls with text beside them, far over the window even without its results.
fn body(rounds: usize) -> Vec<u8> {
    let mut messages = vec![json!({"role": "user", "content": "find out why the build fails"})];
    for round in 0..rounds {
        let id = format!("call_{round}");
        let call = json!({"id": id, "type": "function", "function": {"name": "Bash", "arguments": format!("{{\"command\":\"make part{round}\"}}")}});
        let text = format!("Now part {round}. ").repeat(20);
        messages.push(json!({"role": "assistant", "content": text, "tool_calls": [call]}));
        messages
            .push(json!({"role": "tool", "tool_call_id": id, "content": format!("part {round} built\n").repeat(60)}));
    }
    json!({"model": "gpt-4.1", "messages": messages}).to_string().into_bytes()
}

fn liveset(summarizer: Arc<ModelSummarizer>, archive: &Arc<MemoryArchive>) -> Liveset {
    let mut policy = Policy::default();
    policy.summary.kind = SummaryKind::Model;
    policy.summary.share = 90;
    policy.window = Some(2_500);
    policy.reserve = Some(100);
    let liveset = Liveset::new(policy).with_format(WireFormat::OpenaiChat).with_archive(archive.clone());
    liveset.with_summarizer(summarizer)
}

#[test]
fn what_the_model_said_once_stands_in_the_body_from_then_on() {
    let words = "Parts 0 to 20 were built without an error.";
    let server = Server::start(vec![says(words); 80]);
    let (archive, summarizer) = (Arc::new(MemoryArchive::new()), Arc::new(server.summarizer()));
    let liveset = liveset(summarizer, &archive);
    let mut session = liveset.session();
    let mut seen = 0;
    for rounds in 1..=64 {
        let body = body(rounds);
        let asked = server.asked().len();
        let turn = session.compact(&body).unwrap();
        assert!(server.asked().len() <= asked + 2, "a turn asks for what is new alone");
        let text = String::from_utf8_lossy(turn.body());
        let lines = text.matches("[summarised from context: ").count();
        assert!(lines <= 2 && text.matches(words).count() <= 1, "lines neither nest nor pile up: {text}");
        seen += text.matches(words).count();
        let asked = server.asked().len();
        let again = liveset.compact(&body).unwrap();
        assert!(again.body() == turn.body() && again.report() == turn.report(), "round {rounds}");
        assert_eq!(server.asked().len(), asked, "what is stored is not asked for again");
        if turn.body() != body {
            assert_eq!(liveset.restore(turn.body()).unwrap(), body);
        }
    }
    assert!(seen > 3, "the model's words stood in {seen} bodies");
    let inputs: Vec<String> =
        server.asked().iter().map(|(_, body)| body["messages"][1]["content"].as_str().unwrap().to_owned()).collect();
    assert!(inputs.iter().any(|input| input.contains(words)), "what was summed up goes into the next summary");
    assert!(inputs.iter().all(|input| !input.contains("[pruned from context")), "no mark of ours to copy");
}

#[test]
fn where_no_model_answers_an_extract_stands_for_good_and_nothing_is_lost() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = Endpoint::new(&format!("http://{gone}"), "small").unwrap();
    let archive = Arc::new(MemoryArchive::new());
    let body = body(24);
    let without = liveset(Arc::new(ModelSummarizer::new(endpoint).unwrap()), &archive);
    let first = without.compact(&body).unwrap();
    let warnings: Vec<&str> = first.report().warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert!(warnings.contains(&"summary_fallback"), "{warnings:?}");
    assert_eq!(without.restore(first.body()).unwrap(), body);
}
