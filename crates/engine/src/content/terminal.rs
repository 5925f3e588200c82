//! Is it a screen drawn with control sequences: a cursor that moves, lines that are written over?

use super::ContentKind;

/// Lines so drawn, at least.
const MIN_LINES: usize = 3;
/// Share of the lines, in tenths.
const TENTHS: usize = 3;
/// Times that one line is written over, of a text that has few lines.
const MIN_OVERWRITES: usize = 10;

/// Drawn lines that were seen.
#[derive(Default)]
pub(super) struct TerminalLines {
    count: usize,
    overwrites: usize,
}

impl TerminalLines {
    pub(super) fn see(&mut self, line: &str) {
        let overwrites = memchr::memchr2_iter(b'\r', b'\x08', line.as_bytes()).count();
        self.overwrites += overwrites;
        self.count += usize::from(overwrites > 0 || moves(line));
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        let is_drawn = self.count >= MIN_LINES && self.count * 10 >= lines * TENTHS;
        let is_overwritten = self.overwrites >= MIN_OVERWRITES && self.overwrites * 2 >= lines;
        (is_drawn || is_overwritten).then_some(ContentKind::Terminal)
    }
}

/// Says whether a line holds a control sequence other than a colour.
fn moves(line: &str) -> bool {
    line.split('\x1b').skip(1).any(|code| {
        let Some(code) = code.strip_prefix('[') else { return true };
        let end = code.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | '?'));
        !end.starts_with('m')
    })
}
