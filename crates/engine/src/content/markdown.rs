//! Is it Markdown, and how deep is a heading?

use super::{ContentKind, code::CodeLines};

/// Headings of a text that has nothing else of Markdown.
const MIN_HEADINGS: usize = 2;
/// List items, links and fences that make up for a heading.
const MIN_OTHERS: usize = 2;
/// Levels of headings.
const MAX_DEPTH: usize = 6;

/// Gives how deep a heading is, from 1; `None` for any other line.
///
/// ```
/// use liveset_engine::content::markdown::heading_depth;
/// assert_eq!(heading_depth("## Part"), Some(2));
/// assert_eq!(heading_depth("#!/bin/sh"), None);
/// ```
#[must_use]
pub fn heading_depth(line: &str) -> Option<usize> {
    let depth = line.bytes().take_while(|&byte| byte == b'#').count();
    ((1..=MAX_DEPTH).contains(&depth) && line.as_bytes().get(depth) == Some(&b' ')).then_some(depth)
}

/// Says whether a line opens or closes a block of code.
///
/// ```
/// use liveset_engine::content::markdown::is_fence;
/// assert!(is_fence("```rust"));
/// assert!(!is_fence("`x`"));
/// ```
#[must_use]
pub fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Lines of Markdown that were seen.
#[derive(Default)]
pub(super) struct MarkdownLines {
    headings: usize,
    others: usize,
    fences: usize,
}

impl MarkdownLines {
    pub(super) fn see(&mut self, line: &str) {
        if is_fence(line) {
            self.fences += 1;
            return;
        }
        if self.is_fenced() {
            return;
        }
        self.headings += usize::from(heading_depth(line).is_some());
        let text = line.trim_start();
        let is_item = text.starts_with("- ") || text.starts_with("* ") || text.starts_with("> ");
        let is_strong = text.contains("](") || text.matches("**").count() > 1;
        self.others += usize::from(is_item || is_strong);
    }

    /// Says whether the line that was seen last stands in a block of code.
    pub(super) fn is_fenced(&self) -> bool {
        self.fences % 2 == 1
    }

    pub(super) fn is_likely(&self) -> bool {
        self.headings + self.others + self.fences > 0
    }

    pub(super) fn kind(&self, code: &CodeLines) -> Option<ContentKind> {
        let others = self.others + self.fences;
        let is_enough = self.headings >= MIN_HEADINGS
            || (self.headings > 0 && others >= MIN_OTHERS)
            || (self.fences > 1 && self.others >= MIN_OTHERS);
        // A comment in a script looks like a heading.
        (is_enough && code.signatures() < self.headings + others).then_some(ContentKind::Markdown)
    }
}
