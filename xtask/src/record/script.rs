//! What does the scripted agent do? A bug report, its cause, a failing test, the mend, and a second wish.
//!
//! Only words and calls stand here; everything the tools say comes from the tools. The fault was a true one and has been
//! mended since, so the copy is first taken back to before that.

/// The system text of the session.
pub(crate) const SYSTEM: &str = "You are a careful software engineer. You work in /repo, a Rust workspace. Read before \
you change, run the tests after each change, and say in a sentence what you found.";

/// One step of the agent.
pub(crate) enum Step {
    /// Reads a file from line `offset` (0: the beginning), `limit` lines.
    Read { path: &'static str, offset: usize, limit: Option<usize> },
    /// Searches below a folder.
    Grep { pattern: &'static str, path: &'static str },
    /// Runs a command.
    Bash { command: &'static str },
    /// Replaces a text that stands once.
    Edit { path: &'static str, old: &'static str, new: &'static str },
}

/// One turn of the conversation.
pub(crate) enum Turn {
    /// The user's words.
    User(&'static str),
    /// The agent's words alone.
    Says(&'static str),
    /// The agent's words and calls.
    Does(&'static str, Vec<Step>),
}

fn read(path: &'static str) -> Step {
    Step::Read { path, offset: 0, limit: None }
}

fn part(path: &'static str, offset: usize, limit: usize) -> Step {
    Step::Read { path, offset, limit: Some(limit) }
}

fn grep(pattern: &'static str, path: &'static str) -> Step {
    Step::Grep { pattern, path }
}

fn bash(command: &'static str) -> Step {
    Step::Bash { command }
}

fn edit(path: &'static str, old: &'static str, new: &'static str) -> Step {
    Step::Edit { path, old, new }
}

/// Where the fault of the session stood.
const TOMBSTONE: &str = "crates/engine/src/tombstone.rs";
/// The test in front of which the agent writes its own.
const NEXT_TEST: &str = "    #[test]\n    fn gaps_are_recognised_and_lookalikes_are_not() {";
/// The agent's test, as it stands in the repository since.
const FIGURE_TEST: &str = r#"    #[test]
    fn a_figure_never_reads_a_thousand_thousands() {
        assert_eq!(figure(Tokens(999_949)), "999.9k tokens");
        assert_eq!(figure(Tokens(999_950)), "1.0M tokens");
        assert_eq!(figure(Tokens(999)), "999 tokens");
    }

    #[test]
    fn gaps_are_recognised_and_lookalikes_are_not() {"#;
/// The line with the fault.
const WRONG_UNIT: &str = "        1_000..1_000_000 => format!";
/// The same, mended.
const RIGHT_UNIT: &str = "        1_000..999_950 => format!";
/// What the mend left in the changelog.
const CHANGE: &str = "- A tombstone of 999,950 to 999,999 tokens reads `1.0M tokens` instead of `1000.0k tokens`.\n";

/// What takes the copy back to before the mend: path, text as it stands now, text as it stood.
pub(crate) const BEFORE: [(&str, &str, &str); 3] =
    [(TOMBSTONE, FIGURE_TEST, NEXT_TEST), (TOMBSTONE, RIGHT_UNIT, WRONG_UNIT), ("CHANGELOG.md", CHANGE, "")];

/// The whole session.
pub(crate) fn turns() -> Vec<Turn> {
    let mut turns = find_the_cause();
    turns.extend(mend_it());
    turns.extend(second_wish());
    turns
}

fn find_the_cause() -> Vec<Turn> {
    vec![
        Turn::User(
            "A tombstone in one of our sessions said `1000.0k tokens`. It should say `1.0M tokens`. Find where the \
             figure is written, add a test that fails, and mend it. Do not change any other text: it would break \
             prompt caches.",
        ),
        Turn::Does(
            "I will get an overview of the repository first.",
            vec![bash("git log --oneline | head -20"), bash("ls; ls crates/*/src"), read("ARCHITECTURE.md")],
        ),
        Turn::Does(
            "The figure must come from the engine. I will look for the words.",
            vec![grep("tokens\"", "crates/engine/src")],
        ),
        Turn::Does(
            "`figure` in tombstone.rs looks right. I will read the whole file.",
            vec![read("crates/engine/src/tombstone.rs")],
        ),
        Turn::Does(
            "`figure` decides by the number itself, but rounds to tenths afterwards, so 999,950 becomes ten thousand \
             tenths of a thousand. Before I change it I want to know who calls it.",
            vec![
                grep("figure\\(|media_notice|tombstone\\(", "crates/engine/src"),
                read("crates/engine/src/plan/form.rs"),
            ],
        ),
        Turn::Does(
            "Tombstones are written in form.rs. Where do their token figures come from?",
            vec![read("crates/engine/src/plan/desk.rs"), read("crates/engine/src/plan/texts.rs")],
        ),
        Turn::Does(
            "And who decides for a tombstone at all:",
            vec![read("crates/engine/src/plan/fill.rs"), read("crates/engine/src/plan/candidate.rs")],
        ),
        Turn::Does(
            "Recognition of tombstones must not depend on the figure. Let me check `is_tombstone` and its uses.",
            vec![grep("is_tombstone|holds_gap", "crates"), read("crates/engine/src/plan/sweep.rs")],
        ),
        Turn::Does(
            "Nothing parses the figure. How is `Tokens` written elsewhere?",
            vec![read("crates/tokens/src/tokens.rs"), grep("grouped\\(", "crates")],
        ),
    ]
}

fn mend_it() -> Vec<Turn> {
    vec![
        Turn::Does(
            "First the tests as they are.",
            vec![bash("cargo test -p liveset-engine --lib tombstone 2>&1 | tail -40")],
        ),
        Turn::Does(
            "Green. Now a test that states what the figure should be at the border.",
            vec![edit(TOMBSTONE, NEXT_TEST, FIGURE_TEST)],
        ),
        Turn::Does("It must fail now.", vec![bash("cargo test -p liveset-engine --lib tombstone 2>&1 | tail -60")]),
        Turn::Does(
            "It fails as expected: `1000.0k tokens` against `1.0M tokens`. The unit must be chosen after rounding: from \
             999,950 on the tenths of a thousand would read 1000.0.",
            vec![edit(TOMBSTONE, WRONG_UNIT, RIGHT_UNIT)],
        ),
        Turn::Does("And again.", vec![bash("cargo test -p liveset-engine --lib tombstone 2>&1 | tail -40")]),
        Turn::Does(
            "Green. The same kind of border could stand between `999 tokens` and `1.0k tokens`; the test covers it. Now \
             everything in the engine, and clippy.",
            vec![
                bash("cargo test -p liveset-engine 2>&1 | tail -120"),
                bash("cargo clippy -p liveset-engine --all-targets 2>&1 | tail -20"),
            ],
        ),
        Turn::Does(
            "The changelog needs a line, since a text that the model reads has changed.",
            vec![read("CHANGELOG.md"), bash("git diff")],
        ),
        Turn::Says(
            "Done: `figure` chose the unit before rounding, so numbers from 999,950 to 999,999 read `1000.0k tokens`. \
             They now read `1.0M tokens`; all other figures are as before, and a test holds both borders.",
        ),
    ]
}

fn second_wish() -> Vec<Turn> {
    vec![
        Turn::User(
            "Thanks. While you are there: how does the engine decide which passages of a result stay, and what would I \
             have to touch to keep passages of 200 words instead of 120? Do not change it, just tell me, and show me \
             which tests would notice.",
        ),
        Turn::Does(
            "I will follow the data from the passages to the score.",
            vec![read("crates/engine/src/plan/passages.rs"), read("crates/engine/src/plan/score.rs")],
        ),
        Turn::Does(
            "The words themselves:",
            vec![
                read("crates/engine/src/shingles.rs"),
                bash("ls -R crates/engine/src crates/engine/tests crates/engine/benches 2>/dev/null"),
            ],
        ),
        Turn::Does(
            "Who uses the constant?",
            vec![
                grep("PASSAGE_WORDS|passages\\(", "crates"),
                read("crates/engine/src/plan/epochs.rs"),
                read("crates/engine/src/plan/state.rs"),
            ],
        ),
        Turn::Does(
            "I will try it in this copy to see which tests notice, and put it back.",
            vec![
                bash(
                    "sed -i 's/PASSAGE_WORDS: u32 = 120/PASSAGE_WORDS: u32 = 200/' crates/engine/src/plan/passages.rs && git diff --stat",
                ),
                bash("cargo test -p liveset-engine 2>&1 | grep -E 'test result|FAILED|failed|panicked' | head -60"),
                bash("git checkout crates/engine/src/plan/passages.rs && git status --short"),
            ],
        ),
        Turn::Does(
            "One more look at the policy and at what a change under the contract asks for.",
            vec![read("crates/engine/src/policy.rs"), part("STYLE.md", 1, 120)],
        ),
        Turn::Does(
            "And the library around it, to be sure that nothing there knows of 120 words.",
            vec![
                read("crates/liveset/src/compact.rs"),
                read("crates/liveset/src/session.rs"),
                grep("120", "crates/liveset/src"),
            ],
        ),
        Turn::Says(
            "A passage closes after the line that brings it to 120 words (`PASSAGE_WORDS` in plan/passages.rs); the score \
             in plan/score.rs orders passages, and plan/fill.rs buys them back under the target. To try 200 words that \
             one constant is enough, but it is under the contract: outputs change, so it needs a changelog line.",
        ),
        Turn::User(
            "Good. Run all tests of the workspace once more, please, and tell me whether the tree is clean but for your fix.",
        ),
        Turn::Does(
            "",
            vec![
                bash(
                    "cargo test -p liveset-engine -p liveset-tokens 2>&1 | grep -vE '^(running|test .* ok$|$)' | tail -80",
                ),
                bash("git status --short && git diff --stat"),
            ],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::repository;

    #[test]
    fn what_the_copy_is_taken_back_from_stands_once_in_the_repository() {
        for (path, now, _) in BEFORE {
            let text = fs::read_to_string(repository::root().join(path)).unwrap();
            assert_eq!(text.matches(now).count(), 1, "{path}: {now}");
        }
    }

    #[test]
    fn every_file_that_the_script_reads_is_there() {
        for turn in turns() {
            let Turn::Does(_, steps) = turn else { continue };
            for step in steps {
                let path = match step {
                    Step::Read { path, .. } | Step::Grep { path, .. } | Step::Edit { path, .. } => path,
                    Step::Bash { .. } => continue,
                };
                assert!(repository::root().join(path).exists(), "{path}");
            }
        }
    }
}
