//! Is a shortened text its source, whole lines in order, each gap counted? Matches text against source line by line.

use std::collections::BTreeSet;

use super::json_gaps;
use super::tombstones::{Scan, close};
use crate::oracle::decode::{character_borders, lines};

/// Only lines of more characters than this may be cut inside.
const GIANT_LINE_CHARS: usize = 1_000;

/// Checks that `text` holds the lines of `source` in order, with gaps whose counts add up to the rest.
pub(crate) fn gapped(source: &[u8], text: &[u8]) -> Result<(), String> {
    let mut matcher = Matcher { text, lines: lines(source), seen: BTreeSet::new(), furthest: 0 };
    let mut open = vec![(0, 0)];
    while let Some((at, line)) = open.pop() {
        if at == text.len() && line == matcher.lines.len() {
            return Ok(());
        }
        // Look-alikes in the source make a line readable in two ways; each state is tried once.
        if matcher.seen.insert((at, line)) {
            matcher.furthest = matcher.furthest.max(at);
            open.extend(matcher.steps(at, line));
        }
    }
    let read = matcher.furthest;
    Err(format!("from byte {read} of {} on it is neither source nor a true gap", text.len()))
}

struct Matcher<'t> {
    text: &'t [u8],
    lines: Vec<&'t [u8]>,
    seen: BTreeSet<(usize, usize)>,
    furthest: usize,
}

impl Matcher<'_> {
    /// Gives all places one step further: past a whole line, a gap, or a line cut inside.
    fn steps(&self, at: usize, line: usize) -> Vec<(usize, usize)> {
        let mut steps = self.gap(at, line);
        steps.extend(self.giant(at, line));
        steps.extend(self.value(at, line));
        // Last, so that it is tried first: text that is source is source.
        if let Some(whole) = self.lines.get(line)
            && self.rest(at).starts_with(whole)
        {
            steps.push((at + whole.len(), line + 1));
        }
        steps
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// `[lines a-b of N left out…]`, on a line of its own; as a JSON string among lines that are values.
    fn gap(&self, at: usize, line: usize) -> Vec<(usize, usize)> {
        let is_quoted = self.rest(at).starts_with(b"\"[");
        let mut scan = Scan::new(self.text, at + usize::from(is_quoted));
        let Some((first, last)) = gap_head(&mut scan, self.lines.len()) else { return Vec::new() };
        if first != line + 1 || last < first || last > self.lines.len() {
            return Vec::new();
        }
        let gone = self.lines.get(line..last).unwrap_or_default();
        let ends = close(&mut scan, gone);
        let ends = ends.into_iter().filter(|&end| !is_quoted || self.rest(end).first() == Some(&b'"'));
        ends.map(|end| end + usize::from(is_quoted)).flat_map(|end| self.after_mark(end)).map(|at| (at, last)).collect()
    }

    /// A line that is a JSON value, with gaps of its own in it.
    fn value(&self, at: usize, line: usize) -> Option<(usize, usize)> {
        let whole = self.lines.get(line).filter(|whole| json_gaps::is_value(whole))?;
        let end = self.rest(at).iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |end| at + end + 1);
        json_gaps::gapped(whole, self.text.get(at..end)?).ok().map(|()| (end, line + 1))
    }

    /// A gap ends its line: with a line end of either kind, or with the text.
    fn after_mark(&self, at: usize) -> Vec<usize> {
        let rest = self.rest(at);
        match rest {
            [] => vec![at],
            [b'\n', ..] => vec![at + 1],
            [b'\r', b'\n', ..] => vec![at + 2],
            _ => Vec::new(),
        }
    }

    /// Both ends of a line over the limit, with `[characters x-y of line L left out…]` between them.
    fn giant(&self, at: usize, line: usize) -> Vec<(usize, usize)> {
        let Some(whole) = self.lines.get(line) else { return Vec::new() };
        let borders = character_borders(whole);
        if borders.len() <= GIANT_LINE_CHARS {
            return Vec::new();
        }
        let common = whole.iter().zip(self.rest(at)).take_while(|(old, new)| old == new).count();
        let starts = (at..=at + common).chain([at + common + 1]);
        starts.filter_map(|start| self.cut_line(at, start, line, whole, &borders)).collect()
    }

    fn cut_line(
        &self,
        at: usize,
        start: usize,
        line: usize,
        whole: &[u8],
        borders: &[usize],
    ) -> Option<(usize, usize)> {
        let mut scan = Scan::new(self.text, start);
        scan.word(b"[characters ")?;
        let first = scan.number()?;
        scan.word(b"-")?;
        let last = scan.number()?;
        scan.word(b" of line ")?;
        let named = scan.number()?;
        scan.word(b" left out")?;
        let end = close(&mut scan, &[]).into_iter().next()?;
        let (head, tail) = (*borders.get(first.checked_sub(1)?)?, *borders.get(last)?);
        let kept = self.text.get(at..start)?;
        // The cut may stand inside the line or on a line of its own.
        let is_head = whole.get(..head) == Some(kept) || whole.get(..head) == kept.strip_suffix(b"\n");
        let kept_tail = whole.get(tail..)?;
        let after = [end, end + 1].into_iter().find(|&after| {
            let is_own_line = after == end || self.text.get(end) == Some(&b'\n');
            is_own_line && self.rest(after).starts_with(kept_tail)
        })?;
        let is_true = named == line + 1 && first <= last && is_head;
        is_true.then_some((after + kept_tail.len(), line + 1))
    }
}

/// Reads `[lines a-b of N left out` or `[lines a of N left out`; `total` is the true N.
fn gap_head(scan: &mut Scan<'_>, total: usize) -> Option<(usize, usize)> {
    scan.word(b"[lines ")?;
    let first = scan.number()?;
    let last = if scan.word(b"-").is_some() { scan.number()? } else { first };
    scan.word(b" of ")?;
    let said = scan.number()?;
    scan.word(b" left out")?;
    (said == total).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &[u8] = b"one\ntwo\nthree\nfour\nerror: five\n";

    #[test]
    fn counted_gaps_are_lawful() {
        for text in [
            "one\n[lines 2-3 of 5 left out]\nfour\nerror: five\n",
            "[lines 1-4 of 5 left out; run the call again to see it]\nerror: five\n",
            "one\n[lines 2-5 of 5 left out]",
            "one\n[lines 2-5 of 5 left out; error lines:\nerror: five\nno more error lines]",
            "one\n[lines 2 of 5 left out]\nthree\nfour\nerror: five\n",
        ] {
            assert_eq!(gapped(SOURCE, text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn untrue_gaps_and_new_text_are_caught() {
        for text in [
            "one\n[lines 2-3 of 6 left out]\nfour\nerror: five\n",
            "one\n[lines 2-2 of 5 left out]\nfour\nerror: five\n",
            "one\n[lines 3-4 of 5 left out]\nerror: five\n",
            "one\n[lines 2-5 of 5 left out; error lines:\nerror: six\nno more error lines]",
            "on\n[lines 2-5 of 5 left out]",
            "one\ntwo\nthree\nfour\n",
            "two\none\nthree\nfour\nerror: five\n",
            "one\n[lines 2-4 of 5 left out] sure\nerror: five\n",
        ] {
            assert!(gapped(SOURCE, text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_giant_line_keeps_both_ends_with_true_counts() {
        let line = "é".repeat(1_500);
        let cut = |first: usize, last: usize, tail: usize| {
            format!("{}[characters {first}-{last} of line 1 left out]{}\nend", "é".repeat(first - 1), "é".repeat(tail))
        };
        let source = format!("{line}\nend");
        assert_eq!(gapped(source.as_bytes(), cut(101, 1_400, 100).as_bytes()), Ok(()));
        assert!(gapped(source.as_bytes(), cut(101, 1_400, 99).as_bytes()).is_err());
        let short = format!("{}\nend", "é".repeat(900));
        let text = cut(101, 800, 100);
        assert!(gapped(short.as_bytes(), text.as_bytes()).is_err(), "short lines are never cut inside");
    }
}
