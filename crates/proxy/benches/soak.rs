//! Does memory stay flat? 256 streamed answers at a time through a proxy in a process of its own.
//!
//! `cargo bench -p liveset-proxy --bench soak -- --seconds 600` is the run that counts; without the flag it is a short
//! one. Each stream asks, reads an answer that takes a while, and asks again with a conversation that has grown.

#![expect(clippy::expect_used, reason = "a bench stops where something is wrong")]
#![expect(dead_code, reason = "the other bench, which measures more, shares the stack")]

#[path = "proxy/stack.rs"]
mod stack;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use http_body_util::{BodyExt as _, Full, channel::Channel};
use hyper::{Request, body::Bytes};
use liveset::{Policy, SqliteArchive, WireFormat};
use liveset_proxy::{Proxy, ProxyConfig, Rules, UpstreamConfig};
use stack::{Answering, Conversation};

/// Streams at one time.
const STREAMS: usize = 256;
/// Bytes of a conversation when it is first sent.
const BYTES: usize = 100 << 10;
/// Events of an answer, and how long the upstream thinks before each.
const EVENTS: usize = 40;
const PAUSE: Duration = Duration::from_millis(50);
/// Turns of a conversation; then another begins.
const MAX_TURNS: usize = 12;
/// How long a short run takes, and how often memory is looked at.
const SHORT: u64 = 30;
const LOOK: Duration = Duration::from_secs(5);
/// Growth of memory over the second half of the run that counts as flat, in percent.
const FLAT_PERCENT: f64 = 10.0;

fn main() {
    if let Some(url) = flag("--serve") {
        return serve(&url);
    }
    let seconds = flag("--seconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(SHORT);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let upstream = runtime.block_on(stack::serve(|request| async move {
        let read = request.into_body().collect().await.expect("a body").to_bytes();
        let (mut frames, body) = Channel::new(1);
        tokio::spawn(async move {
            for event in 0..EVENTS {
                tokio::time::sleep(PAUSE).await;
                let told = format!("data: {{\"event\":{event},\"read\":{}}}\n\n", read.len());
                if frames.send_data(Bytes::from(told)).await.is_err() {
                    return;
                }
            }
        });
        hyper::Response::new(body.boxed())
    }));
    let (child, address) = start(&format!("http://{upstream}"));
    let stop = Arc::new(AtomicBool::new(false));
    let answers = Arc::new(AtomicU64::new(0));
    let asking: Vec<_> =
        (0..STREAMS).map(|number| runtime.spawn(ask(address.clone(), number, stop.clone(), answers.clone()))).collect();
    let looks = watch(&child, &answers, seconds);
    stop.store(true, Ordering::Relaxed);
    for asked in asking {
        runtime.block_on(asked).expect("every answer was whole");
    }
    let is_flat = report(&looks, answers.load(Ordering::Relaxed), seconds);
    end(child);
    assert!(is_flat, "memory grew");
}

fn flag(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// The process that is watched.
fn serve(url: &str) {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let archive = Arc::new(SqliteArchive::open(folder.path().join("a.db")).expect("an archive"));
    let mut config = ProxyConfig::default();
    config.listen = "127.0.0.1:0".parse().expect("an address");
    let mut every = UpstreamConfig::new("", url);
    every.formats = vec![WireFormat::OpenaiChat];
    config.upstream = vec![every];
    let mut policy = Policy::default();
    policy.window = Some(BYTES as u64 / 6);
    let rules = Rules::new(policy).with_archive(archive.clone(), archive);
    let proxy = Proxy::bind(config, rules).expect("the proxy starts");
    let _ = writeln!(std::io::stdout(), "{}", proxy.url());
    // The parent goes, and so does this.
    let gone = async {
        let _ = tokio::task::spawn_blocking(|| std::io::stdin().lines().next()).await;
    };
    proxy.serve(gone, std::future::ready(())).expect("the proxy serves");
}

fn start(url: &str) -> (Child, String) {
    let me = std::env::current_exe().expect("the bench knows its file");
    let mut command = Command::new(me);
    let mut child = command
        .args(["--serve", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the bench runs itself");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("it speaks")).read_line(&mut line).expect("it says where it is");
    (child, line.trim().to_owned())
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    let _ = child.wait();
}

/// One client: a conversation that grows, then another.
async fn ask(url: String, number: usize, stop: Arc<AtomicBool>, answers: Arc<AtomicU64>) {
    let client = stack::client();
    for turn in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let conversation = Conversation::of(BYTES, number + STREAMS * (turn / MAX_TURNS));
        let body = conversation.body(conversation.rounds() + turn % MAX_TURNS, Answering::Stream);
        let request = Request::post(format!("{url}/v1/chat/completions")).body(Full::new(body)).expect("a request");
        let answer = client.request(request).await.expect("an answer");
        assert!(answer.status().is_success());
        let read = answer.into_body().collect().await.expect("the whole of it").to_bytes();
        assert_eq!(read.iter().filter(|byte| **byte == b'\n').count(), 2 * EVENTS, "every event came");
        answers.fetch_add(1, Ordering::Relaxed);
    }
}

/// Kilobytes of memory and answers, at each look.
fn watch(child: &Child, answers: &AtomicU64, seconds: u64) -> Vec<(u64, u64, u64)> {
    let started = Instant::now();
    let mut looks = Vec::new();
    while started.elapsed() < Duration::from_secs(seconds) {
        std::thread::sleep(LOOK.min(Duration::from_secs(seconds)));
        let look = (started.elapsed().as_secs(), resident(child), answers.load(Ordering::Relaxed));
        let _ = writeln!(std::io::stdout(), "{:>5} s  {:>7} KB  {:>7} answers", look.0, look.1, look.2);
        looks.push(look);
    }
    looks
}

fn resident(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// Says what was seen, and whether memory stayed flat.
fn report(looks: &[(u64, u64, u64)], answers: u64, seconds: u64) -> bool {
    let half = looks.get(looks.len() / 2..).unwrap_or_default();
    let mean =
        |looks: &[(u64, u64, u64)]| looks.iter().map(|look| look.1 as f64).sum::<f64>() / looks.len().max(1) as f64;
    let (third, last) = half.split_at(half.len() / 2);
    let growth = (mean(last) / mean(third).max(1.0) - 1.0) * 100.0;
    let is_flat = growth <= FLAT_PERCENT;
    let verdict = if is_flat { "flat" } else { "not flat" };
    let _ = writeln!(
        std::io::stdout(),
        "soak: {STREAMS} streams for {seconds} s, {answers} answers, memory {:.0} KB, grew by {growth:.1} % over the last quarter: {verdict}",
        mean(last)
    );
    is_flat
}
