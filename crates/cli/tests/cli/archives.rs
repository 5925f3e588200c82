//! `archive`: lists, checks, purges, copies; and processes that die while they store.

use std::process::Stdio;

use expect_test::expect;
use serde_json::Value;

use crate::{
    bodies,
    bodies::SMALL,
    program::{self, Place},
};

fn compacted() -> Place {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --archive a.liveset -o small.json"));
    assert_eq!(run.code, 0, "{}", run.err);
    place
}

fn sessions(place: &Place, archive: &str) -> Value {
    serde_json::from_slice(&place.run(&format!("archive ls --json --archive {archive}")).out).unwrap()
}

#[test]
fn sessions_are_listed_and_purged() {
    let place = compacted();
    let listed = sessions(&place, "a.liveset");
    let session = listed[0]["session"].as_str().unwrap();
    assert_eq!((listed[0]["originals"].as_u64(), listed[0]["bodies"].as_u64()), (Some(5), Some(1)));
    let text = place.run("archive ls --archive a.liveset");
    assert!(text.text().lines().nth(1).unwrap().starts_with(session), "{}", text.text());
    expect![[r#"
        exit 0
        out | purged 5 originals and 1 manifests
    "#]]
    .assert_eq(&place.run(&format!("archive purge --session {session} --archive a.liveset")).shown());
    assert_eq!(sessions(&place, "a.liveset"), Value::Array(Vec::new()));
    assert_eq!(place.run("restore small.json --archive a.liveset").code, 4);
    assert_eq!(place.run("archive purge --archive a.liveset").code, 2);
    let again = place.run(&format!("archive purge --session {session} --archive a.liveset"));
    assert_eq!(
        again.shown().replace(session, "NAME"),
        "exit 4\nerr | liveset: no session `NAME` here, so nothing was \
        purged\nerr | hint: `liveset archive ls` names the sessions; one that was purged is no longer among them\n"
    );
}

#[test]
fn the_session_without_a_name_is_asked_for_as_it_is_listed() {
    use liveset_archive::{Archive as _, Release, SqliteArchive};
    let place = Place::new();
    let id = "0f".repeat(16);
    let release = Release::new(b"body", b"{}".to_vec(), vec![(id.clone(), b"a red pump\n".to_vec())]);
    assert_eq!(release.session, "");
    SqliteArchive::open(place.path("a.liveset")).unwrap().put(&release).unwrap();
    let listed = place.run("archive ls --archive a.liveset");
    let name = listed.text().lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let asked = |words: &str| place.run(&format!("{words} --session {name} --archive a.liveset"));
    assert_eq!(asked(&format!("recall {id}")).text(), "a red pump\n");
    assert!(asked("search pump --strict-sessions").text().starts_with(&id));
    assert_eq!(asked("archive purge").shown(), "exit 0\nout | purged 1 originals and 1 manifests\n");
    let again = asked("archive purge");
    assert!(again.err.contains(&format!("no session `{name}` here")), "{}", again.err);
}

#[test]
fn an_id_is_purged_as_it_is_recalled() {
    let place = compacted();
    let listed = place.run("search night --archive a.liveset");
    let id = listed.text().split_whitespace().next().unwrap().to_uppercase();
    let purge = |id: &str| place.run(&format!("archive purge --id {id} --archive a.liveset"));
    expect![[r#"
        exit 4
        err | liveset: no original `00000000000000000000000000000000` here, so nothing was purged
        err | hint: `liveset search WORDS` finds originals and names their ids
    "#]]
    .assert_eq(&purge(&"0".repeat(32)).shown());
    expect![[r#"
        exit 2
        err | liveset: an id has 32 hexadecimal digits
        err | hint: `liveset search WORDS` finds originals and names their ids
    "#]]
    .assert_eq(&purge("0f3c").shown());
    assert_eq!(purge(&id).shown(), "exit 0\nout | purged 1 originals and 1 manifests\n");
    assert_eq!(purge(&id).shown(), "exit 0\nout | purged 0 originals and 0 manifests\n", "it is gone as was asked");
}

#[cfg(unix)]
#[test]
fn what_is_no_archive_is_said_in_one_line_by_each_command() {
    let place = compacted();
    place.write("empty", "");
    place.write("notes", "some notes");
    std::fs::create_dir(place.path("folder")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let id = "0".repeat(32);
    for file in ["empty", "notes", "pipe", "folder", "/dev/null"] {
        for words in [
            "archive ls",
            "archive verify",
            "archive gc --to 0",
            "search night",
            &format!("recall {id}"),
            "restore small.json",
            &format!("compact body.json {SMALL} -o other.json"),
        ] {
            let run = place.run(&format!("{words} --archive {file}"));
            assert_eq!((run.code, run.text()), (4, ""), "{words} {file}: {}", run.err);
            let lines: Vec<&str> = run.err.lines().collect();
            assert!(lines.len() == 2 && lines[1].starts_with("hint: "), "{words} {file}: {}", run.err);
        }
    }
    assert_eq!(place.read("empty"), b"");
    assert!(!place.files().contains(&"other.json".to_owned()));
}

#[test]
fn a_sound_archive_verifies_and_a_damaged_one_does_not() {
    let place = compacted();
    let sound = place.run("archive verify --archive a.liveset");
    assert!(sound.code == 0 && sound.text().ends_with(", all whole\n"), "{}", sound.text());
    place.write("a.liveset", program::damaged_text(&place.read("a.liveset")));
    let run = place.run("archive verify --archive a.liveset");
    assert_eq!(run.code, 1);
    assert!(run.text().starts_with("damaged: original ") && run.text().ends_with(", not whole\n"), "{}", run.text());
    let copy = place.run("archive export b.liveset --archive a.liveset");
    assert!(copy.code == 1 && copy.text().contains("1 damaged records stayed behind"), "{}", copy.text());
}

#[test]
fn what_was_exported_restores_elsewhere() {
    let place = compacted();
    let run = place.run("archive export b.liveset --archive a.liveset");
    assert_eq!(run.text(), "1 sessions, 5 originals, 1 manifests and 0 summaries to `b.liveset`\n");
    assert_eq!(place.run("restore small.json --archive b.liveset").out, bodies::long());
    assert_eq!(place.run("archive export b.liveset --archive a.liveset").code, 2, "nothing is written over");
    // Into the archive of the user, which is made for it.
    assert_eq!(place.run("archive import b.liveset").code, 0);
    assert_eq!(place.run("restore small.json").out, bodies::long());
    assert_eq!(place.run("archive import b.liveset --archive b.liveset").code, 2);
    assert_eq!(place.run("archive import none.liveset").code, 4);
}

#[test]
fn a_capacity_that_is_too_small_lets_no_body_out() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} -o small.json --archive-capacity 50000"));
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(
        run.err.contains(" is full: ") && run.err.contains("hint: more room with --archive-capacity"),
        "{}",
        run.err
    );
    assert!(!place.files().contains(&"small.json".to_owned()));
}

/// A run that is killed at some moment either handed out no body, or one that comes back.
#[test]
fn a_killed_run_never_leaves_a_body_whose_originals_are_gone() {
    let few: u64 = std::env::var("LIVESET_CRASHES").ok().and_then(|number| number.parse().ok()).unwrap_or(12);
    let place = Place::with("body.json", bodies::long());
    let (mut with, mut without) = (0, 0);
    for round in 0..few {
        let _ = std::fs::remove_file(place.path("small.json"));
        let mut command = place.command(&format!("compact body.json {SMALL} -o small.json"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(round * 120 / few));
        child.kill().unwrap();
        child.wait().unwrap();
        match place.files().contains(&"small.json".to_owned()) {
            true => {
                with += 1;
                assert_eq!(place.run("restore small.json").out, bodies::long(), "round {round}");
            }
            false => without += 1,
        }
    }
    assert_eq!(with + without, few);
    assert_eq!(place.run(&format!("compact body.json {SMALL} -o small.json")).code, 0);
    assert_eq!(place.run("restore small.json").out, bodies::long());
    assert_eq!(place.run("archive verify").code, 0);
}
