//! `proxy`: what a user of the binary sees, and what is left when it dies.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use crate::{bodies, program::Place};

/// A proxy on a free port; ends with its test.
pub(crate) struct Proxy {
    child: Child,
    address: String,
}

impl Proxy {
    pub(crate) fn start(place: &Place, flags: &str) -> Self {
        let words = format!("proxy --listen 127.0.0.1:0 --archive a.db {} {flags}", bodies::SMALL);
        let mut child = place.command(&words).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("liveset: proxy at http://").unwrap().to_owned();
        Self { child, address }
    }

    /// Waits until it says of itself that it is about to end.
    #[cfg(unix)]
    fn wait_for_draining(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        let mut health = String::new();
        while Instant::now() < until && !health.contains("\"draining\"") {
            let mut stream = TcpStream::connect(&self.address).unwrap();
            health.clear();
            // A connection that came just before the end began is closed without a word.
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let _ = stream.read_to_string(&mut health);
            std::thread::yield_now();
        }
        assert!(health.contains("\"draining\""), "it says that it is about to end");
    }

    /// The number that the system gave its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Asks for a page of its own.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = self.connect();
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn post(&self, body: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        stream
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An upstream for one request after another: gives each body, and the connection to answer on.
pub(crate) struct Upstream(TcpListener);

impl Upstream {
    pub(crate) fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(crate) fn flags(&self) -> String {
        format!("--upstream openai-chat=http://{}", self.0.local_addr().unwrap())
    }

    /// Reads what comes until a byte came this often; gives how often it came.
    #[cfg(target_os = "linux")]
    pub(crate) fn count(&self, byte: u8, times: usize) -> usize {
        let (mut stream, _) = self.0.accept().unwrap();
        let (mut read, mut found) = (vec![0; 1 << 16], 0);
        while found < times {
            match stream.read(&mut read).unwrap() {
                0 => break,
                len => found += read[..len].iter().filter(|seen| **seen == byte).count(),
            }
        }
        found
    }

    pub(crate) fn next(&self) -> (Vec<u8>, TcpStream) {
        let (stream, _) = self.0.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        (body, stream)
    }
}

pub(crate) const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n";

/// Reads until the first event has come.
pub(crate) fn first_event(stream: &mut TcpStream) {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(b"data: 1\n") {
        stream.read_exact(&mut byte).unwrap();
        read.push(byte[0]);
    }
}

#[test]
fn killed_in_the_middle_of_an_answer_it_leaves_nothing_cut_that_is_not_stored() {
    let place = Place::new();
    let upstream = Upstream::new();
    let mut proxy = Proxy::start(&place, &upstream.flags());
    let body = bodies::long();
    let mut client = proxy.post(&body);
    let (sent, mut answering) = upstream.next();
    assert!(sent.len() < body.len());
    answering.write_all(HEAD).unwrap();
    first_event(&mut client);
    proxy.child.kill().unwrap();
    let mut rest = Vec::new();
    // Whether it ends or breaks is the system's choice; there is no end of the answer.
    let _ = client.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"));
    place.write("sent.json", &sent);
    let run = place.run("restore sent.json --archive a.db");
    assert_eq!((run.code, run.out == body), (0, true), "{}", run.err);

    let again = Proxy::start(&place, &upstream.flags());
    let _client = again.post(&body);
    assert_eq!(upstream.next().0, sent, "the next process sends the same bytes");
}

#[test]
#[cfg(unix)]
fn asked_to_end_it_lets_an_answer_end_first() {
    let place = Place::new();
    let upstream = Upstream::new();
    let mut proxy = Proxy::start(&place, &upstream.flags());
    let mut client = proxy.post(&bodies::long());
    let (_, mut answering) = upstream.next();
    answering.write_all(HEAD).unwrap();
    first_event(&mut client);
    let killed = std::process::Command::new("kill").arg(proxy.child.id().to_string()).status().unwrap();
    assert!(killed.success());
    proxy.wait_for_draining();
    answering.write_all(b"8\r\ndata: 2\n\r\n0\r\n\r\n").unwrap();
    let mut rest = String::new();
    client.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("data: 2") && rest.ends_with("0\r\n\r\n"), "{rest}");
    assert!(proxy.child.wait().unwrap().success());
}

#[test]
fn what_keeps_it_from_starting_is_one_line_with_the_next_step() {
    let place = Place::with("proxy.toml", "listne = 1\n");
    place.write("empty", "\n");
    for (flags, told, hint) in [
        ("--listen 0.0.0.0:0", "can be reached from other machines", "--allow-remote"),
        ("--upstream gemini=http://a", "gemini", ""),
        ("--upstream anthropic=a", "upstream.base_url", ""),
        ("--config proxy.toml", "proxy.toml: proxy settings: unknown field `listne`", ""),
        ("--config missing.toml", "missing.toml", ""),
        ("--client-token-file empty", "holds no token", ""),
        ("--strict --shadow", "--shadow", ""),
    ] {
        let run = place.run(&format!("proxy --no-archive {flags}"));
        assert_eq!(run.code, 2, "{flags}: {}", run.err);
        assert!(run.out.is_empty() && run.err.contains(told) && run.err.contains(hint), "{flags}: {}", run.err);
        assert!(run.err.lines().count() <= 2, "{}", run.err);
    }
}

#[test]
fn it_says_what_to_set_for_each_client() {
    let run = Place::new().run("proxy --print-env --listen 127.0.0.1:9999");
    assert_eq!(run.code, 0);
    for line in [
        "export ANTHROPIC_BASE_URL=http://127.0.0.1:9999/anthropic\n",
        "base_url = \"http://127.0.0.1:9999/openai/v1\"\n",
    ] {
        assert!(run.text().contains(line), "{}", run.text());
    }
}
