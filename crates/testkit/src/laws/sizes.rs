//! Laws 9 and 10: figures are true, and an edit is never a loss.

use super::outcome::Outcome;

/// Checks law 9: the figures equal a recount, and the edits' figures add up to the difference.
///
/// `recount` is the counter that decided, applied to a whole body.
///
/// # Errors
/// Says which figure is wrong.
pub fn law_honest_size(input: &[u8], outcome: &Outcome, recount: impl Fn(&[u8]) -> u64) -> Result<(), String> {
    let checks =
        [("before", outcome.tokens_before, recount(input)), ("after", outcome.tokens_after, recount(&outcome.body))];
    for (name, said, counted) in checks {
        if said != counted {
            return Err(format!("honest size: tokens {name} are said to be {said}, a recount gives {counted}"));
        }
    }
    let sum = |figure: fn(&super::outcome::ReportedEdit) -> u64| outcome.edits().iter().map(figure).sum::<u64>();
    let (before, after) = (sum(|edit| edit.tokens_before), sum(|edit| edit.tokens_after));
    if before.saturating_add(outcome.tokens_after) == after.saturating_add(outcome.tokens_before) {
        return Ok(());
    }
    let (saved, total) = (before.saturating_sub(after), outcome.tokens_before.saturating_sub(outcome.tokens_after));
    Err(format!("honest size: edits save {saved} tokens by their own figures, the body lost {total}"))
}

/// Checks law 10: the output is never larger, and each edit saves at least `min_gain` tokens; those of a folded run
/// or a summary save it together. Moved marks save nothing, and reasoning goes as it comes: a small block that stayed behind an edit would
/// be refused like a large one.
///
/// # Errors
/// Says which edit does not pay.
pub fn law_never_worse(
    input: &[u8],
    outcome: &Outcome,
    min_gain: u64,
    recount: impl Fn(&[u8]) -> u64,
) -> Result<(), String> {
    let (before, after) = (recount(input), recount(&outcome.body));
    if after > before {
        return Err(format!("never worse: {before} tokens became {after}"));
    }
    let (lines, others): (Vec<_>, Vec<_>) =
        outcome.edits().into_iter().partition(|edit| ["fold", "summary"].contains(&edit.kind.as_str()));
    runs(&lines, min_gain)?;
    for edit in others.iter().filter(|edit| edit.kind != "mark") {
        let least = if edit.kind == "reasoning" { 0 } else { min_gain };
        if edit.tokens_before < edit.tokens_after.saturating_add(least) {
            return Err(format!(
                "never worse: an edit of kind {} takes {} tokens to {}, which saves less than {least}",
                edit.kind, edit.tokens_before, edit.tokens_after
            ));
        }
    }
    Ok(())
}

/// The edits of a folded run, or a summary, are the units that went, which name their carrier, and the carrier, which alone
/// has something left.
fn runs(lines: &[super::outcome::ReportedEdit], min_gain: u64) -> Result<(), String> {
    let (carriers, gone): (Vec<_>, Vec<_>) = lines.iter().partition(|edit| edit.tokens_after > 0);
    for carrier in &carriers {
        let own: Vec<_> = gone.iter().filter(|edit| edit.carrier.is_some() && edit.carrier == carrier.item).collect();
        let before = carrier.tokens_before + own.iter().map(|edit| edit.tokens_before).sum::<u64>();
        if own.is_empty() || before < carrier.tokens_after.saturating_add(min_gain) {
            let (units, after) = (own.len(), carrier.tokens_after);
            return Err(format!("never worse: a run of {units} units and a carrier folds {before} tokens to {after}"));
        }
    }
    let is_carried = |edit: &&super::outcome::ReportedEdit| carriers.iter().any(|carrier| edit.carrier == carrier.item);
    match gone.iter().find(|edit| !is_carried(edit)) {
        Some(edit) => Err(format!("never worse: a unit at item {:?} was folded into nothing", edit.item)),
        None => Ok(()),
    }
}
