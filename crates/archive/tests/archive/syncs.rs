//! A disk that takes what is written and fails when it is asked to keep it: nothing is said to be stored from then on, and
//! what was said before is there.

use std::{collections::BTreeMap, path::Path, process::Command};

use liveset_archive::{Archive, Error, SqliteArchive};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::{
    faults::{RELEASES, check_stored, content, told},
    release,
};

/// Which archive the child works on, and after how many releases syncs begin to fail.
const CHILD: &str = "LIVESET_SYNC_CHILD";
const AFTER: &str = "LIVESET_SYNC_AFTER";

/// From here on the system refuses every sync of this process, of all its threads, as a broken disk does.
fn break_syncs() {
    let rules: BTreeMap<i64, Vec<_>> =
        [libc::SYS_fsync, libc::SYS_fdatasync].into_iter().map(|call| (call, Vec::new())).collect();
    let broken = SeccompAction::Errno(libc::EIO.unsigned_abs());
    let machine = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, broken, machine).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter_all_threads(&program).unwrap();
}

fn put_before_and_after(path: &Path, after: u64) {
    let put = |archive: &SqliteArchive, number: u64| {
        let name = format!("body {number}");
        match archive.put(&release(&name, &[(number, &content(number))])) {
            Ok(()) => println!("stored {number}"),
            Err(error) => {
                assert!(matches!(error, Error::Io { .. } | Error::Failed { .. }), "{error:?}");
                println!("refused {number}: {error}");
            }
        }
    };
    let archive = SqliteArchive::open(path).unwrap();
    (1..=after).for_each(|number| put(&archive, number));
    break_syncs();
    (after + 1..=RELEASES).for_each(|number| put(&archive, number));
    // A new handle fares no better.
    match SqliteArchive::open(path) {
        Ok(archive) => put(&archive, RELEASES),
        Err(error) => println!("refused {RELEASES}: {error}"),
    }
    assert!(SqliteArchive::open(path.with_extension("new")).is_err(), "nothing new is made");
}

#[test]
fn a_release_whose_sync_fails_is_refused_and_what_was_stored_before_stays() {
    if let (Some(path), Ok(after)) = (std::env::var_os(CHILD), std::env::var(AFTER)) {
        return put_before_and_after(Path::new(&path), after.parse().unwrap());
    }
    for after in [0, 1, RELEASES / 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "syncs::a_release_whose_sync_fails_is_refused_and_what_was_stored_before_stays"]);
        let output = command.arg("--nocapture").env(CHILD, &path).env(AFTER, after.to_string()).output().unwrap();
        let told = told(&output);
        assert!(output.status.success(), "{after}: {told}");
        let numbers = |word: &str| -> Vec<u64> {
            let number = |line: &str| line.split_once(word)?.1.split(':').next()?.trim().parse().ok();
            told.lines().filter_map(number).collect()
        };
        assert_eq!(numbers("stored "), (1..=after).collect::<Vec<_>>(), "{told}");
        let refused: Vec<u64> = (after + 1..=RELEASES).chain([RELEASES]).collect();
        assert_eq!(numbers("refused "), refused, "{told}");
        assert_eq!(check_stored(&path, &told), after);
    }
}
