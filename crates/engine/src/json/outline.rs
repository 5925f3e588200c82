//! Where do the values of a JSON text stand?
//!
//! Holds a flat list of places in the order of their first bytes; never a copy of a value.

use super::node::{Node, NodeKind};
use super::reader::{self, Entering};
use super::resume::Resume;
use super::strings;
use crate::error::{Error, Result};
use std::borrow::Cow;

/// Longest body that is read, in bytes: eight times what the largest provider takes (32 MB), and far below what the 32 bits of a [`Span`](crate::Span) reach.
pub const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;

/// Place of a value in an [`Outline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIdx(u32);

impl NodeIdx {
    fn new(place: usize) -> Self {
        Self(u32::try_from(place).unwrap_or(u32::MAX))
    }

    fn at(self) -> usize {
        self.0 as usize
    }
}

/// A JSON text, read: where its values of interest stand.
///
/// Only containers that hold messages and their parts are *entered*, which gives their values nodes of their own; all
/// else is checked in full and stays one node.
///
/// ```
/// use liveset_engine::json::Outline;
/// let outline = Outline::read(br#"{"messages":[{"role":"user","content":"a\nb"}],"tools":[{"name":"x"}]}"#)?;
/// let messages = outline.get(outline.root(), "messages").unwrap();
/// let first = outline.children(messages).next().unwrap();
/// let content = outline.get(first, "content").unwrap();
/// assert_eq!(outline.bytes(content), br#""a\nb""#);
/// assert_eq!(outline.string(content).unwrap(), "a\nb");
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    /// UTF-8, which was checked.
    body: &'a [u8],
    root: Node,
    nodes: Vec<Node>,
}

/// What [`Outline::read`] found in a text, without the text: to go on from where a later one begins the same
/// ([`Outline::read_on`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<Node>);

impl<'a> Outline<'a> {
    /// Reads a whole JSON text in one pass, entering what holds messages and their parts.
    ///
    /// # Errors
    /// Bytes that are no JSON, no UTF-8, or over a limit, each with its offset. A byte order mark is no JSON.
    pub fn read(body: &'a [u8]) -> Result<Outline<'a>> {
        Self::read_entering(body, Entering::Messages)
    }

    /// Reads a whole JSON text and enters every container: for small values.
    ///
    /// ```
    /// use liveset_engine::json::Outline;
    /// let outline = Outline::read_all(br#"{"a":{"b":[1, 2]}}"#)?;
    /// let a = outline.get(outline.root(), "a").unwrap();
    /// let b = outline.get(a, "b").unwrap();
    /// assert_eq!(outline.children(b).count(), 2);
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Outline::read`].
    pub fn read_all(body: &'a [u8]) -> Result<Outline<'a>> {
        Self::read_entering(body, Entering::Everything)
    }

    /// Reads a whole JSON text that begins as an earlier one did, of which `places` are kept: only what is new is looked
    /// at. The outcome is that of [`Outline::read`].
    ///
    /// `common` is how many bytes both begin with, at most.
    ///
    /// ```
    /// use liveset_engine::json::Outline;
    /// let (first, second) = (br#"{"messages":["a","b"]}"#, br#"{"messages":["a","b","c"]}"#);
    /// let places = Outline::read(first)?.into_places();
    /// let grown = Outline::read_on(second, places, 20)?;
    /// let messages = grown.get(grown.root(), "messages").unwrap();
    /// assert_eq!(grown.children(messages).count(), 3);
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Outline::read`].
    pub fn read_on(body: &'a [u8], places: Places, common: usize) -> Result<Outline<'a>> {
        let Some(resume) = Resume::find(&places.0, common.min(body.len())) else { return Self::read(body) };
        limit(body)?;
        let unread = body.get(resume.at..).unwrap_or_default();
        strings::utf8(unread).map_err(|error| error.moved(resume.at))?;
        Self::of(body, reader::read_on(body, places.0, resume)?)
    }

    fn read_entering(body: &'a [u8], entering: Entering) -> Result<Outline<'a>> {
        limit(body)?;
        strings::utf8(body)?;
        Self::of(body, reader::read(body, entering)?)
    }

    fn of(body: &'a [u8], nodes: Vec<Node>) -> Result<Outline<'a>> {
        match nodes.first().copied() {
            Some(root) => Ok(Self { body, root, nodes }),
            None => Err(Error::Json { offset: body.len(), expected: "a value" }),
        }
    }

    /// Gives what is to be kept for [`Outline::read_on`]; of [`Outline::read`] only.
    #[must_use]
    pub fn into_places(self) -> Places {
        Places(self.nodes)
    }

    /// Gives the text that was read.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Gives the value that holds all others.
    #[must_use]
    pub fn root(&self) -> NodeIdx {
        NodeIdx(0)
    }

    /// Gives how many values have nodes.
    #[must_use]
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Gives the value at `idx`; for an `idx` of another outline perhaps the root.
    #[must_use]
    pub fn node(&self, idx: NodeIdx) -> &Node {
        self.nodes.get(idx.at()).unwrap_or(&self.root)
    }

    /// Says whether the values inside have nodes; `false` also for strings, numbers and words.
    #[must_use]
    pub fn is_entered(&self, idx: NodeIdx) -> bool {
        self.node(idx).is_entered
    }

    /// Gives the values directly inside, in order, with all of those that share a key.
    pub fn children(&self, idx: NodeIdx) -> impl Iterator<Item = NodeIdx> + use<'_, 'a> {
        let end = self.node(idx).next as usize;
        let mut at = idx.at() + 1;
        std::iter::from_fn(move || {
            let child = self.nodes.get(at).filter(|_| at < end)?;
            let found = NodeIdx::new(at);
            // A node never ends before itself, so the walk always goes on.
            at = (child.next as usize).max(at + 1);
            Some(found)
        })
    }

    /// Gives the value of `key` in the object at `idx`; of several the last, as JSON readers do.
    ///
    /// ```
    /// use liveset_engine::json::Outline;
    /// let outline = Outline::read(br#"{"a":1,"\u0061":2}"#)?;
    /// let a = outline.get(outline.root(), "a").unwrap();
    /// assert_eq!(outline.bytes(a), b"2");
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    #[must_use]
    pub fn get(&self, idx: NodeIdx, key: &str) -> Option<NodeIdx> {
        let has_key =
            |child: &NodeIdx| self.node(*child).key.is_some_and(|span| strings::says(span.of(self.body()), key));
        self.children(idx).filter(has_key).last()
    }

    /// Gives the bytes of the value at `idx`, as they stand.
    #[must_use]
    pub fn bytes(&self, idx: NodeIdx) -> &'a [u8] {
        self.node(idx).span.of(self.body())
    }

    /// Gives what the string at `idx` says, with U+FFFD for each lone surrogate; `None` if it is no string.
    #[must_use]
    pub fn string(&self, idx: NodeIdx) -> Option<Cow<'a, str>> {
        let node = self.node(idx);
        if node.kind != NodeKind::String {
            return None;
        }
        // The quotation marks are one byte each, so both borders are character borders.
        let inner = self.body.get(node.span.start() + 1..node.span.end() - 1)?;
        Some(strings::unescape(std::str::from_utf8(inner).ok()?).into_text())
    }
}

fn limit(body: &[u8]) -> Result<()> {
    if body.len() > MAX_BODY_BYTES {
        return Err(Error::Limit { what: "body size in bytes", offset: MAX_BODY_BYTES, limit: MAX_BODY_BYTES });
    }
    Ok(())
}
