//! What is the name of a place in a body?
//!
//! Turns offsets into paths in one walk; never looks into values that have no nodes.

use crate::json::{NodeIdx, Outline, decode};

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
        if let Ok(key) = decode(key.of(self.outline.body())) {
            self.path.push_str(key.text());
        }
    }
}
