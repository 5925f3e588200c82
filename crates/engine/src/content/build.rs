//! Is it what a compiler, package manager or build tool printed?

use super::{ContentKind, diff};

/// Lines that say so at least.
const MIN_LINES: usize = 3;
/// Share of the lines, in percent.
const PERCENT: usize = 35;

/// First words of the lines that such tools print.
const STARTS: [&str; 44] = [
    "Compiling ",
    "Checking ",
    "Finished ",
    "Building ",
    "Downloading ",
    "Downloaded ",
    "Updating ",
    "Locking ",
    "Adding ",
    "Fresh ",
    "Linking ",
    "Generating ",
    "Installing ",
    "Collecting ",
    "Using cached ",
    "Requirement already satisfied",
    "Successfully ",
    "Preparing ",
    "Unpacking ",
    "Setting up ",
    "Selecting previously ",
    "Reading package lists",
    "Get:",
    "npm ",
    "yarn ",
    "> Task ",
    "[INFO] ",
    "[WARNING] ",
    "[ERROR] ",
    "make[",
    "make: ",
    "gcc ",
    "g++ ",
    "cc ",
    "clang ",
    "error[",
    "error: ",
    "warning: ",
    "note: ",
    "-->",
    "= note:",
    "= help:",
    "CMake ",
    "Step ",
];

/// Words of a compiler's message about a place.
const HOLDS: [&str; 5] = [": error:", ": warning:", ": note:", "error TS", ": fatal error:"];

/// Says whether a build tool prints such lines.
///
/// ```
/// use liveset_engine::content::build::is_build_line;
/// assert!(is_build_line("   Compiling serde v1.0.0"));
/// assert!(is_build_line("a.c:3:5: error: expected `;`"));
/// assert!(!is_build_line("It compiles."));
/// ```
#[must_use]
pub fn is_build_line(line: &str) -> bool {
    let text = line.trim_start();
    let percent = || text.starts_with('[') && text.get(..8).is_some_and(|start| start.contains("%]"));
    // What a compiler draws under a message: `12 | let x`, `   | ^^^`.
    let drawn = || {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.trim_start();
        rest == "|" || (rest.starts_with("| ") && !rest.ends_with('|'))
    };
    STARTS.iter().any(|start| text.starts_with(start))
        || HOLDS.iter().any(|word| text.contains(word))
        || percent()
        || drawn()
}

/// Lines of a build that were seen.
#[derive(Default)]
pub(super) struct BuildLines {
    count: usize,
}

impl BuildLines {
    pub(super) fn see(&mut self, line: &str) {
        self.count += usize::from(!diff::is_header(line) && is_build_line(line));
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        (self.count >= MIN_LINES && self.count * 100 >= lines * PERCENT).then_some(ContentKind::BuildLog)
    }
}
