//! What was learnt? Single facts, each with the class of state it belongs to, as one line that can be read back.
//!
//! Digests, oracle messages and an agent's own notes are made of these lines; a fact says nothing of where it came from.

use std::fmt;

use serde_json::Value;

use super::entity::Entity;

/// Which class of state a fact belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub enum StateClass {
    /// A look-up returns it again.
    D,
    /// Only a refused execution reveals it.
    R,
}

/// What a fact is about: of each only the newest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AtomKind {
    /// What a task requires and needs.
    Info,
    /// That a task is done.
    Done,
    /// What a task still waits for.
    Dependency,
    /// Whether a resource is free.
    Resource,
    /// The task that another must follow.
    Order,
    /// Until when a resource is held.
    Hold,
    /// That attempts at a task fail.
    Fail,
}

impl AtomKind {
    /// Says which class of state it belongs to.
    #[must_use]
    pub fn class(self) -> StateClass {
        match self {
            Self::Info | Self::Done | Self::Dependency | Self::Resource => StateClass::D,
            Self::Order | Self::Hold | Self::Fail => StateClass::R,
        }
    }
}

/// Whether a resource can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Free,
    /// It cannot.
    Held,
}

/// When a hold ends, as a refusal tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// In this turn.
    Turn(u64),
    /// When this task is done.
    Done(Entity),
}

/// One fact.
///
/// ```
/// use liveset_eval::irbench::{Atom, Entity};
/// let atom = Atom::Order { task: Entity::task(3), after: Entity::task(7) };
/// assert_eq!(atom.to_string(), "T03 only after T07");
/// assert_eq!(Atom::of_line("T03 only after T07"), Some(atom));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// What a task requires and needs.
    Info {
        /// The task.
        task: Entity,
        /// Tasks that go before it.
        requires: Vec<Entity>,
        /// The resource that it uses.
        needs: Option<Entity>,
    },
    /// That a task is done.
    Done {
        /// The task.
        task: Entity,
    },
    /// What a task waited for in a turn.
    Dependency {
        /// The task.
        task: Entity,
        /// Required tasks that were not done.
        unmet: Vec<Entity>,
        /// When.
        turn: u64,
    },
    /// Whether a resource was free in a turn.
    Resource {
        /// The resource.
        resource: Entity,
        /// What it was.
        state: Availability,
        /// When.
        turn: u64,
    },
    /// The task that another must follow.
    Order {
        /// The task that is refused.
        task: Entity,
        /// The one that goes first.
        after: Entity,
    },
    /// Until when a resource is held.
    Hold {
        /// The resource.
        resource: Entity,
        /// Its release.
        until: Until,
    },
    /// That attempts at a task fail.
    Fail {
        /// The task.
        task: Entity,
        /// Attempts that will still fail.
        left: u64,
    },
}

impl Atom {
    /// Gives what it is about: a newer fact with the same key takes its place.
    #[must_use]
    pub fn key(&self) -> (AtomKind, Entity) {
        match self {
            Self::Info { task, .. } => (AtomKind::Info, *task),
            Self::Done { task } => (AtomKind::Done, *task),
            Self::Dependency { task, .. } => (AtomKind::Dependency, *task),
            Self::Resource { resource, .. } => (AtomKind::Resource, *resource),
            Self::Order { task, .. } => (AtomKind::Order, *task),
            Self::Hold { resource, .. } => (AtomKind::Hold, *resource),
            Self::Fail { task, .. } => (AtomKind::Fail, *task),
        }
    }

    /// Says which class of state it belongs to.
    #[must_use]
    pub fn class(&self) -> StateClass {
        self.key().0.class()
    }

    /// Reads a line that holds one fact and nothing else.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let (name, said) = line.trim().split_once(' ')?;
        let name: Entity = name.parse().ok()?;
        if said == "is done" {
            return Some(Self::Done { task: name });
        }
        if let Some(rest) = said.strip_prefix("requires ") {
            let (requires, needs) = rest.split_once(", needs ")?;
            let needs = if needs == NOTHING { None } else { Some(needs.parse().ok()?) };
            return Some(Self::Info { task: name, requires: names(requires)?, needs });
        }
        if let Some(rest) = said.strip_prefix("waits for ") {
            let (unmet, turn) = turned(rest)?;
            return Some(Self::Dependency { task: name, unmet: names(unmet)?, turn });
        }
        if let Some(after) = said.strip_prefix("only after ") {
            return Some(Self::Order { task: name, after: after.parse().ok()? });
        }
        if let Some(until) = said.strip_prefix("is held until ") {
            return Some(Self::Hold { resource: name, until: Until::of(until)? });
        }
        if let Some(left) = said.strip_prefix("fails, times left: ") {
            return Some(Self::Fail { task: name, left: left.parse().ok()? });
        }
        let (state, turn) = turned(said)?;
        let state = match state {
            "is free" => Availability::Free,
            "is held" => Availability::Held,
            _ => return None,
        };
        Some(Self::Resource { resource: name, state, turn })
    }

    /// Reads the facts of an answer of the world.
    ///
    /// ```
    /// use liveset_eval::irbench::{Atom, Entity};
    /// let answer = serde_json::json!({"turn": 4, "task": "T03", "result": "refused", "reason": "order", "after": "T07"});
    /// assert_eq!(Atom::of_answer(&answer), [Atom::Order { task: Entity::task(3), after: Entity::task(7) }]);
    /// ```
    #[must_use]
    pub fn of_answer(answer: &Value) -> Vec<Self> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str);
        let name = |key: &str| text(key).and_then(|name| name.parse::<Entity>().ok());
        let list = |key: &str| -> Option<Vec<Entity>> {
            answer.get(key)?.as_array()?.iter().map(|name| name.as_str()?.parse().ok()).collect()
        };
        let turn = answer.get("turn").and_then(Value::as_u64);
        let mut atoms = Vec::new();
        if let (Some(task), Some(requires)) = (name("task"), list("requires")) {
            atoms.push(Self::Info { task, requires, needs: name("needs") });
        }
        if let (Some(task), Some(unmet), Some(turn)) = (name("task"), list("unmet"), turn) {
            atoms.push(Self::Dependency { task, unmet, turn });
        }
        if let (Some(task), true) = (name("task"), text("status") == Some("done") || is_done(text("result"))) {
            atoms.push(Self::Done { task });
        }
        let state = match text("state") {
            Some("free") => Some(Availability::Free),
            Some("held") => Some(Availability::Held),
            _ => text("until").map(|_| Availability::Held),
        };
        if let (Some(resource), Some(state), Some(turn)) = (name("resource"), state, turn) {
            atoms.push(Self::Resource { resource, state, turn });
        }
        if let (Some(task), Some(after)) = (name("task"), name("after")) {
            atoms.push(Self::Order { task, after });
        }
        if let (Some(resource), Some(until)) = (name("resource"), text("until").and_then(Until::of)) {
            atoms.push(Self::Hold { resource, until });
        }
        if let (Some(task), Some(left)) = (name("task"), answer.get("failures_left").and_then(Value::as_u64)) {
            atoms.push(Self::Fail { task, left });
        }
        atoms
    }
}

/// Stands where no name does.
const NOTHING: &str = "nothing";

fn is_done(result: Option<&str>) -> bool {
    matches!(result, Some("done" | "already done"))
}

fn names(text: &str) -> Option<Vec<Entity>> {
    if text == NOTHING {
        return Some(Vec::new());
    }
    text.split(' ').map(|name| name.parse().ok()).collect()
}

/// Parts what was said from the turn in which it held.
fn turned(text: &str) -> Option<(&str, u64)> {
    let (said, turn) = text.strip_suffix(')')?.rsplit_once(" (turn ")?;
    Some((said, turn.parse().ok()?))
}

impl Until {
    fn of(text: &str) -> Option<Self> {
        match text.strip_prefix("turn ") {
            Some(turn) => turn.parse().ok().map(Self::Turn),
            None => text.parse().ok().map(Self::Done),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(turn) => write!(f, "turn {turn}"),
            Self::Done(task) => write!(f, "{task}"),
        }
    }
}

/// Names parted by spaces.
struct Names<'n>(&'n [Entity]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_first() {
            None => f.write_str(NOTHING),
            Some((first, rest)) => {
                write!(f, "{first}")?;
                rest.iter().try_for_each(|name| write!(f, " {name}"))
            }
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Info { task, requires, needs } => {
                write!(f, "{task} requires {}, needs ", Names(requires))?;
                match needs {
                    None => f.write_str(NOTHING),
                    Some(needs) => write!(f, "{needs}"),
                }
            }
            Self::Done { task } => write!(f, "{task} is done"),
            Self::Dependency { task, unmet, turn } => write!(f, "{task} waits for {} (turn {turn})", Names(unmet)),
            Self::Resource { resource, state, turn } => {
                let state = match state {
                    Availability::Free => "free",
                    Availability::Held => "held",
                };
                write!(f, "{resource} is {state} (turn {turn})")
            }
            Self::Order { task, after } => write!(f, "{task} only after {after}"),
            Self::Hold { resource, until } => write!(f, "{resource} is held until {until}"),
            Self::Fail { task, left } => write!(f, "{task} fails, times left: {left}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_read_as_it_is_written() {
        let (task, other, resource) = (Entity::task(3), Entity::task(10), Entity::resource(2));
        let atoms = [
            Atom::Info { task, requires: vec![other, task], needs: Some(resource) },
            Atom::Info { task, requires: vec![], needs: None },
            Atom::Done { task },
            Atom::Dependency { task, unmet: vec![other], turn: 12 },
            Atom::Dependency { task, unmet: vec![], turn: 1 },
            Atom::Resource { resource, state: Availability::Free, turn: 3 },
            Atom::Resource { resource, state: Availability::Held, turn: 3 },
            Atom::Order { task, after: other },
            Atom::Hold { resource, until: Until::Turn(9) },
            Atom::Hold { resource, until: Until::Done(other) },
            Atom::Fail { task, left: 1 },
        ];
        for atom in atoms {
            assert_eq!(Atom::of_line(&atom.to_string()), Some(atom.clone()), "{atom}");
        }
        for wrong in ["", "T03", "T03 is", "T03 requires T01", "X03 is done", "R2 is free", "T03 is done well"] {
            assert_eq!(Atom::of_line(wrong), None, "{wrong}");
        }
    }
}
