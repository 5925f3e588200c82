//! What a machine does to an archive: no room at any moment, no right to write, many processes at once, damage. A body
//! that is handed out comes back, and each failure is one line, a hint and exit code 4.

use std::process::{Command, Stdio};

use crate::{
    bodies,
    bodies::SMALL,
    program::{Place, Run},
};

/// How often something is tried: few in each run, all that are asked for with `LIVESET_CRASHES=300`.
pub(crate) fn times(few: usize) -> usize {
    std::env::var("LIVESET_CRASHES").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

pub(crate) fn assert_failed_in_one_line(run: &Run, what: &str) {
    assert_eq!((run.code, run.text()), (4, ""), "{what}: {}", run.err);
    let lines: Vec<&str> = run.err.lines().collect();
    let is_told = lines.len() == 2 && lines[0].starts_with("liveset: ") && lines[1].starts_with("hint: ");
    assert!(is_told, "{what}: {}", run.err);
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_at_any_moment_lets_no_body_out() {
    let steps = times(12);
    let mut codes = std::collections::BTreeSet::new();
    for step in 0..steps {
        let place = Place::with("body.json", bodies::long());
        // Blocks of 512 bytes. Ignored, the signal becomes an error of the write that would pass the limit.
        let limit = step * 600 / steps;
        let words = format!("compact body.json {SMALL} --archive a.liveset");
        let own = place.command(&words);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"")]);
        command.arg(own.get_program()).args(own.get_args());
        command.current_dir(place.path("")).env("HOME", place.data()).stdin(Stdio::null());
        let run = Run::of(command.output().unwrap());
        codes.insert(run.code);
        if run.code != 0 {
            assert_failed_in_one_line(&run, &format!("{limit} blocks"));
            let again = place.run(&words);
            assert_eq!(again.code, 0, "there is room again: {}", again.err);
            place.write("small.json", &again.out);
        } else {
            place.write("small.json", &run.out);
        }
        assert_eq!(place.run("restore small.json --archive a.liveset").out, bodies::long(), "{limit} blocks");
    }
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), [0, 4], "some runs have room and some have not");
}

#[cfg(unix)]
#[test]
fn an_archive_that_may_not_be_written_is_read_and_takes_no_body() {
    use std::{
        fs,
        os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    };
    const NOBODY: u32 = 65_534;
    let place = Place::with("body.json", bodies::long());
    let words = format!("compact body.json {SMALL} --archive a.liveset");
    place.write("small.json", place.run(&words).out);
    let mode = |name: &str, mode| fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    mode("a.liveset", 0o444);
    mode("", 0o555);
    let is_root = fs::write(place.path("probe"), "").is_ok();
    let run = |words: &str| {
        let mut command = place.command(words);
        if is_root {
            command.uid(NOBODY);
        }
        command.output().map(Run::of)
    };
    let found = run("search night 0 line 50: --archive a.liveset");
    let (restored, refused) = (run("restore small.json --archive a.liveset"), run(&words));
    mode("", 0o755);
    let (Ok(found), Ok(restored), Ok(refused)) = (found, restored, refused) else {
        return liveset_testkit::skipped("a test of rights", "nobody else can run this program");
    };
    assert_eq!((found.code, found.err.as_str()), (0, ""), "{}", found.err);
    assert!(found.text().contains("night 0 line 50:"), "nothing could be indexed, and it is found");
    assert_eq!((restored.code, restored.out), (0, bodies::long()), "{}", restored.err);
    assert_failed_in_one_line(&refused, "compact");
}

/// The child of this test breaks syncs for itself, as a broken disk does, and becomes the program.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_cannot_keep_what_was_written_lets_no_body_out() {
    use std::{collections::BTreeMap, fs::File, os::unix::process::CommandExt as _};

    use seccompiler::{SeccompAction, SeccompFilter};
    const CHILD: &str = "LIVESET_SYNC_WORDS";
    if let Ok(words) = std::env::var(CHILD) {
        let rules: BTreeMap<i64, Vec<_>> =
            [libc::SYS_fsync, libc::SYS_fdatasync].into_iter().map(|call| (call, Vec::new())).collect();
        let broken = SeccompAction::Errno(libc::EIO.unsigned_abs());
        let machine = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, broken, machine).unwrap();
        let filter: seccompiler::BpfProgram = filter.try_into().unwrap();
        seccompiler::apply_filter(&filter).unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_liveset"));
        program.args(words.split(' ')).stdout(File::create("out").unwrap()).stderr(File::create("err").unwrap());
        panic!("{}", program.exec());
    }
    let place = Place::with("body.json", bodies::long());
    let words = format!("compact body.json {SMALL} --archive a.liveset");
    let broken = |words: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "archive_faults::a_disk_that_cannot_keep_what_was_written_lets_no_body_out"]);
        command.current_dir(place.path("")).env("XDG_DATA_HOME", place.data()).env("HOME", place.data());
        let output = command.env(CHILD, words).output().unwrap();
        let err = String::from_utf8(place.read("err")).unwrap();
        Run { out: place.read("out"), err, ..Run::of(output) }
    };
    assert_failed_in_one_line(&broken(&words), "no archive is made");
    assert_eq!(place.run(&words).code, 0);
    assert_failed_in_one_line(&broken(&words), "what an earlier run stored is not taken for durable");
    assert_failed_in_one_line(&broken(&format!("{words} -o small.json")), "nor is a file written");
    assert!(!place.files().contains(&"small.json".to_owned()));
    let run = place.run(&words);
    place.write("small.json", &run.out);
    assert_eq!(place.run("restore small.json --archive a.liveset").out, bodies::long(), "the disk is whole again");
}

#[test]
fn eight_processes_at_once_hand_out_bodies_that_all_come_back() {
    let place = Place::new();
    let body = |at: usize| {
        let body = String::from_utf8(bodies::long()).unwrap();
        body.replace("night", &format!("night {at}")).into_bytes()
    };
    let children: Vec<_> = (0..8)
        .map(|at| {
            place.write(&format!("body-{at}.json"), body(at));
            let words = format!("compact body-{at}.json {SMALL} --archive a.liveset -o small-{at}.json");
            place.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for (at, child) in children.into_iter().enumerate() {
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, 0, "process {at}: {}", run.err);
    }
    for at in 0..8 {
        assert_ne!(place.read(&format!("small-{at}.json")), body(at));
        let restored = place.run(&format!("restore small-{at}.json --archive a.liveset"));
        assert!(restored.out == body(at), "process {at}: {}", restored.err);
    }
}

#[test]
fn a_damaged_archive_gives_the_right_bytes_or_one_line() {
    let place = Place::with("body.json", bodies::long());
    place.run(&format!("compact body.json {SMALL} --archive a.liveset -o small.json"));
    let sound = place.read("a.liveset");
    let (mut failed, steps) = (0, times(24));
    for step in 0..steps {
        let mut damaged = sound.clone();
        // Spread over the file, and of every length from a byte to some pages.
        let from = step * 7_919 * 131 % damaged.len();
        let end = damaged.len().min(from + (1 << (step % 14)));
        for byte in &mut damaged[from..end] {
            *byte = byte.wrapping_mul(31).wrapping_add(u8::try_from(step % 251).unwrap() | 1);
        }
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(place.path(&format!("a.liveset{end}")));
        }
        place.write("a.liveset", damaged);
        let restored = place.run("restore small.json --archive a.liveset");
        match restored.code {
            0 => assert!(restored.out == bodies::long(), "step {step}: other bytes came back"),
            _ => {
                failed += 1;
                assert_failed_in_one_line(&restored, &format!("step {step}"));
            }
        }
        for words in ["archive verify", "archive ls", "search night", &format!("compact body.json {SMALL}")] {
            let run = place.run(&format!("{words} --archive a.liveset"));
            assert!([0, 1, 4].contains(&run.code), "step {step}: {words}: {} {}", run.code, run.err);
        }
    }
    assert!(failed > 0 && failed < steps, "some damage matters: {failed} of {steps}");
}
