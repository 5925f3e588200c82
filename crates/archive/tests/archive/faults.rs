//! What a machine refuses: a disk that is full at any step, a folder that may not be written, and eight processes that
//! all want the same file.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use liveset_archive::{Archive, Error, SqliteArchive, output_hash};

use crate::{crashes, id, release, text};

/// Which archive a child works on.
const CHILD: &str = "LIVESET_FAULT_CHILD";

/// Runs one test of this file again as a process of its own, behind `before` in a shell.
fn child(test: &str, path: &Path, before: &str) -> Child {
    let script = format!("{before} exec \"$0\" --exact \"$1\" --nocapture");
    Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .arg(format!("faults::{test}"))
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

pub(crate) fn content(number: u64) -> String {
    (0..400).map(|line| format!("{number} {}\n", line * number % 1_009)).collect()
}

/// Originals of the releases that a child writes: enough to need new pages in each part of the file.
pub(crate) const RELEASES: u64 = 12;

/// Puts until something fails; says what was stored and how it failed.
fn put_until_refused(path: &Path) {
    let archive = match SqliteArchive::open(path) {
        Ok(archive) => archive,
        Err(error) => return println!("refused {error}"),
    };
    for number in 1..=RELEASES {
        match archive.put(&release(&format!("body {number}"), &[(number, &content(number))])) {
            Ok(()) => println!("stored {number}"),
            Err(error) => {
                assert!(matches!(error, Error::Io { .. } | Error::Failed { .. } | Error::Full { .. }), "{error:?}");
                println!("refused {error}");
            }
        }
    }
}

/// Every release that a child said to be stored is there, and what it said to be refused left nothing half.
pub(crate) fn check_stored(path: &Path, told: &str) -> u64 {
    let stored: Vec<u64> = told.lines().filter_map(|line| line.split_once("stored ")?.1.trim().parse().ok()).collect();
    let archive = SqliteArchive::open(path).unwrap();
    for number in 1..=RELEASES {
        let manifest = archive.manifest(&output_hash(format!("body {number}").as_bytes())).unwrap();
        let original = text(archive.original(&id(number)).unwrap());
        assert!(manifest.is_none() || original.as_deref() == Some(&content(number)), "{number} is whole or not there");
        assert!(manifest.is_some() || !stored.contains(&number), "{number} was said to be stored");
    }
    assert!(archive.scan().unwrap().is_sound());
    archive.put(&release("after", &[(99, "after")])).unwrap();
    stored.len() as u64
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_at_any_step_refuses_and_loses_nothing() {
    if let Some(path) = std::env::var_os(CHILD) {
        return put_until_refused(Path::new(&path));
    }
    let mut outcomes = std::collections::BTreeSet::new();
    // Units of 512 bytes: from a file that cannot even begin to one that holds all.
    let steps = crashes(40);
    for step in 0..steps {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        let blocks = step * 900 / steps;
        // Ignored, the signal becomes an error of the write that would pass the limit.
        let child = child(
            "a_disk_that_is_full_at_any_step_refuses_and_loses_nothing",
            &path,
            &format!("trap '' XFSZ; ulimit -f {blocks};"),
        );
        let output = child.wait_with_output().unwrap();
        let told = told(&output);
        assert!(output.status.success(), "{blocks} blocks: {told}");
        assert!(told.contains("refused ") || told.contains(&format!("stored {RELEASES}")), "{blocks} blocks: {told}");
        outcomes.insert(check_stored(&path, &told));
    }
    assert!(outcomes.len() > 3, "the limit falls between different releases: {outcomes:?}");
}

/// Who runs this may write anywhere; then the child becomes somebody who may not.
#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_is_read_and_refuses_releases() {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};
    if let Some(path) = std::env::var_os(CHILD) {
        let archive = SqliteArchive::open(&path).unwrap();
        assert_eq!(text(archive.original(&id(1)).unwrap()).as_deref(), Some("one"));
        assert_eq!(text(archive.manifest(&output_hash(b"a")).unwrap()).as_deref(), Some("manifest of a"));
        let found = archive.search(&liveset_archive::Query::new("one")).unwrap();
        assert_eq!((found.hits.len(), found.not_searched.is_nothing()), (1, true), "nobody could index it");
        assert!(archive.scan().unwrap().is_sound());
        let refused = archive.put(&release("b", &[(2, "two")])).unwrap_err();
        assert!(matches!(refused, Error::Io { .. }), "{refused:?}");
        let beside = Path::new(&path).with_file_name("new");
        assert!(matches!(SqliteArchive::open(beside), Err(Error::Io { .. })));
        return println!("checked");
    }
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    SqliteArchive::open(&path).unwrap().put(&release("a", &[(1, "one")])).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&path, 0o444);
    mode(folder.path(), 0o555);
    let is_root = fs::write(folder.path().join("probe"), "").is_ok();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "faults::a_folder_that_may_not_be_written_is_read_and_refuses_releases", "--nocapture"]);
    command.env(CHILD, &path);
    if is_root {
        fs::remove_file(folder.path().join("probe")).unwrap();
        command.uid(NOBODY).current_dir("/");
    }
    let output = command.output();
    mode(folder.path(), 0o755);
    match output {
        Ok(output) => assert!(output.status.success() && told(&output).contains("checked"), "{}", told(&output)),
        Err(error) => liveset_testkit::skipped("nobody else can run this test's program", error),
    }
}

#[test]
fn eight_processes_that_make_and_fill_one_archive_lose_nothing() {
    const PROCESSES: u64 = 8;
    let test = "eight_processes_that_make_and_fill_one_archive_lose_nothing";
    if let Some(path) = std::env::var_os(CHILD) {
        let archive = SqliteArchive::open(&path).unwrap();
        let own = u64::from(std::process::id()) << 8;
        for number in 1..=RELEASES {
            let shared = content(number);
            archive
                .put(&release(&format!("body {}", own + number), &[(number, &shared), (own + number, "mine")]))
                .unwrap();
            println!("stored {}", own + number);
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let children: Vec<Child> = (0..PROCESSES).map(|_| child(test, &path, "")).collect();
    let mut stored = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        stored
            .extend(told(&output).lines().filter_map(|line| line.split_once("stored ")?.1.trim().parse::<u64>().ok()));
    }
    assert_eq!(stored.len() as u64, PROCESSES * RELEASES);
    let archive = SqliteArchive::open(&path).unwrap();
    for number in stored {
        assert_eq!(text(archive.original(&id(number)).unwrap()).as_deref(), Some("mine"));
        assert!(archive.manifest(&output_hash(format!("body {number}").as_bytes())).unwrap().is_some());
    }
    let scan = archive.scan().unwrap();
    assert_eq!((scan.originals, scan.is_sound()), (RELEASES + PROCESSES * RELEASES, true));
}
