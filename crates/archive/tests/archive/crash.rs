//! What a crash leaves: a log that ends anywhere within the last write, or a process that died at any moment.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use liveset_archive::{Archive, Error, SqliteArchive, output_hash};

use crate::{Dice, crashes, id, release, text};

/// The files of an archive as they stand while it is open.
struct Picture {
    file: Vec<u8>,
    log: Vec<u8>,
}

impl Picture {
    /// Read by another process: closing a file here would end the locks that this process holds on it.
    fn take(path: &Path) -> Self {
        let read = |end: &str| Command::new("cat").arg(format!("{}{end}", path.display())).output().unwrap().stdout;
        Self { file: read(""), log: read("-wal") }
    }

    fn put_down(&self, path: &Path) {
        for end in ["-shm", "-journal"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
        fs::write(path, &self.file).unwrap();
        fs::write(format!("{}-wal", path.display()), &self.log).unwrap();
    }
}

fn assert_holds_a(archive: &SqliteArchive) {
    assert_eq!(text(archive.original(&id(1)).unwrap()).as_deref(), Some("one"));
    assert_eq!(text(archive.original(&id(2)).unwrap()).as_deref(), Some("two\nlines"));
    assert_eq!(text(archive.manifest(&output_hash(b"a")).unwrap()).as_deref(), Some("manifest of a"));
}

fn holds_b(archive: &SqliteArchive) -> bool {
    let found = [archive.original(&id(3)).unwrap(), archive.original(&id(4)).unwrap()].map(text);
    let manifest = text(archive.manifest(&output_hash(b"b")).unwrap());
    let whole = [Some("three".to_owned()), Some("four".to_owned())];
    assert!(manifest.is_none() || found == whole, "a manifest is never there without its originals");
    manifest.is_some()
}

#[test]
fn a_log_cut_at_any_byte_of_the_last_write_keeps_all_earlier_releases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let archive = SqliteArchive::open(&path).unwrap();
    archive.put(&release("a", &[(1, "one"), (2, "two\nlines")])).unwrap();
    let before = Picture::take(&path);
    archive.put(&release("b", &[(3, "three"), (4, "four")])).unwrap();
    let mut after = Picture::take(&path);
    assert_eq!(before.file, after.file, "both releases lie in the log");
    assert!(after.log.len() > before.log.len() + 4_000);
    let whole = std::mem::take(&mut after.log);
    let cut = folder.path().join("cut");
    let mut seen = [false; 2];
    // Each border of a page's frame, and bytes between them.
    for len in (before.log.len()..=whole.len())
        .filter(|len| matches!(len % 4_120, 0 | 8 | 31 | 32 | 33) || len % 1_031 == 0 || *len == whole.len())
    {
        for filled in [0, 24] {
            let mut log = whole[..len].to_vec();
            log.resize(len + filled, 0);
            Picture { file: after.file.clone(), log }.put_down(&cut);
            let archive = SqliteArchive::open(&cut).unwrap();
            assert_holds_a(&archive);
            let has_b = holds_b(&archive);
            seen[usize::from(has_b)] = true;
            archive.put(&release("b", &[(3, "three"), (4, "four")])).unwrap();
            assert!(holds_b(&archive), "the next write completes the file");
            assert_holds_a(&archive);
        }
    }
    assert_eq!(seen, [true, true], "the cuts reach from before the release to after it");
}

#[test]
fn putting_again_does_not_grow_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let of_a = release("a", &[(1, "one"), (1, "one"), (2, "two")]);
    let len = || {
        SqliteArchive::open(&path).unwrap().put(&of_a).unwrap();
        fs::metadata(&path).unwrap().len()
    };
    assert_eq!(len(), len());
}

#[test]
fn files_that_are_no_archive_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    for content in [&b""[..], b"notes", &[0; 49], &[b'{'; 5_000]] {
        fs::write(&path, content).unwrap();
        assert!(matches!(SqliteArchive::open(&path), Err(Error::NotAnArchive { .. })));
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    let old = b"liveset-arch\x01\0\0\0 and what followed".as_slice();
    fs::write(&path, old).unwrap();
    assert!(matches!(SqliteArchive::open(&path), Err(Error::OldKind { .. })));
    assert_eq!(fs::read(&path).unwrap(), old);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_is_no_archive_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/null"), Path::new("/dev/zero")] {
        assert!(matches!(SqliteArchive::open(path), Err(Error::NotAnArchive { .. })), "{path:?}");
    }
}

/// Names the archive that the child of a crash test writes to, and where its releases begin.
const CHILD: &str = "LIVESET_ARCHIVE_CHILD";
const FIRST: &str = "LIVESET_ARCHIVE_FIRST";

/// Originals of each release of the child.
const ORIGINALS: u64 = 3;

fn content(number: u64) -> String {
    format!("text {number}\n").repeat(usize::try_from(number % 97 * 20 + 1).unwrap())
}

fn release_of(number: u64) -> liveset_archive::Release {
    let texts: Vec<(u64, String)> =
        (0..ORIGINALS).map(|at| number * ORIGINALS + at).map(|number| (number, content(number))).collect();
    let texts: Vec<(u64, &str)> = texts.iter().map(|(number, text)| (*number, text.as_str())).collect();
    release(&format!("body {number}"), &texts)
}

/// Writes releases and says so after each, until somebody kills it.
fn write_until_killed(path: &str) {
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let archive = SqliteArchive::open(path).unwrap();
    for number in first..first + 100_000 {
        archive.put(&release_of(number)).unwrap();
        // A line at a time, past the test harness.
        println!("stored {number}");
    }
}

/// The last release that the child said to be stored.
fn killed_child(path: &Path, first: u64, dice: &mut Dice) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::what_a_killed_process_said_to_be_stored_is_there", "--nocapture"])
        .env(CHILD, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let numbers = lines.map_while(Result::ok).filter_map(|line| line.split_once("stored ")?.1.trim().parse().ok());
    let wanted = dice.below(12);
    let pause = Duration::from_micros(u64::try_from(dice.below(6_000)).unwrap());
    let mut last = None;
    for (at, number) in numbers.enumerate() {
        last = Some(number);
        if at == wanted {
            std::thread::sleep(pause);
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    last
}

#[test]
fn what_a_killed_process_said_to_be_stored_is_there() {
    if let Ok(path) = std::env::var(CHILD) {
        write_until_killed(&path);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let mut dice = Dice(7);
    let mut first = 0;
    for _ in 0..crashes(12) {
        let Some(last) = killed_child(&path, first, &mut dice) else { panic!("the child stored nothing") };
        let archive = SqliteArchive::open(&path).unwrap();
        for number in first..=last {
            for at in number * ORIGINALS..(number + 1) * ORIGINALS {
                assert_eq!(text(archive.original(&id(at)).unwrap()).as_deref(), Some(content(at).as_str()));
            }
            let body = format!("body {number}");
            assert!(archive.manifest(&output_hash(body.as_bytes())).unwrap().is_some(), "{body}");
        }
        // The release after the last one that was told may be there: then it is there whole.
        let after = archive.manifest(&output_hash(format!("body {}", last + 1).as_bytes())).unwrap();
        let originals = archive.original(&id((last + 1) * ORIGINALS)).unwrap();
        assert_eq!(after.is_some(), originals.is_some());
        first = last + 2;
    }
    assert!(SqliteArchive::open(&path).unwrap().scan().unwrap().is_sound());
}
