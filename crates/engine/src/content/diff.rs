//! Is it a unified diff, and where do its files and hunks begin?

use super::ContentKind;

/// One line in so many, at least, is a header, a hunk or a line of one.
const ONE_IN: usize = 2;

/// Says whether a line begins a hunk: `@@ -1,4 +1,6 @@`.
///
/// ```
/// use liveset_engine::content::diff::is_hunk;
/// assert!(is_hunk("@@ -1,4 +1,6 @@ fn main() {"));
/// assert!(!is_hunk("@@ what"));
/// ```
#[must_use]
pub fn is_hunk(line: &str) -> bool {
    line.strip_prefix("@@ -").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(" +") && rest.contains(" @@")
    })
}

/// Says whether a line belongs to the header of a file's changes.
///
/// ```
/// use liveset_engine::content::diff::is_header;
/// assert!(is_header("diff --git a/x b/x") && is_header("+++ b/x"));
/// assert!(!is_header("+ let x = 1;"));
/// ```
#[must_use]
pub fn is_header(line: &str) -> bool {
    const STARTS: [&str; 12] = [
        "diff --",
        "--- ",
        "+++ ",
        "index ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "rename from ",
        "rename to ",
        "Binary files ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Lines of a diff that were seen.
#[derive(Default)]
pub(super) struct DiffLines {
    hunks: usize,
    headers: usize,
    changed: usize,
    is_in_hunk: bool,
}

impl DiffLines {
    pub(super) fn see(&mut self, line: &str) {
        if is_hunk(line) {
            self.hunks += 1;
            self.is_in_hunk = true;
        } else if is_header(line) {
            self.headers += 1;
            self.is_in_hunk = false;
        } else if self.is_in_hunk && line.starts_with(['+', '-', ' ', '\\']) {
            self.changed += 1;
        } else if !line.is_empty() {
            self.is_in_hunk = false;
        }
    }

    pub(super) fn count(&self) -> usize {
        if self.hunks == 0 { 0 } else { self.hunks + self.headers + self.changed }
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        let is_diff = self.hunks > 0 && (self.headers > 0 || self.hunks > 1) && self.changed > 0;
        (is_diff && self.count() * ONE_IN >= lines).then_some(ContentKind::Diff)
    }
}
