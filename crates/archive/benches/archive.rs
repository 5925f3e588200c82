//! P8: what does an archive cost next to a plain pack file?
//!
//! Archive and pack file take turns in one run on the same texts; what comes back is checked. Beside the ratios stand
//! latencies of put, get and search, and the size of each file.
//!
//! `LIVESET_BENCH_ORIGINALS` sets how many originals there are (100,000 where nothing is said).

#![expect(clippy::expect_used, reason = "a bench stops where something is wrong")]

use std::{
    fs::{File, OpenOptions},
    hint::black_box,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    time::Instant,
};

use liveset_archive::{Archive as _, Query, Release, Source, SqliteArchive};

/// Originals where nothing else is said.
const ORIGINALS: usize = 100_000;
/// Bytes of each, about.
const ORIGINAL_BYTES: usize = 10_000;
/// Originals of a release: what a sweep of a long conversation cuts.
const PER_RELEASE: usize = 50;
/// Reads and searches that are timed.
const LOOKS: usize = 2_000;
const SEARCHES: usize = 200;
/// Originals of the session that is searched.
const SESSION_ORIGINALS: usize = 2_000;

fn main() {
    let wanted = std::env::var("LIVESET_BENCH_ORIGINALS").ok().and_then(|number| number.parse().ok());
    let originals: usize = wanted.unwrap_or(ORIGINALS);
    let folder = tempfile::tempdir().expect("a folder");
    let mut out = std::io::stdout().lock();
    let archive = SqliteArchive::open(folder.path().join("archive.db")).expect("it opens");
    let mut pack = Pack::new(&folder.path().join("pack"));
    let (mut ours, mut plain, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for first in (0..originals).step_by(PER_RELEASE) {
        let release = release(first, PER_RELEASE.min(originals - first));
        bytes += release.originals.iter().map(|(_, text)| text.len()).sum::<usize>();
        plain.push(seconds(|| places.extend(pack.put(&release))));
        ours.push(seconds(|| archive.put(&release).expect("it is stored")));
    }
    let _ =
        writeln!(out, "{originals} originals, {:.1} MB, releases of {PER_RELEASE}, each durable", bytes as f64 / 1e6);
    line(&mut out, "P8 put, a release", &ours, &plain, Some(2.0));
    let burst = burst(&archive, originals);
    let _ = writeln!(out, "   put, 8 threads at once: {:.0} us a release of one original", burst * 1e6);
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for look in 0..LOOKS {
        let at = look * 7_919 % originals;
        let expected = text(at);
        plain.push(seconds(|| assert!(pack.get(places[at]) == expected)));
        ours.push(seconds(|| assert!(archive.original(&id(at)).expect("it is read").as_ref() == Some(&expected))));
    }
    line(&mut out, "   get, an original ", &ours, &plain, None);
    let indexing = seconds(|| archive.index().expect("it is indexed"));
    let _ = writeln!(out, "   index: {:.1} s for what was not indexed yet", indexing);
    search(&mut out, &archive, "   search, everything", None, originals);
    let session = session_of(0);
    search(&mut out, &archive, "   search, a session ", Some(session), SESSION_ORIGINALS.min(originals));
    let scan = archive.scan().expect("it is read");
    assert!(scan.is_sound());
    let (file, packed) = (scan.bytes as f64, pack.len() as f64);
    let _ = writeln!(
        out,
        "   size: {:.1} MB with its indexes, {:.2} x the pack file's {:.1} MB",
        file / 1e6,
        file / packed,
        packed / 1e6
    );
}

/// Makes the words of a search from the number of an original that holds them.
type Words = fn(usize) -> String;

fn search(out: &mut impl std::io::Write, archive: &SqliteArchive, what: &str, session: Option<String>, among: usize) {
    let kinds: [(&str, Words); 4] = [
        ("a rare word", |at| format!("value_{at}")),
        ("common words", |_| "reader error".to_owned()),
        ("a part and a word", |at| format!("handler{} timeout", at % 97)),
        ("inside a word", |at| format!("alue_{at}")),
    ];
    let mut all = Vec::new();
    for (kind, words) in kinds {
        let mut times = Vec::new();
        for look in 0..SEARCHES / kinds.len() {
            let query = Query { session: session.clone(), ..Query::new(words(look * 6_007 % among)) };
            let mut hits = Vec::new();
            times.push(seconds(|| hits = archive.search(black_box(&query)).expect("it is searched").hits));
            assert!(!hits.is_empty(), "{query:?}");
        }
        all.extend(times.iter().copied());
        let (median, high) = (quantile(&mut times, 50) * 1e3, quantile(&mut times, 99) * 1e3);
        let _ = writeln!(out, "{what}, {kind}: p50 {median:.2} ms, p99 {high:.2} ms");
    }
    let _ = writeln!(out, "{what}, all kinds: p50 {:.2} ms", quantile(&mut all, 50) * 1e3);
}

/// Releases of one original each, from eight threads: how far a shared commit goes.
fn burst(archive: &SqliteArchive, first: usize) -> f64 {
    const THREADS: usize = 8;
    const EACH: usize = 50;
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for number in 0..EACH {
                    archive.put(&release(first + thread * EACH + number, 1)).expect("it is stored");
                }
            });
        }
    });
    start.elapsed().as_secs_f64() / (THREADS * EACH) as f64
}

fn line(out: &mut impl std::io::Write, what: &str, ours: &[f64], plain: &[f64], limit: Option<f64>) {
    let mut ratios: Vec<f64> = ours.iter().zip(plain).map(|(ours, plain)| ours / plain).collect();
    let ratio = quantile(&mut ratios, 50);
    let (low, high) = (quantile(&mut ratios, 10), quantile(&mut ratios, 90));
    let (mut ours, mut plain) = (ours.to_vec(), plain.to_vec());
    let verdict = limit.map_or(String::new(), |limit| {
        format!("   hold now <= {limit} {}", if ratio <= limit { "ok" } else { "NOT HELD" })
    });
    let _ = writeln!(
        out,
        "{what}: {ratio:.2} x ({low:.2} to {high:.2}); p50 {:.0} us, p99 {:.0} us against p50 {:.0} us{verdict}",
        quantile(&mut ours, 50) * 1e6,
        quantile(&mut ours, 99) * 1e6,
        quantile(&mut plain, 50) * 1e6
    );
}

fn quantile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The yardstick: lengths and texts one after the other, synced with each release. Nothing is packed, hashed or found.
struct Pack {
    file: File,
    end: u64,
}

impl Pack {
    fn new(path: &Path) -> Self {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).expect("a file");
        Self { file, end: 0 }
    }

    fn put(&mut self, release: &Release) -> Vec<(u64, usize)> {
        let mut places = Vec::with_capacity(release.originals.len());
        self.file.seek(SeekFrom::Start(self.end)).expect("it seeks");
        let texts = release.originals.iter().map(|(_, text)| text).chain([&release.manifest]);
        for text in texts {
            self.file.write_all(&(text.len() as u64).to_le_bytes()).expect("it is written");
            self.file.write_all(text).expect("it is written");
            places.push((self.end + 8, text.len()));
            self.end += 8 + text.len() as u64;
        }
        self.file.sync_data().expect("it is synced");
        places.pop();
        places
    }

    fn get(&mut self, (at, len): (u64, usize)) -> Vec<u8> {
        let mut text = vec![0; len];
        self.file.seek(SeekFrom::Start(at)).expect("it seeks");
        self.file.read_exact(&mut text).expect("it is read");
        text
    }

    fn len(&self) -> u64 {
        self.end
    }
}

fn id(number: usize) -> String {
    format!("{number:032x}")
}

fn session_of(first: usize) -> String {
    format!("{:032x}", first / SESSION_ORIGINALS)
}

fn release(first: usize, count: usize) -> Release {
    let numbers = first..first + count;
    let originals = numbers.clone().map(|number| (id(number), text(number))).collect();
    let manifest = format!("{{\"pieces\":[{}]}}", "{\"at\":100,\"len\":80,\"original\":\"x\"},".repeat(count));
    let mut release = Release::new(&first.to_le_bytes(), manifest.into_bytes(), originals);
    release.session = session_of(first);
    let source =
        |number: usize| Source { tool: "read_file".into(), label: format!("src/m{number}.rs"), ..Source::default() };
    release.sources = numbers.map(|number| (id(number), source(number))).collect();
    release
}

/// Made-up code and log lines: as varied as real ones, so that neither packing nor the index has it easy.
fn text(number: usize) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "parser", "token", "reader", "error", "pool", "socket", "header", "cache", "index", "window", "session",
        "request", "reply", "queue", "worker", "handle", "buffer", "stream", "config", "policy", "report", "record",
        "table", "value",
    ];
    let mut state = number as u64 + 1;
    let mut dice = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % end as u64) as usize
    };
    let mut text = format!("// value_{number} handler{}Timeout reader error\n", number % 97);
    while text.len() < ORIGINAL_BYTES {
        let mut word = || WORDS[dice(WORDS.len())];
        let (a, b, c, d) = (word(), word(), word(), word());
        let line = match dice(3) {
            0 => format!("    let {a}_{b} = self.{c}({d}, {})?;\n", dice(100_000)),
            1 => {
                format!("2024-05-{:02}T10:{:02}:00 {a} {b}: {c} {d} after {} ms\n", dice(28) + 1, dice(60), dice(9_000))
            }
            _ => format!("fn {a}_{b}_{}({c}: &str) -> Result<{d}> {{\n", dice(5_000)),
        };
        text.push_str(&line);
    }
    text.into_bytes()
}
