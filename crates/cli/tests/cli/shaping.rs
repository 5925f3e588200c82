//! `shape`: one result is shaped before it is sent, and read on from the archive.

use crate::program::Place;

/// A log whose one failure stands in its middle.
fn log() -> String {
    let line = |at: usize| match at {
        150 => "2024-01-02 10:00:00 ERROR lost peer 7\n".to_owned(),
        _ => format!("2024-01-02 10:00:00 INFO tick {at}\n"),
    };
    (1..=300).map(line).collect()
}

#[test]
fn a_log_keeps_its_failure_and_is_read_on_by_lines() {
    let place = Place::new();
    let run = place.pipe("shape --tool Bash --max-chars 600 --recall-route shell", log().as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.starts_with("log over a limit of intake, by strategy `by_type`: "), "{}", run.err);
    let shaped = run.text();
    assert!(shaped.chars().count() <= 600 && shaped.contains("ERROR lost peer 7\n"), "{shaped}");
    let told = shaped.split("run liveset ").nth(1).and_then(|rest| rest.split_once(" to see it")).unwrap().0;
    let read = place.run(&format!("{told} --lines 149-151"));
    let lines: Vec<&str> = read.text().lines().collect();
    assert_eq!(
        lines[1..],
        [
            "2024-01-02 10:00:00 INFO tick 149",
            "2024-01-02 10:00:00 ERROR lost peer 7",
            "2024-01-02 10:00:00 INFO tick 151"
        ]
    );
    // What was shaped is left alone.
    let again = place.pipe("shape --tool Bash --max-chars 600 --recall-route shell", shaped.as_bytes());
    assert_eq!(again.text(), shaped);
    assert!(again.err.starts_with("left as it is"), "{}", again.err);
}

#[test]
fn what_no_limit_touches_leaves_as_it_came() {
    let place = Place::new();
    let log = log();
    for words in ["", "--max-chars 600 --pin", "--max-chars 100000", "--strategy keep"] {
        let run = place.pipe(&format!("shape --tool Bash --no-archive {words}"), log.as_bytes());
        assert_eq!((run.code, run.text()), (0, log.as_str()), "{words}: {}", run.err);
    }
    let bytes = [b"caf\xe9 ".repeat(3), b"\n".to_vec()].concat();
    assert_eq!(place.pipe("shape --tool Bash --no-archive --max-chars 600", &bytes).out, bytes);
}

#[test]
fn a_policy_says_how_by_tool_and_by_file() {
    let place = Place::with(
        "policy.toml",
        "[intake.tools.Bash]\nstrategy = \"layered\"\nmax_chars = 500\n[intake.files.\"*.log\"]\nstrategy = \"by_type\"\n",
    );
    let shape = |words: &str| {
        let run = place.pipe(&format!("shape --no-archive --policy policy.toml {words}"), log().as_bytes());
        assert_eq!(run.code, 0, "{}", run.err);
        (run.text().contains("ERROR"), run.text().len())
    };
    let (layered, by_file, other) =
        (shape("--tool Bash"), shape("--tool Read --path out/a.log"), shape("--tool Read --path out/a.txt"));
    assert!(layered.1 <= 500 && by_file.0 && by_file.1 <= 2_000 && other.1 == log().len(), "{layered:?} {by_file:?}");
}

#[test]
fn bad_words_are_told_in_one_line() {
    let place = Place::new();
    for (words, told) in [
        ("--tool Bash --max-chars 5", "at least 500"),
        ("--tool Bash --strategy by_typ", "by_type"),
        ("--max-chars 600", "--tool"),
        ("--tool Bash --arguments []", "an object of arguments"),
    ] {
        let run = place.pipe(&format!("shape --no-archive {words}"), b"text");
        assert!(run.code == 2 && run.err.contains(told), "{words}: {} {}", run.code, run.err);
    }
}
