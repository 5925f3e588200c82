//! In which form does a result leave, and how is that form written?
//!
//! A form is data over the text as the client sent it; writing it is the same wherever it is asked for.

pub(crate) use crate::intake::{GIANT_LINE_CHARS, Piece, Removed};
use crate::{
    intake::both_ends,
    plan::{
        digest::Digest,
        texts::{ErrorLine, PartText, ResultTexts},
    },
    tombstone::{self, Evidence, MAX_ERROR_LINES, TombstoneFacts},
};
use liveset_tokens::Tokens;
use std::borrow::Cow;

/// The form in which a result's text leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it arrived.
    Whole,
    /// With gaps, per part, sorted and apart from each other.
    Cut(Vec<Vec<Removed>>),
    /// The same as intake shaped it, by lines or JSON values: later it only ever goes whole.
    Shaped(Vec<Vec<Removed>>),
    /// One line: a tombstone, or what the preset's rule for its tool says.
    Gone,
    /// The line that stands for a folded run, and what its calls showed; only its carrier has it.
    Folded(Digest),
}

impl Form {
    /// Says whether nothing of the result's own text is left: it stays in this form.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::Gone | Self::Folded(_) => true,
            Self::Whole | Self::Cut(_) | Self::Shaped(_) => false,
        }
    }
}

/// A gap as it is written: what it replaces and the text in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// One part as it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartForm {
    /// Not touched.
    Untouched,
    /// These pieces of the part's text are replaced.
    Gaps(Vec<Gap>),
}

/// Sorts pieces, drops those inside others and joins runs of whole lines that touch.
pub(crate) fn normalised(mut pieces: Vec<Removed>) -> Vec<Removed> {
    pieces.sort_by_key(|piece| (piece.start, std::cmp::Reverse(piece.end)));
    let mut out: Vec<Removed> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if let Some(before) = out.last_mut() {
            if piece.end <= before.end {
                continue;
            }
            if let (Piece::Lines { first, last }, Piece::Lines { first: next, last: new_last }) =
                (before.what, piece.what)
                && (piece.start <= before.end || next == last + 1)
            {
                before.end = piece.end;
                before.what = Piece::Lines { first, last: last.max(new_last) };
                continue;
            }
        }
        out.push(piece);
    }
    out
}

/// Gives the piece that leaves out the lines `first` to `last` (of the part, from 0) at these bytes.
pub(crate) fn lines_piece(start: u32, end: u32, first: u32, last: u32) -> Removed {
    Removed { start, end, what: Piece::Lines { first, last } }
}

/// Writes a form: what each part looks like when it leaves.
pub(crate) fn write(texts: &ResultTexts<'_>, form: &Form, o200k: Tokens) -> Vec<PartForm> {
    match form {
        Form::Whole => texts.parts.iter().map(|_| PartForm::Untouched).collect(),
        Form::Cut(removed) => write_cut(texts, removed, Gaps::WithEvidence),
        // What tells of a failure stayed before anything else did.
        Form::Shaped(removed) => write_cut(texts, removed, Gaps::Bare),
        Form::Gone => write_line(texts, || texts.rule_line.clone().unwrap_or_else(|| tombstone_text(texts, o200k))),
        Form::Folded(digest) => write_line(texts, || digest.text().to_owned()),
    }
}

/// What gaps of whole lines hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    /// The error lines among those that went.
    WithEvidence,
    /// Counts alone.
    Bare,
}

fn write_cut(texts: &ResultTexts<'_>, removed: &[Vec<Removed>], gaps_hold: Gaps) -> Vec<PartForm> {
    let last_part = removed.iter().rposition(|pieces| !pieces.is_empty());
    let parts = texts.parts.iter().enumerate().map(|(at, part)| {
        let pieces = removed.get(at).map(Vec::as_slice).unwrap_or_default();
        if pieces.is_empty() {
            return PartForm::Untouched;
        }
        let gaps = pieces.iter().enumerate().map(|(place, piece)| {
            let is_last = Some(at) == last_part && place + 1 == pieces.len();
            let route = is_last.then_some(texts.route.as_ref());
            let errors = match (gaps_hold, piece.what) {
                (Gaps::WithEvidence, Piece::Lines { .. }) => {
                    evidence(texts, errors_between(texts, at, piece.start, piece.end))
                }
                (Gaps::WithEvidence | Gaps::Bare, _) => Evidence::default(),
            };
            let (start, end) = piece.place(&part.text);
            Gap { start, end, text: piece.gap(part.lines, route, &errors) }
        });
        PartForm::Gaps(gaps.collect())
    });
    parts.collect()
}

/// Puts a line in place of the first text that says something; the others become gaps.
fn write_line(texts: &ResultTexts<'_>, line: impl Fn() -> String) -> Vec<PartForm> {
    let head = texts.parts.iter().position(|part| !part.text.trim().is_empty());
    let parts = texts.parts.iter().enumerate().map(|(at, part)| {
        let whole = |text: String| PartForm::Gaps(vec![Gap { start: 0, end: part.text.len(), text }]);
        if Some(at) == head {
            return whole(line());
        }
        let text = tombstone::gap(1, part.lines, part.lines, None, &Evidence::default());
        // A part hardly longer than its gap stays as it is.
        if part.text.len() <= 2 * text.len() { PartForm::Untouched } else { whole(text) }
    });
    parts.collect()
}

/// Writes the tombstone of a result.
pub(crate) fn tombstone_text(texts: &ResultTexts<'_>, o200k: Tokens) -> String {
    // The tombstone states the exit status in words of its own.
    let errors: Vec<ErrorLine> = texts.errors.iter().filter(|line| !line.is_exit).copied().collect();
    tombstone::tombstone(&TombstoneFacts {
        call: &texts.name,
        lines: texts.lines,
        tokens: o200k,
        exit: (texts.name.class == crate::tools::ToolClass::Execution).then_some(texts.exit).flatten(),
        route: &texts.route,
        errors: evidence(texts, &errors),
    })
}

/// Gives the error lines of a part that stand wholly between two bytes.
pub(crate) fn errors_between<'t>(texts: &'t ResultTexts<'_>, part: usize, start: u32, end: u32) -> &'t [ErrorLine] {
    let from = texts.errors.partition_point(|line| (line.part, line.start) < (part, start));
    let to = texts.errors.partition_point(|line| (line.part, line.start) < (part, end));
    texts.errors.get(from..to).unwrap_or_default()
}

/// Writes the evidence in a run of error lines: the first ones, and the exit status wherever it stands.
pub(crate) fn evidence(texts: &ResultTexts<'_>, lines: &[ErrorLine]) -> Evidence {
    let (first, rest) = lines.split_at_checked(MAX_ERROR_LINES).unwrap_or((lines, &[]));
    let exit = rest.iter().find(|line| line.is_exit);
    let first = first.get(..first.len() - usize::from(exit.is_some())).unwrap_or_default();
    let shown = first.iter().chain(exit).map(|line| error_text(texts, line)).collect();
    Evidence { lines: shown, more: lines.len().saturating_sub(MAX_ERROR_LINES) }
}

/// Writes one error line; of a giant one both ends.
pub(crate) fn error_text(texts: &ResultTexts<'_>, line: &ErrorLine) -> String {
    let text = texts.parts.get(line.part).and_then(|part| part.text.get(line.start as usize..line.end as usize));
    let text = text.unwrap_or_default();
    let chars = if text.len() > GIANT_LINE_CHARS { text.chars().count() } else { 0 };
    if chars <= GIANT_LINE_CHARS {
        return text.to_owned();
    }
    let (head, tail) = both_ends(text, chars, GIANT_LINE_CHARS / 2 - 100);
    let (first, last) = (head.chars().count() + 1, chars - tail.chars().count());
    format!("{head}{}{tail}", tombstone::inner_gap(first, last, line.line + 1, None))
}

/// Gives the parts of a result as a form leaves them.
pub(crate) fn in_view<'t>(texts: &'t ResultTexts<'_>, form: &Form, o200k: Tokens) -> Vec<Cow<'t, str>> {
    let written = write(texts, form, o200k);
    let parts = texts.parts.iter().zip(&written);
    parts.map(|(part, form)| rendered(part, form).map_or(Cow::Borrowed(part.text.as_ref()), Cow::Owned)).collect()
}

/// Gives a part's text as it leaves, where that is not as it arrived.
pub(crate) fn rendered(part: &PartText<'_>, form: &PartForm) -> Option<String> {
    let PartForm::Gaps(gaps) = form else { return None };
    let mut out = String::new();
    let mut at = 0;
    for gap in gaps {
        out.push_str(part.text.get(at..gap.start).unwrap_or_default());
        out.push_str(&gap.text);
        at = gap.end;
    }
    out.push_str(part.text.get(at..).unwrap_or_default());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(start: u32, end: u32, first: u32, last: u32) -> Removed {
        Removed { start, end, what: Piece::Lines { first, last } }
    }

    #[test]
    fn runs_that_touch_become_one() {
        let joined = normalised(vec![lines(10, 20, 2, 3), lines(0, 10, 0, 1), lines(30, 40, 5, 5)]);
        assert_eq!(joined, [lines(0, 20, 0, 3), lines(30, 40, 5, 5)]);
    }

    #[test]
    fn a_piece_inside_another_is_no_gap_of_its_own() {
        let inner = Removed { start: 12, end: 15, what: Piece::Inner { line: 2, from: 2, to: 5 } };
        assert_eq!(normalised(vec![inner, lines(10, 20, 2, 3)]), [lines(10, 20, 2, 3)]);
    }
}
