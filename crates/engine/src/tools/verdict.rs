//! Does a text say how a run ended? Exit frames at its ends, and the closing words of test runners and compilers.
//!
//! Looks at the text it is given: which part of a result that is, and which results tell of runs, the caller decides.

use std::ops::Range;

use serde::Deserialize;

use super::evidence::without_colour_before;

/// Lines at either end in which a frame states the exit status.
const FRAME_LINES: usize = 4;
/// Lines at either end in which a tag of its own states it: such a line is no prose, and some agents put several tags
/// with blank lines between them before it.
const TAG_LINES: usize = 12;
/// Of a longer line only both ends are looked at: a frame is a short line of its own, opens a long one, or is the
/// metadata that closes a JSON envelope.
const MAX_FRAME_LINE_BYTES: usize = 400;
/// Bytes at the end of a result in which a verdict stands.
const VERDICT_BYTES: usize = 2_000;

/// What tells how a run ended, as the table writes it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verdicts {
    /// What stands before the exit status, in small letters.
    exit_frames: Vec<String>,
    /// Tags around the exit status, nothing else on their line.
    exit_tags: Vec<String>,
    /// Words of a failure, anywhere in the last lines.
    says: Vec<String>,
    /// First words of a line that tells of a failure.
    starts: Vec<String>,
    /// First words of a line that counts what failed and what passed.
    counts: Vec<String>,
}

/// An exit status and the line that states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExitFrame {
    pub(crate) status: i64,
    /// Bytes of the text, without the line's ending.
    pub(crate) line: Range<usize>,
}

impl ExitFrame {
    /// The same frame in a text that has `bytes` more before it.
    pub(crate) fn behind(self, bytes: usize) -> Self {
        Self { line: self.line.start + bytes..self.line.end + bytes, ..self }
    }
}

impl Verdicts {
    /// Finds the frame in the first lines of a text.
    pub(super) fn first_exit(&self, text: &str) -> Option<ExitFrame> {
        let lines = text.split_inclusive('\n').scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line))
        });
        self.exit_in(lines)
    }

    /// Finds the frame in the last lines of a text, the last first.
    pub(super) fn last_exit(&self, text: &str) -> Option<ExitFrame> {
        let lines = text.split_inclusive('\n').rev().scan(text.len(), |at, line| {
            *at -= line.len();
            Some((*at, line))
        });
        self.exit_in(lines)
    }

    fn exit_in<'t>(&self, lines: impl Iterator<Item = (usize, &'t str)>) -> Option<ExitFrame> {
        lines.take(TAG_LINES).enumerate().find_map(|(nth, (start, line))| {
            let line = line.trim_end_matches(['\n', '\r']);
            let framed = || if nth < FRAME_LINES { self.framed(line) } else { None };
            let status = self.tagged(line).or_else(framed)?;
            Some(ExitFrame { status, line: start..start + line.len() })
        })
    }

    fn framed(&self, line: &str) -> Option<i64> {
        let (head, end) = match line.len() > MAX_FRAME_LINE_BYTES {
            true => (head(line, MAX_FRAME_LINE_BYTES / 2), tail(line, MAX_FRAME_LINE_BYTES / 2)),
            false => (line, ""),
        };
        [head, end].iter().find_map(|line| {
            let lower = line.to_ascii_lowercase();
            self.exit_frames.iter().find_map(|frame| number_after(&lower, frame))
        })
    }

    fn tagged(&self, line: &str) -> Option<i64> {
        let (tag, rest) = line.trim().strip_prefix('<')?.split_once('>')?;
        let (status, end) = rest.split_once("</")?;
        let is_known = self.exit_tags.iter().any(|known| known == tag) && end.strip_suffix('>') == Some(tag);
        if is_known { status.trim().parse().ok() } else { None }
    }

    /// Says whether the last lines of a text tell of a failure.
    pub(super) fn tell_failure(&self, text: &str) -> bool {
        let end = tail(text, VERDICT_BYTES);
        if self.says.iter().any(|verdict| end.contains(verdict.as_str())) {
            return true;
        }
        // A line whose beginning is not there begins with nothing.
        let whole = if end.len() == text.len() { Some(end) } else { end.split_once('\n').map(|(_, lines)| lines) };
        whole.unwrap_or_default().lines().any(|line| {
            let line = without_colour_before(line);
            self.starts.iter().any(|start| line.starts_with(start.as_str()))
                || self.counts.iter().any(|start| line.strip_prefix(start.as_str()).is_some_and(counts_failures))
                || is_fenced_failure(line)
        })
    }
}

/// `=== 2 failed, 3 passed in 0.12s ===`, as pytest closes.
fn is_fenced_failure(line: &str) -> bool {
    let inner = line.trim_end().trim_matches('=');
    let is_fenced = line.starts_with("==") && line.trim_end().ends_with("==");
    let counts = inner.rsplit_once(" in ").filter(|(_, time)| time.starts_with(|c: char| c.is_ascii_digit()));
    is_fenced && counts.is_some_and(|(counts, _)| counts_failures(counts))
}

/// `2 failed, 3 passed, 5 total`: only counts, and one of them of failures.
fn counts_failures(counts: &str) -> bool {
    let mut failures = 0_u64;
    for count in counts.split(',') {
        let Some((number, what)) = count.trim().split_once(' ') else { return false };
        let Ok(number) = number.parse::<u64>() else { return false };
        if matches!(what, "failed" | "error" | "errors") {
            failures = failures.saturating_add(number);
        }
    }
    failures > 0
}

fn number_after(line: &str, frame: &str) -> Option<i64> {
    let rest = line.get(line.find(frame)? + frame.len()..)?.trim_start();
    let end = rest.char_indices().find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')));
    rest.get(..end.map_or(rest.len(), |(at, _)| at))?.parse().ok()
}

fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

fn tail(text: &str, bytes: usize) -> &str {
    let start = (text.len().saturating_sub(bytes)..=text.len()).find(|&at| text.is_char_boundary(at));
    text.get(start.unwrap_or(text.len())..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{super::table::TABLE, *};

    fn first(text: &str) -> Option<i64> {
        TABLE.verdict.first_exit(text).map(|frame| frame.status)
    }

    fn last(text: &str) -> Option<i64> {
        TABLE.verdict.last_exit(text).map(|frame| frame.status)
    }

    #[test]
    fn reads_the_exit_status_of_known_frames() {
        assert_eq!(first("Exit code 101\nerror: no"), Some(101));
        assert_eq!(last("fine\n[exit code 2]"), Some(2));
        assert_eq!(last("{\"output\":\"x\",\"metadata\":{\"exit_code\":0,\"duration\":1}}"), Some(0));
        assert_eq!(first("exitcode: 1 (execution failed)\nCode output:"), Some(1));
        assert_eq!(first("<returncode>-9</returncode>\n<output>\n"), Some(-9));
        assert_eq!(first("no frame here").or(last("no frame here")), None);
    }

    #[test]
    fn a_tag_counts_deeper_than_a_frame_and_only_alone_on_its_line() {
        let tags =
            "<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n<status>failed</status>\n\n";
        assert_eq!(first(&format!("{tags}<task_type>shell</task_type>\n\n<exit_code>1</exit_code>\n")), Some(1));
        assert_eq!(first(&format!("{tags}exit code: 1\n")), None);
        for line in
            ["see <exit_code>1</exit_code>", "<exit_code>1</returncode>", "<code>1</code>", "<exit_code>x</exit_code>"]
        {
            assert_eq!(first(line), None, "{line}");
        }
    }

    #[test]
    fn a_long_line_states_its_status_at_either_end() {
        let opens = format!("sandbox error: denied, exit code: 2, stdout: {}", "é".repeat(500));
        let closes = format!("{{\"output\":\"{}\",\"exit_code\":3}}", "é".repeat(500));
        assert_eq!((first(&opens), last(&closes)), (Some(2), Some(3)));
        let middle = format!("{} exit code: 2 {}", "é".repeat(500), "é".repeat(500));
        assert_eq!(first(&middle), None);
    }

    #[test]
    fn a_frame_names_its_line() {
        let text = "a\nb\r\n[exit code 2]\r\n";
        let frame = TABLE.verdict.last_exit(text).unwrap();
        assert_eq!(&text[frame.line.clone()], "[exit code 2]");
        let text = "\nExit code 3\nb";
        assert_eq!(&text[TABLE.verdict.first_exit(text).unwrap().line], "Exit code 3");
        assert_eq!(frame.behind(7).line, 12..25);
    }

    #[test]
    fn knows_a_failing_verdict_from_a_passing_one() {
        for failed in [
            "running 2 tests\ntest result: FAILED. 1 passed; 1 failed",
            "===== 1 failed, 2 passed in 0.1s =====",
            "===== 2 passed, 1 error in 62.10s (0:01:02) =====\n",
            "[INFO] BUILD FAILURE",
            "ok  \ta\t0.1s\nFAIL\texample.com/b\t0.2s",
            "--- FAIL: TestSum (0.00s)",
            "npm error code ELIFECYCLE",
            "Tests:       1 failed, 3 passed, 4 total",
            "src/a.ts(3,5): error TS2322: no",
            "make: *** [Makefile:3: all] Error 1",
            "\u{1b}[31mfatal: not a git repository",
        ] {
            assert!(TABLE.verdict.tell_failure(failed), "{failed}");
        }
        for passed in [
            "===== 3 passed in 0.1s =====",
            "== how an error is shown ==",
            "== 0 failed, 2 passed in 1s ==",
            "Tests:       4 passed, 4 total",
            "Tests: what failed, and when",
            "a FAIL\tin the middle",
            "the build said fatal: no",
        ] {
            assert!(!TABLE.verdict.tell_failure(passed), "{passed}");
        }
    }

    #[test]
    fn a_line_that_is_cut_off_begins_with_nothing() {
        let end = format!("FAIL\tx\n{}", "y".repeat(VERDICT_BYTES - 7));
        assert!(TABLE.verdict.tell_failure(&end));
        assert!(!TABLE.verdict.tell_failure(&format!("not a {end}")));
    }
}
