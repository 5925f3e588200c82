//! What is there to do? Tasks with what they need, the same in both regimes of a seed; what is hidden comes beside it.

use std::{collections::BTreeSet, fmt};

use super::{
    entity::Entity,
    hidden::{Hidden, ORDER_RULES},
    stream::stream,
};
use crate::prng::Prng;

/// Tasks of a world.
pub const TASKS: u8 = 10;
/// Resources of a world, each of capacity one.
pub const RESOURCES: u8 = 4;
/// Tasks that need a resource.
const BOUND_TASKS: usize = 7;
/// Tasks before it from which a task takes what it needs.
const REACH: usize = 4;
/// Tasks at the head of the line that need no other.
const FREE_TASKS: usize = 2;

/// How much of what matters only a refused execution reveals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Regime {
    /// Ordering rules, holds, and attempts that fail.
    High,
    /// What matters can be looked up, but for one attempt that fails.
    Low,
}

impl Regime {
    /// Both, in the order of tables.
    pub const ALL: [Regime; 2] = [Self::High, Self::Low];

    /// Gives the name that flags and tables use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
        }
    }
}

/// A task and what a look-up tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// Its name.
    pub name: Entity,
    /// What must be done before it, by name.
    pub requires: Vec<Entity>,
    /// The resource that it needs, if any.
    pub resource: Option<Entity>,
}

/// One instance: a function of seed and regime.
///
/// ```
/// use liveset_eval::irbench::{Regime, World};
/// let (high, low) = (World::new(1, Regime::High), World::new(1, Regime::Low));
/// assert_eq!(high.tasks(), low.tasks());
/// assert!(high.hidden().order.len() > low.hidden().order.len());
/// ```
#[derive(Clone, Debug)]
pub struct World {
    seed: u64,
    regime: Regime,
    /// By name.
    tasks: Vec<Task>,
    /// An order in which all tasks can be done, whatever is hidden.
    line: Vec<Entity>,
    hidden: Hidden,
}

impl World {
    /// Makes the world of a seed.
    #[must_use]
    pub fn new(seed: u64, regime: Regime) -> Self {
        let mut numbers = stream(&format!("static/{seed}"));
        let mut world = Self { seed, regime, tasks: Vec::new(), line: Vec::new(), hidden: Hidden::default() };
        // A graph that is one long chain leaves nothing to hide.
        while world.tasks_that_may_wait() < ORDER_RULES {
            world.draw(&mut numbers);
        }
        world.hidden = Hidden::new(&world, &mut stream(&format!("hidden/{}/{seed}", regime.name())));
        world
    }

    fn draw(&mut self, numbers: &mut Prng) {
        self.line = (1..=TASKS).map(Entity::task).collect();
        numbers.shuffle(&mut self.line);
        let requires = graph(numbers, &self.line);
        let resources = resources(numbers, &self.line);
        let needs = requires.into_iter().zip(resources);
        let tasks = self.line.iter().zip(needs);
        self.tasks = tasks.map(|(&name, (requires, resource))| Task { name, requires, resource }).collect();
        self.tasks.sort_by_key(|task| task.name);
    }

    /// Counts the tasks that could have to follow one which the graph does not show.
    fn tasks_that_may_wait(&self) -> usize {
        let may_wait = |(at, name): (usize, &Entity)| self.ancestors(*name).len() < at;
        self.line.iter().enumerate().filter(|&place| may_wait(place)).count()
    }

    /// Gives the seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Gives the regime.
    #[must_use]
    pub fn regime(&self) -> Regime {
        self.regime
    }

    /// Gives the tasks, by name.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Gives a task of the world.
    #[must_use]
    pub fn task(&self, name: Entity) -> Option<&Task> {
        self.tasks.iter().find(|task| task.name == name)
    }

    /// Gives an order in which all can be done.
    #[must_use]
    pub fn line(&self) -> &[Entity] {
        &self.line
    }

    /// Gives what no look-up tells.
    #[must_use]
    pub fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Gives the tasks that need a resource, in the order of the line.
    #[must_use]
    pub fn users(&self, resource: Entity) -> Vec<Entity> {
        let uses = |name: &Entity| self.task(*name).is_some_and(|task| task.resource == Some(resource));
        self.line.iter().copied().filter(uses).collect()
    }

    /// Gives what a task needs directly or through others, by the graph alone.
    #[must_use]
    pub fn ancestors(&self, name: Entity) -> BTreeSet<Entity> {
        let mut found = BTreeSet::new();
        let mut open = vec![name];
        while let Some(next) = open.pop() {
            let requires = self.task(next).map(|task| task.requires.as_slice()).unwrap_or_default();
            open.extend(requires.iter().copied().filter(|required| found.insert(*required)));
        }
        found
    }

    /// Gives the tasks of the longest chain of the graph.
    #[must_use]
    pub fn longest_chain(&self) -> usize {
        let mut lengths: Vec<(Entity, usize)> = Vec::new();
        for &name in &self.line {
            let requires = self.task(name).map(|task| task.requires.as_slice()).unwrap_or_default();
            let before = lengths.iter().filter(|(other, _)| requires.contains(other)).map(|(_, length)| *length).max();
            lengths.push((name, before.unwrap_or(0) + 1));
        }
        lengths.iter().map(|(_, length)| *length).max().unwrap_or(0)
    }

    /// Gives the calls that a run needs when nothing is asked twice: a look-up and an execution for each task, and one
    /// refusal for all that is hidden.
    #[must_use]
    pub fn reference_calls(&self) -> u64 {
        let hidden = self.hidden.order.len() + self.hidden.holds.len();
        2 * u64::from(TASKS) + hidden as u64 + self.hidden.failing_attempts()
    }
}

/// Chooses what each task of the line requires.
fn graph(numbers: &mut Prng, line: &[Entity]) -> Vec<Vec<Entity>> {
    let mut graph = Vec::with_capacity(line.len());
    for at in 0..line.len() {
        let mut near = line.get(at.saturating_sub(REACH)..at).unwrap_or_default().to_vec();
        numbers.shuffle(&mut near);
        let count = match at {
            _ if at < FREE_TASKS => 0,
            _ if at == FREE_TASKS => 1,
            // One twice as often as two.
            _ => 1 + usize::from(numbers.below(3) == 2),
        };
        near.truncate(count);
        near.sort_unstable();
        graph.push(near);
    }
    graph
}

/// Gives resources to tasks of the line, each in turn, so that they are wanted alike.
fn resources(numbers: &mut Prng, line: &[Entity]) -> Vec<Option<Entity>> {
    let mut places: Vec<usize> = (0..line.len()).collect();
    numbers.shuffle(&mut places);
    let mut names: Vec<Entity> = (1..=RESOURCES).map(Entity::resource).collect();
    numbers.shuffle(&mut names);
    let mut given = vec![None; line.len()];
    for (&place, &name) in places.iter().zip(names.iter().cycle()).take(BOUND_TASKS) {
        if let Some(resource) = given.get_mut(place) {
            *resource = Some(name);
        }
    }
    given
}

impl fmt::Display for World {
    /// Writes all of it, one thing a line: golden files hold this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} {}", self.seed, self.regime.name())?;
        writeln!(f, "line {}", spaced(&self.line))?;
        for task in &self.tasks {
            let resource = task.resource.map_or_else(|| "-".to_owned(), |resource| resource.to_string());
            writeln!(f, "{} requires {} resource {resource}", task.name, spaced(&task.requires))?;
        }
        write!(f, "{}", self.hidden)
    }
}

/// Names parted by spaces, `-` where there are none.
pub(super) fn spaced(names: &[Entity]) -> String {
    if names.is_empty() {
        return "-".to_owned();
    }
    names.iter().map(Entity::to_string).collect::<Vec<_>>().join(" ")
}
