//! What does the next body of a conversation come to, and how does it stand to what left before?
//!
//! Declares what changes and decides nothing about what is cut.

use liveset::{Compaction, EditKind, Error, OutcomeKind, Report};
use liveset_engine::{
    edit::Edit,
    report::{RebaseReport, RewriteReport},
    transcript::Side,
};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    cache_lifetime::cache_lifetime,
    chain::Reading,
    conversation::{Conversation, Sent},
    judgement::{Doubted, Judgement, Outcome, Prefix},
    reacquisition::{Returned, Watch},
};

/// How a body was met.
#[derive(Default)]
pub(super) struct Met {
    /// Why what was decided before may be decided anew.
    pub(super) cause: Option<Cause>,
    /// Items that left whole with the newest body before this one.
    pub(super) whole: usize,
    /// What left of a conversation that opens with the same words, where nothing is kept of this one.
    pub(super) beside: Option<Sent>,
    /// Whether another process cut before.
    pub(super) was_cut_elsewhere: bool,
}

/// Why what was decided before may be decided anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It is.
    Always(&'static str),
    /// It is where an earlier request would have been cut by us: it was not, since we never saw it.
    IfCutBefore(&'static str),
}

/// Compacts the newest body of a conversation.
pub(super) fn go_on(reading: &Reading<'_>, conversation: &mut Conversation, met: &Met) -> Result<Judgement, Doubted> {
    let compaction = conversation.session.compact_read(reading.transcript()).map_err(|error| why(&error))?;
    if compaction.report().warnings.iter().any(|warning| warning.code == "verify_failed") {
        return Err(Doubted::Verify);
    }
    let edits: Vec<_> = compaction.edits().iter().filter(|edit| edit.kind != EditKind::Mark).map(stands_for).collect();
    let was_cut_before = was_cut_before(reading, &compaction);
    let new_sweeps = new_sweeps(reading, &conversation.sent, compaction.report());
    let (watch, returned) = watched(reading, conversation, met, &compaction, new_sweeps);
    let is_edited = !compaction.edits().is_empty();
    let (body, mut report) = compaction.into_parts();
    declare(reading, &conversation.sent, met, &edits, was_cut_before, &mut report);
    let is_again = is_again(reading, &conversation.sent);
    let prefix = prefix(&conversation.sent, met, &edits, &report);
    conversation.pending = Some(Sent {
        chain: reading.chain.clone(),
        edits,
        sweeps: report.sweeps.len(),
        requests: conversation.sent.requests + u64::from(!is_again),
        watch,
        tokens: (report.tokens.before, report.tokens.after),
        room: report.tokens.trigger.saturating_sub(report.tokens.after),
        cache_lifetime: cache_lifetime(reading.transcript()),
    });
    Ok(Judgement {
        edited: is_edited.then(|| body.into_owned().into()),
        chain: reading.chain.clone(),
        returned,
        policy: Some(conversation.named.clone()),
        new_sweeps,
        prefix,
        ..Judgement::without_report(match report.outcome {
            OutcomeKind::Unchanged => Outcome::Unchanged,
            OutcomeKind::Compacted => Outcome::Compacted,
            OutcomeKind::CannotFit => Outcome::CannotFit,
        })
    }
    .with_report(report))
}

/// Whether the same body left before: a client that asks again.
fn is_again(reading: &Reading<'_>, sent: &Sent) -> bool {
    reading.chain.len() == sent.chain.len() && reading.chain.tip() == sent.chain.tip()
}

/// The newest item of the model, up to which everything was sent before.
fn newest_of_model(reading: &Reading<'_>) -> Option<usize> {
    reading.transcript().items.iter().rposition(|item| item.side == Side::Assistant)
}

/// Whether an earlier request was to be cut, too.
fn was_cut_before(reading: &Reading<'_>, compaction: &Compaction<'_>) -> bool {
    let Some(newest) = newest_of_model(reading) else { return false };
    let is_before = |at: u32| usize::try_from(at).is_ok_and(|at| at <= newest);
    let is_intake = |edit: &&Edit| edit.step.is_none() && !matches!(edit.kind, EditKind::Mark | EditKind::Reasoning);
    compaction.report().sweeps.iter().any(|sweep| is_before(sweep.request_point))
        || compaction.edits().iter().filter(is_intake).any(|edit| is_before(edit.item.0))
}

/// Says in the report what leaves otherwise than before, where the session could not know.
fn declare(
    reading: &Reading<'_>,
    sent: &Sent,
    met: &Met,
    edits: &[(u32, u128)],
    was_cut_before: bool,
    report: &mut Report,
) {
    let cause = match met.cause {
        Some(Cause::Always(cause)) => Some(cause),
        Some(Cause::IfCutBefore(cause)) => Some(cause).filter(|_| was_cut_before),
        None => None,
    };
    let cause = cause.or(is_first_cut_of_whole(met, edits).then_some("fallback"));
    if let (None, Some(cause)) = (&report.rebase, cause)
        && !(edits.is_empty() && sent.edits.is_empty())
    {
        report.rebase = Some(RebaseReport { cause: cause.to_owned() });
    }
    if report.client_rewrote.is_none() {
        report.client_rewrote = met.beside.as_ref().and_then(|beside| rewrote(reading, beside, edits));
    }
}

/// Whether something is cut now that left whole with the request before.
fn is_first_cut_of_whole(met: &Met, edits: &[(u32, u128)]) -> bool {
    edits.iter().any(|(item, _)| usize::try_from(*item).is_ok_and(|item| item < met.whole))
}

/// Finds what leaves otherwise since the client went back to an earlier place.
fn rewrote(reading: &Reading<'_>, beside: &Sent, edits: &[(u32, u128)]) -> Option<RewriteReport> {
    let common = u32::try_from(reading.chain.common(&beside.chain)).ok()?;
    let within = |edits: &[(u32, u128)]| -> Vec<_> { edits.iter().copied().filter(|edit| edit.0 < common).collect() };
    let (before, now) = (within(&beside.edits), within(edits));
    let same = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
    let first = [before.get(same), now.get(same)].into_iter().flatten().map(|edit| edit.0).min()?;
    Some(RewriteReport { item: common, first_changed: first })
}

/// Looks at what the agent did since the request before, and notes what this one cuts.
fn watched(
    reading: &Reading<'_>,
    conversation: &Conversation,
    met: &Met,
    compaction: &Compaction<'_>,
    new_sweeps: usize,
) -> (Watch, Vec<Returned>) {
    let (sent, report) = (&conversation.sent, compaction.report());
    let is_first = sent.chain.len() == 0;
    let is_again = is_again(reading, sent);
    let request = sent.requests + u64::from(!is_again);
    let mut watch = sent.watch.clone();
    // The first body that is seen is all old: nothing in it happened after a cut of ours.
    let new_from = if is_first { reading.chain.len() } else { sent.chain.len() };
    let returned = watch.look(reading.transcript(), new_from, request);
    if is_first && met.was_cut_elsewhere && (new_sweeps == 0 || report.sweeps.len() > new_sweeps) {
        watch.note_old(compaction.edits());
    }
    let saved = report.tokens.before.saturating_sub(report.tokens.after);
    watch.note(reading.transcript(), compaction.edits(), if is_again { 0 } else { saved }, request);
    (watch, returned)
}

/// Counts the sweeps that no request before this one saw.
fn new_sweeps(reading: &Reading<'_>, sent: &Sent, report: &Report) -> usize {
    if sent.chain.len() > 0 {
        return report.sweeps.len().saturating_sub(sent.sweeps);
    }
    // Of a conversation that is first met, those since the model's newest words: earlier ones were seen elsewhere.
    let newest = newest_of_model(reading);
    let is_new = |point: u32| newest.is_none_or(|newest| usize::try_from(point).is_ok_and(|point| point > newest));
    report.sweeps.iter().filter(|sweep| is_new(sweep.request_point)).count()
}

/// Holds the edits of what was sent before against those that are sent now.
fn prefix(sent: &Sent, met: &Met, edits: &[(u32, u128)], report: &Report) -> Prefix {
    let was_sent = |edit: &&(u32, u128)| usize::try_from(edit.0).is_ok_and(|item| item < sent.chain.len());
    let is_same = match met.whole {
        0 => sent.edits.iter().eq(edits.iter().filter(was_sent)),
        _ => !is_first_cut_of_whole(met, edits),
    };
    let is_first = sent.chain.len() == 0;
    let is_kept = is_same && report.client_rewrote.is_none() && !(is_first && report.rebase.is_some());
    let is_declared = report.sweeps.len() > sent.sweeps || report.rebase.is_some() || report.client_rewrote.is_some();
    match (is_kept, is_declared) {
        (true, _) => Prefix::Kept,
        (false, true) => Prefix::Declared,
        (false, false) => Prefix::Undeclared,
    }
}

/// What an edit puts in place of its item, in short.
fn stands_for(edit: &Edit) -> (u32, u128) {
    let mut hash = Xxh3::new();
    for splice in &edit.splices {
        // Not the place: a cache mark before it may have moved on.
        hash.update(&(splice.with.len() as u64).to_le_bytes());
        hash.update(splice.with.as_bytes());
    }
    (edit.item.0, hash.digest128())
}

fn why(error: &Error) -> Doubted {
    match error {
        _ if error.is_archive() => Doubted::Archive,
        Error::UnknownModel { .. } | Error::NoModel => Doubted::Model,
        _ => Doubted::Body,
    }
}
