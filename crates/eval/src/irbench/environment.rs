//! What happens when a call is made? The world as it changes, turn by turn, and its answers as flat JSON objects.
//!
//! A function of the calls made so far; it tells nothing that its tools do not tell.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{
    entity::Entity,
    hidden::{Hold, Release},
    tool::Tool,
    world::World,
};

/// Why an execution was refused, in the order in which reasons are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It is done.
    AlreadyDone,
    /// The graph holds it back.
    Unmet,
    /// An ordering rule holds it back.
    Order,
    /// Its resource is held.
    Held,
    /// The attempt failed.
    Failed,
}

/// An answer of the world.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answered {
    /// The JSON that the agent gets.
    pub text: String,
    /// Why an execution was refused; `None` of one that was done and of every look-up.
    pub refusal: Option<Refusal>,
    /// Whether the argument named nothing of this world.
    pub is_unknown: bool,
}

/// A world in which some things have been done.
///
/// ```
/// use liveset_eval::irbench::{Environment, Regime, Tool, World};
/// let world = World::new(1, Regime::Low);
/// let first = world.line()[0];
/// let mut environment = Environment::new(&world);
/// let answered = environment.call(Tool::GetTaskInfo, &first.to_string(), 1);
/// assert!(answered.text.contains("\"status\":\"pending\""));
/// ```
#[derive(Clone, Debug)]
pub struct Environment<'w> {
    world: &'w World,
    done: BTreeSet<Entity>,
    /// Holds that have begun, with the turn in which they did.
    held: BTreeMap<Entity, (Hold, u64)>,
    failed: BTreeMap<Entity, u64>,
}

impl<'w> Environment<'w> {
    /// Starts with nothing done.
    #[must_use]
    pub fn new(world: &'w World) -> Self {
        Self { world, done: BTreeSet::new(), held: BTreeMap::new(), failed: BTreeMap::new() }
    }

    /// Gives what is done.
    #[must_use]
    pub fn done(&self) -> &BTreeSet<Entity> {
        &self.done
    }

    /// Says whether everything is done.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.done.len() == self.world.tasks().len()
    }

    /// Gives the required tasks of a task that are not done.
    #[must_use]
    pub fn unmet(&self, task: Entity) -> Vec<Entity> {
        let requires = self.world.task(task).map(|task| task.requires.as_slice()).unwrap_or_default();
        requires.iter().copied().filter(|required| !self.done.contains(required)).collect()
    }

    /// Gives the hold that a resource is under in a turn.
    #[must_use]
    pub fn hold_on(&self, resource: Entity, turn: u64) -> Option<(Release, u64)> {
        let (hold, since) = self.held.get(&resource)?;
        let is_over = match hold.release {
            Release::Turns(turns) => turn >= since + turns,
            Release::Done(task) => self.done.contains(&task),
        };
        (!is_over).then_some((hold.release, *since))
    }

    /// Answers a call; an execution that is done changes the world.
    pub fn call(&mut self, tool: Tool, argument: &str, turn: u64) -> Answered {
        let named = argument.parse::<Entity>().ok();
        let task = named.filter(|name| self.world.task(*name).is_some());
        let resource = named.filter(|name| !name.is_task() && name.number() <= super::world::RESOURCES);
        let resource = resource.filter(|name| *name == Entity::resource(name.number()));
        match (tool, task, resource) {
            (Tool::GetTaskInfo, Some(task), _) => told(turn, self.info(task)),
            (Tool::CheckDependency, Some(task), _) => {
                let unmet = names(&self.unmet(task));
                let status = if self.done.contains(&task) { "done" } else { "pending" };
                told(turn, json!({"task": task.to_string(), "status": status, "unmet": unmet}))
            }
            (Tool::QueryResource, _, Some(resource)) => {
                let state = if self.hold_on(resource, turn).is_some() { "held" } else { "free" };
                told(turn, json!({"resource": resource.to_string(), "state": state}))
            }
            (Tool::Execute, Some(task), _) => self.execute(task, turn),
            (Tool::GetTaskInfo | Tool::CheckDependency | Tool::QueryResource | Tool::Execute | Tool::Recall, ..) => {
                let kind = tool.argument();
                let mut answered = told(turn, json!({"error": format!("unknown {kind}"), "name": argument}));
                answered.is_unknown = true;
                answered
            }
        }
    }

    fn info(&self, task: Entity) -> Value {
        let status = if self.done.contains(&task) { "done" } else { "pending" };
        let found = self.world.task(task);
        let requires = found.map(|task| names(&task.requires)).unwrap_or_default();
        let resource = found.and_then(|task| task.resource).map(|resource| resource.to_string());
        json!({"task": task.to_string(), "status": status, "requires": requires, "needs": resource})
    }

    fn execute(&mut self, task: Entity, turn: u64) -> Answered {
        let (refusal, mut facts) = match self.refused(task, turn) {
            None => {
                self.finish(task, turn);
                (None, json!({"result": "done"}))
            }
            Some((refusal, facts)) => {
                if refusal == Refusal::Failed {
                    *self.failed.entry(task).or_default() += 1;
                }
                (Some(refusal), facts)
            }
        };
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("task".to_owned(), Value::from(task.to_string()));
        }
        Answered { refusal, ..told(turn, facts) }
    }

    /// Finds the first reason against an execution.
    fn refused(&self, task: Entity, turn: u64) -> Option<(Refusal, Value)> {
        if self.done.contains(&task) {
            return Some((Refusal::AlreadyDone, json!({"result": "already done"})));
        }
        let unmet = self.unmet(task);
        if !unmet.is_empty() {
            return Some((Refusal::Unmet, json!({"result": "refused", "reason": "unmet", "unmet": names(&unmet)})));
        }
        let hidden = self.world.hidden();
        let rule = hidden.order.iter().find(|rule| rule.blocked == task && !self.done.contains(&rule.after));
        if let Some(rule) = rule {
            let facts = json!({"result": "refused", "reason": "order", "after": rule.after.to_string()});
            return Some((Refusal::Order, facts));
        }
        let resource = self.world.task(task).and_then(|task| task.resource);
        if let Some((resource, (release, since))) =
            resource.and_then(|resource| Some((resource, self.hold_on(resource, turn)?)))
        {
            let until = match release {
                Release::Turns(turns) => format!("turn {}", since + turns),
                Release::Done(task) => task.to_string(),
            };
            let facts =
                json!({"result": "refused", "reason": "held", "resource": resource.to_string(), "until": until});
            return Some((Refusal::Held, facts));
        }
        let failing = hidden.fails.get(&task).copied().unwrap_or(0);
        let failed = self.failed.get(&task).copied().unwrap_or(0);
        let left = failing.checked_sub(failed + 1)?;
        Some((Refusal::Failed, json!({"result": "refused", "reason": "failed", "failures_left": left})))
    }

    fn finish(&mut self, task: Entity, turn: u64) {
        self.done.insert(task);
        let used = self.world.task(task).and_then(|task| task.resource);
        for hold in self.world.hidden().holds.iter().filter(|hold| Some(hold.resource) == used) {
            self.held.insert(hold.resource, (*hold, turn));
        }
    }
}

fn names(entities: &[Entity]) -> Vec<String> {
    entities.iter().map(Entity::to_string).collect()
}

/// An answer with the turn in which it was given, first.
fn told(turn: u64, facts: Value) -> Answered {
    let mut object = Map::new();
    object.insert("turn".to_owned(), Value::from(turn));
    if let Value::Object(facts) = facts {
        object.extend(facts);
    }
    Answered { text: Value::Object(object).to_string(), refusal: None, is_unknown: false }
}
