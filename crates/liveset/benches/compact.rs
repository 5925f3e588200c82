//! P7 and the memory bound: what does a whole compaction cost next to copying the body?
//!
//! Yardstick and subject take turns in one run on the same bytes; outputs are checked first.

#![expect(clippy::expect_used, reason = "a bench stops where something is wrong")]

use std::{
    fmt::Write as _,
    hint::black_box,
    io::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};

use liveset::{Liveset, Policy, WireFormat};

/// Turns of yardstick and subject.
const TURNS: usize = 9;
/// Tokens of the body.
const BODY_TOKENS: u64 = 1_000_000;
/// New text of a turn.
const TURN_BYTES: usize = 10_000;

fn main() {
    if let Some(file) = std::env::args().skip_while(|arg| arg != "--peak-memory").nth(1) {
        peak_memory(&std::fs::read(file).expect("the parent wrote the body"));
        return;
    }
    let body = body();
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "body: {:.1} MB, about {BODY_TOKENS} tokens of o200k", body.len() as f64 / 1e6);
    for (name, window) in [("window 1M", 1_000_000), ("window 200k", 200_000)] {
        let liveset = liveset(window);
        let compaction = liveset.compact(&body).expect("the body compacts");
        assert!(compaction.report().tokens.after < compaction.report().tokens.before, "something goes");
        let first = ratios(&body, || {
            black_box(liveset.compact(black_box(&body)).expect("the body compacts"));
        });
        let _ =
            writeln!(out, "P7 first sight, {name:<12} {first}   hold now <= 250   {}", verdict(first.median, 250.0));
        let mut before = body.clone();
        let mut grown = grown(&before, 0);
        // A sweep is planned every few dozen turns; what it costs is said, and the usual turn is the one without.
        for turn in 1.. {
            let mut session = liveset.session();
            let swept = session.compact(&before).expect("the body compacts").report().sweeps.len();
            let next = session.compact(&grown).expect("the next turn compacts");
            let sweeps = next.report().sweeps.len() > swept;
            assert_eq!(
                next.body(),
                liveset.compact(&grown).expect("the next turn compacts").body(),
                "a session gives what a fresh call gives"
            );
            let ratio = turn_ratios(&liveset, &before, &grown);
            if !sweeps {
                let verdict = verdict(ratio.median, 10.0);
                let _ = writeln!(out, "P7 next turn,   {name:<12} {ratio}   hold now <= 10    {verdict}");
                break;
            }
            let _ = writeln!(out, "P7 a turn that sweeps, {name:<5} {ratio}");
            before = std::mem::take(&mut grown);
            grown = self::grown(&before, turn);
        }
    }
    wide_batches(&mut out);
    let me = std::env::current_exe().expect("the bench knows its file");
    // A process of its own, so that what making the body left in the allocator does not hide what compaction takes.
    let file = tempfile::NamedTempFile::new().expect("a place for the body");
    std::fs::write(file.path(), &body).expect("the body is written");
    let child =
        std::process::Command::new(me).arg("--peak-memory").arg(file.path()).output().expect("the bench runs itself");
    let _ = write!(out, "{}", String::from_utf8_lossy(&child.stdout));
}

/// Results of the shorter wide batch.
const BATCH_RESULTS: usize = 2_000;

/// One message with many parallel calls under a small window: each result is a request point over the room.
fn wide_batches(out: &mut impl std::io::Write) {
    let batches = [BATCH_RESULTS, 2 * BATCH_RESULTS].map(wide_batch);
    for share in [2, 8] {
        let runs = batches.each_ref().map(|(body, tokens)| (body, liveset(tokens / share)));
        let [short, long] = runs.each_ref().map(|(body, liveset)| {
            move || {
                black_box(liveset.compact(black_box(body)).expect("the batch compacts"));
            }
        });
        let turns = summary((0..TURNS).map(|_| (seconds(long), seconds(short))).collect());
        let _ = writeln!(
            out,
            "wide batch, window 1/{share}: {:.2} x the time for twice the results ({:.2} to {:.2}; {:.0} ms against \
             {:.0} ms)   hold now <= 2.5   {}",
            turns.median,
            turns.least,
            turns.most,
            turns.subject_ms,
            turns.yardstick_ms,
            verdict(turns.median, 2.5)
        );
    }
}

/// Gives a body of that shape and its size in tokens.
fn wide_batch(results: usize) -> (Vec<u8>, u64) {
    let join = |block: &dyn Fn(usize) -> String| (0..results).map(block).collect::<Vec<_>>().join(",");
    let calls = join(&|at| {
        format!(r#"{{"type":"tool_use","id":"c{at}","name":"Read","input":{{"file_path":"src/file_{at}.rs"}}}}"#)
    });
    let answers = join(&|at| {
        let line =
            |line: usize| format!("line {line} of file {at} holds the value {} and more words\n", at * 31 + line);
        let text = quoted(&(0..8 + at % 5).map(line).collect::<String>());
        format!(r#"{{"type":"tool_result","tool_use_id":"c{at}","content":{text}}}"#)
    });
    let body = format!(
        r#"{{"model":"gpt-4.1","messages":[{{"role":"user","content":"Go."}},{{"role":"assistant","content":[{calls}]}},{{"role":"user","content":[{answers}]}}]}}"#
    );
    let tokens =
        liveset(u64::from(u32::MAX)).compact(body.as_bytes()).expect("the batch is read").report().tokens.before;
    (body.into_bytes(), tokens)
}

fn verdict(ratio: f64, limit: f64) -> &'static str {
    if ratio <= limit { "met" } else { "MISSED" }
}

fn liveset(window: u64) -> Liveset {
    let mut policy = Policy::default();
    policy.window = Some(window);
    Liveset::new(policy).with_model("gpt-4.1").with_format(WireFormat::Anthropic)
}

/// A median with its spread.
struct Ratio {
    median: f64,
    least: f64,
    most: f64,
    subject_ms: f64,
    yardstick_ms: f64,
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:>7.1} x memcpy ({:.1} to {:.1}; {:.2} ms against {:.3} ms)",
            self.median, self.least, self.most, self.subject_ms, self.yardstick_ms
        )
    }
}

fn summary(mut pairs: Vec<(f64, f64)>) -> Ratio {
    pairs.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let ratio = |(subject, yardstick): (f64, f64)| subject / yardstick;
    let middle = pairs[pairs.len() / 2];
    Ratio {
        median: ratio(middle),
        least: ratio(pairs[0]),
        most: ratio(pairs[pairs.len() - 1]),
        subject_ms: middle.0 * 1e3,
        yardstick_ms: middle.1 * 1e3,
    }
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// One copy into memory that is there already, right after the subject has used the caches: they take turns.
fn copy(body: &[u8], to: &mut [u8]) -> f64 {
    seconds(|| {
        to.copy_from_slice(black_box(body));
        black_box(&to);
    })
}

fn ratios(body: &[u8], subject: impl Fn()) -> Ratio {
    let mut to = body.to_vec();
    summary((0..TURNS).map(|_| (seconds(&subject), copy(body, &mut to))).collect())
}

fn turn_ratios(liveset: &Liveset, body: &[u8], grown: &[u8]) -> Ratio {
    let mut to = body.to_vec();
    let pairs = (0..TURNS).map(|_| {
        let mut session = liveset.session();
        session.compact(body).expect("the body compacts");
        copy(body, &mut to);
        let subject = seconds(|| {
            black_box(session.compact(black_box(grown)).expect("the next turn compacts"));
        });
        (subject, copy(body, &mut to))
    });
    summary(pairs.collect())
}

/// Peak resident memory of one compaction beyond body and vocabularies, as a multiple of the body.
fn peak_memory(body: &[u8]) {
    let liveset = liveset(1_000_000);
    let small =
        br#"{"messages":[{"role":"user","content":"warm up"},{"role":"user","content":[{"type":"tool_result"}]}]}"#;
    liveset.compact(small).expect("a small body compacts");
    let figure = |key: &str| {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with(key))?.to_owned();
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    };
    let reset = std::fs::write("/proc/self/clear_refs", "5");
    let (Ok(()), Some(before)) = (reset, figure("VmRSS")) else {
        let _ = writeln!(std::io::stdout(), "peak memory: not measured, this system has no /proc");
        return;
    };
    let compaction = liveset.compact(body).expect("the body compacts");
    let peak = figure("VmHWM").unwrap_or_default();
    black_box(&compaction);
    // The body itself was there before and counts.
    let multiple = (peak - before) * 1024.0 / body.len() as f64 + 1.0;
    let _ = writeln!(
        std::io::stdout(),
        "peak memory of one compaction: {multiple:.1} x the body, beyond the vocabularies   hold now <= 6   {}",
        verdict(multiple, 6.0)
    );
}

/// Text of an agent's tools: this repository's files, and the shared traces where they are.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let traces = std::env::var("LIVESET_TRACES").map_or_else(|_| root.join("../shared/traces"), PathBuf::from);
    let mut files = Vec::new();
    for folder in [root.join("crates"), root.join("examples"), traces] {
        collect(&folder, &mut files);
    }
    files.sort();
    let mut texts: Vec<String> = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        // Traces are JSON of strings: escapes undone they are what tools said.
        let text = if file.extension().is_some_and(|kind| kind == "rs") {
            text
        } else {
            text.replace("\\n", "\n").replace("\\\"", "\"")
        };
        let lines: Vec<&str> = text.lines().collect();
        for chunk in lines.chunks(160) {
            texts.push(
                chunk.iter().map(|line| line.chars().take(400).collect::<String>()).collect::<Vec<_>>().join("\n"),
            );
        }
    }
    assert!(!texts.is_empty(), "the repository holds files");
    texts
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|kind| ["rs", "md", "json", "jsonl", "traj"].iter().any(|known| kind == *known))
        {
            files.push(path);
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A long session: reads of different texts, a few quoted lines, a call, over and over.
fn body() -> Vec<u8> {
    let texts = texts();
    let counter = liveset_tokens::o200k();
    let mut out = String::from(
        r#"{"model":"gpt-4.1","max_tokens":1000,"system":"You are a careful engineer.","messages":[{"role":"user","content":"Go through everything."}"#,
    );
    let mut tokens = 0;
    for round in 0_usize.. {
        let text = &texts[round * 7919 % texts.len()];
        let text = if round < texts.len() { text.clone() } else { text.replace(' ', &format!(" {round} ")) };
        tokens += counter.count(&text).0 + 120;
        push_turn(&mut out, round, &text);
        if tokens > BODY_TOKENS {
            break;
        }
    }
    out.push_str("]}");
    out.into_bytes()
}

fn push_turn(out: &mut String, round: usize, text: &str) {
    let quote: String = text.lines().skip(3).take(4).collect::<Vec<_>>().join("\n");
    let said = quoted(&format!("Step {round}: this part matters:\n{quote}"));
    let _ = write!(
        out,
        r#",{{"role":"assistant","content":[{{"type":"text","text":{said}}},{{"type":"tool_use","id":"call_{round}","name":"Read","input":{{"file_path":"src/file_{round}.rs"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"call_{round}","content":{}}}]}}"#,
        quoted(text)
    );
}

fn grown(body: &[u8], turn: usize) -> Vec<u8> {
    let mut out = String::from_utf8(body[..body.len() - 2].to_vec()).expect("the body is text");
    let text: String = (0..).map(|n| format!("new line {n} of fresh result {turn}\n")).take(TURN_BYTES / 32).collect();
    push_turn(&mut out, 1_000_000 + turn, &text);
    out.push_str("]}");
    out.into_bytes()
}
