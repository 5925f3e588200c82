//! Is it the log of a service, and what level does a line state?

use super::ContentKind;

/// Words that stand for a level, from the worst on.
pub const LEVELS: [&str; 9] = ["FATAL", "CRITICAL", "ERROR", "WARNING", "WARN", "NOTICE", "INFO", "DEBUG", "TRACE"];
/// Levels that tell of a failure.
const FAILING: usize = 3;
/// Words at the beginning of a line among which a level stands.
const LEVEL_WORDS: usize = 12;
/// Lines with a time or level that a log has at least.
const MIN_LINES: usize = 3;
/// One line in so many states a time or level.
const ONE_IN: usize = 2;

/// Gives the level that a line states near its beginning, as its place in [`LEVELS`].
///
/// ```
/// use liveset_engine::content::log::{LEVELS, level};
/// assert_eq!(level("10:00:01 WARN slow").map(|at| LEVELS[at]), Some("WARN"));
/// assert_eq!(level("hello"), None);
/// ```
#[must_use]
pub fn level(line: &str) -> Option<usize> {
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(LEVEL_WORDS);
    words.filter_map(|word| LEVELS.iter().position(|level| word.eq_ignore_ascii_case(level))).min()
}

/// Says whether a line of a log tells of a failure.
///
/// ```
/// use liveset_engine::content::log::is_failing;
/// assert!(is_failing("2024-01-02 10:00:01 ERROR lost peer 7"));
/// assert!(!is_failing("2024-01-02 10:00:01 INFO error count 0"));
/// ```
#[must_use]
pub fn is_failing(line: &str) -> bool {
    // The first level that stands there is the line's own; words of its message come later.
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(LEVEL_WORDS);
    let mut levels = words.filter_map(|word| LEVELS.iter().position(|level| word.eq_ignore_ascii_case(level)));
    levels.next().is_some_and(|level| level < FAILING)
}

/// Says whether a line opens with a time, as logs write it.
///
/// ```
/// use liveset_engine::content::log::is_stamped;
/// assert!(is_stamped("2024-01-02T10:00:01Z started"));
/// assert!(is_stamped("[10:00:01.123] started") && is_stamped("Jan  2 10:00:01 host started"));
/// assert!(!is_stamped("10 apples"));
/// ```
#[must_use]
pub fn is_stamped(line: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ", "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec "];
    let text = line.trim_start_matches(['[', '(', ' ']).as_bytes();
    let fits = |pattern: &[u8]| {
        let pairs = || pattern.iter().zip(text);
        text.len() >= pattern.len()
            && pairs().all(|(want, have)| if *want == b'0' { have.is_ascii_digit() } else { want == have })
    };
    let is_month = MONTHS.iter().any(|month| text.starts_with(month.as_bytes()));
    let is_clock = |bytes: &[u8]| {
        bytes.windows(3).any(|window| matches!(window, [a, b':', b] if a.is_ascii_digit() && b.is_ascii_digit()))
    };
    fits(b"0000-00-00")
        || fits(b"0000/00/00")
        || fits(b"00:00:00")
        || fits(b"00/00/0000")
        || (is_month && is_clock(text.get(..20).unwrap_or(text)))
        || is_access(line)
}

/// `1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.0" 200`
fn is_access(line: &str) -> bool {
    let Some(host) = line.split(' ').next() else { return false };
    host.matches('.').count() == 3
        && host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && line.contains("] \"")
}

/// Log lines that were seen.
#[derive(Default)]
pub(super) struct LogLines {
    count: usize,
}

impl LogLines {
    pub(super) fn see(&mut self, line: &str) {
        self.count += usize::from(is_stamped(line) || states_level(line));
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_likely(&self, lines: usize) -> bool {
        self.count > 0 && self.count * 2 * ONE_IN >= lines
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        (self.count >= MIN_LINES && self.count * ONE_IN >= lines).then_some(ContentKind::Log)
    }
}

/// `INFO: started`, `[warn] slow`, `level=error msg=x`: a level as a word of its own that opens the line.
fn states_level(line: &str) -> bool {
    let text = line.trim_start_matches(['[', '<', ' ']);
    let text = text.strip_prefix("level=").unwrap_or(text);
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    // Build tools write `[INFO] ` and `error: ` too, and are asked for themselves.
    is_level(word)
        && text.get(word.len()..).is_some_and(|rest| rest.starts_with([':', ' ', ']', '|', '>', '-']))
        && word.chars().all(|c| c.is_ascii_uppercase())
        && !line.starts_with("[INFO] ")
        && !line.starts_with("[ERROR] ")
        && !line.starts_with("[WARNING] ")
}
