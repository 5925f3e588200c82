//! Do two values say the same?
//!
//! Hashes what a provider reads of a value: neither spacing, nor how a string is escaped, nor cache marks.

use xxhash_rust::xxh3::Xxh3Default;

use crate::json::{NodeIdx, NodeKind, Outline, decode};

/// A key that moves without a change of the prefix ("Not a change: moving `cache_control`").
const MARK: &str = "cache_control";

/// A hash in the making.
pub(super) struct Digest(Xxh3Default);

impl Digest {
    pub(super) fn new() -> Self {
        Self(Xxh3Default::new())
    }

    pub(super) fn finish(self) -> u128 {
        self.0.digest128()
    }

    /// Takes bytes together with their length, so that borders count.
    pub(super) fn part(mut self, bytes: &[u8]) -> Self {
        self.bytes(bytes);
        self
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Takes a JSON value.
    pub(super) fn value(mut self, json: &[u8]) -> Self {
        // A value over our limits is taken as it stands: then spacing counts.
        let Ok(outline) = Outline::read_all(json) else { return self.part(json) };
        let mut waiting = vec![outline.root()];
        while let Some(idx) = waiting.pop() {
            let node = outline.node(idx);
            if let Some(key) = node.key {
                self.literal(key.of(json));
            }
            self.0.update(&[tag(node.kind)]);
            match node.kind {
                NodeKind::String => self.literal(outline.bytes(idx)),
                NodeKind::Number => self.bytes(outline.bytes(idx)),
                NodeKind::Object | NodeKind::Array => self.open(&outline, idx, &mut waiting),
                NodeKind::True | NodeKind::False | NodeKind::Null => {}
            }
        }
        self
    }

    /// Takes how many values a container holds, and leaves them waiting, the first on top.
    fn open(&mut self, outline: &Outline<'_>, idx: NodeIdx, waiting: &mut Vec<NodeIdx>) {
        let is_mark = |child: NodeIdx| {
            let key = outline.node(child).key.and_then(|key| decode(key.of(outline.body())).ok());
            key.is_some_and(|key| key.text() == MARK)
        };
        let first = waiting.len();
        waiting.extend(outline.children(idx).filter(|&child| !is_mark(child)));
        self.0.update(&((waiting.len() - first) as u64).to_le_bytes());
        if let Some(added) = waiting.get_mut(first..) {
            added.reverse();
        }
    }

    fn literal(&mut self, literal: &[u8]) {
        match decode(literal) {
            Ok(decoded) => self.bytes(&decoded.wtf8()),
            Err(_) => self.bytes(literal),
        }
    }
}

fn tag(kind: NodeKind) -> u8 {
    match kind {
        NodeKind::Object => b'{',
        NodeKind::Array => b'[',
        NodeKind::String => b'"',
        NodeKind::Number => b'0',
        NodeKind::True => b't',
        NodeKind::False => b'f',
        NodeKind::Null => b'n',
    }
}
