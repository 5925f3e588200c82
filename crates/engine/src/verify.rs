//! Is the new body what the plan says? The last look before anything is handed out.
//!
//! Reads the output, not the plan's intentions; a failed check means that the original goes out.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use liveset_tokens::{CountCache, TokenCounter, Tokens};

use crate::{
    apply,
    counts::Counts,
    edit::{Edit, EditAge},
    error::Result,
    json::{self, NodeKind, Outline},
    report::EditKind,
    span::Span,
    tombstone,
    transcript::{Call, Item, ItemIdx, ItemKind, Transcript},
    wire,
};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{law}: {what} at byte {offset}")]
pub struct Defect {
    /// The law that does not hold.
    pub law: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// Byte of the output.
    pub offset: usize,
}

/// Checks fidelity everywhere, and validity, honest size and gain on items edited in this turn.
///
/// # Errors
///
/// The first [`Defect`].
pub fn edited(
    transcript: &Transcript<'_>,
    edits: &[Edit],
    output: &[u8],
    counter: &dyn TokenCounter,
    min_gain: u64,
) -> std::result::Result<(), Defect> {
    let mut shift = 0_i64;
    let mut from = 0;
    let mut at = 0;
    for splice in apply::in_order(edits) {
        let kept = transcript.body.get(from..splice.span.start());
        let length = splice.span.start().saturating_sub(from);
        if kept.is_none() || kept != output.get(at..at + length) {
            return Err(Defect { law: "fidelity", what: "bytes outside the edits differ", offset: at });
        }
        at += length;
        if output.get(at..at + splice.with.len()) != Some(splice.with.as_bytes()) {
            return Err(Defect { law: "fidelity", what: "an edit is not written as planned", offset: at });
        }
        at += splice.with.len();
        from = splice.span.end();
        shift += splice.with.len() as i64 - splice.span.len() as i64;
    }
    if transcript.body.get(from..) != output.get(at..) {
        return Err(Defect { law: "fidelity", what: "bytes outside the edits differ", offset: at });
    }
    if output.len() as i64 - transcript.body.len() as i64 != shift {
        return Err(Defect { law: "fidelity", what: "the length is not what the edits make", offset: output.len() });
    }
    let moves = Moves::of(edits);
    folds(edits, min_gain)?;
    let fresh = edits.iter().filter(|edit| edit.age == EditAge::Fresh);
    fresh.into_iter().try_for_each(|edit| one(transcript, edit, output, counter, min_gain, &moves))
}

/// Checks that each folded run, or summary, saves enough: units that went, and the carrier that holds their line.
fn folds(edits: &[Edit], min_gain: u64) -> std::result::Result<(), Defect> {
    let mut gone: BTreeMap<ItemIdx, u64> = BTreeMap::new();
    let mut carriers = Vec::new();
    for edit in edits.iter().filter(|edit| matches!(edit.kind, EditKind::Fold | EditKind::Summary)) {
        match (edit.removes_unit(), edit.carrier) {
            (true, Some(carrier)) => *gone.entry(carrier).or_default() += edit.tokens_before.0,
            (true, None) => return Err(worse(edit, "no line stands for a unit that went")),
            (false, _) => carriers.push(edit),
        }
    }
    for carrier in carriers {
        let Some(before) = gone.remove(&carrier.item) else {
            return Err(worse(carrier, "a line stands for a run of which nothing went"));
        };
        if carrier.tokens_after.0 + min_gain > before + carrier.tokens_before.0 {
            return Err(worse(carrier, "a folded run saves too little"));
        }
    }
    if gone.is_empty() {
        Ok(())
    } else {
        Err(Defect { law: "never worse", what: "no line stands for a folded run", offset: 0 })
    }
}

fn worse(edit: &Edit, what: &'static str) -> Defect {
    Defect { law: "never worse", what, offset: edit.splices.first().map_or(0, |splice| splice.span.start()) }
}

/// Where bytes of the input stand in the output.
struct Moves {
    /// Each splice in the input, and how far bytes after it have moved.
    shifts: Vec<(Span, i64)>,
}

impl Moves {
    fn of(edits: &[Edit]) -> Self {
        let mut shift = 0;
        let shifts = apply::in_order(edits).into_iter().map(|splice| {
            shift += splice.with.len() as i64 - splice.span.len() as i64;
            (splice.span, shift)
        });
        Self { shifts: shifts.collect() }
    }

    /// Gives where a value now starts.
    fn moved(&self, at: usize) -> usize {
        self.by_splices(self.shifts.partition_point(|(span, _)| span.end() <= at), at)
    }

    /// Gives where a value now ends: what is put in right behind it is not its own.
    fn moved_end(&self, at: usize) -> usize {
        self.by_splices(self.shifts.partition_point(|(span, _)| span.start() < at), at)
    }

    fn by_splices(&self, before: usize, at: usize) -> usize {
        let shift = before.checked_sub(1).and_then(|last| self.shifts.get(last)).map_or(0, |&(_, shift)| shift);
        usize::try_from(at as i64 + shift).unwrap_or(0)
    }
}

fn one(
    transcript: &Transcript<'_>,
    edit: &Edit,
    output: &[u8],
    counter: &dyn TokenCounter,
    min_gain: u64,
    moves: &Moves,
) -> std::result::Result<(), Defect> {
    let offset = edit.splices.first().map_or(0, |splice| moves.moved(splice.span.start()));
    let defect = |law, what| Err(Defect { law, what, offset });
    let Some(item) = transcript.items.get(edit.item.at()) else { return defect("fidelity", "an edit names no item") };
    if edit.kind == EditKind::Mark {
        let block = output.get(moves.moved(item.span.start())..moves.moved_end(item.span.end()));
        return match block.map(Outline::read_all) {
            Some(Ok(_)) => Ok(()),
            Some(Err(_)) | None => defect("validity", "a block with a moved mark is no JSON"),
        };
    }
    if edit.kind == EditKind::Reasoning {
        return reasoning(item, edit, output, moves);
    }
    // A folded run, or a summary, is one change in several edits: it saves as a whole.
    if !matches!(edit.kind, EditKind::Fold | EditKind::Summary) && edit.tokens_after.0 + min_gain > edit.tokens_before.0
    {
        return defect("never worse", "an edit saves too little");
    }
    if edit.kind == EditKind::Media {
        let block = edit.splices.first().map(|splice| splice.with.as_bytes()).unwrap_or_default();
        return match Outline::read(block) {
            Ok(_) => Ok(()),
            Err(_) => defect("validity", "a notice is no JSON"),
        };
    }
    if edit.removes_unit() {
        // Whole messages go, with what parts them; that the list around them reads is seen with its edited items.
        let is_gone = edit.splices.iter().all(|splice| splice.with.is_empty() && splice.span.contains(item.span));
        return if is_gone { Ok(()) } else { defect("fidelity", "a unit that goes leaves something behind") };
    }
    if let (EditKind::Rule, Some(call)) = (edit.kind, item.call()) {
        return arguments(call, edit, output, counter, moves);
    }
    if item.kind != ItemKind::ToolResult {
        return defect("protected", "an edit of something that is no tool result");
    }
    let (mut tokens, mut tells_of_a_run) = (Tokens(0), !matches!(edit.kind, EditKind::Fold | EditKind::Summary));
    for literal in &item.texts {
        // A literal's own quotes are never edited, so its borders move with the bytes around it.
        let (start, end) = (moves.moved(literal.start()), moves.moved_end(literal.end()));
        let Some(raw) = output.get(start..end) else { return defect("validity", "a literal lies outside the body") };
        let Ok(decoded) = json::decode(raw) else { return defect("validity", "a result's text is no JSON string") };
        let was_blank = json::decode(literal.of(transcript.body)).is_ok_and(|was| was.text().trim().is_empty());
        if decoded.text().trim().is_empty() && !was_blank {
            return defect("validity", "a blank text where there was text");
        }
        tokens += counter.count(decoded.text());
        tells_of_a_run = tells_of_a_run || tombstone::is_fold(decoded.text());
    }
    if !tells_of_a_run {
        return defect("no invention", "the line of a folded run would not be known again");
    }
    if tokens != edit.tokens_after {
        return defect("honest size", "a recount differs from the report");
    }
    Ok(())
}

/// Checks a block of reasoning that left: whole, signed, for no loss, and with what parted it from its neighbour.
fn reasoning(item: &Item, edit: &Edit, output: &[u8], moves: &Moves) -> std::result::Result<(), Defect> {
    let offset = moves.moved(item.span.end());
    let defect = |law, what| Err(Defect { law, what, offset });
    if !item.is_signed_reasoning() {
        return defect("protected", "a removal of something that is no signed reasoning");
    }
    if edit.tokens_after > edit.tokens_before {
        return defect("never worse", "an edit adds tokens");
    }
    let is_whole = edit.splices.iter().any(|splice| splice.span == item.span);
    if !is_whole || edit.splices.iter().any(|splice| !splice.with.is_empty()) {
        return defect("fidelity", "removed reasoning leaves something behind");
    }
    let (before, after) = (output.get(..offset).unwrap_or_default(), output.get(offset..).unwrap_or_default());
    match (before.trim_ascii_end().last(), after.trim_ascii_start().first()) {
        (Some(b'[' | b','), Some(b'{')) | (Some(b'}'), Some(b',' | b']')) => Ok(()),
        _ => defect("validity", "a list does not close over removed reasoning"),
    }
}

/// Checks a call whose arguments a rule cut: still a JSON object, and of the size that was said.
fn arguments(
    call: &Call,
    edit: &Edit,
    output: &[u8],
    counter: &dyn TokenCounter,
    moves: &Moves,
) -> std::result::Result<(), Defect> {
    let Some(value) = call.arguments else {
        return Err(Defect { law: "fidelity", what: "an edit of arguments that are not there", offset: 0 });
    };
    // Edits stand between the value's own borders, so these move with the bytes around it.
    let (offset, end) = (moves.moved(value.start()), moves.moved_end(value.end()));
    let defect = |law, what| Err(Defect { law, what, offset });
    let raw = output.get(offset..end).unwrap_or_default();
    let object = match raw.first() {
        Some(b'"') => json::decode(raw).map(json::Decoded::into_text).ok(),
        _ => std::str::from_utf8(raw).map(Cow::Borrowed).ok(),
    };
    let Some(object) = object else { return defect("validity", "arguments cannot be read") };
    match Outline::read_all(object.as_bytes()) {
        Ok(outline) if outline.node(outline.root()).kind == NodeKind::Object => {}
        Ok(_) | Err(_) => return defect("validity", "arguments are no JSON object"),
    }
    if counter.count(&object) == edit.tokens_after {
        return Ok(());
    }
    defect("honest size", "a recount differs from the report")
}

/// Reads the whole output again and compares it with the input item by item, without what whole batches took along.
///
/// # Errors
///
/// The output cannot be read at all.
pub fn whole(
    transcript: &Transcript<'_>,
    edits: &[Edit],
    output: &[u8],
    counter: &dyn TokenCounter,
    claimed: Tokens,
) -> Result<std::result::Result<(), Defect>> {
    let outline = Outline::read(output)?;
    let again = wire::read(transcript.format, &outline)?;
    let counts = Counts::of(&again, counter, &mut CountCache::default())?;
    let defect = |law, what, offset| Ok(Err(Defect { law, what, offset }));
    if counts.total() != claimed {
        return defect("honest size", "a recount of the body differs from the report", 0);
    }
    // A notice in place of a picture is read as one more text of its result, no longer as an item.
    let is_plain = |item: &Item| item.within.is_none();
    let gone = Gone::of(transcript, edits);
    let before: Vec<_> =
        (0_u32..).zip(&transcript.items).filter(|(at, item)| is_plain(item) && !gone.holds(*at, item)).collect();
    let after: Vec<_> = again.items.iter().filter(|item| is_plain(item)).collect();
    if before.len() != after.len() {
        return defect("validity", "items are missing or new", 0);
    }
    for ((at, was), is) in before.into_iter().zip(after) {
        let message = was.message.map(|message| message - gone.messages_before(message));
        if (was.kind, was.number - gone.numbers_to(was.number), message) != (is.kind, is.number, is.message) {
            return defect("validity", "an item changed its kind or place", is.span.start());
        }
        let may_change = was.kind == ItemKind::ToolResult || edits.iter().any(|edit| edit.item.0 == at);
        if !may_change && was.span.of(transcript.body) != is.span.of(output) {
            return defect("protected", "an item that no rule may cut differs", is.span.start());
        }
    }
    Ok(Ok(()))
}

/// What units that went took with them, and reasoning that left by itself.
struct Gone {
    reasoning: BTreeSet<u32>,
    messages: BTreeSet<u32>,
    numbers: BTreeSet<u32>,
}

impl Gone {
    fn of(transcript: &Transcript<'_>, edits: &[Edit]) -> Self {
        let drops = edits.iter().filter(|edit| edit.removes_unit());
        let spans: Vec<Span> = drops.flat_map(|edit| edit.splices.iter().map(|splice| splice.span)).collect();
        let is_gone = |item: &&Item| spans.iter().any(|span| span.contains(item.span));
        let items = || transcript.items.iter().filter(is_gone);
        let reasoning = edits.iter().filter(|edit| edit.kind == EditKind::Reasoning);
        Self {
            reasoning: reasoning.map(|edit| edit.item.0).collect(),
            messages: items().filter_map(|item| item.message).collect(),
            numbers: items().map(|item| item.number).collect(),
        }
    }

    fn holds(&self, at: u32, item: &Item) -> bool {
        self.reasoning.contains(&at) || item.message.is_some_and(|message| self.messages.contains(&message))
    }

    fn messages_before(&self, message: u32) -> u32 {
        u32::try_from(self.messages.range(..message).count()).unwrap_or(u32::MAX)
    }

    fn numbers_to(&self, number: u32) -> u32 {
        u32::try_from(self.numbers.range(..=number).count()).unwrap_or(u32::MAX)
    }
}
