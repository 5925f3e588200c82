//! Where does each JSON value stand in the bytes? A strict recursive reader that keeps every span.

use std::ops::Range;

/// Nesting that is still read; the engine may read deeper, the generator never writes deeper.
const MAX_DEPTH: usize = 200;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Number, `true`, `false` or `null`.
    Scalar,
    String,
    Array(Vec<Node>),
    /// Keys are string nodes.
    Object(Vec<(Node, Node)>),
}

impl Node {
    pub(crate) fn raw<'b>(&self, body: &'b [u8]) -> &'b [u8] {
        body.get(self.span.clone()).unwrap_or_default()
    }

    /// Gives the member of that name; the last one wins, as in most readers.
    pub(crate) fn member(&self, body: &[u8], name: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Object(members) => members
                .iter()
                .rev()
                .find(|(key, _)| super::decode::text(key.raw(body)) == name.as_bytes())
                .map(|(_, value)| value),
            Kind::Scalar | Kind::String | Kind::Array(_) => None,
        }
    }

    /// Gives the decoded text of a string member.
    pub(crate) fn member_text(&self, body: &[u8], name: &str) -> Option<Vec<u8>> {
        self.member(body, name).filter(|node| node.is_string()).map(|node| super::decode::text(node.raw(body)))
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self.kind, Kind::String)
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    pub(crate) fn elements(&self) -> &[Node] {
        match &self.kind {
            Kind::Array(elements) => elements,
            Kind::Scalar | Kind::String | Kind::Object(_) => &[],
        }
    }

    /// Gives the children with their keys, in order, as one list of nodes.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::Scalar | Kind::String => Vec::new(),
            Kind::Array(elements) => elements.iter().collect(),
            Kind::Object(members) => members.iter().flat_map(|(key, value)| [key, value]).collect(),
        }
    }
}

/// Reads a whole body.
pub(crate) fn parse(body: &[u8]) -> Result<Node, String> {
    let mut reader = Reader { body, at: 0 };
    reader.blanks();
    let node = reader.value(0)?;
    reader.blanks();
    if reader.at == body.len() { Ok(node) } else { Err(reader.wrong("the end")) }
}

struct Reader<'b> {
    body: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, expected: &str) -> String {
        format!("byte {}: expected {expected}", self.at)
    }

    fn peek(&self) -> u8 {
        self.body.get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == byte;
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("less nesting"));
        }
        let start = self.at;
        let kind = match self.peek() {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => {
                self.string()?;
                Kind::String
            }
            _ => self.scalar()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn array(&mut self, depth: usize) -> Result<Kind, String> {
        self.at += 1;
        self.blanks();
        let mut elements = Vec::new();
        if self.take(b']') {
            return Ok(Kind::Array(elements));
        }
        loop {
            self.blanks();
            elements.push(self.value(depth + 1)?);
            self.blanks();
            if self.take(b']') {
                return Ok(Kind::Array(elements));
            }
            if !self.take(b',') {
                return Err(self.wrong("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Kind, String> {
        self.at += 1;
        self.blanks();
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Kind::Object(members));
        }
        loop {
            self.blanks();
            let start = self.at;
            self.string()?;
            let key = Node { span: start..self.at, kind: Kind::String };
            self.blanks();
            if !self.take(b':') {
                return Err(self.wrong("`:`"));
            }
            self.blanks();
            members.push((key, self.value(depth + 1)?));
            self.blanks();
            if self.take(b'}') {
                return Ok(Kind::Object(members));
            }
            if !self.take(b',') {
                return Err(self.wrong("`,` or `}`"));
            }
        }
    }

    fn string(&mut self) -> Result<(), String> {
        if !self.take(b'"') {
            return Err(self.wrong("a string"));
        }
        let start = self.at;
        loop {
            match self.peek() {
                b'"' => break,
                0..0x20 => return Err(self.wrong("no control character")),
                b'\\' => self.escape()?,
                _ => self.at += 1,
            }
        }
        let is_text = std::str::from_utf8(self.body.get(start..self.at).unwrap_or_default()).is_ok();
        self.at += 1;
        if is_text { Ok(()) } else { Err(self.wrong("UTF-8 before this byte")) }
    }

    fn escape(&mut self) -> Result<(), String> {
        let rest = self.body.get(self.at + 1..).unwrap_or_default();
        let len = match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => 6,
            _ => return Err(self.wrong("a known escape")),
        };
        self.at += len;
        Ok(())
    }

    fn scalar(&mut self) -> Result<Kind, String> {
        let start = self.at;
        while matches!(self.peek(), b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.') {
            self.at += 1;
        }
        let word = self.body.get(start..self.at).unwrap_or_default();
        let is_scalar = matches!(word, b"true" | b"false" | b"null") || is_number(word);
        if is_scalar { Ok(Kind::Scalar) } else { Err(self.wrong("a value before this byte")) }
    }
}

fn is_number(word: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return false;
    }
    rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = fraction.get(count..).unwrap_or_default();
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let power = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        return !power.is_empty() && digits(power) == power.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_serde_json_reads() {
        let cases: [&[u8]; 18] = [
            b"1",
            b"01",
            b"-0.0",
            b"1.",
            b"1e",
            b"1E+2",
            b"[1,]",
            b"{\"a\":1}",
            b"{\"a\" 1}",
            b"\"\\u12g4\"",
            b"\"\\x\"",
            b" [ ] ",
            b"\"\t\"",
            b"nul",
            b"\"\xff\"",
            b"[[[]]]",
            b"{\"a\":1,\"a\":2}",
            b"[1 2]",
        ];
        for case in cases {
            assert_eq!(parse(case).is_ok(), serde_json::from_slice::<serde_json::Value>(case).is_ok(), "{case:?}");
        }
        assert!(parse(br#""\ud83d""#).is_ok(), "lone surrogates are read here");
    }
}
