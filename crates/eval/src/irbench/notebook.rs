//! What does a view tell? Its facts, the newest of each, read from results, digests, notes and the agent's own words alike.
//!
//! Has no memory of its own: what is not in the view is not known.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    atom::{Atom, Availability, Until},
    entity::Entity,
    view::{Seen, View},
};

/// Before the names of done tasks in an agent's own words.
pub(super) const DONE: &str = "Done: ";
/// Before the names of tasks that were refused and are not through.
pub(super) const REFUSED: &str = "Refused so far: ";
/// What names an original that can be recalled, in a line left where a result was.
const MARKER: &str = "[pruned from context: ";
/// Before its id.
const RECALL: &str = "; recall ";
/// Digits of an id.
const ID_DIGITS: usize = 32;

/// All that a view tells.
#[derive(Clone, Debug, Default)]
pub(super) struct Notebook {
    pub(super) turn: u64,
    /// Whether nothing was left out: what is not told then is not so.
    pub(super) is_whole: bool,
    pub(super) info: BTreeMap<Entity, (Vec<Entity>, Option<Entity>)>,
    pub(super) done: BTreeSet<Entity>,
    pub(super) dependency: BTreeMap<Entity, (Vec<Entity>, u64)>,
    pub(super) resource: BTreeMap<Entity, (Availability, u64)>,
    pub(super) order: BTreeMap<Entity, Entity>,
    pub(super) hold: BTreeMap<Entity, Until>,
    pub(super) fail: BTreeMap<Entity, u64>,
    /// Tasks that were refused, by the agent's own words or by a refusal in view.
    pub(super) refused: BTreeSet<Entity>,
    /// Names that some answer did not know.
    pub(super) unknown: BTreeSet<Entity>,
    /// Calls whose answer was cut and can be recalled: tool and argument, with the id.
    pub(super) recallable: BTreeMap<(String, Entity), String>,
}

impl Notebook {
    pub(super) fn of(view: &View) -> Self {
        let mut notebook = Self::default();
        let mut unread = 0;
        for seen in &view.seen {
            match seen {
                Seen::Told(text) => {
                    notebook.read(text);
                    notebook.turn = turn_of(text).unwrap_or(notebook.turn);
                }
                Seen::Said(text) => {
                    notebook.read(text);
                }
                Seen::Result { text, .. } => unread += usize::from(!notebook.read(text)),
            }
        }
        notebook.is_whole = unread == 0 && view.units as u64 + 1 == notebook.turn;
        let done = notebook.done.clone();
        notebook.refused.retain(|task| !done.contains(task));
        notebook
    }

    /// Reads each line of a text; says whether it told anything.
    fn read(&mut self, text: &str) -> bool {
        let mut told = false;
        for line in text.lines() {
            told |= self.read_line(line);
        }
        told
    }

    fn read_line(&mut self, line: &str) -> bool {
        if let Some(atom) = Atom::of_line(line) {
            self.learn(atom);
            return true;
        }
        if let Some(names) = line.strip_prefix(DONE) {
            self.done.extend(names.split(' ').filter_map(|name| name.parse::<Entity>().ok()));
            return true;
        }
        if let Some(names) = line.strip_prefix(REFUSED) {
            self.refused.extend(names.split(' ').filter_map(|name| name.parse::<Entity>().ok()));
            return true;
        }
        self.note_marker(line);
        // An answer stands alone on its line, or behind the call that it answered.
        let mut told = false;
        let mut rest = line;
        while let Some(found) = rest.find('{').and_then(|at| rest.get(at..)) {
            let mut values = serde_json::Deserializer::from_str(found).into_iter::<Value>();
            let Some(Ok(answer)) = values.next() else { break };
            rest = found.get(values.byte_offset()..).unwrap_or_default();
            // The arguments of a call tell nothing.
            told |= answer.get("turn").is_some();
            self.read_answer(&answer);
        }
        told
    }

    fn read_answer(&mut self, answer: &Value) {
        let name = |key: &str| answer.get(key).and_then(Value::as_str).and_then(|name| name.parse::<Entity>().ok());
        if answer.get("error").is_some() {
            self.unknown.extend(name("name"));
        }
        if answer.get("result").and_then(Value::as_str) == Some("refused") {
            self.refused.extend(name("task"));
        }
        for atom in Atom::of_answer(answer) {
            self.learn(atom);
        }
    }

    fn learn(&mut self, atom: Atom) {
        match atom {
            Atom::Info { task, requires, needs } => {
                self.info.insert(task, (requires, needs));
            }
            Atom::Done { task } => {
                self.done.insert(task);
            }
            Atom::Dependency { task, unmet, turn } => {
                if self.dependency.get(&task).is_none_or(|(_, known)| *known <= turn) {
                    self.dependency.insert(task, (unmet, turn));
                }
            }
            Atom::Resource { resource, state, turn } => {
                if self.resource.get(&resource).is_none_or(|(_, known)| *known <= turn) {
                    self.resource.insert(resource, (state, turn));
                }
            }
            Atom::Order { task, after } => {
                self.order.insert(task, after);
            }
            Atom::Hold { resource, until } => {
                self.hold.insert(resource, until);
            }
            Atom::Fail { task, left } => {
                self.fail.insert(task, left);
            }
        }
    }

    /// Notes what a line that stands for a cut result offers.
    fn note_marker(&mut self, line: &str) {
        let Some((call, rest)) = line.strip_prefix(MARKER).and_then(|rest| rest.split_once(", ")) else { return };
        let id = rest.split_once(RECALL).and_then(|(_, id)| id.get(..ID_DIGITS));
        let Some((tool, argument)) = call.split_once(' ') else { return };
        if let (Ok(argument), Some(id)) = (argument.parse(), id) {
            self.recallable.insert((tool.to_owned(), argument), id.to_owned());
        }
    }
}

/// Reads the turn message.
fn turn_of(text: &str) -> Option<u64> {
    let (turn, _) = text.strip_prefix("turn ")?.split_once(" of ")?;
    turn.parse().ok()
}
