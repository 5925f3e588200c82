//! What came of one run? A seed, a regime and a condition, played turn by turn to its end.
//!
//! The context is rebuilt before every call; every call is kept with its turn.

use std::collections::BTreeMap;

use liveset_engine::transcript::WireFormat;
use serde::Serialize;

use super::{
    agent::{Profile, answer},
    body::{Context, Frame, with_turn},
    condition::{Condition, Picks, Ratio, Recalling},
    entity::Entity,
    environment::Environment,
    error::{Error, Result},
    operator::{self, COMPACTION_TURN, Moment, Retained},
    presets::PresetRun,
    retention::Coverage,
    rivals,
    tool::{CallClass, Tool},
    trajectory::{Call, Trajectory, Unit, body_tokens},
    view::View,
    world::{Regime, World},
};

/// Turns of a run, unless said otherwise.
pub const TURNS: u64 = 24;

/// How a run is played.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOptions {
    /// The agent's traits.
    pub profile: Profile,
    /// Turns.
    pub turns: u64,
    /// Wire format of the bodies.
    pub format: WireFormat,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { profile: Profile::STANDARD, turns: TURNS, format: WireFormat::OpenaiChat }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// All tasks are done.
    AllComplete,
    /// No turn is left.
    MaxTurns,
}

/// One call as it was logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LoggedCall {
    /// The tool's name.
    pub tool: &'static str,
    /// Its argument.
    pub argument: String,
    /// Its class.
    pub class: CallClass,
}

/// One turn as it was logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LoggedTurn {
    /// Its number, from 1.
    pub turn: u64,
    /// Tokens of all units so far.
    pub trajectory_tokens: u64,
    /// Tokens that stood in their place.
    pub delivered_tokens: u64,
    /// What was called, in order.
    pub calls: Vec<LoggedCall>,
}

/// A run and what came of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Run {
    /// The world's seed.
    pub seed: u64,
    /// Its regime.
    pub regime: Regime,
    /// The condition's name.
    pub condition: String,
    /// Tasks that are done.
    pub done: u64,
    /// Why it ended.
    pub end: EndReason,
    /// The calls that it needed at least, doubled: the tool budget.
    pub tool_budget: u64,
    /// What the digest of the retention family held.
    pub coverage: Option<Coverage>,
    /// The log.
    pub turns: Vec<LoggedTurn>,
}

impl Run {
    /// Counts calls of a class.
    #[must_use]
    pub fn calls(&self, class: CallClass) -> u64 {
        let calls = self.turns.iter().flat_map(|turn| &turn.calls);
        calls.filter(|call| call.class == class).count() as u64
    }

    /// Counts all calls of the world's tools: recall is a class of its own.
    #[must_use]
    pub fn tool_calls(&self) -> u64 {
        self.calls(CallClass::Retrieval) + self.calls(CallClass::Execution)
    }

    /// Gives the tasks done, in percent.
    #[must_use]
    pub fn completion(&self) -> f64 {
        self.done as f64 * 100.0 / f64::from(super::world::TASKS)
    }

    /// Says whether it stayed within the tool budget.
    #[must_use]
    pub fn is_within_budget(&self) -> bool {
        self.tool_calls() <= self.tool_budget
    }

    /// Gives the mean share of the trajectory that was delivered, over turns with a trajectory.
    #[must_use]
    pub fn delivered_share(&self) -> f64 {
        let shares: Vec<f64> = self
            .turns
            .iter()
            .filter(|turn| turn.trajectory_tokens > 0)
            .map(|turn| turn.delivered_tokens as f64 / turn.trajectory_tokens as f64)
            .collect();
        crate::stats::mean(&shares).unwrap_or(1.0)
    }
}

/// Plays a run of the reference agent.
///
/// ```
/// use liveset_eval::irbench::{Condition, EndReason, Regime, RunOptions, World, run};
/// let world = World::new(1, Regime::Low);
/// let played = run(&world, &Condition::Full, &RunOptions::default())?;
/// assert_eq!((played.done, played.end), (10, EndReason::AllComplete));
/// # Ok::<(), liveset_eval::irbench::Error>(())
/// ```
///
/// # Errors
///
/// A strategy fails, or hands out what is no body.
pub fn run(world: &World, condition: &Condition, options: &RunOptions) -> Result<Run> {
    let later = match condition {
        Condition::Retention(_, _, Picks::Hindsight) => looked_up_later(world, options)?,
        _ => BTreeMap::new(),
    };
    let mut environment = Environment::new(world);
    let mut trajectory = Trajectory::new(options.format);
    let mut cutter = Cutter::new(condition, options.format);
    let mut turns = Vec::new();
    let mut end = EndReason::MaxTurns;
    for turn in 1..=options.turns {
        let moment =
            Moment { trajectory: &trajectory, environment: &environment, turn, seed: world.seed(), later: &later };
        let (body, delivered_tokens) = cutter.cut(moment)?;
        let view = View::of(options.format, &with_turn(body, turn, options.turns)).map_err(Error::Body)?;
        let reply = answer(&view, &options.profile);
        let mut calls = Vec::with_capacity(reply.calls.len());
        let mut logged = Vec::with_capacity(reply.calls.len());
        for (tool, argument) in reply.calls {
            let text = match tool {
                Tool::Recall => cutter.recall(&argument),
                Tool::GetTaskInfo | Tool::CheckDependency | Tool::QueryResource | Tool::Execute => {
                    environment.call(tool, &argument, turn).text
                }
            };
            calls.push(Call::new(tool, &argument, text));
            logged.push(LoggedCall { tool: tool.name(), argument, class: tool.class() });
        }
        let trajectory_tokens = trajectory.tokens();
        turns.push(LoggedTurn { turn, trajectory_tokens, delivered_tokens, calls: logged });
        trajectory.push(turn, reply.prose, calls);
        if environment.is_complete() {
            end = EndReason::AllComplete;
            break;
        }
    }
    Ok(Run {
        seed: world.seed(),
        regime: world.regime(),
        condition: condition.to_string(),
        done: environment.done().len() as u64,
        end,
        tool_budget: 2 * world.reference_calls(),
        coverage: cutter.retained.coverage,
        turns,
    })
}

/// Counts what a run under sliding 5 x looks up after the compaction point.
fn looked_up_later(world: &World, options: &RunOptions) -> Result<BTreeMap<Entity, u64>> {
    let reference = run(world, &Condition::Sliding(Ratio::FIVE), options)?;
    let mut counts = BTreeMap::new();
    let after = reference.turns.iter().filter(|turn| turn.turn > COMPACTION_TURN);
    for call in after.flat_map(|turn| &turn.calls).filter(|call| call.class == CallClass::Retrieval) {
        if let Ok(entity) = call.argument.parse() {
            *counts.entry(entity).or_default() += 1;
        }
    }
    Ok(counts)
}

/// A condition with what it remembers of its run.
struct Cutter<'c> {
    condition: &'c Condition,
    frame: Frame,
    retained: Retained,
    preset: Option<PresetRun>,
}

impl<'c> Cutter<'c> {
    fn new(condition: &'c Condition, format: WireFormat) -> Self {
        let more: &[Tool] = match condition.recalling() {
            Recalling::Offered => &[Tool::Recall],
            Recalling::Absent => &[],
        };
        let preset = match condition {
            Condition::Preset(preset, _, recalling) => Some(PresetRun::new(*preset, *recalling)),
            _ => None,
        };
        Self { condition, frame: Frame::new(format, more), retained: Retained::default(), preset }
    }

    /// Gives the body to deliver, without its turn message, and the tokens that stand in the place of the units.
    fn cut(&mut self, moment: Moment<'_>) -> Result<(Vec<u8>, u64)> {
        match self.condition {
            Condition::Full => Ok(self.of_context(&operator::full(moment), moment)),
            Condition::FullRestored => {
                let context = operator::restoring(operator::full(moment), moment, super::condition::Restored::R);
                Ok(self.of_context(&context, moment))
            }
            Condition::Sliding(ratio) => Ok(self.of_context(&operator::sliding(moment, *ratio), moment)),
            Condition::Oracle(ratio, restored) => {
                let context = operator::restoring(operator::sliding(moment, *ratio), moment, *restored);
                Ok(self.of_context(&context, moment))
            }
            Condition::Summary(ratio, of, cap) => {
                Ok(self.of_context(&operator::summary(moment, *ratio, *of, *cap), moment))
            }
            Condition::Retention(timing, budget, picks) => {
                let context = operator::retention(moment, (*timing, *budget, *picks), &mut self.retained);
                Ok(self.of_context(&context, moment))
            }
            Condition::KeepLast(ratio) => Ok(self.of_units(&rivals::keep_last(moment, *ratio), moment)),
            Condition::KeepLastCount(count) => Ok(self.of_units(&rivals::cleared(moment, *count), moment)),
            Condition::Masking(count) => Ok(self.of_units(&rivals::masked(moment, *count), moment)),
            Condition::Protect(ratio) => Ok(self.of_units(&rivals::protected(moment, *ratio), moment)),
            Condition::Preset(_, ratio, _) => {
                let Some(preset) = &self.preset else { return Ok(self.of_context(&operator::full(moment), moment)) };
                let body = preset.body(moment, &self.frame, *ratio).map_err(Error::Strategy)?;
                Ok(self.of_body(body, moment))
            }
            Condition::Exec(ratio, command) => {
                let whole = self.frame.body(&operator::full(moment));
                let budget = ratio.of(moment.trajectory.tokens());
                let body = rivals::command(command, &whole, budget).map_err(|why| Error::command(command, &why))?;
                Ok(self.of_body(body, moment))
            }
        }
    }

    fn of_context(&self, context: &Context<'_>, moment: Moment<'_>) -> (Vec<u8>, u64) {
        let body = self.frame.body(context);
        if context.digest.is_none() && context.trailing.is_none() {
            return (body, context.units.iter().map(|unit| unit.tokens).sum());
        }
        self.of_body(body, moment)
    }

    fn of_units(&self, units: &[Unit], moment: Moment<'_>) -> (Vec<u8>, u64) {
        self.of_context(&Context { digest: None, units: units.iter().collect(), trailing: None }, moment)
    }

    fn of_body(&self, body: Vec<u8>, _: Moment<'_>) -> (Vec<u8>, u64) {
        let format = self.frame.format;
        let empty = body_tokens(format, &self.frame.body(&Context::default()));
        let tokens = body_tokens(format, &body).saturating_sub(empty);
        (body, tokens)
    }

    fn recall(&self, id: &str) -> String {
        self.preset.as_ref().map_or_else(|| "nothing is kept here".to_owned(), |preset| preset.recall(id))
    }
}
