//! Is it HTML or XML?

use super::ContentKind;

/// Lines between tags that a text has at least.
const MIN_LINES: usize = 3;
/// Share of the lines that begin with a tag, in tenths.
const TENTHS: usize = 6;

/// What opens a document of its own.
const OPENS: [&str; 3] = ["<!doctype", "<html", "<?xml"];

fn opens(text: &str) -> bool {
    let start = text.trim_start();
    OPENS.iter().any(|open| start.get(..open.len()).is_some_and(|start| start.eq_ignore_ascii_case(open)))
}

/// Lines with tags that were seen.
#[derive(Default)]
pub(super) struct MarkupLines {
    count: usize,
}

impl MarkupLines {
    pub(super) fn see(&mut self, line: &str) {
        let text = line.trim();
        let is_tag = text
            .strip_prefix('<')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '!' | '?')));
        self.count += usize::from(is_tag && text.contains('>'));
    }

    pub(super) fn is_likely(&self, lines: usize) -> bool {
        self.count > 0 && self.count * 20 >= lines * TENTHS
    }

    pub(super) fn kind(&self, text: &str, lines: usize) -> Option<ContentKind> {
        let is_markup = opens(text) || (self.count >= MIN_LINES && self.count * 10 >= lines * TENTHS);
        is_markup.then_some(ContentKind::Markup)
    }
}
