//! Where output goes, and what stands there when a run fails.

use std::process::Stdio;

use expect_test::expect;

use crate::{bodies, bodies::SMALL, program::Place};

#[test]
fn a_folder_that_is_not_there_is_an_output_failure() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run("compact body.json -o none/out.json --report report.txt");
    expect![[r#"
        exit 4
        err | liveset: cannot write `none/out.json`: no such file or directory
    "#]]
    .assert_eq(&run.shown());
}

#[test]
fn an_output_that_is_a_folder_is_an_output_failure() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run("compact body.json -o . --report report.txt");
    assert_eq!((run.code, run.text()), (4, ""), "{}", run.err);
    assert_eq!(place.files(), ["body.json", "report.txt"]);
}

#[test]
fn an_archive_that_cannot_be_opened_lets_no_body_out() {
    let place = Place::with("body.json", bodies::long());
    place.write("out.json", "old");
    let folder = place.run(&format!("compact body.json {SMALL} -o out.json --archive ."));
    expect![[r#"
        exit 4
        err | liveset: cannot open `.`: is a directory
        err | hint: name a file, not a folder
    "#]]
    .assert_eq(&folder.shown());
    let foreign = place.run(&format!("compact body.json {SMALL} -o out.json --archive body.json"));
    expect![[r#"
        exit 4
        err | liveset: `body.json` is not a liveset archive
        err | hint: name a file that `compact --archive` wrote, or a new one
    "#]]
    .assert_eq(&foreign.shown());
    assert_eq!(place.read("out.json"), b"old");
    assert_eq!(place.read("body.json"), bodies::long());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = Place::with("body.json", bodies::chat(&[bodies::lines("flood", 20_000)]));
    let mut command = place.command("compact body.json --report report.txt");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}

#[test]
fn piped_words_have_no_colour() {
    let place = Place::with("body.json", bodies::long());
    for words in [format!("compact body.json {SMALL} --dry-run"), "inspect body.json".to_owned()] {
        let run = place.run(&words);
        assert!(!run.err.contains('\u{1b}') && !run.text().contains('\u{1b}'), "{words}");
    }
}

#[cfg(unix)]
mod unix {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
        process::Command,
    };

    use super::*;

    fn mode(place: &Place, name: &str) -> u32 {
        fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_has_the_permissions_that_any_program_would_give_it() {
        let place = Place::with("body.json", bodies::long());
        place.run("compact body.json -o new.json");
        assert_eq!(mode(&place, "new.json"), mode(&place, "body.json"));
    }

    #[test]
    fn an_old_file_keeps_its_permissions() {
        let place = Place::with("body.json", bodies::long());
        place.write("old.json", "old");
        fs::set_permissions(place.path("old.json"), fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(place.run("compact body.json -o old.json").code, 0);
        assert_eq!((mode(&place, "old.json"), place.read("old.json")), (0o640, bodies::long()));
    }

    #[test]
    fn a_link_stays_a_link() {
        let place = Place::with("body.json", bodies::long());
        place.write("real.json", "old");
        symlink("real.json", place.path("link.json")).unwrap();
        assert_eq!(place.run("compact body.json -o link.json").code, 0);
        assert!(fs::symlink_metadata(place.path("link.json")).unwrap().is_symlink());
        assert_eq!(place.read("real.json"), bodies::long());
    }

    #[test]
    fn a_pipe_is_written_to_and_not_replaced() {
        let place = Place::with("body.json", bodies::long());
        assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
        // Without a writer a pipe opens for nobody: the reader waits for the run and the run for the reader.
        let mut reader = Command::new("cat").arg(place.path("pipe")).stdout(Stdio::piped()).spawn().unwrap();
        let run = place.run("compact body.json -o pipe");
        if run.code != 0 || !is_pipe(&place) {
            let _ = reader.kill();
        }
        assert_eq!((run.code, is_pipe(&place)), (0, true), "{}", run.err);
        assert_eq!(reader.wait_with_output().unwrap().stdout, bodies::long());
    }

    fn is_pipe(place: &Place) -> bool {
        use std::os::unix::fs::FileTypeExt as _;
        fs::metadata(place.path("pipe")).unwrap().file_type().is_fifo()
    }
}
