//! Is it rows of cells between tabs, commas or semicolons?

use super::ContentKind;

/// What parts cells, the likeliest first.
pub const SEPARATORS: [char; 4] = ['\t', '|', ',', ';'];
/// Rows that such a text has at least.
pub const MIN_ROWS: usize = 3;
/// Characters of a heading's cell: sentences have commas too.
pub const MAX_HEADING_CHARS: usize = 40;
/// Rows with as many cells as the heading, in tenths.
const TENTHS: usize = 9;
/// The same where the path says what it is.
const NAMED_TENTHS: usize = 5;
/// Cells of a row between these separators, at least: two things with a comma between are a phrase.
const MIN_CELLS: [(char, usize); 3] = [('\t', 3), (',', 3), (';', 3)];

/// Counts the cells of a row; what stands in quotes parts none.
///
/// ```
/// use liveset_engine::content::delimited::cell_count;
/// assert_eq!(cell_count("a,\"b, c\",d", ','), 3);
/// ```
#[must_use]
pub fn cell_count(line: &str, separator: char) -> usize {
    let mut is_quoted = false;
    let mut count = 1;
    for c in line.chars() {
        is_quoted ^= c == '"';
        count += usize::from(c == separator && !is_quoted);
    }
    count
}

/// Counts the quotes of a row: an odd number leaves a cell open that goes on in the next line.
///
/// ```
/// use liveset_engine::content::delimited::quotes;
/// assert_eq!(quotes("a,\"b"), 1);
/// ```
#[must_use]
pub fn quotes(line: &str) -> usize {
    memchr::memchr_iter(b'"', line.as_bytes()).count()
}

/// Gives the cells of a row, trimmed.
///
/// ```
/// use liveset_engine::content::delimited::cells;
/// assert_eq!(cells("| a | b |", '|'), ["a", "b"]);
/// ```
#[must_use]
pub fn cells(line: &str, separator: char) -> Vec<&str> {
    let line = if separator == '|' { line.trim().trim_matches('|') } else { line };
    line.split(separator).map(str::trim).collect()
}

/// Columns by separator, as the first line has them, and the rows with as many.
#[derive(Default)]
pub(super) struct Columns {
    seen: usize,
    found: [(usize, usize); 3],
    is_heading: bool,
}

impl Columns {
    pub(super) fn see(&mut self, line: &str) {
        self.seen += 1;
        for ((separator, _), (first, same)) in MIN_CELLS.into_iter().zip(&mut self.found) {
            let count = cell_count(line, separator);
            if self.seen == 1 {
                *first = count;
            }
            *same += usize::from(*first == count);
        }
        if self.seen == 1 {
            let is_short = |cell: &str| cell.chars().count() <= MAX_HEADING_CHARS;
            self.is_heading = line.split([',', '\t', ';']).all(is_short) && !line.contains(['(', '{', '=', '<']);
        }
    }

    pub(super) fn is_likely(&self, lines: usize) -> bool {
        self.has_columns(lines, NAMED_TENTHS, 2)
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        (lines >= MIN_ROWS && self.has_columns(lines, TENTHS, 0)).then_some(ContentKind::Delimited)
    }

    fn has_columns(&self, lines: usize, tenths: usize, cells: usize) -> bool {
        let rows = MIN_CELLS.into_iter().zip(self.found);
        let is_any = rows.into_iter().any(|((_, usual), (first, same))| {
            first >= (if cells == 0 { usual } else { cells }) && same * 10 >= lines * tenths
        });
        self.is_heading && is_any
    }
}
