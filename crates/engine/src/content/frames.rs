//! Is it a stack trace? Frames of Python, Java, JavaScript, Go and Rust, and the lines that say what was thrown.

use super::ContentKind;

/// Frames that a trace has at least.
const MIN_FRAMES: usize = 2;
/// Share of the lines, in percent, that are frames: in Python each second one, with code between.
const PERCENT: usize = 30;

/// Says whether a line is a frame of a call stack.
///
/// ```
/// use liveset_engine::content::frames::is_frame;
/// assert!(is_frame("  File \"a.py\", line 3, in <module>"));
/// assert!(is_frame("\tat com.example.Main.run(Main.java:12)"));
/// assert!(!is_frame("at last it rained"));
/// ```
#[must_use]
pub fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    if text.starts_with("File \"") {
        return text.contains("\", line ");
    }
    if let Some(place) = text.strip_prefix("at ") {
        let has_number = place.trim_end_matches(')').ends_with(|c: char| c.is_ascii_digit()) && place.contains(':');
        let is_native = place.ends_with("(Native Method)") || place.ends_with("(<anonymous>)");
        return has_number || is_native;
    }
    if line.starts_with('\t') && text.contains(".go:") {
        return true;
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < text.len() && rest.strip_prefix(": ").is_some_and(|name| name.contains("::") && !name.contains(' '))
}

/// Says whether a line opens a trace or says what was thrown.
///
/// ```
/// use liveset_engine::content::frames::is_thrown;
/// assert!(is_thrown("Traceback (most recent call last):"));
/// assert!(is_thrown("Caused by: java.io.IOException: closed"));
/// ```
#[must_use]
pub fn is_thrown(line: &str) -> bool {
    const STARTS: [&str; 7] = [
        "Traceback (most recent call last)",
        "Caused by:",
        "Exception in thread",
        "goroutine ",
        "panic:",
        "stack backtrace:",
        "During handling of the above exception",
    ];
    let text = line.trim_start();
    if STARTS.iter().any(|start| text.starts_with(start)) || text.contains("panicked at ") {
        return true;
    }
    // `ValueError: no`, `java.lang.IllegalStateException: no`, `TypeError`
    let name = text.split([':', ' ']).next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    is_name && (name.ends_with("Error") || name.ends_with("Exception")) && name.len() > "Error".len()
}

/// Lines of a trace that were seen.
#[derive(Default)]
pub(super) struct FrameLines {
    frames: usize,
    thrown: usize,
}

impl FrameLines {
    pub(super) fn see(&mut self, line: &str) {
        self.frames += usize::from(is_frame(line));
        self.thrown += usize::from(is_thrown(line));
    }

    pub(super) fn count(&self) -> usize {
        self.frames
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        let is_trace = self.frames >= MIN_FRAMES && self.thrown > 0 && self.frames * 100 >= lines * PERCENT;
        is_trace.then_some(ContentKind::StackTrace)
    }
}
