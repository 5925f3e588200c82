//! Is it a table: drawn with bars, or aligned under a heading in capitals?

use super::ContentKind;

/// Rows that a table has at least, its heading among them.
const MIN_ROWS: usize = 3;
/// Share of the lines that are rows, in tenths.
const TENTHS: usize = 8;
/// Headings of aligned tables have at most this many columns that are looked at.
const MAX_COLUMNS: usize = 32;

/// Says whether a line is a rule between a heading and its rows: `|---|---|`, `-----+----`, `====`.
///
/// ```
/// use liveset_engine::content::table::is_rule;
/// assert!(is_rule("|----|:---:|") && is_rule("---- ----"));
/// assert!(!is_rule("| a | b |") && !is_rule(""));
/// ```
#[must_use]
pub fn is_rule(line: &str) -> bool {
    let text = line.trim();
    let drawn = |c: char| "|-:+= \t".contains(c) || ('\u{2500}'..='\u{257f}').contains(&c);
    text.len() >= 3 && text.chars().all(drawn) && text.contains(['-', '=', '─', '═'])
}

/// Bars in a line that is drawn as a row of a table; 0 where it is none.
fn bars(line: &str) -> usize {
    let text = line.trim();
    let ends = (text.starts_with('|') && text.ends_with('|')) || (text.starts_with('│') && text.ends_with('│'));
    let count = text.matches(['|', '│']).count();
    if ends || text.contains(" | ") { count } else { 0 }
}

/// Where the columns of a heading in capitals begin; empty where it is none.
fn columns(line: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut blanks = 2;
    for (at, c) in line.char_indices() {
        if c == ' ' {
            blanks += 1;
            continue;
        }
        if blanks >= 2 {
            starts.push(at);
        }
        blanks = 0;
    }
    let letters = || line.chars().filter(|c| c.is_alphabetic());
    let is_heading = letters().count() >= 4 && letters().all(char::is_uppercase) && !line.contains(['{', ';', '(']);
    if is_heading && starts.len() > 1 && starts.len() <= MAX_COLUMNS { starts } else { Vec::new() }
}

/// Rows that were seen.
#[derive(Default)]
pub(super) struct TableLines {
    seen: usize,
    /// Bars of the first row that has any, and rows with as many.
    bars: usize,
    drawn: usize,
    rules: usize,
    columns: Vec<usize>,
    aligned: usize,
}

impl TableLines {
    pub(super) fn see(&mut self, line: &str) {
        self.seen += 1;
        if is_rule(line) {
            self.rules += 1;
        } else if let bars @ 1.. = bars(line) {
            self.bars = if self.bars == 0 { bars } else { self.bars };
            self.drawn += usize::from(self.bars == bars);
        }
        if self.seen == 1 {
            self.columns = columns(line);
        } else if !self.columns.is_empty() {
            let begins = |&at: &usize| {
                let is_cell = line.get(at..).is_some_and(|rest| !rest.starts_with(' '));
                at == 0 || (is_cell && line.get(..at).is_some_and(|before| before.ends_with(' ')))
            };
            // A column may be empty in a row.
            self.aligned += usize::from(self.columns.iter().filter(|at| begins(at)).count() * 2 > self.columns.len());
        }
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        let is_most = |rows: usize| rows >= MIN_ROWS && rows * 10 >= lines * TENTHS;
        // A line of code may hold bars; a rule, or two bars in each row, tells a table.
        let is_drawn = is_most(self.drawn + self.rules) && self.drawn > 1 && (self.rules > 0 || self.bars > 2);
        let is_aligned = !self.columns.is_empty() && is_most(self.aligned + 1);
        (is_drawn || is_aligned).then_some(ContentKind::Table)
    }
}
