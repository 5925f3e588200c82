//! `doctor`: what works here and what does not, each with its next step.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::{
    bodies::{self, SMALL},
    program::{self, Place, Run},
};

/// Runs without the caller's variables.
fn doctor(place: &Place, words: &str) -> Run {
    Run::of(place.command(&format!("doctor {words}")).env_clear().env("XDG_DATA_HOME", place.data()).output().unwrap())
}

/// The lines about what was asked for, without those about this machine.
fn check(place: &Place, words: &str, expected: Expect) {
    let shown = doctor(place, words).shown();
    // Where no archive is named, the one of this user is looked for; its place differs.
    let own = place.data().display().to_string();
    let ours = shown.split_inclusive('\n').filter(|line| {
        let about = line.split_whitespace().nth(3);
        if line.contains(&own) {
            return false;
        }
        !matches!(about, Some("version" | "terminal" | "environment"))
    });
    expected.assert_eq(&without_size(&ours.collect::<String>()));
}

/// How many bytes an archive takes depends on its layout.
fn without_size(shown: &str) -> String {
    let Some((before, after)) = shown.split_once(" of 1 body in ") else { return shown.to_owned() };
    let rest = after.split_once(" bytes").unwrap().1;
    format!("{before} of 1 body in SOME bytes{rest}")
}

fn archived() -> Place {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --archive a.liveset -o small.json"));
    assert_eq!(run.code, 0, "{}", run.err);
    place
}

#[test]
fn a_sound_place_has_no_warning() {
    let place = archived();
    let run = doctor(&place, "");
    assert_eq!((run.code, run.text().lines().count()), (0, 4), "{}", run.text());
    assert!(run.text().lines().all(|line| line.starts_with("ok ")), "{}", run.text());
    place.write("mine.toml", "target = 45\n");
    check(
        &place,
        "--model gpt-4.1 --archive a.liveset --policy mine.toml",
        expect![[r#"
            exit 0
            out | ok    policy       `mine.toml`: no fault, 1 setting is not the default
            out | ok    model        `gpt-4.1`: window 1,047,576, 32,000 of it kept for the reply; a sweep starts over 934,329 tokens and ends at 457,009; counted exactly by o200k
            out | ok    archive      `a.liveset`: 5 originals of 1 body in SOME bytes, all whole
            out | ok    permissions  mode 0600: only you may read it
        "#]],
    );
}

#[test]
fn a_damaged_archive_fails_and_names_what_is_damaged() {
    let place = archived();
    let bytes = program::damaged_text(&place.read("a.liveset"));
    place.write("a.liveset", &bytes);
    check(
        &place,
        "--archive a.liveset",
        expect![[r#"
            exit 1
            out | fail  archive      `a.liveset`: 5 originals of 1 body in SOME bytes; 1 damaged: original 7d9c1cd0d33d2e4e583da040f49fb2b9
            out |                    hint: restore the file from a copy; bodies whose originals are whole still come back from this one
            out | ok    permissions  mode 0600: only you may read it
        "#]],
    );
    assert_eq!(place.read("a.liveset"), bytes, "a check repairs nothing");
}

#[test]
fn places_that_no_archive_can_be_at() {
    let place = archived();
    check(
        &place,
        "--archive body.json",
        expect![[r#"
        exit 1
        out | fail  archive      `body.json` is not a liveset archive
        out |                    hint: name a file that `compact --archive` wrote, or a new one
    "#]],
    );
    check(
        &place,
        "--archive .",
        expect![[r#"
        exit 1
        out | fail  archive      cannot write `.`: is a directory
    "#]],
    );
    check(
        &place,
        "--archive body.json/a.liveset",
        expect![[r#"
        exit 1
        out | fail  archive      cannot read `body.json/a.liveset`: not a directory
    "#]],
    );
}

#[test]
fn an_archive_that_is_not_there_is_not_made() {
    let place = archived();
    place.write("empty", "");
    let before = place.files();
    check(
        &place,
        "--archive deep/new.liveset",
        expect![[r#"
        exit 0
        out | ok    archive      `deep/new.liveset` is not there yet: the first run makes it, for you alone
    "#]],
    );
    assert_eq!(doctor(&place, "--archive empty").code, 0);
    assert_eq!((place.files(), place.read("empty").len()), (before, 0));
}

#[test]
fn a_model_needs_a_window_from_somewhere() {
    let place = archived();
    check(
        &place,
        "--model nobody-7b",
        expect![[r#"
        exit 1
        out | fail  model        the model table does not know `nobody-7b`
        out |                    hint: name its window with --window TOKENS, or `default_window` in a policy file
    "#]],
    );
    place.write("mine.toml", "default_window = 9000\n");
    check(
        &place,
        "--model nobody-7b --policy mine.toml",
        expect![[r#"
            exit 0
            out | ok    policy       `mine.toml`: no fault, 1 setting is not the default
            out | warn  model        the model table does not know `nobody-7b`: window 9,000, 1,125 of it kept for the reply; a sweep starts over 7,245 tokens and ends at 4,725; estimated by unknown-estimate, 15 % on the high side
            out |                    hint: the window is the policy's: is it this model's?
        "#]],
    );
    place.write("mine.toml", "window = 900\nreserve = 900\n");
    check(
        &place,
        "--model gpt-4.1 --policy mine.toml",
        expect![[r#"
            exit 1
            out | ok    policy       `mine.toml`: no fault, 2 settings are not the default
            out | fail  model        policy: `reserve` (900) takes the whole window (900)
            out |                    hint: `liveset schema policy` lists the settings, `liveset compact --help` the flags
        "#]],
    );
}

#[test]
fn a_policy_with_faults_fails() {
    let place = archived();
    place.write("bad.toml", "triger = 90\nwindow = 0.5\n");
    check(
        &place,
        "--policy bad.toml",
        expect![[r#"
        exit 1
        out | fail  policy       `bad.toml`: 2 faults, the first in line 1, column 1: unknown setting `triger`
        out |                    hint: `liveset policy check bad.toml` lists every fault with its place
    "#]],
    );
    check(
        &place,
        "--policy none.toml",
        expect![[r#"
        exit 1
        out | fail  policy       cannot read `none.toml`: no such file or directory
    "#]],
    );
}

#[test]
fn variables_are_named_and_never_shown() {
    let place = archived();
    let mut command = place.command("doctor --json");
    command
        .env_clear()
        .env("XDG_DATA_HOME", place.data())
        .env("NO_COLOR", "secret-1")
        .env("LIVESET_WINDOW", "secret-2")
        .env("OPENAI_BASE_URL", "secret-3");
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, 0);
    let json: Value = serde_json::from_str(run.text()).unwrap();
    let text = json["checks"].to_string();
    assert!(["NO_COLOR", "LIVESET_WINDOW", "OPENAI_BASE_URL"].iter().all(|name| text.contains(name)), "{text}");
    assert!(!text.contains("secret"), "{text}");
    assert!(json["checks"].as_array().unwrap().iter().any(|check| check["status"] == "warn"));
}

#[cfg(unix)]
#[test]
fn an_archive_that_others_may_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = archived();
    std::fs::set_permissions(place.path("a.liveset"), std::fs::Permissions::from_mode(0o640)).unwrap();
    check(
        &place,
        "--archive a.liveset",
        expect![[r#"
            exit 0
            out | ok    archive      `a.liveset`: 5 originals of 1 body in SOME bytes, all whole
            out | warn  permissions  mode 0640: others may read what was cut
            out |                    hint: chmod 600 a.liveset
        "#]],
    );
}
