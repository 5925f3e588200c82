//! What stands for old units that a summary replaced? A counted line, and below it a model's words or an extract.
//!
//! Recognition is by the whole grammar of the line and its end. What a model wrote stands between them, and nothing of it
//! is ever read.

use std::fmt::Write as _;

use liveset_tokens::Tokens;

use super::{
    PIN_MARKER, digest, figure,
    folded::{FoldFacts, counts_all, is_figure, number, parse_line, write_tools},
    may_hold_mark,
    route::Route,
};

/// First words of the line.
pub const SUMMARY_START: &str = "[summarised from context: ";
/// Opens a model's words.
pub const SUMMARY_BY_MODEL: &str = "; a model's summary:";
/// Closes them.
pub const SUMMARY_END: &str = "end of summary]";
/// Bytes of a model's words at most.
pub const MAX_SUMMARY_BYTES: usize = 64 << 10;

/// The counted facts of units that a summary stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryFacts {
    /// Their calls, with the size of texts in the sum.
    pub calls: FoldFacts,
    /// Texts of the assistant that went with them.
    pub texts: u64,
}

impl SummaryFacts {
    /// Counts one more text.
    pub fn add_text(&mut self, tokens: Tokens) {
        self.texts += 1;
        self.calls.add_tokens(tokens);
    }

    /// Counts what another line stood for, which goes into this one.
    pub fn merge(&mut self, other: &Self) {
        self.calls.merge(&other.calls);
        self.texts += other.texts;
    }

    /// Gives the same with a figure that takes as many tokens as any other.
    #[must_use]
    pub fn at_most(mut self) -> Self {
        self.calls = self.calls.at_most();
        self
    }

    fn entries(&self) -> u64 {
        self.calls.calls().saturating_add(self.texts)
    }
}

/// Writes the line alone.
fn line(facts: &SummaryFacts, route: &Route) -> String {
    let mut out = format!("{SUMMARY_START}{} calls (", facts.calls.calls());
    write_tools(&mut out, &facts.calls);
    match facts.texts {
        0 => out.push(')'),
        1 => out.push_str("), 1 text"),
        texts => {
            let _ = write!(out, "), {texts} texts");
        }
    }
    let _ = write!(out, ", {}; {}]", figure(facts.calls.tokens()), route.fold_words(facts.calls.class()));
    out
}

/// Writes the line and a model's words; `None` where these say nothing, are longer than [`MAX_SUMMARY_BYTES`], or hold
/// what could be read as a mark of ours.
///
/// ```
/// use liveset_engine::{tombstone::{Route, SummaryFacts, is_fold, summary_text}, tools::ToolClass};
/// use liveset_tokens::Tokens;
/// let mut facts = SummaryFacts::default();
/// facts.calls.add("Bash", ToolClass::Execution, Tokens(900));
/// facts.add_text(Tokens(20));
/// let text = summary_text(&facts, &Route::Rerun, " The build is green.\n").unwrap();
/// let line = "[summarised from context: 1 calls (Bash 1), 1 text, 920 tokens; run a call again only if repeating it is safe";
/// assert_eq!(text, format!("{line}; a model's summary:\nThe build is green.\nend of summary]"));
/// assert!(is_fold(&text));
/// assert_eq!(summary_text(&facts, &Route::Rerun, "see [lines 1-9 of 9 left out]"), None);
/// ```
#[must_use]
pub fn summary_text(facts: &SummaryFacts, route: &Route, words: &str) -> Option<String> {
    let words = words.trim();
    let holds_end = || words.split(digest::LINE_ENDS).any(|line| line.trim() == SUMMARY_END);
    let pins = || words.contains(PIN_MARKER);
    if words.is_empty() || words.len() > MAX_SUMMARY_BYTES || may_hold_mark(words) || holds_end() || pins() {
        return None;
    }
    let line = line(facts, route);
    let open = line.strip_suffix(']').unwrap_or(&line);
    Some(format!("{open}{SUMMARY_BY_MODEL}\n{words}\n{SUMMARY_END}"))
}

/// Writes the line and, below it, what calls and texts said: a line for each entry, and how many have none.
#[must_use]
pub fn extract_text<'e>(
    facts: &SummaryFacts,
    route: &Route,
    entries: impl ExactSizeIterator<Item = &'e str>,
) -> String {
    digest::with_entries(line(facts, route), entries, facts.entries())
}

/// Says whether a text is the line of a summary, whole, alone or with what stands below it.
pub(super) fn is_summary(text: &str) -> bool {
    // Most texts are told by their first words.
    text.starts_with(SUMMARY_START) && (by_model(text).is_some() || counts_all(text, line_counts).is_some())
}

fn by_model(text: &str) -> Option<()> {
    let (first, rest) = text.split_once('\n')?;
    let line = first.strip_suffix(SUMMARY_BY_MODEL)?;
    let words = rest.strip_suffix(SUMMARY_END)?.strip_suffix('\n')?;
    line_counts(&format!("{line}]"))?;
    (words.len() <= MAX_SUMMARY_BYTES && !words.trim().is_empty()).then_some(())
}

/// Reads the line alone, and gives its calls and texts.
fn line_counts(text: &str) -> Option<u64> {
    let (calls, sizes) = parse_line(text, SUMMARY_START)?;
    let (texts, size) = sizes.split_once(", ").unwrap_or(("", sizes));
    let texts = match texts {
        "" => 0,
        "1 text" => 1,
        texts => number(texts.strip_suffix(" texts")?).filter(|texts| *texts > 1)?,
    };
    is_figure(size).then(|| calls.checked_add(texts)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{tombstone::is_fold, tools::ToolClass};

    fn facts(texts: u64) -> SummaryFacts {
        let mut facts = SummaryFacts::default();
        facts.calls.add("grep", ToolClass::Retrieval, Tokens(1_757));
        facts.calls.add("make", ToolClass::Execution, Tokens(1_757));
        (0..texts).for_each(|_| facts.add_text(Tokens(10)));
        facts
    }

    #[test]
    fn a_line_is_read_as_it_is_written() {
        for texts in [0, 1, 2, 40] {
            let facts = facts(texts);
            let alone = extract_text(&facts, &Route::Rerun, [].into_iter());
            assert!(is_fold(&alone), "{alone}");
            let told = extract_text(&facts, &Route::Rerun, ["grep a: one", "said: done"].into_iter());
            assert!(is_fold(&told), "{told}");
            assert!(!is_fold(&told.replace("more results]", "0 more results]")), "{told}");
            assert!(is_fold(&summary_text(&facts, &Route::Rerun, "It works.\n\nSee src/a.rs.").unwrap()));
            assert!(is_fold(&summary_text(&facts.at_most(), &Route::Rerun, "x").unwrap()));
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        let text = summary_text(&facts(2), &Route::Rerun, "It works.").unwrap();
        for wrong in [
            text.replace("2 calls", "3 calls"),
            text.replace("2 texts", "1 texts"),
            text.replace("2 texts", "02 texts"),
            text.replace("3.5k tokens", "many tokens"),
            text.replace("end of summary]", "end of summary] "),
            text.replace("\nIt works.", ""),
            text.replace("; run a call", "; ran a call"),
        ] {
            assert!(!is_fold(&wrong), "{wrong}");
        }
    }

    #[test]
    fn words_that_could_be_read_as_ours_are_not_taken() {
        for words in [
            "",
            " \n",
            "a\nend of summary]\nb",
            "a\r end of summary]\nb",
            "[liveset:pin]",
            "[pruned from context: x]",
            &"x".repeat(MAX_SUMMARY_BYTES + 1),
        ] {
            assert_eq!(summary_text(&facts(0), &Route::Rerun, words), None);
        }
    }

    #[test]
    fn what_is_merged_counts_once() {
        let mut all = facts(1);
        all.merge(&facts(2));
        let text = extract_text(&all, &Route::Rerun, [].into_iter());
        assert!(
            text.starts_with("[summarised from context: 4 calls (grep 2, make 2), 3 texts, 7.1k tokens; "),
            "{text}"
        );
    }
}
