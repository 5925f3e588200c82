//! What does a field of a body hold?
//!
//! Small questions to an outline that all formats ask; knows no rule but that of arguments.

use std::borrow::Cow;

use super::code::Code;
use super::defect::Findings;
use crate::error::Error;
use crate::json::{NodeIdx, NodeKind, Outline};

/// Asks an outline.
#[derive(Clone, Copy)]
pub(super) struct Reading<'o, 'a> {
    pub(super) outline: &'o Outline<'a>,
}

impl<'o, 'a> Reading<'o, 'a> {
    pub(super) fn new(outline: &'o Outline<'a>) -> Self {
        Self { outline }
    }

    pub(super) fn kind(self, idx: NodeIdx) -> NodeKind {
        self.outline.node(idx).kind
    }

    pub(super) fn offset(self, idx: NodeIdx) -> usize {
        self.outline.node(idx).span.start()
    }

    /// Gives a field that is there and not `null`.
    pub(super) fn field(self, object: NodeIdx, key: &str) -> Option<NodeIdx> {
        self.outline.get(object, key).filter(|&idx| self.kind(idx) != NodeKind::Null)
    }

    /// Gives a field that is a string.
    pub(super) fn string(self, object: NodeIdx, key: &str) -> Option<Cow<'a, str>> {
        self.outline.get(object, key).and_then(|idx| self.outline.string(idx))
    }

    /// Gives a string field's text; empty where there is none.
    pub(super) fn word(self, object: NodeIdx, key: &str) -> Cow<'a, str> {
        self.string(object, key).unwrap_or_default()
    }

    pub(super) fn is_true(self, object: NodeIdx, key: &str) -> bool {
        self.outline.get(object, key).is_some_and(|idx| self.kind(idx) == NodeKind::True)
    }

    /// Gives the elements of an array; none of anything else.
    pub(super) fn elements(self, idx: NodeIdx) -> impl Iterator<Item = NodeIdx> + use<'o, 'a> {
        let is_array = self.kind(idx) == NodeKind::Array;
        self.outline.children(idx).take_while(move |_| is_array)
    }

    /// Gives the list that holds the conversation: the root itself or the named field.
    pub(super) fn list(self, key: &str) -> Option<NodeIdx> {
        let root = self.outline.root();
        match self.kind(root) {
            NodeKind::Array => Some(root),
            NodeKind::Object => self.outline.get(root, key).filter(|&idx| self.kind(idx) == NodeKind::Array),
            NodeKind::String | NodeKind::Number | NodeKind::True | NodeKind::False | NodeKind::Null => None,
        }
    }

    /// Says whether the body is a whole request, not a bare list.
    pub(super) fn is_request(self) -> bool {
        self.kind(self.outline.root()) == NodeKind::Object
    }

    /// Takes a defect of a value.
    pub(super) fn report(self, found: &mut Findings, code: Code, idx: NodeIdx, message: &'static str) {
        found.add(code, self.offset(idx), message);
    }

    /// Checks a string of arguments: law 3 says that they stay a JSON object.
    pub(super) fn arguments(self, found: &mut Findings, arguments: NodeIdx) {
        let Some(text) = self.outline.string(arguments) else {
            self.report(found, Code::ArgumentsNotAnObject, arguments, "arguments are no string");
            return;
        };
        match Outline::read(text.as_bytes()) {
            Ok(inner) if inner.node(inner.root()).kind == NodeKind::Object => {}
            // Too deep or too large for us is no fault of the body.
            Err(Error::Limit { .. }) => {}
            Ok(_) | Err(_) => {
                self.report(found, Code::ArgumentsNotAnObject, arguments, "arguments are no JSON object");
            }
        }
    }
}

/// Says whether a text holds nothing but white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
