//! What would others send? Strategies behind one trait: a body in, the body that leaves out, with state per conversation.
//!
//! `presets` are ours through the published library; the others are the plain rules that agents and frameworks ship, each
//! as its own documentation states it. None calls a model, and each keeps calls and results paired.

mod body;
mod clearing;
mod command;
mod dropping;
mod keeping;
mod presets;
mod pruning;

pub(crate) use body::Scale;

use std::sync::Arc;

use liveset::{Preset, WireFormat};

use crate::retention::{Evidence, Keeping};

/// A request that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// The body that leaves.
    pub body: Vec<u8>,
    /// Whether the strategy says that what it sent before has changed.
    pub is_declared: bool,
    /// Sweeps since the last request, where the strategy counts them itself.
    pub sweeps: usize,
}

impl Sent {
    pub(crate) fn plain(body: Vec<u8>) -> Self {
        Self { body, is_declared: false, sweeps: 0 }
    }
}

/// Why a strategy gave no body.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The body is not of its format.
    #[error(transparent)]
    Body(#[from] liveset_engine::Error),
    /// Our own library refused.
    #[error(transparent)]
    Liveset(#[from] liveset::Error),
    /// The command could not be run.
    #[error("the command of `exec:` failed: {0}")]
    Command(std::io::Error),
    /// The command ended with a failure.
    #[error("the command of `exec:` ended with {0}")]
    Ended(std::process::ExitStatus),
}

/// A way to make bodies fit.
pub trait Strategy {
    /// Gives the body that leaves in place of the conversation's next one.
    ///
    /// # Errors
    /// See [`Error`].
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error>;
}

/// What a strategy is made for.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Dialect of the bodies.
    pub format: WireFormat,
    /// Tokens of a request at most, reserve taken off.
    pub window_tokens: u64,
    /// What the histories of the conversation hold, for strategies of the study's tables.
    pub histories: Vec<Arc<Evidence>>,
    /// Seed of strategies that draw.
    pub seed: u64,
}

/// A strategy by its name.
///
/// ```
/// use liveset_eval::strategies::Choice;
/// assert_eq!(Choice::named("balanced").map(|choice| choice.name()), Some("balanced".to_owned()));
/// assert_eq!(Choice::named("exec:cat").map(|choice| choice.name()), Some("exec:cat".to_owned()));
/// assert!(Choice::named("no-such-thing").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// What really happened.
    Trace,
    /// A preset of ours.
    Preset(Preset),
    /// A policy of the study's tables, at our trigger and target.
    Keeping(Keeping),
    /// Clears all results but the newest three when the trigger is passed, if that frees enough.
    KeepLastThree,
    /// Masks all results but those of the newest five messages, at each request.
    MaskAllButFive,
    /// Prunes results behind the newest 40,000 tokens of them, once that frees 20,000.
    ProtectAndPrune,
    /// Drops the oldest messages at each request, as far as needed.
    SlidingWindow,
    /// Drops the oldest messages in one batch when the trigger is passed.
    DropOldest,
    /// Hands each body to a command.
    Command(String),
}

/// Begins the names of strategies that are commands.
const COMMAND: &str = "exec:";

impl Choice {
    /// Lists all that have a fixed name.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Trace];
        all.extend(Preset::ALL.map(Self::Preset));
        all.extend([Self::KeepLastThree, Self::MaskAllButFive, Self::ProtectAndPrune, Self::SlidingWindow]);
        all.push(Self::DropOldest);
        all.extend(Keeping::ALL.map(Self::Keeping));
        all
    }

    /// Finds a strategy by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name.strip_prefix(COMMAND) {
            Some(line) => Some(Self::Command(line.to_owned())),
            None => Self::all().into_iter().find(|choice| choice.name() == name),
        }
    }

    /// Gives the name that flags and tables use.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Trace => "trace".to_owned(),
            Self::Preset(preset) => format!("{preset:?}").to_lowercase(),
            Self::Keeping(keeping) => keeping.name().to_owned(),
            Self::KeepLastThree => "clear-keep-3".to_owned(),
            Self::MaskAllButFive => "mask-last-5".to_owned(),
            Self::ProtectAndPrune => "protect-prune".to_owned(),
            Self::SlidingWindow => "sliding-window".to_owned(),
            Self::DropOldest => "drop-oldest".to_owned(),
            Self::Command(line) => format!("{COMMAND}{line}"),
        }
    }

    /// Makes the strategy for one conversation.
    #[must_use]
    pub fn start(&self, setting: &Setting) -> Box<dyn Strategy> {
        match self {
            Self::Trace => Box::new(Unchanged),
            Self::Preset(preset) => Box::new(presets::Ours::new(*preset, setting)),
            Self::Keeping(keeping) => Box::new(keeping::ByTable::new(*keeping, setting)),
            Self::KeepLastThree => Box::new(clearing::KeepLast::new(setting)),
            Self::MaskAllButFive => Box::new(clearing::Masking::new(setting)),
            Self::ProtectAndPrune => Box::new(pruning::ProtectAndPrune::new(setting)),
            Self::SlidingWindow => Box::new(dropping::Dropping::sliding(setting)),
            Self::DropOldest => Box::new(dropping::Dropping::batched(setting)),
            Self::Command(line) => Box::new(command::Piped::new(line)),
        }
    }
}

/// Sends what came.
struct Unchanged;

impl Strategy for Unchanged {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        Ok(Sent::plain(body.to_vec()))
    }
}
