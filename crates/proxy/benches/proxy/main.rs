//! P6: what does the proxy add to a request, next to a raw pass-through on the same stack?
//!
//! Client, upstream, pass-through and proxy run in this process and take turns on the same bytes; what reaches the
//! upstream is checked first. "Added" is the time through a proxy less the time of the same request without one. The
//! yardstick hands frames on as they come; beside it stands one that has to hold the whole body first, as a proxy must that
//! decides by all of it: what lies between the two no compaction can win back.
//!
//! `cargo bench -p liveset-proxy --bench proxy -- "1 MB cut"` measures the rows whose names hold these words.

#![expect(clippy::expect_used, reason = "a bench stops where something is wrong")]

mod stack;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use stack::{Answering, Line, Stack};

/// Turns of direct, raw, buffered and proxied requests.
const TURNS: usize = 41;
/// Sizes of bodies: the one that rivals were measured with, and what long conversations come to.
const SIZES: [(&str, usize); 3] = [("206 KB", 206 << 10), ("1 MB", 1 << 20), ("4 MB", 4 << 20)];
/// What P6 asks for.
const ADDED_AT_MOST: f64 = 2.0;
/// Requests of a run for throughput.
const RUN: usize = 64;

fn main() {
    let stack = Stack::start();
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    let _ = writeln!(
        out,
        "p50 of {TURNS} turns; added = with less without; raw = a pass-through on the same stack, whole = one that holds the body first"
    );
    for (name, bytes) in SIZES {
        for case in Case::ALL {
            let row = format!("{name} {}", case.name());
            if !row.contains(&wanted) {
                continue;
            }
            let figures = measure(&stack, case, bytes);
            let ratio = figures.ratio();
            let verdict = if ratio <= ADDED_AT_MOST { "held" } else { "missed" };
            let _ = writeln!(
                out,
                "P6 {name:>6} {:<28} direct {:>8.3} ms  raw +{:>7.3} ms  whole +{:>7.3} ms  proxy +{:>7.3} ms  {ratio:>5.2} x raw   hold now <= {ADDED_AT_MOST}  {verdict}",
                case.name(),
                ms(figures.direct),
                ms(figures.added(figures.raw)),
                ms(figures.added(figures.buffered)),
                ms(figures.added(figures.proxy)),
            );
        }
        if !format!("{name} throughput, next turn").contains(&wanted) {
            continue;
        }
        let (raw, proxy) = throughput(&stack, bytes);
        let share = proxy / raw;
        let verdict = if share >= 0.9 { "held" } else { "missed" };
        let _ = writeln!(
            out,
            "P6 {name:>6} throughput, next turn        raw {raw:>8.0}/s  proxy {proxy:>8.0}/s  {share:>5.2} x raw   hold now >= 0.9  {verdict}"
        );
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// Nothing is over a limit.
    Fits,
    /// A conversation that was never seen, to be cut.
    FirstSight,
    /// The next turn of one that is cut.
    NextTurn,
    /// The same, with an archive: originals and manifest are durable before the body goes out.
    NextTurnStored,
    /// Time to the first byte of a streamed answer.
    Streamed,
}

impl Case {
    const ALL: [Self; 5] = [Self::Fits, Self::FirstSight, Self::NextTurn, Self::NextTurnStored, Self::Streamed];

    fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits, next turn",
            Self::FirstSight => "cut, first sight",
            Self::NextTurn => "cut, next turn",
            Self::NextTurnStored => "cut, next turn, archive",
            Self::Streamed => "cut, next turn, first byte",
        }
    }
}

struct Figures {
    direct: Duration,
    raw: Duration,
    buffered: Duration,
    proxy: Duration,
}

impl Figures {
    fn added(&self, with: Duration) -> Duration {
        with.saturating_sub(self.direct)
    }

    fn ratio(&self) -> f64 {
        self.added(self.proxy).as_secs_f64() / self.added(self.raw).as_secs_f64().max(1e-9)
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn measure(stack: &Stack, case: Case, bytes: usize) -> Figures {
    let proxy = match case {
        Case::Fits => Line::Roomy,
        Case::FirstSight | Case::NextTurn | Case::Streamed => Line::Proxy(bytes),
        Case::NextTurnStored => Line::Stored(bytes),
    };
    let answering = if case == Case::Streamed { Answering::Stream } else { Answering::Whole };
    let mut lines = [Line::Direct, Line::Raw, Line::Buffered, proxy].map(|line| stack.connect(line));
    let mut times: [Vec<Duration>; 4] = Default::default();
    let mut conversation = stack::Conversation::of(bytes, 0);
    let rounds = conversation.rounds();
    for turn in 0..=TURNS {
        if case == Case::FirstSight {
            conversation = stack::Conversation::of(bytes, turn + 1);
        }
        let body = conversation.body(rounds + turn, answering);
        for (line, times) in lines.iter_mut().zip(&mut times) {
            let started = Instant::now();
            stack.post(line, body.clone(), answering);
            // The first turn makes connections, and the conversation known.
            if turn > 0 {
                times.push(started.elapsed());
            }
        }
        stack.check_newest(case != Case::Fits);
    }
    let [direct, raw, buffered, proxy] = times.map(|mut times| {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    });
    Figures { direct, raw, buffered, proxy }
}

/// Requests a second, one after another on one connection, raw and proxied.
fn throughput(stack: &Stack, bytes: usize) -> (f64, f64) {
    let conversation = stack::Conversation::of(bytes, 1_000);
    let mut rates = [Line::Raw, Line::Proxy(bytes)].map(|line| {
        let mut line = stack.connect(line);
        let bodies: Vec<_> =
            (0..RUN).map(|turn| conversation.body(conversation.rounds() + turn, Answering::Whole)).collect();
        let first = bodies.first().expect("there are turns").clone();
        stack.post(&mut line, first, Answering::Whole);
        let started = Instant::now();
        for body in bodies {
            stack.post(&mut line, body, Answering::Whole);
        }
        RUN as f64 / started.elapsed().as_secs_f64()
    });
    let proxy = std::mem::take(&mut rates[1]);
    (rates[0], proxy)
}
