//! What is in a text, coarse first? Chooses by content how to say it; each line names the place it stands for.

mod code;
mod data;
mod runs;

use liveset_engine::content::line::without_number;

/// Lines of an outline: a screen or two. What is left out is counted.
const MAX_LINES: usize = 120;

/// Characters of a line that an outline shows.
const MAX_CHARS: usize = 140;

/// Bytes of a text that are looked at: an outline of more would be too coarse to help.
const MAX_BYTES: usize = 8 << 20;

/// An outline.
pub(super) struct Outline {
    /// What the text was taken for, in a word.
    pub(super) kind: &'static str,
    /// A line for each part.
    pub(super) text: String,
}

/// A part of a text.
struct Entry {
    /// Its line, from 1; 0 where it stands for no single line.
    line: usize,
    /// How deep it lies; deeper ones go first where there are too many.
    depth: usize,
    text: String,
}

impl Entry {
    fn at(line: usize, depth: usize, text: impl Into<String>) -> Self {
        Self { line, depth, text: text.into() }
    }
}

/// Takes a text and its lines for one sort of content; `None` where it is none.
type Look = fn(&str, &[&str]) -> Option<Vec<Entry>>;

/// Outlines a text.
pub(super) fn of(text: &str) -> Outline {
    let end = (0..=text.len().min(MAX_BYTES)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let looked_at = text.get(..end).unwrap_or_default();
    let lines: Vec<&str> = looked_at.lines().map(without_number).collect();
    let tries: [(&str, Look); 7] = [
        ("JSON", data::json),
        ("JSON lines", data::json_lines),
        ("test results", runs::tests),
        ("a log", runs::log),
        ("a table", data::table),
        ("headings", code::headings),
        ("code", code::signatures),
    ];
    let (kind, entries) = tries
        .into_iter()
        .find_map(|(kind, look)| Some((kind, look(looked_at, &lines)?)))
        .unwrap_or_else(|| ("text", code::blocks(&lines)));
    Outline { kind, text: written(entries) }
}

fn written(mut entries: Vec<Entry>) -> String {
    let all = entries.len();
    // The deepest parts go first; at one depth the last ones.
    while entries.len() > MAX_LINES {
        let deepest = entries.iter().map(|entry| entry.depth).max().unwrap_or(0);
        if deepest == 0 || entries.iter().filter(|entry| entry.depth < deepest).count() == 0 {
            entries.truncate(MAX_LINES);
        } else {
            entries.retain(|entry| entry.depth < deepest);
        }
    }
    let left_out = all - entries.len();
    let mut out = String::new();
    for entry in entries {
        if entry.line > 0 {
            out.push_str(&format!("{}: ", entry.line));
        }
        out.push_str(&shortened(&entry.text));
        out.push('\n');
    }
    if left_out > 0 {
        out.push_str(&format!("[{left_out} finer parts left out]\n"));
    }
    out
}

fn shortened(text: &str) -> String {
    let text = text.trim_end();
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_short_and_says_what_it_leaves_out() {
        let text: String = (0..900).map(|at| format!("# Part {at}\n\n## Deeper {at}\nwords\n")).collect();
        let outline = of(&text);
        assert_eq!((outline.kind, outline.text.lines().count()), ("headings", MAX_LINES + 1));
        assert!(outline.text.starts_with("1: # Part 0\n5: # Part 1\n") && !outline.text.contains("Deeper"));
        assert!(outline.text.ends_with("[1680 finer parts left out]\n"), "{}", outline.text);
    }

    #[test]
    fn any_text_has_an_outline_and_none_breaks_a_border() {
        for text in
            ["", "\n", "\u{1f980}", "{", "[1,", "a,b\n\"", "# ", "ok 1", &"é".repeat(MAX_BYTES), "\u{0}\r\u{85}"]
        {
            let outline = of(text);
            assert!(outline.text.lines().count() <= MAX_LINES + 1);
        }
    }
}
