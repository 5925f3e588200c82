//! An upstream that writes down every request, looks whether a provider would refuse it, and answers as it is told.

use std::{
    io::{BufReader, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use liveset::WireFormat;
use liveset_engine::{json::Outline, validate};

use crate::wire::Message;

/// What the upstream does with a request, in order.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Writes bytes.
    Write(Vec<u8>),
    /// Waits until the test says go on.
    Wait,
    /// Breaks the connection off in the middle.
    Break,
}

type Script = dyn Fn(&Message) -> Vec<Step> + Send + Sync;

/// The upstream; it ends with its test.
pub(crate) struct Upstream {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Vec<Message>>,
    gone: Mutex<usize>,
    go: Mutex<usize>,
    changed: Condvar,
}

/// The answer that most tests are content with.
pub(crate) fn fine(_: &Message) -> Vec<Step> {
    vec![json(200, r#"{"usage":{"input_tokens":7,"output_tokens":2}}"#)]
}

/// An answer in one piece.
pub(crate) fn json(status: u16, body: &str) -> Step {
    let head = format!("HTTP/1.1 {status} Told\r\nContent-Type: application/json\r\nX-Upstream: yes\r\n");
    Step::Write(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

/// The head of a stream of events, in chunks.
pub(crate) fn stream_head() -> Step {
    Step::Write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec())
}

/// A piece of a stream.
pub(crate) fn chunk(bytes: &[u8]) -> Step {
    Step::Write([format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
}

/// The end of a stream.
pub(crate) fn stream_end() -> Step {
    Step::Write(b"0\r\n\r\n".to_vec())
}

/// Whether bodies here are sound as clients send them, so that whatever is wrong was broken on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clients {
    Sound,
    Odd,
}

impl Upstream {
    /// Stops its test at a body that a provider would refuse.
    pub(crate) fn new(script: impl Fn(&Message) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::of(Clients::Sound, script)
    }

    /// Takes everything: for bodies that are odd as the client sends them.
    pub(crate) fn lenient(script: impl Fn(&Message) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::of(Clients::Odd, script)
    }

    fn of(clients: Clients, script: impl Fn(&Message) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared::default());
        let (script, of_thread): (Arc<Script>, _) = (Arc::new(script), shared.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, shared) = (script.clone(), of_thread.clone());
                std::thread::spawn(move || serve(stream, clients, &*script, &shared));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that came so far.
    pub(crate) fn seen(&self) -> Vec<Message> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The newest request.
    pub(crate) fn newest(&self) -> Message {
        self.seen().pop().unwrap()
    }

    /// Lets one waiting answer go on.
    pub(crate) fn go_on(&self) {
        *self.shared.go.lock().unwrap() += 1;
        self.shared.changed.notify_all();
    }

    /// Waits until this many requests came.
    pub(crate) fn wait_for(&self, requests: usize) {
        wait(&self.shared, || self.shared.seen.lock().unwrap().len() >= requests);
    }

    /// Waits until this many connections were closed by the other side in the middle of an answer.
    pub(crate) fn wait_for_gone(&self, connections: usize) {
        wait(&self.shared, || *self.shared.gone.lock().unwrap() >= connections);
    }
}

/// Waits for a condition, looking again whenever something changed.
fn wait(shared: &Shared, is_met: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_met() {
            return;
        }
        let guard = shared.go.lock().unwrap();
        drop(shared.changed.wait_timeout(guard, Duration::from_millis(10)).unwrap());
    }
    panic!("what was waited for did not come");
}

fn serve(stream: TcpStream, clients: Clients, script: &Script, shared: &Shared) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some(message) = Message::read(&mut reader) {
        if let Some(format) = format_of(&message.first).filter(|_| clients == Clients::Sound) {
            assert_lawful(format, &message.body);
        }
        shared.seen.lock().unwrap().push(message.clone());
        shared.changed.notify_all();
        for step in script(&message) {
            let written = match step {
                Step::Write(bytes) => writer.write_all(&bytes),
                Step::Wait => {
                    wait_for_go(shared, &writer);
                    Ok(())
                }
                Step::Break => {
                    break_off(&writer);
                    return;
                }
            };
            if written.is_err() {
                *shared.gone.lock().unwrap() += 1;
                shared.changed.notify_all();
                return;
            }
        }
    }
}

/// Waits for the test, or until the other side has closed.
fn wait_for_go(shared: &Shared, stream: &TcpStream) {
    stream.set_nonblocking(true).unwrap();
    loop {
        let mut go = shared.go.lock().unwrap();
        if *go > 0 {
            *go -= 1;
            break;
        }
        drop(shared.changed.wait_timeout(go, Duration::from_millis(10)).unwrap());
        if matches!(stream.peek(&mut [0]), Ok(0)) {
            *shared.gone.lock().unwrap() += 1;
            shared.changed.notify_all();
            break;
        }
    }
    stream.set_nonblocking(false).unwrap();
}

/// Closes with a reset, as a process that dies does.
fn break_off(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    socket.set_linger(Some(Duration::ZERO)).unwrap();
    let _ = stream.shutdown(Shutdown::Both);
}

fn format_of(first: &str) -> Option<WireFormat> {
    let path = first.split(' ').nth(1)?;
    match path.split('?').next()? {
        "/v1/messages" => Some(WireFormat::Anthropic),
        "/v1/chat/completions" => Some(WireFormat::OpenaiChat),
        "/v1/responses" => Some(WireFormat::OpenaiResponses),
        _ => None,
    }
}

fn assert_lawful(format: WireFormat, body: &[u8]) {
    let outline = Outline::read(body).unwrap();
    let defects = validate::check(format, &outline);
    assert!(defects.is_empty(), "a provider would refuse this: {defects:?}");
}
