//! Which edits does a body need? From items, counts and policy to a list of edits.
//!
//! Pure: the same items, limits and policy give the same plan; nothing is read or written elsewhere.

pub mod passages;
pub mod score;
mod arguments;
mod templates;
mod texts;
mod digest;
mod form;
mod ends;
mod pins;
mod state;
mod ways;
mod events;
mod desk;
mod protect;
mod media;
mod rules;
mod argument_step;
mod batches;
mod fold;
mod summary;
mod dispatch;
mod reasoning;
mod potential;
mod candidate;
mod fill;
mod shorten;
mod price;
mod liveness;
mod sweep;
mod shaping;
mod epochs;
mod edits;
mod survey;

pub use events::SessionEvent;
pub use state::State;
pub use survey::{SurveyItem, SurveyPassage};
pub use texts::PIN_MARKER;

use liveset_tokens::{Price, TokenCounter, Tokens};

use crate::{
    budget::Budget,
    counts::Counts,
    edit::Edit,
    error::Result,
    manifest::Original,
    policy::{Policy, SummaryKind},
    report::{SweepReport, Warning},
    summary::{NeedsSummary, SummaryAnswers},
    transcript::{ItemKind, Transcript},
};

/// What a plan works with.
pub struct Inputs<'p, 'a> {
    /// The body, read.
    pub transcript: &'p Transcript<'a>,
    /// Its sizes.
    pub counts: &'p Counts,
    /// The limits.
    pub budget: &'p Budget,
    /// What single requests told, in any order; `budget` is what holds before all of it.
    pub events: &'p [SessionEvent],
    /// The settings.
    pub policy: &'p Policy,
    /// What counts.
    pub counter: &'p dyn TokenCounter,
    /// What cached input costs.
    pub price: Price,
    /// Summaries that are known.
    pub answers: &'p SummaryAnswers,
}

/// Edits, and what there is to say about them.
#[derive(Debug)]
pub struct Plan {
    /// Changes in the order of items.
    pub edits: Vec<Edit>,
    /// Originals behind them.
    pub originals: Vec<Original>,
    /// Size of the body with the edits.
    pub tokens_after: Tokens,
    /// The limits that hold at the end.
    pub budget: Budget,
    /// Whether the body is within window less reserve.
    pub fit: Fit,
    /// Sweeps, oldest first.
    pub sweeps: Vec<SweepReport>,
    /// What deserves attention.
    pub warnings: Vec<Warning>,
    /// The first summary that a model could write and nobody answered: from its sweep on the plan stands on an extract, and
    /// is to be made again with the answer.
    pub needs: Option<NeedsSummary>,
    /// What was decided, to go on from when items are appended.
    pub state: State,
}

/// Whether a planned body fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It does.
    Fits,
    /// It does not: what holds the space.
    Over {
        /// One phrase with figures.
        why: String,
    },
}

/// Looks at a body as it stands: every item with its size, every result with its passages' scores.
///
/// # Errors
///
/// As [`plan`].
pub fn survey(inputs: &Inputs<'_, '_>) -> Result<Vec<SurveyItem>> {
    let desk = desk::Desk::new(inputs);
    survey::survey(&desk)
}

/// Plans a whole body.
///
/// # Errors
///
/// A string that a cut would need cannot be decoded.
pub fn plan(inputs: &Inputs<'_, '_>) -> Result<Plan> {
    resume(inputs, State::default())
}

/// Plans a body whose first items a state has already taken in.
///
/// # Errors
///
/// As [`plan`].
pub fn resume(inputs: &Inputs<'_, '_>, mut state: State) -> Result<Plan> {
    let timeline = events::Timeline::of(*inputs.budget, inputs.events);
    let mut desk = desk::Desk::new(inputs);
    epochs::walk(&mut desk, &mut state, &timeline)?;
    let (edits, originals) = edits::edits(&desk, &mut state)?;
    let mut warnings = warnings(&desk, &state);
    if !edits.is_empty() {
        warnings.extend(desk.ways.warning());
    }
    let sweeps = state.sweeps.iter().map(|sweep| SweepReport {
        request_point: sweep.point.0,
        tokens_before: sweep.before.0,
        tokens_after: sweep.after.0,
        break_even_requests: sweep.break_even,
    });
    Ok(Plan {
        edits,
        originals,
        tokens_after: state.view,
        budget: desk.budget,
        fit: fit(&desk, &state)?,
        sweeps: sweeps.collect(),
        warnings,
        needs: desk.needs.take(),
        state,
    })
}

fn fit(desk: &desk::Desk<'_, '_>, state: &State) -> Result<Fit> {
    let room = desk.budget.room;
    if state.view <= room {
        return Ok(Fit::Fits);
    }
    if state.fixed > room {
        let why = format!("tools and system alone hold {} tokens, window less reserve is {}", state.fixed.0, room.0);
        return Ok(Fit::Over { why });
    }
    let mut why = format!("{} tokens are left, window less reserve is {}", state.view.0, room.0);
    let pins = protect::pins(desk, state)?;
    if let Some(why) = pinned_alone(desk, state, &pins)? {
        return Ok(Fit::Over { why });
    }
    let held = pins.iter().max_by_key(|(at, _)| state.results.get(**at).map(|result| result.tokens));
    if let Some((&at, pin)) = held {
        let tokens = state.results.get(at).map_or(0, |result| result.tokens.0);
        if tokens > room.0 / 10 {
            let tool = &desk.texts(at)?.name.tool;
            why.push_str(&format!(
                "; the largest result that must stay is of `{tool}`, {tokens} tokens ({})",
                pin.name()
            ));
        }
    }
    if let Some((kind, tokens)) = largest_kind(desk) {
        why.push_str(&format!("; most of what no rule may cut is {kind}, {tokens} tokens"));
    }
    Ok(Fit::Over { why })
}

/// Pins that are named where they alone do not fit: the largest.
const NAMED_PINS: usize = 3;

/// Says which pins hold the space, if with tools and system they alone are over the room.
fn pinned_alone(
    desk: &desk::Desk<'_, '_>,
    state: &State,
    pins: &std::collections::BTreeMap<usize, pins::Pin>,
) -> Result<Option<String>> {
    let room = desk.budget.room;
    let size = |at: usize| state.results.get(at).map_or(0, |result| result.tokens.0);
    let total: u64 = pins.keys().map(|&at| size(at)).sum();
    if total.saturating_add(state.fixed.0) <= room.0 {
        return Ok(None);
    }
    let mut largest: Vec<_> = pins.iter().map(|(&at, pin)| (size(at), at, pin.name())).collect();
    largest.sort_by_key(|&(tokens, at, _)| (std::cmp::Reverse(tokens), at));
    let mut named = Vec::new();
    for &(tokens, at, name) in largest.iter().take(NAMED_PINS) {
        let Some(result) = state.results.get(at) else { continue };
        let id = desk.id(desk.item(result.item)?.answer().and_then(|answer| answer.id)).unwrap_or_default();
        named.push(format!("{} of `{}`, {tokens} tokens ({name})", protect::shown(&id), desk.texts(at)?.name.tool));
    }
    let rest = largest.len().saturating_sub(NAMED_PINS);
    let rest = if rest == 0 { String::new() } else { format!(", and {rest} smaller") };
    let (count, fixed) = (largest.len(), state.fixed.0);
    Ok(Some(format!(
        "{count} pinned results alone hold {total} tokens beside {fixed} of tools and system, window less reserve is {}: {}{rest}",
        room.0,
        named.join("; ")
    )))
}

fn largest_kind(desk: &desk::Desk<'_, '_>) -> Option<(&'static str, u64)> {
    let mut sums = std::collections::BTreeMap::new();
    for (at, item) in desk.transcript.items.iter().enumerate() {
        let name = match item.kind {
            ItemKind::User => "user text",
            ItemKind::Assistant => "assistant text",
            ItemKind::Reasoning => "reasoning",
            ItemKind::ToolCall => "call arguments",
            ItemKind::System => "system text",
            ItemKind::Media => "pictures and documents",
            ItemKind::Opaque => "items of unknown kinds",
            ItemKind::ToolResult => continue,
        };
        *sums.entry(name).or_insert(0) += desk.counts.item(crate::transcript::ItemIdx(u32::try_from(at).ok()?)).0;
    }
    sums.into_iter().max_by_key(|&(_, tokens)| tokens)
}

fn warnings(desk: &desk::Desk<'_, '_>, state: &State) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(risk) = state.at_risk() {
        let (edit, last) = (risk.edit.0, risk.last.0);
        let text = format!(
            "signed reasoning up to item {last} follows an edit of item {edit}: some models reject or drop it \
             (wire-formats, section 0a)"
        );
        warnings.push(Warning::new("reasoning_at_risk", text));
    }
    warnings.extend(protect::pin_warnings(desk, state));
    if edits::loses_mark(desk, state) {
        let text = "what was left out held a cache mark, and no earlier block may carry it";
        warnings.push(Warning::new("mark_lost", text));
    }
    for why in &state.fallbacks {
        let text = format!("an extract stands where a model's summary was meant to: {why}");
        warnings.push(Warning::new("summary_fallback", text));
    }
    if recommends_summary(desk, state) {
        let text = "most of what is left is what the agent said and thought: a summary would earn its keep \
                    (`summary.kind`)";
        warnings.push(Warning::new("summary_recommended", text));
    }
    let over_trigger = state.view > desk.budget.trigger && state.view <= desk.budget.room;
    let held = match state.held {
        state::Held::Reasoning => {
            Some(("waits_for_user", "signed reasoning follows what would go: the sweep waits for the user's next text"))
        }
        state::Held::TooLittle => Some(("gain_too_small", "a sweep would free less than `min_sweep_gain`")),
        state::Held::No if over_trigger => {
            Some(("floor_above_trigger", "nothing more may go, and the view stays over the trigger"))
        }
        state::Held::No => None,
    };
    if let Some((code, text)) = held {
        warnings.push(Warning::new(code, text));
    }
    if desk.policy.archive == crate::policy::ArchiveUse::Off
        && state.results.iter().any(|result| result.change.as_ref().is_some_and(|change| change.step.is_none()))
    {
        warnings
            .push(Warning::new("cut_without_archive", "a result was cut at intake and no archive keeps the original"));
    }
    warnings
}

/// Says whether reasoning and assistant text take more than half of a view that stays over the trigger after its sweeps,
/// and no step may take them.
fn recommends_summary(desk: &desk::Desk<'_, '_>, state: &State) -> bool {
    if desk.policy.summary.kind != SummaryKind::None
        || !desk.is_over_trigger(state)
        || state.held == state::Held::Reasoning
    {
        return false;
    }
    let said = (0..).map(crate::transcript::ItemIdx).zip(&desk.transcript.items).take(state.items);
    let said = said.filter(|(idx, item)| {
        let is_said = matches!(item.kind, ItemKind::Assistant | ItemKind::Reasoning);
        is_said && !state.is_dropped(item) && !state.thoughts.contains_key(idx)
    });
    said.map(|(idx, _)| desk.counts.item(idx).0).sum::<u64>() > state.view.0 / 2
}
