//! Who works here? The reference agent: a pure function of the delivered messages, without memory and without a model.
//!
//! Whatever it remembers stands in the text that a condition let through. No rule of it mentions a condition.

use std::collections::BTreeSet;

use super::{
    atom::{Atom, Availability, Until},
    entity::Entity,
    notebook::{DONE, Notebook, REFUSED},
    tool::Tool,
    view::View,
    world::{RESOURCES, TASKS},
};

/// Traits of the reference agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// Its name in tables.
    pub name: &'static str,
    /// Calls it makes in a turn at most.
    pub calls: usize,
    /// Turns for which a reading counts as present.
    pub fresh: u64,
    /// Infos of open tasks that it wants in view.
    pub ahead: usize,
    /// Says what is done and what was refused.
    pub progress: Habit,
    /// Says anything at all beside its calls.
    pub prose: Habit,
    /// Checks a refused task anew where the reason is out of view.
    pub wary: Habit,
    /// Looks up names that it does not know.
    pub verify: Habit,
}

/// Whether an agent does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It does.
    Kept,
    /// It does not.
    Dropped,
}

impl Profile {
    /// The one that tables show where no other is named.
    pub const STANDARD: Self = Self {
        name: "standard",
        calls: 5,
        fresh: 2,
        ahead: 10,
        progress: Habit::Kept,
        prose: Habit::Kept,
        wary: Habit::Kept,
        verify: Habit::Kept,
    };
    /// Fewer calls a turn.
    pub const NARROW: Self = Self { name: "narrow", calls: 3, ..Self::STANDARD };
    /// More calls a turn.
    pub const WIDE: Self = Self { name: "wide", calls: 10, ..Self::STANDARD };
    /// Does not look up names that it does not know.
    pub const TRUSTING: Self = Self { name: "no-verify", verify: Habit::Dropped, ..Self::STANDARD };
    /// Tries what was refused again at once.
    pub const BOLD: Self = Self { name: "no-wary", wary: Habit::Dropped, ..Self::STANDARD };
    /// Says nothing of what is done.
    pub const SILENT: Self = Self { name: "no-progress", progress: Habit::Dropped, ..Self::STANDARD };
    /// Makes its calls and says nothing.
    pub const MUTE: Self = Self { name: "mute", prose: Habit::Dropped, progress: Habit::Dropped, ..Self::STANDARD };
    /// Those of the planned family of tests.
    pub const FAMILY: [Self; 3] = [Self::NARROW, Self::STANDARD, Self::WIDE];
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::STANDARD, Self::NARROW, Self::WIDE, Self::TRUSTING, Self::BOLD, Self::SILENT, Self::MUTE];
}

/// What an agent answers in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// What it says.
    pub prose: String,
    /// What it calls: the tool and its argument.
    pub calls: Vec<(Tool, String)>,
}

/// What stands between a task and its execution.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing.
    Ready,
    /// Facts that are not in view: the look-ups that would tell.
    Missing(Vec<(Tool, Entity)>),
    /// Its info is not in view.
    Unseen,
    /// Something that is known to hold it back.
    Waiting,
    /// Its resource is held, and nobody said until when.
    Held(Entity),
}

/// Answers a view.
///
/// ```
/// use liveset_engine::transcript::WireFormat;
/// use liveset_eval::irbench::{Profile, Tool, View, answer};
/// let body = br#"{"messages":[{"role":"user","content":"turn 1 of 24"}]}"#;
/// let reply = answer(&View::of(WireFormat::OpenaiChat, body)?, &Profile::STANDARD);
/// assert_eq!(reply.calls[0], (Tool::GetTaskInfo, "T01".to_owned()));
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[must_use]
pub fn answer(view: &View, profile: &Profile) -> Reply {
    let mind = Mind { notebook: Notebook::of(view), profile };
    let mut calls: Vec<(Tool, Entity)> = mind.calls();
    calls.truncate(profile.calls);
    let prose = mind.prose(&calls);
    Reply { prose, calls: calls.into_iter().map(|call| mind.worded(call)).collect() }
}

struct Mind<'p> {
    notebook: Notebook,
    profile: &'p Profile,
}

impl Mind<'_> {
    fn open(&self) -> impl Iterator<Item = Entity> + '_ {
        (1..=TASKS).map(Entity::task).filter(|task| !self.notebook.done.contains(task))
    }

    fn calls(&self) -> Vec<(Tool, Entity)> {
        let standings: Vec<(Entity, Standing)> = self.open().map(|task| (task, self.standing(task))).collect();
        let mut calls = Vec::new();
        let add = |calls: &mut Vec<(Tool, Entity)>, call: (Tool, Entity)| {
            if !calls.contains(&call) {
                calls.push(call);
            }
        };
        let ready = standings.iter().find(|(_, standing)| *standing == Standing::Ready);
        calls.extend(ready.map(|(task, _)| (Tool::Execute, *task)));
        let missing = standings.iter().filter_map(|(_, standing)| match standing {
            Standing::Missing(calls) => Some(calls),
            Standing::Ready | Standing::Unseen | Standing::Waiting | Standing::Held(_) => None,
        });
        for call in missing.take(NEXT_TASKS).flatten() {
            add(&mut calls, *call);
        }
        for name in self.strangers() {
            add(&mut calls, (if name.is_task() { Tool::GetTaskInfo } else { Tool::QueryResource }, name));
        }
        let in_view = standings.iter().filter(|(_, standing)| *standing != Standing::Unseen).count();
        let unseen = standings.iter().filter(|(_, standing)| *standing == Standing::Unseen);
        for (task, _) in unseen.take(self.profile.ahead.saturating_sub(in_view)) {
            add(&mut calls, (Tool::GetTaskInfo, *task));
        }
        if calls.is_empty() {
            calls.extend(self.waiting(&standings));
        }
        calls
    }

    /// What is left to do where nothing is ready and nothing is missing.
    fn waiting(&self, standings: &[(Entity, Standing)]) -> Option<(Tool, Entity)> {
        let held = standings.iter().find_map(|(task, standing)| match standing {
            Standing::Held(_) => Some((Tool::Execute, *task)),
            Standing::Ready | Standing::Missing(_) | Standing::Unseen | Standing::Waiting => None,
        });
        held.or_else(|| standings.first().map(|(task, _)| (Tool::CheckDependency, *task)))
    }

    fn standing(&self, task: Entity) -> Standing {
        let notebook = &self.notebook;
        let Some((requires, needs)) = notebook.info.get(&task) else { return Standing::Unseen };
        let mut missing = Vec::new();
        let check = notebook.dependency.get(&task).filter(|(_, turn)| self.is_fresh(*turn));
        if requires.iter().any(|required| !notebook.done.contains(required)) {
            match check {
                Some((unmet, _)) if unmet.iter().all(|name| notebook.done.contains(name)) => {}
                Some(_) => return Standing::Waiting,
                // A task in view is open unless it is said to be done; where nothing was left out, so is every other.
                None if notebook.is_whole || requires.iter().any(|name| self.is_open(*name)) => {
                    return Standing::Waiting;
                }
                None => missing.push((Tool::CheckDependency, task)),
            }
        }
        if notebook.order.get(&task).is_some_and(|after| !notebook.done.contains(after)) {
            return Standing::Waiting;
        }
        let is_doubted = self.profile.wary == Habit::Kept && notebook.refused.contains(&task) && !self.knows_why(task);
        if is_doubted && check.is_none() && missing.is_empty() {
            missing.push((Tool::CheckDependency, task));
        }
        if let Some(resource) = *needs {
            let reading = notebook.resource.get(&resource).filter(|(_, turn)| self.is_fresh(*turn));
            match (self.hold(resource), reading) {
                (Some(()), _) => return Standing::Waiting,
                (None, Some((Availability::Free, _))) => {}
                (None, Some((Availability::Held, _))) if missing.is_empty() => return Standing::Held(resource),
                (None, Some((Availability::Held, _))) => {}
                (None, None) => missing.push((Tool::QueryResource, resource)),
            }
        }
        if missing.is_empty() { Standing::Ready } else { Standing::Missing(missing) }
    }

    /// Says whether a task is known to be open.
    fn is_open(&self, task: Entity) -> bool {
        self.notebook.info.contains_key(&task) && !self.notebook.done.contains(&task)
    }

    fn is_fresh(&self, turn: u64) -> bool {
        turn + self.profile.fresh >= self.notebook.turn
    }

    /// Says whether a hold is known that still stands.
    fn hold(&self, resource: Entity) -> Option<()> {
        let stands = match self.notebook.hold.get(&resource)? {
            Until::Turn(turn) => self.notebook.turn < *turn,
            Until::Done(task) => !self.notebook.done.contains(task),
        };
        stands.then_some(())
    }

    /// Says whether the reason of a refusal is in view.
    fn knows_why(&self, task: Entity) -> bool {
        let notebook = &self.notebook;
        let needs = notebook.info.get(&task).and_then(|(_, needs)| *needs);
        notebook.order.contains_key(&task)
            || notebook.fail.contains_key(&task)
            || needs.is_some_and(|resource| notebook.hold.contains_key(&resource))
    }

    /// Names in view that are no name of this world, as far as it told, and were not asked for in view.
    fn strangers(&self) -> Vec<Entity> {
        if self.profile.verify == Habit::Dropped {
            return Vec::new();
        }
        let notebook = &self.notebook;
        let is_own = |name: &Entity| {
            let (most, own): (u8, fn(u8) -> Entity) =
                if name.is_task() { (TASKS, Entity::task) } else { (RESOURCES, Entity::resource) };
            *name == own(name.number()) && name.number() <= most
        };
        let told = notebook.info.iter().flat_map(|(task, (requires, needs))| {
            requires.iter().copied().chain(*needs).chain([*task]).collect::<Vec<_>>()
        });
        let names: BTreeSet<Entity> = told
            .chain(notebook.done.iter().copied())
            .chain(notebook.dependency.iter().flat_map(|(task, (unmet, _))| unmet.iter().copied().chain([*task])))
            .chain(notebook.resource.keys().copied())
            .collect();
        names.into_iter().filter(|name| !is_own(name) && !notebook.unknown.contains(name)).collect()
    }

    /// Puts a call into words; where its last answer can be recalled and does not age, it is recalled instead.
    fn worded(&self, (tool, argument): (Tool, Entity)) -> (Tool, String) {
        let ages = match tool {
            Tool::GetTaskInfo => false,
            Tool::CheckDependency | Tool::QueryResource | Tool::Execute | Tool::Recall => true,
        };
        let original = self.notebook.recallable.get(&(tool.name().to_owned(), argument)).filter(|_| !ages);
        original.map_or_else(|| (tool, argument.to_string()), |id| (Tool::Recall, id.clone()))
    }

    /// Restates what is done, what was refused, and the info of the tasks it works on; never a rule.
    fn prose(&self, calls: &[(Tool, Entity)]) -> String {
        let notebook = &self.notebook;
        let mut lines = Vec::new();
        if self.profile.prose == Habit::Dropped {
            return String::new();
        }
        let names = |names: &BTreeSet<Entity>| names.iter().map(Entity::to_string).collect::<Vec<_>>().join(" ");
        if self.profile.progress == Habit::Kept {
            if !notebook.done.is_empty() {
                lines.push(format!("{DONE}{}", names(&notebook.done)));
            }
            if !notebook.refused.is_empty() {
                lines.push(format!("{REFUSED}{}", names(&notebook.refused)));
            }
        }
        let mut worked_on: BTreeSet<Entity> = BTreeSet::new();
        for (tool, argument) in calls {
            match tool {
                Tool::Execute | Tool::CheckDependency => {
                    worked_on.insert(*argument);
                }
                Tool::QueryResource => {
                    let uses =
                        |task: &Entity| notebook.info.get(task).is_some_and(|(_, needs)| *needs == Some(*argument));
                    worked_on.extend(self.open().find(uses));
                }
                Tool::GetTaskInfo | Tool::Recall => {}
            }
        }
        for task in worked_on {
            if let Some((requires, needs)) = notebook.info.get(&task) {
                let atom = Atom::Info { task, requires: requires.clone(), needs: *needs };
                lines.push(atom.to_string());
            }
        }
        if lines.is_empty() {
            lines.push(NOTHING_YET.to_owned());
        }
        lines.join("\n")
    }
}

/// Tasks whose missing facts it looks up in a turn.
const NEXT_TASKS: usize = 2;
/// What it says before it knows anything.
const NOTHING_YET: &str = "I look things up first.";
