//! A disk that fails once, in the middle of a command: one line, a hint and exit code 4, no body without its originals;
//! and the command, run again, does what it was asked for.

use std::ffi::c_int;

use liveset_testkit::{Failure, on_failing_disk, skipped};

use crate::{
    archive_faults::{assert_failed_in_one_line, times},
    bodies,
    bodies::SMALL,
    program::{Place, Run},
};

/// More writes than any command makes.
const MANY: usize = 2_000;

/// Runs words with the nth write below the place failing; `None` where nothing can be failed here.
fn run_failing(place: &Place, words: &str, at: usize, errno: c_int) -> Option<(Run, bool)> {
    let failure = Failure { at: u64::try_from(at).unwrap(), errno };
    match on_failing_disk(&place.path(""), failure, || place.run(words)) {
        Ok(outcome) => Some((outcome.value, outcome.failed.is_some())),
        Err(error) => {
            skipped("no write can be failed here", error);
            None
        }
    }
}

/// A body that is not written stands behind its report; everything else fails before there is one.
fn assert_told(run: &Run, what: &str) {
    match run.err.contains("liveset: cannot write `small.json`") {
        true => assert_eq!((run.code, run.text()), (4, ""), "{what}: {}", run.err),
        false => assert_failed_in_one_line(run, what),
    }
}

/// Runs words in a place that is prepared anew for each write that fails: `LIVESET_CRASHES=300` for every one.
fn fail_writes(prepare: fn() -> Place, words: &str, check: fn(&Place, &Run)) {
    let Some((whole, _)) = run_failing(&prepare(), words, MANY, libc::EIO) else { return };
    assert_eq!(whole.code, 0, "{words}: {}", whole.err);
    let (step, mut refused) = ((300 / times(12)).max(1), 0);
    for at in (1..MANY).step_by(step) {
        let place = prepare();
        let errno = if at / step % 2 == 0 { libc::EIO } else { libc::ENOSPC };
        let Some((run, has_failed)) = run_failing(&place, words, at, errno) else { return };
        if run.code != 0 {
            refused += 1;
            assert_told(&run, &format!("{words}: write {at}"));
        }
        check(&place, &run);
        if !has_failed {
            break;
        }
    }
    assert!(refused > 0, "{words}: some failure is told");
}

fn compacted() -> Place {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --archive a.liveset -o small.json"));
    assert_eq!(run.code, 0, "{}", run.err);
    place
}

/// A body that was handed out comes back; and after a failure the same command goes on.
fn comes_back(place: &Place, run: &Run) {
    let small = match run.code {
        0 => run.out.clone(),
        _ => {
            let again = place.run(&format!("compact body.json {SMALL} --archive a.liveset"));
            assert_eq!(again.code, 0, "the disk is whole again: {}", again.err);
            again.out
        }
    };
    place.write("handed-out.json", small);
    let restored = place.run("restore handed-out.json --archive a.liveset");
    assert!(restored.out == bodies::long(), "{}", restored.err);
    assert_eq!(place.run("archive verify --archive a.liveset").code, 0);
}

#[test]
fn no_body_leaves_without_its_originals_whichever_write_fails() {
    let empty = || Place::with("body.json", bodies::long());
    fail_writes(empty, &format!("compact body.json {SMALL} --archive a.liveset"), comes_back);
    let spilling = format!("compact body.json {SMALL} --archive a.liveset --recall-route spill:out");
    fail_writes(empty, &spilling, comes_back);
}

#[test]
fn a_file_is_written_whole_or_not_at_all_whichever_write_fails() {
    let words = format!("compact body.json {SMALL} --archive a.liveset -o small.json");
    fail_writes(
        || Place::with("body.json", bodies::long()),
        &words,
        |place, run| {
            assert_eq!(place.files().contains(&"small.json".to_owned()), run.code == 0);
            if run.code == 0 {
                let restored = place.run("restore small.json --archive a.liveset");
                assert!(restored.out == bodies::long(), "{}", restored.err);
            }
        },
    );
}

/// What an archive held is there whole, or gone whole, and what was asked for can be asked for again.
fn is_whole_or_gone(place: &Place, run: &Run) {
    let restored = place.run("restore small.json --archive a.liveset");
    let is_there = restored.out == bodies::long();
    assert!(is_there || restored.code == 4, "{}", restored.err);
    assert!(!is_there || run.code != 0, "it was said to be gone");
    assert_eq!(place.run("archive verify --archive a.liveset").code, 0);
    assert_eq!(place.run("archive gc --to 0 --everything --archive a.liveset").code, 0);
}

#[test]
fn what_is_removed_goes_whole_whichever_write_fails() {
    fail_writes(compacted, "archive gc --to 0 --everything --archive a.liveset", is_whole_or_gone);
    let listed = compacted().run("archive ls --archive a.liveset");
    let session = listed.text().lines().nth(1).unwrap().split_whitespace().next().unwrap();
    fail_writes(compacted, &format!("archive purge --session {session} --archive a.liveset"), is_whole_or_gone);
}

#[test]
fn an_import_can_be_done_again_whichever_write_fails() {
    fail_writes(compacted, "archive import a.liveset --archive b.liveset", |place, _| {
        assert_eq!(place.run("archive import a.liveset --archive b.liveset").code, 0);
        assert!(place.run("restore small.json --archive b.liveset").out == bodies::long());
    });
}
