//! `liveset check`: what would a provider refuse, and what did a change break?

use std::{fmt::Write as _, path::Path};

use liveset::{Report, WireFormat};
use liveset_engine::{
    json::Outline,
    report::Fidelity,
    validate::{self, Code, Defect, Epoch},
    wire,
};

use crate::{
    args::Check,
    differences::{self, Conversation},
    failure::{DEFECTS, Failure},
    input::{self, Input},
    output,
};

pub(crate) fn run(args: &Check) -> Result<u8, Failure> {
    let input = Input::read(&args.input)?;
    let (format, outline) = read(&input, input.format).map_err(|error| input.failure(error))?;
    let mut out = String::new();
    let mut defects = match &args.against {
        None => validate::check(format, &outline),
        Some(path) => {
            let original = Input::beside(path)?;
            let (_, before) = read(&original, Some(format)).map_err(|error| original.failure(error))?;
            let mut epoch = Epoch::Declared;
            let mut appended = None;
            if args.undeclared || args.report.is_some() {
                let turns = Turns::read(&original, &input, format)?;
                epoch = turns.epoch(args.report.as_deref())?;
                if epoch == Epoch::Undeclared {
                    out.extend(turns.changed().map(|what| format!("{}: {what}\n", input.name)));
                }
                appended = turns.appended();
            }
            new_defects(format, &before, &outline, epoch, appended)
        }
    };
    if input.fidelity != Fidelity::ExactWire {
        // A trace mostly lacks the tools that its requests declared.
        defects.retain(|defect| defect.code != Code::UndeclaredToolNames);
    }
    for defect in &defects {
        let _ = writeln!(out, "{}: {defect}", input.name);
    }
    output::text(&out)?;
    Ok(if out.is_empty() { 0 } else { DEFECTS })
}

/// Finds what `before` does not explain; what stands from `appended` on is the client's own and no change.
fn new_defects(
    format: WireFormat,
    before: &Outline<'_>,
    after: &Outline<'_>,
    epoch: Epoch,
    appended: Option<usize>,
) -> Vec<Defect> {
    let mut found = validate::check_against(format, before, after, epoch);
    found.retain(|defect| !(IS_NEW.contains(&defect.code) && appended.is_some_and(|from| defect.offset >= from)));
    validate::new_defects(&validate::check(format, before), &found)
}

/// Codes that say that the original does not hold something.
const IS_NEW: [Code; 4] =
    [Code::IdChanged, Code::ReasoningEdited, Code::CompactionBlockEdited, Code::CitationTargetLost];

/// What was sent earlier in a conversation, and what is to be sent now.
struct Turns<'b> {
    earlier: Conversation<'b>,
    now: Conversation<'b>,
    end: usize,
}

impl<'b> Turns<'b> {
    fn read(earlier: &'b Input, now: &'b Input, format: WireFormat) -> Result<Self, Failure> {
        let read =
            |input: &'b Input| Conversation::read(&input.body, Some(format)).map_err(|error| input.failure(error));
        Ok(Self { earlier: read(earlier)?, now: read(now)?, end: now.body.len() })
    }

    /// Says whether the report declares that earlier items changed since.
    fn epoch(&self, report: Option<&Path>) -> Result<Epoch, Failure> {
        let Some(path) = report else { return Ok(Epoch::Undeclared) };
        let (name, bytes) = input::bytes(Some(path))?;
        let report: Report = serde_json::from_slice(&bytes).map_err(|error| not_a_report(&error).in_file(&name))?;
        let sent = self.earlier.items();
        let is_same_turn = self.now.items() <= sent;
        let declares = report.rebase.is_some()
            || report.client_rewrote.is_some()
            // Each report tells every sweep: news are only those that ran after the last item that was sent.
            || report.sweeps.iter().any(|sweep| is_same_turn || sweep.request_point as usize >= sent);
        Ok(if declares { Epoch::Declared } else { Epoch::Undeclared })
    }

    /// Where an item that was sent is not what it was.
    fn changed(&self) -> Option<String> {
        let same = differences::equal_items(&self.earlier, &self.now);
        if same >= self.earlier.items() {
            return None;
        }
        let byte = self.now.place(same).map_or(self.end, |place| place.byte);
        Some(format!(
            "prefix_changed at byte {byte} (item {same}): it is not what was sent before, and no sweep is declared"
        ))
    }

    /// First byte of what came after the last item that was sent.
    fn appended(&self) -> Option<usize> {
        let sent = self.earlier.items();
        // A fold leaves fewer items than were sent; the newest one mostly stays what it was.
        let last = sent.checked_sub(1).and_then(|last| self.now.last_equal(&self.earlier, last));
        self.now.place(last.map_or(sent, |last| last + 1)).map(|place| place.byte)
    }
}

fn not_a_report(error: &serde_json::Error) -> Failure {
    Failure::usage(format_args!("it is no report of this version (line {})", error.line()))
        .hint("write one with `liveset compact --report FILE --report-format json`")
}

/// Reads a body; one that is no list of messages is bad input, not a defect.
fn read(input: &Input, format: Option<WireFormat>) -> liveset_engine::Result<(WireFormat, Outline<'_>)> {
    let outline = Outline::read(&input.body)?;
    let format = format.map_or_else(|| wire::detect(&outline), Ok)?;
    wire::read(format, &outline)?;
    Ok((format, outline))
}
