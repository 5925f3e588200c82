//! What does a cut cost an agent that works? A small world to schedule tasks in, operators that cut the agent's context
//! before every model call, and the calls it makes to get back what was cut.
//!
//! Modules stand in the order of a run: a *world* and what it hides, the *tools* that ask it, the *loop* that rebuilds
//! the context as real request bodies before each turn, the *conditions* that cut them, an *agent*, and the *matrix* of
//! runs with its tables. All of it is a function of the seed; only an agent that asks a model is not.
//!
//! Two classes of state are told apart throughout: **D**, which a look-up returns again, and **R**, which only a refused
//! execution reveals.

mod error;
mod entity;
mod stream;
mod world;
mod hidden;
mod tool;
mod environment;
mod walks;
mod atom;
mod trajectory;
mod body;
mod view;
mod notebook;
mod agent;
mod condition;
mod retention;
mod operator;
mod presets;
mod rivals;
mod run;
mod matrix;
mod plan;
pub mod report;

pub use agent::{Habit, Profile, Reply, answer};
pub use atom::{Atom, AtomKind, Availability, StateClass, Until};
pub use body::{Context, Frame, REFERENCE_MODEL, SYSTEM_PROMPT, TASK_STATEMENT, turn_message, with_turn};
pub use condition::{Cap, Condition, DigestOf, Picks, PresetName, Ratio, Recalling, Restored, Timing};
pub use entity::Entity;
pub use environment::{Answered, Environment, Refusal};
pub use error::{Error, Result};
pub use hidden::{Hidden, Hold, OrderRule, Release};
pub use matrix::{Cell, MatrixOptions, Played, SEEDS, baseline, every_condition, play};
pub use operator::COMPACTION_TURN;
pub use plan::{Plan, Verdict};
pub use retention::{Coverage, DIGEST_TITLE};
pub use run::{EndReason, LoggedCall, LoggedTurn, Run, RunOptions, TURNS, run};
pub use stream::stream;
pub use tool::{CallClass, Tool};
pub use trajectory::{Call, Observation, Trajectory, Unit};
pub use view::{Seen, View};
pub use walks::{WorldDefect, check_world};
pub use world::{RESOURCES, Regime, TASKS, Task, World};
