//! Headings, signatures, or at least how a text falls into blocks.

use liveset_engine::content::{
    code::{depth, is_signature},
    markdown,
};

use super::{Entry, shortened};

/// Share of lines, one in so many, that must be headings or signatures for a text to be outlined by them.
const ONE_IN: usize = 60;

/// Entries of a text that has neither.
const MAX_BLOCKS: usize = 40;

pub(super) fn headings(_: &str, lines: &[&str]) -> Option<Vec<Entry>> {
    let mut is_fenced = false;
    let mut entries = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        is_fenced ^= markdown::is_fence(line);
        if let Some(depth) = markdown::heading_depth(line).filter(|_| !is_fenced) {
            entries.push(Entry::at(at + 1, depth - 1, *line));
        }
    }
    // A comment in a script looks the same: of headings there are two levels, or words on most of them.
    let is_prose = entries.len() > 1 && lines.iter().filter(|line| is_signature(line)).count() < entries.len();
    is_prose.then_some(entries)
}

pub(super) fn signatures(_: &str, lines: &[&str]) -> Option<Vec<Entry>> {
    let found = lines.iter().enumerate().filter(|(_, line)| is_signature(line));
    let entries: Vec<Entry> = found.map(|(at, line)| Entry::at(at + 1, depth(line), trimmed(line))).collect();
    (entries.len() > 1 && entries.len() * ONE_IN >= lines.len()).then_some(entries)
}

/// A signature without what opens its body.
fn trimmed(line: &str) -> String {
    line.trim_end().trim_end_matches(['{', ':']).trim_end().to_owned()
}

/// The first line of each block that blank lines part, evenly chosen where there are many.
pub(super) fn blocks(lines: &[&str]) -> Vec<Entry> {
    let is_blank = |at: usize| lines.get(at).is_none_or(|line| line.trim().is_empty());
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| !is_blank(at) && (at == 0 || is_blank(at - 1))).collect();
    let step = starts.len().div_ceil(MAX_BLOCKS).max(1);
    let mut entries: Vec<Entry> = starts
        .iter()
        .step_by(step)
        .map(|&at| {
            let end = (at..lines.len()).find(|&end| is_blank(end)).unwrap_or(lines.len());
            let first = lines.get(at).map(|line| shortened(line)).unwrap_or_default();
            let more = if end - at > 1 { format!(" [{} lines]", end - at) } else { String::new() };
            Entry::at(at + 1, 0, first + &more)
        })
        .collect();
    let last = (0..lines.len()).rev().find(|&at| !is_blank(at));
    if let Some(last) = last.filter(|last| entries.iter().all(|entry| entry.line != last + 1)) {
        entries.push(Entry::at(last + 1, 0, lines.get(last).copied().unwrap_or_default()));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::super::of;

    #[test]
    fn code_is_outlined_by_its_signatures() {
        let code = "//! doc\nuse a;\n\npub struct Parser<'a> {\n    input: &'a str,\n}\n\nimpl Parser<'_> {\n    pub(crate) fn next(&mut self) -> Token {\n        let x = 1;\n    }\n}\n";
        let outline = of(code);
        assert_eq!(outline.kind, "code");
        assert_eq!(
            outline.text,
            "4: pub struct Parser<'a>\n8: impl Parser<'_>\n9:     pub(crate) fn next(&mut self) -> Token\n"
        );
        let python = "import os\n\nclass A:\n    def f(self, x):\n        return 1\n\nasync def main():\n    pass\n";
        assert_eq!(of(python).text, "3: class A\n4:     def f(self, x)\n7: async def main()\n");
    }

    #[test]
    fn prose_is_outlined_by_its_headings_and_fences_hide_comments() {
        let text = "# Title\nwords\n```sh\n# a comment\n```\n## Part\nmore\n";
        assert_eq!(of(text).text, "1: # Title\n6: ## Part\n");
    }

    #[test]
    fn what_is_neither_falls_into_blocks() {
        let text = "first words\nmore\n\nsecond part\n\nlast\nline\n";
        assert_eq!(of(text).text, "1: first words [2 lines]\n4: second part\n6: last [2 lines]\n7: line\n");
    }
}
