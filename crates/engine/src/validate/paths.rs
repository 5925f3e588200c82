//! What is the name of a place in a body?
//!
//! Turns offsets into paths in one walk; never looks into values that have no nodes, and shows no key but a plain word.

use crate::json::{NodeIdx, Outline, decode};

/// Longest key that a path shows: those of all formats are shorter, and what a client makes up may be of any length.
const MAX_KEY_BYTES: usize = 64;

/// Stands in a path, with its place, for a key that is no plain word.
const STRANGE_KEY: char = '?';

/// Gives, for offsets in rising order, the path of the innermost value that holds each.
pub(super) fn of(outline: &Outline<'_>, offsets: &[usize]) -> Vec<String> {
    let mut walk = Walk { outline, offsets, path: String::new(), paths: Vec::with_capacity(offsets.len()) };
    walk.visit(outline.root());
    walk.paths.resize(offsets.len(), String::new());
    walk.paths
}

struct Walk<'w, 'a> {
    outline: &'w Outline<'a>,
    offsets: &'w [usize],
    path: String,
    paths: Vec<String>,
}

impl Walk<'_, '_> {
    fn next(&self) -> Option<usize> {
        self.offsets.get(self.paths.len()).copied()
    }

    /// Names what stands before `end` by the path so far.
    fn name_until(&mut self, end: usize) {
        while self.next().is_some_and(|offset| offset < end) {
            self.paths.push(self.path.clone());
        }
    }

    /// Depth of the recursion is bounded by [`MAX_DEPTH`](crate::json::MAX_DEPTH).
    fn visit(&mut self, idx: NodeIdx) {
        let outline = self.outline;
        let end = outline.node(idx).span.end();
        for (place, child) in outline.children(idx).enumerate() {
            let span = outline.node(child).span;
            self.name_until(span.start());
            match self.next() {
                Some(offset) if offset < span.end() => {
                    let len = self.path.len();
                    self.step(child, place);
                    self.visit(child);
                    self.path.truncate(len);
                }
                Some(offset) if offset < end => {}
                Some(_) | None => break,
            }
        }
        self.name_until(end);
    }

    fn step(&mut self, child: NodeIdx, place: usize) {
        let Some(key) = self.outline.node(child).key else {
            self.path.push_str(&format!("[{place}]"));
            return;
        };
        if !self.path.is_empty() {
            self.path.push('.');
        }
        match decode(key.of(self.outline.body())) {
            Ok(key) if is_plain(key.text()) => self.path.push_str(key.text()),
            Ok(_) | Err(_) => self.path.push_str(&format!("{STRANGE_KEY}{place}")),
        }
    }
}

/// Says whether a key may stand in a path: one line, and nothing that could pass for a further step.
fn is_plain(key: &str) -> bool {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(is_of_word)
}
