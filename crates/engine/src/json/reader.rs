//! Is this JSON, and where do its values begin and end?
//!
//! Goes over the bytes once, checks all of the grammar, and writes down a node for each value that is of interest. Decodes nothing.

use super::node::{MAX_DEPTH, MAX_NODES, Node, NodeKind};
use super::quotes::Quotes;
use super::resume::Resume;
use super::strings;
use crate::error::{self, Error};
use crate::span::Span;

/// Keys of the request whose containers get child nodes.
const REQUEST_KEYS: [&str; 3] = ["messages", "input", "system"];

/// Keys below the messages whose containers get child nodes. `input` is not here: arguments of a call are one value.
const MESSAGE_KEYS: [&str; 10] = [
    "content",
    "output",
    "summary",
    "tool_calls",
    "function",
    "custom",
    "source",
    "image_url",
    "file",
    "cache_control",
];

/// Bytes of a conversation for one node, roughly: the first guess at how long the list will be.
const BYTES_PER_NODE: usize = 256;

/// Which containers get child nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entering {
    /// Those that hold messages and their parts.
    Messages,
    /// All.
    Everything,
}

/// How an open container treats its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Checked, without nodes.
    Skipped,
    /// The request object.
    Request,
    /// Anything below it that is entered.
    Below,
}

/// A container that is still open.
#[derive(Clone, Copy, Debug)]
struct Frame {
    start: usize,
    is_object: bool,
    level: Level,
    /// Place of its node in the list, where it has one.
    node: Option<usize>,
}

/// What reading the beginning of a value led to.
enum Step {
    /// The value is over.
    Done,
    /// A container is open, and something comes next that must be its first key or value.
    Opened,
}

/// Errors are boxed, so that a span comes back in registers.
type Result<T> = std::result::Result<T, Box<Error>>;

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    open: Vec<Frame>,
    entering: Entering,
    quotes: Quotes<'a>,
}

/// Reads one whole JSON text and gives its nodes in the order of their first bytes.
pub(super) fn read(body: &[u8], entering: Entering) -> error::Result<Vec<Node>> {
    let mut reader = Reader {
        body,
        at: 0,
        nodes: Vec::with_capacity(body.len() / BYTES_PER_NODE),
        open: Vec::new(),
        entering,
        quotes: Quotes::new(body, 0),
    };
    reader.space();
    reader.all_values().map_err(|error| *error)?;
    reader.into_nodes()
}

/// Reads on in a request whose first nodes are known, up to where `resume` says.
pub(super) fn read_on(body: &[u8], mut nodes: Vec<Node>, resume: Resume) -> error::Result<Vec<Node>> {
    let frame = |place: usize, level: Level| {
        let node = nodes.get(place)?;
        Some(Frame { start: node.span.start(), is_object: node.kind == NodeKind::Object, level, node: Some(place) })
    };
    let list = resume.list.map(|list| frame(list, Level::Below));
    let open = [frame(0, Level::Request), list.flatten()].into_iter().flatten().collect();
    nodes.truncate(resume.nodes);
    let quotes = Quotes::new(body, resume.at);
    let mut reader = Reader { body, at: resume.at, nodes, open, entering: Entering::Messages, quotes };
    if !reader.ends().map_err(|error| *error)? {
        reader.all_values().map_err(|error| *error)?;
    }
    reader.into_nodes()
}

impl Reader<'_> {
    /// Gives the nodes, where nothing follows the root.
    fn into_nodes(mut self) -> error::Result<Vec<Node>> {
        self.space();
        if self.at < self.body.len() {
            return Err(*self.expected("the end of the text"));
        }
        Ok(self.nodes)
    }

    #[cold]
    fn expected(&self, expected: &'static str) -> Box<Error> {
        Box::new(Error::Json { offset: self.at, expected })
    }

    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Reads values until the root is over.
    fn all_values(&mut self) -> Result<()> {
        loop {
            let key = if self.open.last().is_some_and(|frame| frame.is_object) { Some(self.key()?) } else { None };
            match self.value(key)? {
                Step::Opened => {}
                Step::Done if self.ends()? => return Ok(()),
                Step::Done => {}
            }
        }
    }

    /// Reads the brackets that end containers, up to the comma before a further value; says whether the root is over.
    #[inline(always)]
    fn ends(&mut self) -> Result<bool> {
        while let Some(frame) = self.open.last().copied() {
            self.space();
            match (self.peek(), frame.is_object) {
                (Some(b','), _) => {
                    self.at += 1;
                    self.space();
                    return Ok(false);
                }
                (Some(b'}'), true) | (Some(b']'), false) => self.close(frame),
                (_, true) => return Err(self.expected("`,` or `}`")),
                (_, false) => return Err(self.expected("`,` or `]`")),
            }
        }
        Ok(true)
    }

    fn value(&mut self, key: Option<Span>) -> Result<Step> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => return self.container(key, true),
            Some(b'[') => return self.container(key, false),
            Some(b'"') => {
                self.at = self.quotes.end(start)?;
                NodeKind::String
            }
            Some(b't') => self.word(b"true", NodeKind::True)?,
            Some(b'f') => self.word(b"false", NodeKind::False)?,
            Some(b'n') => self.word(b"null", NodeKind::Null)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(self.expected("a value")),
        };
        if self.open.last().is_none_or(|frame| frame.level != Level::Skipped) {
            self.push(Node::new(Span::new(start, self.at), key, kind))?;
        }
        Ok(Step::Done)
    }

    #[inline(always)]
    fn push(&mut self, node: Node) -> Result<usize> {
        if self.nodes.len() >= MAX_NODES {
            return Err(Box::new(Error::Limit {
                what: "number of values",
                offset: node.span.start(),
                limit: MAX_NODES,
            }));
        }
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn container(&mut self, key: Option<Span>, is_object: bool) -> Result<Step> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Box::new(Error::Limit { what: "depth of nesting", offset: self.at, limit: MAX_DEPTH }));
        }
        let start = self.at;
        let level = self.level_below(key, is_object);
        let node = if self.open.last().is_none_or(|frame| frame.level != Level::Skipped) {
            let kind = if is_object { NodeKind::Object } else { NodeKind::Array };
            let mut node = Node::new(Span::new(start, start + 1), key, kind);
            node.is_entered = level != Level::Skipped;
            Some(self.push(node)?)
        } else {
            None
        };
        let frame = Frame { start, is_object, level, node };
        self.open.push(frame);
        self.at += 1;
        self.space();
        match (self.peek(), is_object) {
            (Some(b'}'), true) | (Some(b']'), false) => {
                self.close(frame);
                Ok(Step::Done)
            }
            _ => Ok(Step::Opened),
        }
    }

    /// Says how the container that begins here treats its values.
    fn level_below(&self, key: Option<Span>, is_object: bool) -> Level {
        let Some(parent) = self.open.last() else {
            // A bare list of messages counts as the value of `messages`.
            return if is_object { Level::Request } else { Level::Below };
        };
        let is_entered = match (parent.level, key, self.entering) {
            (Level::Skipped, _, _) => false,
            (_, _, Entering::Everything) | (_, None, _) => true,
            (Level::Request, Some(key), _) => self.is_one_of(key, &REQUEST_KEYS),
            (Level::Below, Some(key), _) => self.is_one_of(key, &MESSAGE_KEYS),
        };
        if is_entered { Level::Below } else { Level::Skipped }
    }

    fn is_one_of(&self, key: Span, names: &[&str]) -> bool {
        names.iter().any(|name| strings::says(key.of(self.body), name))
    }

    /// Ends the innermost container at the bracket that stands here.
    fn close(&mut self, frame: Frame) {
        self.at += 1;
        self.open.pop();
        let Some(place) = frame.node else { return };
        let next = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(place) {
            node.span = Span::new(frame.start, self.at);
            node.set_next(next);
        }
    }

    /// Reads a key and its colon, and stops at the value.
    #[inline(always)]
    fn key(&mut self) -> Result<Span> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key"));
        }
        let start = self.at;
        self.at = self.quotes.end(start)?;
        let key = Span::new(start, self.at);
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        self.space();
        Ok(key)
    }

    fn word(&mut self, word: &'static [u8], kind: NodeKind) -> Result<NodeKind> {
        if !self.body.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.expected("`true`, `false` or `null`"));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn number(&mut self) -> Result<NodeKind> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        // No further digit may follow a leading zero; whoever reads on will trip over it.
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(NodeKind::Number)
    }

    fn digits(&mut self) -> Result<()> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.expected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }
}
