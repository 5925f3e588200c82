//! Is it what a search found: places in files, each with the line that stands there?

use super::ContentKind;

/// Hits that a search has at least.
const MIN_HITS: usize = 2;
/// Share of the lines, in tenths.
const TENTHS: usize = 6;

/// Gives the file of a hit: `src/a.rs:12: let x`, `src/a.rs-13-` for a line around one.
///
/// ```
/// use liveset_engine::content::hits::file_of;
/// assert_eq!(file_of("src/a.rs:12:    let x = 1;"), Some("src/a.rs"));
/// assert_eq!(file_of("at 10:12: it rained"), None);
/// ```
#[must_use]
pub fn file_of(line: &str) -> Option<&str> {
    [':', '-'].into_iter().find_map(|mark| {
        let (at, _) = line.match_indices(mark).find(|(at, _)| number_before(line, at + 1, mark))?;
        let file = line.get(..at)?;
        let is_path =
            !file.is_empty() && !file.contains([' ', '\t', '(', '"', '\'']) && file.contains(['/', '.', '\\']);
        // `1.5:3:` is a ratio and `1.2.3.4:80:` an address.
        let is_named = file.contains(|c: char| c.is_alphabetic());
        (is_path && is_named).then_some(file)
    })
}

/// Says whether digits and then `mark` stand at a byte.
fn number_before(line: &str, from: usize, mark: char) -> bool {
    let rest = line.get(from..).unwrap_or_default();
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < rest.len() && after.starts_with(mark)
}

/// Hits that were seen.
#[derive(Default)]
pub(super) struct HitLines {
    count: usize,
    parting: usize,
}

impl HitLines {
    pub(super) fn see(&mut self, line: &str) {
        self.parting += usize::from(line == "--");
        let is_message = || [": error:", ": warning:", ": note:"].iter().any(|word| line.contains(word));
        self.count += usize::from(file_of(line).is_some() && !is_message());
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        let lines = lines - self.parting.min(lines);
        (self.count >= MIN_HITS && self.count * 10 >= lines * TENTHS).then_some(ContentKind::Hits)
    }
}
