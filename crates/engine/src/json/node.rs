//! What is known of one value?
//!
//! Data only: type, place, key and how far its descendants reach.

use crate::span::Span;

/// Deepest nesting that is read. Real bodies stay below 30; common readers stop at 128 to 1,000.
pub const MAX_DEPTH: usize = 512;

/// Most values that get a node: the longest real conversations have some 100,000; this many nodes take about 130 MB.
pub const MAX_NODES: usize = 4_000_000;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// `{...}`
    Object,
    /// `[...]`
    Array,
    /// `"..."`
    String,
    /// Any number; its digits are never read.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

impl NodeKind {
    /// Names the type for error messages, with its article.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::True => "`true`",
            Self::False => "`false`",
            Self::Null => "`null`",
        }
    }
}

/// One value of a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The value, with quotation marks or brackets.
    pub span: Span,
    /// Literal of its key, quotation marks included; `None` for the root and for elements of arrays.
    pub key: Option<Span>,
    /// Its type.
    pub kind: NodeKind,
    /// Whether the values inside have nodes.
    pub(super) is_entered: bool,
    /// Place after its last descendant; 0 where there is none.
    pub(super) next: u32,
}

impl Node {
    pub(super) fn new(span: Span, key: Option<Span>, kind: NodeKind) -> Self {
        Self { span, key, kind, is_entered: false, next: 0 }
    }

    pub(super) fn set_next(&mut self, next: usize) {
        self.next = u32::try_from(next).unwrap_or(u32::MAX);
    }
}
