//! What has happened so far? The units of a run, each as it stands on the wire, with its size and its facts.

use liveset_engine::{counts::Counts, json::Outline, transcript::WireFormat, wire};
use liveset_tokens::{CountCache, o200k};
use serde_json::Value;

use super::{atom::Atom, body, entity::Entity, tool::Tool};

/// One call with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The tool; `None` of a name that no tool has.
    pub tool: Option<Tool>,
    /// The name that was called.
    pub name: String,
    /// The arguments, as JSON text.
    pub arguments: String,
    /// What came back.
    pub answer: String,
}

impl Call {
    /// Puts a call and its answer together.
    #[must_use]
    pub fn new(tool: Tool, argument: &str, answer: String) -> Self {
        let arguments = serde_json::json!({tool.argument(): argument}).to_string();
        Self { tool: Some(tool), name: tool.name().to_owned(), arguments, answer }
    }
}

/// A fact and the turn in which it was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observation {
    /// The fact.
    pub atom: Atom,
    /// When.
    pub turn: u64,
}

/// An assistant message with its calls and their answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unit {
    /// The turn in which it was made.
    pub turn: u64,
    /// What the agent said.
    pub prose: String,
    /// What it called.
    pub calls: Vec<Call>,
    /// Its messages as they stand in the body, parted by commas.
    pub wire: String,
    /// Their size in o200k tokens.
    pub tokens: u64,
}

/// The units of a run so far, oldest first, in one wire format.
#[derive(Clone, Debug)]
pub struct Trajectory {
    format: WireFormat,
    units: Vec<Unit>,
    observed: Vec<Observation>,
}

impl Trajectory {
    /// Starts without a unit.
    #[must_use]
    pub fn new(format: WireFormat) -> Self {
        Self { format, units: Vec::new(), observed: Vec::new() }
    }

    /// Gives the wire format.
    #[must_use]
    pub fn format(&self) -> WireFormat {
        self.format
    }

    /// Gives the units, oldest first.
    #[must_use]
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Gives all that answers of the world told so far, in order.
    #[must_use]
    pub fn observed(&self) -> &[Observation] {
        &self.observed
    }

    /// Gives the size of all units.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.units.iter().map(|unit| unit.tokens).sum()
    }

    /// Adds what happened in a turn.
    pub fn push(&mut self, turn: u64, prose: String, calls: Vec<Call>) {
        let of_world = calls.iter().filter(|call| call.tool != Some(Tool::Recall));
        let answers = of_world.filter_map(|call| serde_json::from_str::<Value>(&call.answer).ok());
        let atoms = answers.flat_map(|answer| Atom::of_answer(&answer));
        self.observed.extend(atoms.map(|atom| Observation { atom, turn }));
        let wire = body::unit(self.format, turn, &prose, &calls);
        let tokens = messages_tokens(self.format, &wire);
        self.units.push(Unit { turn, prose, calls, wire, tokens });
    }
}

/// Gives the size of messages as they stand on the wire, without what a request costs by itself.
#[must_use]
pub(super) fn messages_tokens(format: WireFormat, messages: &str) -> u64 {
    body_tokens(format, format!("{{\"messages\":[{messages}]}}").as_bytes())
}

/// Gives the size of a body without what a request costs by itself and without its tools.
#[must_use]
pub(super) fn body_tokens(format: WireFormat, body: &[u8]) -> u64 {
    let counted = || -> liveset_engine::Result<u64> {
        let outline = Outline::read(body)?;
        let transcript = wire::read(format, &outline)?;
        let counts = Counts::of(&transcript, o200k(), &mut CountCache::default())?;
        Ok(counts.total().0.saturating_sub(counts.request().0))
    };
    // What no reader of ours can read was written by a command from outside: its length stands for it.
    counted().unwrap_or(body.len() as u64 / 4)
}

/// Gives the newest fact of each key, oldest first.
#[must_use]
pub(super) fn newest<'o>(observed: impl IntoIterator<Item = &'o Observation>) -> Vec<Observation> {
    let mut kept: Vec<Observation> = Vec::new();
    for observation in observed {
        kept.retain(|other| other.atom.key() != observation.atom.key());
        kept.push(observation.clone());
    }
    kept
}

/// Leaves out what no longer matters: all that is known of a done task but that it is done.
#[must_use]
pub(super) fn live(observed: Vec<Observation>) -> Vec<Observation> {
    let done: Vec<Entity> = observed
        .iter()
        .filter_map(|observation| match observation.atom {
            Atom::Done { task } => Some(task),
            Atom::Info { .. }
            | Atom::Dependency { .. }
            | Atom::Resource { .. }
            | Atom::Order { .. }
            | Atom::Hold { .. }
            | Atom::Fail { .. } => None,
        })
        .collect();
    let is_over = |atom: &Atom| match atom {
        Atom::Info { task, .. }
        | Atom::Dependency { task, .. }
        | Atom::Order { task, .. }
        | Atom::Fail { task, .. } => done.contains(task),
        Atom::Done { .. } | Atom::Resource { .. } | Atom::Hold { .. } => false,
    };
    observed.into_iter().filter(|observation| !is_over(&observation.atom)).collect()
}
