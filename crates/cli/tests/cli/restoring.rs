//! `restore`: the way back, byte for byte.

use expect_test::expect;

use crate::{
    bodies,
    bodies::SMALL,
    program::{self, Place},
};

/// A place with a body, what `compact` made of it, and the archive between them.
fn compacted() -> Place {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --archive a.liveset -o small.json --report report.txt"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_ne!(place.read("small.json"), place.read("body.json"));
    place
}

#[test]
fn what_was_compacted_comes_back() {
    let place = compacted();
    let run = place.run("restore small.json --archive a.liveset");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(run.out, bodies::long());
    let pipe = place.pipe("restore - --archive a.liveset -o back.json", &place.read("small.json"));
    assert_eq!((pipe.code, pipe.text()), (0, ""));
    assert_eq!(place.read("back.json"), bodies::long());
}

#[test]
fn one_archive_serves_many_bodies() {
    let place = compacted();
    let other = bodies::chat(&[bodies::lines("day", 900), bodies::lines("dusk", 100)]);
    let run = place.pipe(&format!("compact {SMALL} --archive a.liveset -o other.json"), &other);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(place.run("restore other.json --archive a.liveset").out, other);
    assert_eq!(place.run("restore small.json --archive a.liveset").out, bodies::long());
}

#[test]
fn a_body_that_was_changed_since_has_no_way_back() {
    let place = compacted();
    let mut bytes = place.read("small.json");
    bytes.push(b'\n');
    place.write("small.json", bytes);
    place.write("back.json", "old");
    expect![[r#"
        exit 4
        err | liveset: small.json: the archive has no manifest for this body: it was never handed out by it, or was changed since
        err | hint: is it exactly what `compact` wrote, with this archive? A body that `compact` left unchanged is its own original
    "#]].assert_eq(&place.run("restore small.json --archive a.liveset -o back.json").shown());
    assert_eq!(place.read("back.json"), b"old");
}

#[test]
fn an_archive_that_is_not_there_is_not_made() {
    let place = compacted();
    expect![[r#"
        exit 4
        err | liveset: no archive at `other.liveset`
        err | hint: name the file that `compact --archive` wrote
    "#]]
    .assert_eq(&place.run("restore small.json --archive other.liveset").shown());
    assert!(!place.files().contains(&"other.liveset".to_owned()));
}

#[test]
fn a_damaged_archive_gives_nothing_rather_than_something_else() {
    let place = compacted();
    let sound = place.read("a.liveset");
    let mut refused = 0;
    for part in 1..20 {
        let mut bytes = sound.clone();
        let middle = bytes.len() * part / 20;
        bytes[middle..middle + 9].fill(0x5a);
        place.write("a.liveset", bytes);
        let run = place.run("restore small.json --archive a.liveset");
        if run.code == 0 {
            assert_eq!(run.out, bodies::long(), "part {part}");
            continue;
        }
        refused += 1;
        assert_eq!((run.code, run.text()), (4, ""), "{}", run.err);
        assert_eq!(run.err.lines().filter(|line| line.starts_with("liveset: ")).count(), 1, "{}", run.err);
    }
    assert!(refused > 0, "some damage hits what is needed");
}

#[test]
fn a_damaged_original_is_called_damaged_and_named() {
    let place = compacted();
    place.write("a.liveset", program::damaged_text(&place.read("a.liveset")));
    let run = place.run("restore small.json --archive a.liveset -o back.json");
    let id = run.err.split("original ").nth(1).and_then(|rest| rest.split(':').next()).unwrap().to_owned();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", run.err);
    expect![[r#"
        exit 4
        err | liveset: small.json: archive `a.liveset` is damaged in original ID: it fails its checksum
        err | hint: restore the archive from a copy, or take the body from where it came; bodies whose originals are whole still come back
    "#]].assert_eq(&run.shown().replace(&id, "ID"));
    assert!(!place.files().contains(&"back.json".to_owned()));
}

#[test]
fn an_archive_of_the_older_kind_is_refused_with_the_next_step() {
    let place = compacted();
    place.write("old.liveset", b"liveset-arch\x01\0\0\0 and what followed");
    expect![[r#"
        exit 4
        err | liveset: `old.liveset` is an archive of the older kind, an append-only file
        err | hint: name a new file, or move this one away: the version that wrote it still restores its bodies
    "#]]
    .assert_eq(&place.run("restore small.json --archive old.liveset").shown());
}
