//! What do results say, where may they be cut, and what in them is evidence?
//!
//! Decodes a result once, when a sweep or an edit first asks for it; never decides.

use std::borrow::Cow;

pub(crate) use crate::intake::line_count;

use super::passages::{Passage, passages};
use crate::{
    content_id::ContentId,
    error::Result,
    json,
    span::Span,
    tombstone::{self, Route},
    tools::{self, Ask, CallName, ExitFrame},
    transcript::{Item, ItemIdx, Transcript},
};

pub use crate::tombstone::PIN_MARKER;

/// One text part of a result.
#[derive(Debug)]
pub(crate) struct PartText<'a> {
    /// The string literal, quotes included.
    pub(crate) literal: Span,
    /// What it says; a lone surrogate is U+FFFD.
    pub(crate) text: Cow<'a, str>,
    /// Whether it holds a lone surrogate: then a line with U+FFFD in it is not what stands there.
    pub(crate) has_halves: bool,
    /// Where it may be cut.
    pub(crate) passages: Vec<Passage>,
    /// Lines of this part.
    pub(crate) lines: u32,
}

impl PartText<'_> {
    /// Says whether a line of it can be shown elsewhere as what it is.
    pub(crate) fn says(&self, line: &str) -> bool {
        !self.has_halves || !line.contains(char::REPLACEMENT_CHARACTER)
    }
}

/// One line of evidence in an execution result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorLine {
    pub(crate) part: usize,
    /// Bytes of the part's text, without the line's ending.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Line of the part, from 0.
    pub(crate) line: u32,
    /// Whether it tells of nothing but the exit status, which a tombstone states by itself.
    pub(crate) is_exit: bool,
}

/// A result, decoded.
#[derive(Debug)]
pub(crate) struct ResultTexts<'a> {
    pub(crate) parts: Vec<PartText<'a>>,
    /// Lines of all parts.
    pub(crate) lines: u32,
    pub(crate) name: CallName,
    /// Exit status, where it tells of a run and states one.
    pub(crate) exit: Option<i64>,
    /// Evidence, in order; empty unless the tool is of class execution.
    pub(crate) errors: Vec<ErrorLine>,
    /// Whether nothing stands there but white space, and what we left of a picture: it says no more than the picture did.
    pub(crate) is_blank: bool,
    /// Whether its call asks for an original of ours: it is never cut in part.
    pub(crate) is_recall: bool,
    /// The way back to it, in the words of a tombstone or last gap.
    pub(crate) route: Cow<'static, str>,
    /// Whether the client sent it with a tombstone or gap of ours in it.
    pub(crate) arrives_cut: bool,
    /// Whether the client sent it as the line that stands for a folded run.
    pub(crate) arrives_folded: bool,
    /// Whether it holds the words that pin it.
    pub(crate) has_marker: bool,
    /// Whether it tells of a failure itself.
    pub(crate) tells_failure: bool,
    /// The line that stands for it instead of a tombstone, where the preset has a rule for its tool.
    pub(crate) rule_line: Option<String>,
}

impl<'a> ResultTexts<'a> {
    /// Decodes the result `item`.
    pub(crate) fn of(transcript: &Transcript<'a>, item: &Item) -> Result<Self> {
        let call = item.answer().and_then(|answer| answer.call);
        let call = call.and_then(|idx: ItemIdx| transcript.items.get(idx.at())).and_then(Item::call);
        let (name, ask) = CallName::with_ask(transcript, call);
        let mut parts = Vec::with_capacity(item.texts.len());
        let mut lines = 0;
        for &literal in &item.texts {
            let decoded = json::decode(literal.of(transcript.body))?;
            let has_halves = decoded.has_lone_surrogate();
            let text = decoded.into_text();
            let part = PartText { literal, lines: line_count(&text), passages: passages(&text), text, has_halves };
            lines += part.lines;
            parts.push(part);
        }
        // What an original told of some run is no news.
        let is_run = name.tells_of_a_run() && ask == Ask::Other;
        let framed = parts.iter().enumerate().filter(|_| is_run);
        let exit = framed.filter_map(|(at, part)| Some((at, exit_frame(&part.text)?))).next();
        let failed = exit.as_ref().filter(|(_, frame)| frame.status != 0);
        let errors = match name.class {
            tools::ToolClass::Execution => {
                let frame_in = |part: usize| failed.filter(|(at, _)| *at == part).map(|(_, frame)| frame);
                parts.iter().enumerate().flat_map(|(at, part)| error_lines(at, part, frame_in(at))).collect()
            }
            tools::ToolClass::Retrieval | tools::ToolClass::Volatile => Vec::new(),
        };
        let any = |claim: &dyn Fn(&str) -> bool| parts.iter().any(|part| claim(&part.text));
        Ok(Self {
            is_blank: parts.iter().all(|part| part.text.trim().is_empty() || tombstone::is_media_notice(&part.text)),
            arrives_cut: any(&|text| tombstone::is_tombstone(text) || tombstone::holds_gap(text)),
            arrives_folded: any(&tombstone::is_fold),
            has_marker: any(&|text| memchr::memmem::find(text.as_bytes(), PIN_MARKER.as_bytes()).is_some()),
            rule_line: None,
            is_recall: ask == Ask::Recall,
            route: Cow::Borrowed(tombstone::rerun(name.class)),
            tells_failure: is_run && tell_failure(parts.iter().map(|part| part.text.as_ref())),
            parts,
            lines,
            name,
            exit: exit.map(|(_, frame)| frame.status),
            errors,
        })
    }

    /// Says whether it arrives as marks of ours alone that hold no text of a tool: nothing is gained where it goes.
    pub(crate) fn is_bare_mark(&self) -> bool {
        self.arrives_cut && self.parts.iter().all(|part| tombstone::is_bare_mark(&part.text))
    }

    /// Gives the original, which is its parts joined by `\n`, and where each part starts in it.
    pub(crate) fn original(&self, body: &[u8]) -> Result<(Vec<u8>, Vec<usize>)> {
        let mut bytes = Vec::new();
        let mut offsets = Vec::with_capacity(self.parts.len());
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                bytes.push(b'\n');
            }
            offsets.push(bytes.len());
            bytes.extend_from_slice(&json::decode(part.literal.of(body))?.wtf8());
        }
        Ok((bytes, offsets))
    }

    /// Says where it is to be had again on this way.
    ///
    /// What arrives with our gaps is an original of its own; the ids that it holds are named beside its own, since
    /// nobody knows if they are true. A recall answer is named by what its call asked for, which stands in its label.
    pub(crate) fn way_back(&self, route: &Route, body: &[u8]) -> Result<Cow<'static, str>> {
        if *route == Route::Rerun || self.is_recall {
            return Ok(Cow::Borrowed(tombstone::rerun(self.name.class)));
        }
        let id = ContentId::of(&self.original(body)?.0);
        let own = id.to_string();
        let mut held: Vec<String> = Vec::new();
        if self.arrives_cut {
            for id in self.parts.iter().flat_map(|part| tombstone::named_ids(&part.text)) {
                if id != own && !held.contains(&id) {
                    held.push(id);
                }
            }
        }
        Ok(route.words(self.name.class, id, &held))
    }
}

/// Says whether the parts of a result that tells of a run tell of a failure: by the first exit status that they state, or
/// by a verdict.
pub(crate) fn tell_failure<'t>(parts: impl Iterator<Item = &'t str> + Clone) -> bool {
    let exit = parts.clone().find_map(exit_frame);
    exit.is_some_and(|frame| frame.status != 0) || parts.into_iter().any(has_failing_verdict)
}

/// Finds the evidence in a part; `failed` is the line that states how the run failed, if it stands there.
fn error_lines(part: usize, text: &PartText<'_>, failed: Option<&ExitFrame>) -> Vec<ErrorLine> {
    let mut found = Vec::new();
    let mut suspects = tools::suspects(&text.text);
    let mut start = 0;
    for (at, line) in text.text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\n', '\r']);
        let (from, to) = (start, start + content.len());
        let is_error = suspects.may_be(from..to) && tools::is_error_line(content);
        let is_exit = failed.is_some_and(|frame| frame.line.start == from);
        if (is_error || is_exit) && !tombstone::frames_evidence(content) && text.says(content) {
            found.push(ErrorLine {
                part,
                start: u32::try_from(from).unwrap_or(u32::MAX),
                end: u32::try_from(to).unwrap_or(u32::MAX),
                line: u32::try_from(at).unwrap_or(u32::MAX),
                is_exit: is_exit && !is_error,
            });
        }
        start += line.len();
    }
    found
}

/// Finds the line that states the exit status, outside of what we left.
fn exit_frame(text: &str) -> Option<ExitFrame> {
    let (head, end) = tombstone::around_marks(text);
    let last = || tools::last_exit(end).map(|frame| frame.behind(text.len() - end.len()));
    tools::first_exit(head).or_else(last)
}

fn has_failing_verdict(text: &str) -> bool {
    tools::has_failing_verdict(tombstone::around_marks(text).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> PartText<'_> {
        PartText {
            literal: Span::new(0, 0),
            text: text.into(),
            passages: Vec::new(),
            lines: line_count(text),
            has_halves: false,
        }
    }

    #[test]
    fn an_exit_status_and_a_verdict_count_only_outside_of_our_marks() {
        assert_eq!(exit_frame("a\nb\n[exit code 2]\n").unwrap().line, 4..17);
        let gap =
            "a\n[lines 2-9 of 10 left out; error lines:\n[exit code 2]\ntest result: FAILED\nno more error lines]\n";
        assert_eq!(exit_frame(&format!("{gap}b")), None);
        assert_eq!(exit_frame(&format!("{gap}[exit code 3]")).unwrap().line.start, gap.len());
        assert!(!has_failing_verdict(gap) && has_failing_verdict("test result: FAILED"));
    }

    #[test]
    fn the_line_that_states_a_failed_exit_is_an_error_line() {
        let text = "fine\nerror: no\n[exit code 2]\n";
        let frame = exit_frame(text).unwrap();
        let lines = |failed| {
            error_lines(0, &part(text), failed).iter().map(|line| (line.line, line.is_exit)).collect::<Vec<_>>()
        };
        assert_eq!(lines(Some(&frame)), [(1, false), (2, true)]);
        assert_eq!(lines(None), [(1, false)]);
    }

    #[test]
    fn a_line_that_would_end_a_mark_is_no_error_line() {
        let text = "[lines 2-9 of 9 left out; error lines:\nerror: one\n3 more error lines]\nno more error lines]\n";
        let lines: Vec<u32> = error_lines(0, &part(text), None).iter().map(|line| line.line).collect();
        assert_eq!(lines, [1]);
    }

    #[test]
    fn counts_a_last_line_without_an_ending() {
        assert_eq!((line_count(""), line_count("a"), line_count("a\n"), line_count("a\nb")), (0, 1, 1, 2));
    }
}
