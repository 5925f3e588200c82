//! Is it what a test runner printed, of which runner, and what does a line say of a test?

use super::ContentKind;

/// Tests or summaries that a text must name.
const MIN_TOLD: usize = 2;
/// One line in so many names a test where a summary stands too.
const WITH_SUMMARY_ONE_IN: usize = 50;
/// One line in so many names a test where none does.
const ALONE_ONE_IN: usize = 4;

/// Who ran the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Runner {
    /// `cargo test`.
    Cargo,
    /// pytest, unittest.
    Python,
    /// Jest, Vitest, Mocha.
    JavaScript,
    /// `go test`.
    Go,
    /// JUnit, by Maven or Gradle, or its XML.
    JUnit,
    /// Any that prints the Test Anything Protocol.
    Tap,
}

impl Runner {
    const ALL: [Self; 6] = [Self::Cargo, Self::Python, Self::JavaScript, Self::Go, Self::JUnit, Self::Tap];
}

/// Words that give a test's verdict, each with whether it failed.
const VERDICTS: [(&str, bool); 14] = [
    ("ok", false),
    ("PASSED", false),
    ("PASS", false),
    ("passed", false),
    ("✓", false),
    ("✔", false),
    ("FAILED", true),
    ("FAIL", true),
    ("failed", true),
    ("ERROR", true),
    ("✗", true),
    ("✕", true),
    ("×", true),
    ("ignored", false),
];

/// Gives the verdict of a line that names a test: `Some(true)` where it failed.
///
/// ```
/// use liveset_engine::content::tests::verdict;
/// assert_eq!(verdict("test a::b ... FAILED"), Some(true));
/// assert_eq!(verdict("--- PASS: TestA (0.00s)"), Some(false));
/// assert_eq!(verdict("all is well"), None);
/// ```
#[must_use]
pub fn verdict(line: &str) -> Option<bool> {
    named(line).map(|(_, failed)| failed)
}

/// The runner that writes such a line, and whether the test failed.
fn named(line: &str) -> Option<(Runner, bool)> {
    let line = line.trim();
    let known = |word: &str| VERDICTS.iter().find(|(name, _)| *name == word).map(|(_, failed)| *failed);
    // Rust: `test a::b ... ok`; Go: `--- FAIL: TestX (0.00s)`; TAP: `ok 1 - name`; pytest: `a.py::b PASSED [ 3%]`.
    if let Some(rest) = line.strip_prefix("test ") {
        return Some((Runner::Cargo, known(rest.rsplit_once(" ... ")?.1.split([' ', ',']).next()?)?));
    }
    if let Some(rest) = line.strip_prefix("--- ") {
        return Some((Runner::Go, known(rest.split(':').next()?)?));
    }
    for (start, failed) in [("not ok ", true), ("ok ", false)] {
        if let Some(rest) = line.strip_prefix(start) {
            return rest.starts_with(|c: char| c.is_ascii_digit()).then_some((Runner::Tap, failed));
        }
    }
    if line.contains("::") {
        return Some((Runner::Python, line.split_whitespace().find_map(known)?));
    }
    let first = line.split_whitespace().next()?;
    let is_file = || line.contains(".test.") || line.contains(".spec.");
    let is_mark = first.chars().all(|c| !c.is_alphanumeric());
    let verdict = known(first).filter(|_| is_mark || (is_file() && line.starts_with(['P', 'F'])))?;
    Some((Runner::JavaScript, verdict))
}

/// Says whether a line sums up a run of tests.
///
/// ```
/// use liveset_engine::content::tests::is_summary;
/// assert!(is_summary("test result: FAILED. 2 passed; 1 failed"));
/// assert!(is_summary("Tests:       1 failed, 3 passed, 4 total"));
/// assert!(!is_summary("= how it failed"));
/// ```
#[must_use]
pub fn is_summary(line: &str) -> bool {
    summed_up(line).is_some()
}

fn summed_up(line: &str) -> Option<Runner> {
    let line = line.trim();
    let counts = |word: &str| {
        let before = line.find(word).and_then(|at| line.get(..at)).map(str::trim_end);
        before.is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()))
    };
    let has_counts = || counts("passed") || counts("failed") || counts("error") || counts("test");
    let starts: [(&str, Runner); 9] = [
        ("test result:", Runner::Cargo),
        ("Tests:", Runner::JavaScript),
        ("Test Suites:", Runner::JavaScript),
        ("Test Files", Runner::JavaScript),
        ("Ran ", Runner::Python),
        ("==", Runner::Python),
        ("# pass", Runner::Tap),
        ("# fail", Runner::Tap),
        ("Tests run:", Runner::JUnit),
    ];
    let found = starts.into_iter().find(|(start, _)| line.starts_with(start)).map(|(_, runner)| runner);
    let found = found.filter(|runner| matches!(runner, Runner::JUnit | Runner::Tap) || has_counts());
    let go = || (line.starts_with("ok  \t") || line.starts_with("FAIL\t")).then_some(Runner::Go);
    let python = || (line.starts_with("FAILED (") || line.contains(" test session starts ")).then_some(Runner::Python);
    let mocha = || (line.ends_with(" passing") || line.ends_with(" failing")) && counts("passing") || counts("failing");
    found.or_else(go).or_else(python).or_else(|| mocha().then_some(Runner::JavaScript))
}

/// Test lines that were seen, by runner.
#[derive(Default)]
pub(super) struct TestLines {
    told: [usize; 6],
    summaries: usize,
}

impl TestLines {
    pub(super) fn see(&mut self, line: &str) {
        let summed_up = summed_up(line);
        self.summaries += usize::from(summed_up.is_some());
        let xml = || line.trim_start().starts_with("<testcase ").then_some(Runner::JUnit);
        let runner = summed_up.or_else(|| named(line).map(|(runner, _)| runner)).or_else(xml);
        let count = runner.and_then(|runner| self.told.get_mut(runner as usize));
        if let Some(count) = count {
            *count += 1;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.told.iter().sum()
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        let told = self.count();
        let share = if self.summaries > 0 { WITH_SUMMARY_ONE_IN } else { ALONE_ONE_IN };
        if told < MIN_TOLD || told * share < lines {
            return None;
        }
        let most =
            Runner::ALL.into_iter().zip(self.told).max_by_key(|(runner, count)| (*count, std::cmp::Reverse(*runner)));
        most.map(|(runner, _)| ContentKind::Tests(runner))
    }
}
