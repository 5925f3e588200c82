//! Is it names of files and folders: paths, `ls -l`, a drawn tree?

use super::ContentKind;

/// Names that a listing has at least.
const MIN_NAMES: usize = 3;
/// Share of the lines, in tenths.
const TENTHS: usize = 8;
/// Longer words are no path that a listing shows.
const MAX_PATH_BYTES: usize = 240;
/// What stands before a name in a drawn tree.
const BRANCHES: [&str; 4] = ["├", "└", "│", "|-- "];

/// Says whether a line is a name in a listing.
///
/// ```
/// use liveset_engine::content::listing::is_name;
/// assert!(is_name("drwxr-xr-x  2 root root 4096 Jan  1 10:00 src"));
/// assert!(is_name("├── main.rs") && is_name("./src/main.rs") && is_name("  12K\t./src"));
/// assert!(!is_name("It is in src/main.rs."));
/// ```
#[must_use]
pub fn is_name(line: &str) -> bool {
    let text = line.trim();
    // The folder that was asked for.
    if text == "." || is_mode(text) || BRANCHES.iter().any(|branch| text.starts_with(branch)) {
        return true;
    }
    if text.strip_prefix("total ").is_some_and(|size| size.bytes().all(|byte| byte.is_ascii_digit() || byte == b'K')) {
        return true;
    }
    let bare = text.strip_prefix("- ").unwrap_or(text);
    let mut words = bare.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(path), None, None) => is_path(path),
        // A size, a count of lines or a state of git before the path.
        (Some(first), Some(path), None) => is_mark(first) && is_path(path),
        _ => false,
    }
}

/// Says whether a line names a folder whose files follow, or ends in a slash.
///
/// ```
/// use liveset_engine::content::listing::is_folder;
/// assert!(is_folder("./src:") && is_folder("src/") && is_folder("drwxr-xr-x 2 a a 4096 Jan 1 10:00 src"));
/// assert!(!is_folder("src/main.rs"));
/// ```
#[must_use]
pub fn is_folder(line: &str) -> bool {
    let text = line.trim();
    (is_mode(text) && text.starts_with('d')) || (!text.contains(' ') && text.ends_with([':', '/']))
}

/// `drwxr-xr-x`
fn is_mode(text: &str) -> bool {
    let Some(mode) = text.as_bytes().get(..10) else { return false };
    let is_kind = matches!(mode.first(), Some(b'-' | b'd' | b'l' | b'b' | b'c' | b'p' | b's'));
    is_kind && mode.iter().skip(1).all(|byte| b"rwxsStT-".contains(byte))
}

fn is_path(word: &str) -> bool {
    if word.len() > MAX_PATH_BYTES || word.contains("::") || word.contains("://") {
        return false;
    }
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '+' | '~' | '\\' | ':' | '*');
    let name = word.trim_end_matches([':', '*', '/']).rsplit(['/', '\\']).next().unwrap_or_default();
    let ends = name
        .rsplit_once('.')
        .is_some_and(|(stem, end)| (1..=8).contains(&end.len()) && !(is_number(stem) && is_number(end)));
    let is_named = word.contains(['/', '\\']) || ends || name.starts_with('.');
    is_named && word.chars().all(is_plain) && word.chars().any(char::is_alphanumeric)
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `4.0K`, `123`, `M`, `??`
fn is_mark(word: &str) -> bool {
    let size = word.trim_end_matches(['K', 'M', 'G', 'B']);
    let is_size = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_size
        || (word.len() <= 2 && word.chars().all(|c| matches!(c, 'A' | 'M' | 'D' | 'R' | 'C' | 'U' | '?' | '!' | 'T')))
}

/// Names that were seen.
#[derive(Default)]
pub(super) struct ListingLines {
    count: usize,
}

impl ListingLines {
    pub(super) fn see(&mut self, line: &str) {
        self.count += usize::from(is_name(line));
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        (self.count >= MIN_NAMES && self.count * 10 >= lines * TENTHS).then_some(ContentKind::Listing)
    }
}
