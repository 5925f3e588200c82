//! Is a result over a limit when it is first seen, and in which form does it leave then?
//!
//! Asks the result, its call and the policy alone, so the same bytes leave on every later request (laws 5 and 6).

use liveset_tokens::Tokens;

use super::{
    desk::Desk,
    ends::{Borders, Chars, Measure, keep_ends},
    form::{Form, Removed},
    protect,
    state::{Change, State},
    texts::ResultTexts,
};
use crate::{
    content,
    error::Result,
    intake::Request,
    policy::Shape,
    report::EditKind,
    tools::{self, ToolClass},
    transcript::{Editing, ErrorFlag, Item},
};

/// Characters that the gaps of a result over the hard limit may take.
const GAP_CHARS: u64 = 300;

/// Shapes a result that is over a limit of the policy for its tool or file, or over the hard limit.
pub(crate) fn take_in(desk: &Desk<'_, '_>, state: &mut State, ordinal: usize, item: &Item) -> Result<()> {
    let limit = desk.policy.intake_limit();
    let bytes: u64 = item.texts.iter().map(|text| text.len() as u64).sum();
    let editable = item.answer().is_some_and(|answer| answer.editing == Editing::Free);
    if !editable || (bytes <= limit && !may_shape(desk, bytes)) || protect::is_lasting(desk, state, ordinal)? {
        return Ok(());
    }
    let texts = desk.texts(ordinal)?;
    // Who asked for an original is to read it; it is never cut in part.
    if texts.is_recall {
        return Ok(());
    }
    let path = path_of(desk, item)?;
    let names = [texts.name.tool.as_str(), tools::without_server(&texts.name.tool)];
    let shape = desk.policy.shape(&names, path.as_deref());
    // What arrives with our gaps is as it was sent once; the agent's plan is never in parts.
    let shape = shape.filter(|_| !texts.arrives_cut && !tools::is_plan_tool(&texts.name.tool));
    let (form, reason) = match shape {
        Some(shape) => {
            let shape = Shape { max_chars: shape.max_chars.min(limit), ..shape };
            let failed = item.answer().is_some_and(|answer| answer.error == ErrorFlag::Set);
            shaped(texts, &shape, path.as_deref(), failed)
        }
        None if bytes <= limit => return Ok(()),
        None => (hard(texts, limit), format!("over the hard limit of {limit} characters")),
    };
    let (Form::Cut(pieces) | Form::Shaped(pieces)) = &form else { return Ok(()) };
    if pieces.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let Some(original) = state.results.get(ordinal).map(|result| result.original) else { return Ok(()) };
    let tokens = desk.size(ordinal, &form, original)?;
    if tokens.0 + desk.policy.min_gain > original.0 {
        return Ok(());
    }
    state.set(ordinal, form, Tokens(tokens.0), Change { kind: EditKind::Shorten, step: None, reason });
    Ok(())
}

/// Says whether any row of the policy could shape a result of so many bytes.
fn may_shape(desk: &Desk<'_, '_>, bytes: u64) -> bool {
    desk.policy.intake.least_chars(desk.policy.preset).is_some_and(|least| bytes > least)
}

/// Gives the path of the file that a result's call names, if it names one.
fn path_of(desk: &Desk<'_, '_>, item: &Item) -> Result<Option<String>> {
    let Some(call) = item.answer().and_then(|answer| answer.call) else { return Ok(None) };
    let Some(call) = desk.item(call)?.call() else { return Ok(None) };
    let known = |word: &str| content::named_kind(word).map(|_| word.to_owned());
    Ok(tools::named_path(desk.transcript, call).or_else(|| tools::find_word(desk.transcript, call, known)))
}

/// Keeps both ends of what is over the hard limit, each part by its share.
fn hard(texts: &ResultTexts<'_>, limit: u64) -> Form {
    let sizes: Vec<u64> = texts.parts.iter().map(|part| Chars.size(&part.text)).collect();
    let chars: u64 = sizes.iter().sum();
    if chars <= limit {
        return Form::Whole;
    }
    let room = limit.saturating_sub(GAP_CHARS);
    let removed: Vec<Vec<Removed>> = texts
        .parts
        .iter()
        .zip(&sizes)
        .map(|(part, &size)| keep_ends(part, share(room, size, chars), Borders::Passages, &Chars))
        .collect();
    Form::Cut(removed)
}

/// Shapes each part by what it is, within its share of the limits.
fn shaped(texts: &ResultTexts<'_>, shape: &Shape, path: Option<&str>, failed: bool) -> (Form, String) {
    let sizes: Vec<u64> = texts.parts.iter().map(|part| Chars.size(&part.text)).collect();
    let chars: u64 = sizes.iter().sum();
    let mut kinds: Vec<&str> = Vec::new();
    let tells_of_a_run = failed || texts.name.class == ToolClass::Execution;
    let mut removed: Vec<Vec<Removed>> = Vec::with_capacity(texts.parts.len());
    for (part, &size) in texts.parts.iter().zip(&sizes) {
        let lines = share(shape.max_lines, u64::from(part.lines), u64::from(texts.lines));
        let shape = Shape { max_chars: share(shape.max_chars, size, chars), max_lines: lines, ..*shape };
        let kind = content::recognise(&part.text, path);
        let request = Request { text: &part.text, kind, shape, tells_of_a_run, route: &texts.route };
        removed.push(request.pieces());
        if removed.last().is_some_and(|pieces| !pieces.is_empty()) && !kinds.contains(&kind.name()) {
            kinds.push(kind.name());
        }
    }
    let reason = format!("{} over a limit of intake, by strategy `{}`", kinds.join(" and "), shape.strategy.name());
    (Form::Shaped(removed), reason)
}

fn share(room: u64, size: u64, of: u64) -> u64 {
    let share = u128::from(room) * u128::from(size) / u128::from(of.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}
