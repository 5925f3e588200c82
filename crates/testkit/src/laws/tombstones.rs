//! Are the one-line templates true? Tombstones, media notices and the rule presets' lines, by strict grammar.

use super::routes::is_route;
use crate::oracle::decode::{self, lines};
use crate::oracle::view::{Item, View};

/// Bytes that a pointer may have.
const MAX_POINTER_BYTES: usize = 300;
/// Names for a result whose call or tool is unknown.
const NAMELESS: &[&str] = &["tool", "result", "unknown", "call"];

/// A place in a text, moved on by what is expected there.
pub(crate) struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t [u8], at: usize) -> Self {
        Self { text, at }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest().starts_with(word).then(|| self.at += word.len())
    }

    pub(crate) fn number(&mut self) -> Option<usize> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(self.rest().get(..digits)?).ok()?.parse().ok()?;
        self.at += digits;
        Some(number)
    }

    /// Takes everything up to the first of the bytes given, or the end.
    pub(crate) fn until(&mut self, stops: &[u8]) -> &'t [u8] {
        let taken = self.rest().iter().take_while(|byte| !stops.contains(byte)).count();
        let text = self.rest().get(..taken).unwrap_or_default();
        self.at += taken;
        text
    }
}

/// Reads `[; ROUTE]` and either `]` or error lines from the lines left out; gives where the template ends.
pub(crate) fn close(scan: &mut Scan<'_>, gone: &[&[u8]]) -> Option<usize> {
    if scan.rest().starts_with(b"; ") && !scan.rest().starts_with(b"; error lines:") {
        scan.word(b"; ")?;
        let route = scan.until(b";]\n");
        is_route(route).then_some(())?;
    }
    if scan.word(b"]").is_some() {
        return Some(scan.at);
    }
    scan.word(b"; error lines:")?;
    let mut gone = gone.iter();
    loop {
        scan.word(b"\n")?;
        let line = scan.rest().split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let Some(end) = no_more(scan) {
            return Some(end);
        }
        gone.find(|source| is_kept_of(line, source))?;
        scan.at += line.len();
    }
}

fn no_more(scan: &Scan<'_>) -> Option<usize> {
    let mut ahead = Scan::new(scan.text, scan.at);
    if ahead.word(b"no").is_none() {
        ahead.number().filter(|count| *count > 0)?;
    }
    ahead.word(b" more error lines]").map(|()| ahead.at)
}

/// A kept error line is its source, trimmed, or both ends of it around `[characters a-b of line L left out]`.
fn is_kept_of(line: &[u8], source: &[u8]) -> bool {
    let trimmed = source.trim_ascii();
    if line.trim_ascii() == trimmed {
        return true;
    }
    let Some(cut) = find(line, b"[characters ") else { return false };
    let mut scan = Scan::new(line, cut);
    let counts = inner_counts(&mut scan);
    let Some((first, last)) = counts else { return false };
    let (Ok(source), Ok(head), Ok(tail)) = (
        std::str::from_utf8(source),
        std::str::from_utf8(line.get(..cut).unwrap_or_default()),
        std::str::from_utf8(scan.rest()),
    ) else {
        return false;
    };
    let source = source.trim_end_matches(['\n', '\r']);
    source.chars().take(first - 1).eq(head.chars()) && source.chars().skip(last).eq(tail.chars())
}

fn inner_counts(scan: &mut Scan<'_>) -> Option<(usize, usize)> {
    scan.word(b"[characters ")?;
    let first = scan.number().filter(|first| *first > 0)?;
    scan.word(b"-")?;
    let last = scan.number()?;
    scan.word(b" of line ")?;
    scan.number()?;
    scan.word(b" left out]")?;
    Some((first, last))
}

pub(crate) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

/// Checks `[pruned from context: TOOL LABEL, N lines, T tokens(, exit code E); ROUTE…]`.
pub(crate) fn tombstone(view: &View<'_>, item: &Item, source: &[u8], text: &[u8]) -> Result<(), String> {
    let head = text.strip_prefix(b"[pruned from context: ").ok_or("it does not open as one")?;
    let whole = view.whole_text(item);
    let counts = [lines(source).len(), item.texts.iter().map(|span| lines(&view.text(span)).len()).sum()];
    // The label is free text and may look like the counts, so each place is tried.
    let is_tombstone = (0..head.len()).filter(|&at| head.get(at..at + 2) == Some(b", ")).any(|at| {
        let mut scan = Scan::new(head, at);
        let end = facts(&mut scan, &counts, &whole).and_then(|()| close(&mut scan, &lines(&whole)));
        end == Some(head.len()) && is_label(view, item, head.get(..at).unwrap_or_default())
    });
    if is_tombstone { Ok(()) } else { Err("its call, counts, route or error lines are not true".to_owned()) }
}

fn facts(scan: &mut Scan<'_>, counts: &[usize], source: &[u8]) -> Option<()> {
    scan.word(b", ")?;
    let count = scan.number()?;
    counts.contains(&count).then_some(())?;
    scan.word(if count == 1 { b" line" } else { b" lines" })?;
    scan.word(b", ")?;
    figure(scan)?;
    if scan.word(b", exit code ").is_some() {
        let code = scan.until(b";]\n");
        find(source, code).filter(|_| !code.is_empty())?;
    }
    Some(())
}

/// `842 tokens`, `4.2k tokens`, `1.3M tokens`.
pub(crate) fn figure(scan: &mut Scan<'_>) -> Option<()> {
    let count = scan.number()?;
    if scan.word(b".").is_some() {
        scan.number()?;
        scan.word(b"k").or_else(|| scan.word(b"M"))?;
    } else if count == 1 {
        return scan.word(b" token");
    }
    scan.word(b" tokens")
}

/// The label is the tool's name and words of the arguments.
pub(crate) fn is_label(view: &View<'_>, item: &Item, label: &[u8]) -> bool {
    let label = String::from_utf8_lossy(label).into_owned();
    let known = match view.call_of(item) {
        Some(call) => {
            let name = String::from_utf8_lossy(call.name.as_deref().unwrap_or_default()).into_owned();
            name + " " + &call.arguments.as_ref().map(|node| strings(view.body, node)).unwrap_or_default()
        }
        None => NAMELESS.join(" "),
    };
    let mut words = label.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    !label.contains('\n') && words.all(|word| known.contains(word) || NAMELESS.contains(&word))
}

/// All decoded strings and numbers of a value, also of JSON inside a string.
pub(super) fn strings(body: &[u8], node: &crate::oracle::raw::Node) -> String {
    let text = if node.is_string() { decode::text(node.raw(body)) } else { node.raw(body).to_vec() };
    let inner = crate::oracle::raw::parse(&text).ok().filter(|inner| node.is_string() && inner.is_object());
    let deeper = inner.map(|inner| strings(&text, &inner)).unwrap_or_default();
    let children = node.children().into_iter().map(|child| strings(body, child)).collect::<Vec<_>>().join(" ");
    format!("{} {deeper} {children}", String::from_utf8_lossy(&text))
}

/// Checks `[pruned from context: WHAT WxH, T tokens; ROUTE]`.
pub(crate) fn media_notice(text: &[u8]) -> Result<(), String> {
    let mut scan = Scan::new(text, 0);
    let mut read = || {
        scan.word(b"[pruned from context: ")?;
        scan.until(b",;\n");
        scan.word(b", ")?;
        figure(&mut scan)?;
        close(&mut scan, &[])
    };
    if read() == Some(text.len()) { Ok(()) } else { Err("the notice for media has another form".to_owned()) }
}

/// The result templates of the `rules` preset: a quoted constant around one argument.
pub(crate) fn rule_template(view: &View<'_>, item: &Item, text: &[u8]) -> bool {
    let argument = |middle: &[u8]| {
        let known = view
            .call_of(item)
            .and_then(|call| call.arguments.as_ref())
            .map(|node| strings(view.body, node))
            .unwrap_or_default();
        middle == b"unknown" || find(known.as_bytes(), middle).is_some()
    };
    let templates: [(&[u8], &[u8]); 2] = [
        (b"File content from ", b". Re-read if needed."),
        (b"Search results processed. Query: ", b". Re-search if needed."),
    ];
    templates
        .iter()
        .any(|(start, end)| text.strip_prefix(*start).and_then(|rest| rest.strip_suffix(*end)).is_some_and(argument))
}

/// A pointer to an earlier equal result: one bracketed line.
pub(crate) fn is_pointer(text: &[u8]) -> bool {
    text.starts_with(b"[") && text.ends_with(b"]") && text.len() <= MAX_POINTER_BYTES && !text.contains(&b'\n')
}
