//! Is a shortened JSON text its source, values in order, each gap counted? Both are read, and walked side by side.

use super::tombstones::{Scan, close};
use crate::oracle::decode::{self, character_borders};
use crate::oracle::raw::{Kind, Node, parse};

/// Says whether a text is a JSON object or array.
pub(crate) fn is_value(text: &[u8]) -> bool {
    matches!(parse(text.trim_ascii()), Ok(node) if matches!(node.kind, Kind::Array(_) | Kind::Object(_)))
}

/// Checks that `text` is the JSON of `source`, with gaps whose counts add up to what is missing.
pub(crate) fn gapped(source: &[u8], text: &[u8]) -> Result<(), String> {
    let (source, text) = (source.trim_ascii(), text.trim_ascii());
    let was = parse(source).map_err(|error| format!("the source is no JSON: {error}"))?;
    let is = parse(text).map_err(|error| format!("it is no JSON: {error}"))?;
    Pair { source, text }.same(&was, &is)
}

struct Pair<'t> {
    source: &'t [u8],
    text: &'t [u8],
}

impl Pair<'_> {
    fn same(&self, was: &Node, is: &Node) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what} at byte {}", is.span.start));
        if was.raw(self.source) == is.raw(self.text) {
            return Ok(());
        }
        match (&was.kind, &is.kind) {
            (Kind::String, Kind::String) => match self.both_ends(was, is) {
                Some(()) => Ok(()),
                None => wrong("a string is not its source with a true gap"),
            },
            (Kind::Array(was), Kind::Array(is)) => {
                let mut at = 0;
                for element in is {
                    if let Some(last) = self.counted(element, b"[elements ", at, was.len()) {
                        at = last;
                        continue;
                    }
                    let Some(before) = was.get(at) else { return wrong("an element is new") };
                    self.same(before, element)?;
                    at += 1;
                }
                if at == was.len() { Ok(()) } else { wrong("elements are missing without a gap") }
            }
            (Kind::Object(was), Kind::Object(is)) => {
                let mut at = 0;
                for (key, value) in is {
                    if let Some(last) = self.counted(key, b"[members ", at, was.len())
                        && value.raw(self.text) == b"null"
                    {
                        at = last;
                        continue;
                    }
                    let Some((old_key, before)) = was.get(at) else { return wrong("a member is new") };
                    if old_key.raw(self.source) != key.raw(self.text) {
                        return wrong("a key is another");
                    }
                    self.same(before, value)?;
                    at += 1;
                }
                if at == was.len() { Ok(()) } else { wrong("members are missing without a gap") }
            }
            _ => wrong("a value is another"),
        }
    }

    /// Reads `[elements a-b of N left out…]`, where `a` is what comes next; gives `b`.
    fn counted(&self, node: &Node, start: &[u8], at: usize, total: usize) -> Option<usize> {
        let text = Some(node).filter(|node| node.is_string()).map(|node| decode::text(node.raw(self.text)))?;
        let mut scan = Scan::new(&text, 0);
        scan.word(start)?;
        let (first, last, said, end) = counts(&mut scan)?;
        (first == at + 1 && last >= first && last <= total && said == total && end == text.len()).then_some(last)
    }

    /// Both ends of a string around `[characters a-b of N left out…]`.
    fn both_ends(&self, was: &Node, is: &Node) -> Option<()> {
        let (source, text) = (decode::text(was.raw(self.source)), decode::text(is.raw(self.text)));
        let borders = character_borders(&source);
        const START: &[u8] = b"[characters ";
        let starts = (0..text.len()).filter(|&at| text.get(at..).is_some_and(|rest| rest.starts_with(START)));
        starts.into_iter().find_map(|at| {
            let mut scan = Scan::new(&text, at);
            scan.word(START)?;
            let (first, last, said, end) = counts(&mut scan)?;
            let head = source.get(..*borders.get(first.checked_sub(1)?)?)?;
            let tail = source.get(*borders.get(last)?..)?;
            let is_true = first <= last && said + 1 == borders.len();
            (is_true && text.get(..at) == Some(head) && text.get(end..) == Some(tail)).then_some(())
        })
    }
}

fn counts(scan: &mut Scan<'_>) -> Option<(usize, usize, usize, usize)> {
    let first = scan.number()?;
    scan.word(b"-")?;
    let last = scan.number()?;
    scan.word(b" of ")?;
    let total = scan.number()?;
    scan.word(b" left out")?;
    Some((first, last, total, close(scan, &[])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &[u8] = br#"{"a": [1, 2, 3, 4], "b": "caf\u00e9 and more words", "c": {"d": null}}"#;

    #[test]
    fn counted_gaps_are_lawful() {
        for text in [
            r#"{"a": [1, "[elements 2-3 of 4 left out]", 4], "b": "caf\u00e9 and more words", "c": {"d": null}}"#,
            r#"{"a": ["[elements 1-4 of 4 left out; run the call again to see it]"], "b": "caf\u00e9 and more words", "c": {"d": null}}"#,
            r#"{"a": [1, 2, 3, 4], "[members 2-3 of 3 left out]": null}"#,
            r#"{"a": [1, 2, 3, 4], "b": "café[characters 5-14 of 19 left out]words", "c": {"d": null}}"#,
        ] {
            assert_eq!(gapped(SOURCE, text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn untrue_gaps_and_new_values_are_caught() {
        for text in [
            r#"{"a": [1, "[elements 2-3 of 5 left out]", 4], "b": "caf\u00e9 and more words", "c": {"d": null}}"#,
            r#"{"a": [1, "[elements 2-2 of 4 left out]", 4], "b": "caf\u00e9 and more words", "c": {"d": null}}"#,
            r#"{"a": [1, 4], "b": "caf\u00e9 and more words", "c": {"d": null}}"#,
            r#"{"a": [1, 2, 3, 4], "b": "caf[characters 5-14 of 19 left out]words", "c": {"d": null}}"#,
            r#"{"a": [1, 2, 3, 4], "[members 2-3 of 3 left out]": 1}"#,
            r#"{"a": [1, 2, 3, 5], "b": "caf\u00e9 and more words", "c": {"d": null}}"#,
            r#"{"a": [1, 2, 3, 4]"#,
        ] {
            assert!(gapped(SOURCE, text.as_bytes()).is_err(), "{text}");
        }
    }
}
