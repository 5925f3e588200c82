//! Is a world sound? What must hold for each one, and random walks that must all come to an end.

use std::fmt;

use super::{
    entity::Entity,
    environment::Environment,
    hidden::{FAILING_TASKS, HOLDS, ORDER_RULES, Release, is_acyclic},
    stream::stream,
    tool::Tool,
    world::{Regime, World},
};

/// Turns after which a walk counts as stuck: every wait of a world together is shorter.
const MAX_WALK_TURNS: u64 = 400;

/// What is wrong with a world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorldDefect {
    /// The other regime of the seed shows other tasks.
    RegimesDiffer,
    /// More or less is hidden than the regime says.
    HiddenCount,
    /// Tasks wait for each other.
    Circle,
    /// A walk did not come to its end.
    Stuck {
        /// Which walk.
        walk: u64,
    },
}

impl fmt::Display for WorldDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RegimesDiffer => f.write_str("the regimes of this seed show other tasks"),
            Self::HiddenCount => f.write_str("more or less is hidden than the regime says"),
            Self::Circle => f.write_str("tasks wait for each other"),
            Self::Stuck { walk } => write!(f, "walk {walk} does not end"),
        }
    }
}

/// Looks a world over, and walks through it so many times.
///
/// ```
/// use liveset_eval::irbench::{Regime, World, check_world};
/// assert_eq!(check_world(&World::new(1, Regime::High), 20), []);
/// ```
#[must_use]
pub fn check_world(world: &World, walks: u64) -> Vec<WorldDefect> {
    let mut defects = Vec::new();
    let other = match world.regime() {
        Regime::High => Regime::Low,
        Regime::Low => Regime::High,
    };
    if World::new(world.seed(), other).tasks() != world.tasks() {
        defects.push(WorldDefect::RegimesDiffer);
    }
    if !has_its_share(world) {
        defects.push(WorldDefect::HiddenCount);
    }
    if !is_acyclic(&edges(world)) {
        defects.push(WorldDefect::Circle);
    }
    defects.extend((0..walks).filter(|walk| !ends(world, *walk)).map(|walk| WorldDefect::Stuck { walk }));
    defects
}

/// Says whether as much is hidden as the regime says.
fn has_its_share(world: &World) -> bool {
    let hidden = world.hidden();
    let count = (hidden.order.len(), hidden.holds.len(), hidden.fails.len());
    let attempts = hidden.failing_attempts();
    match world.regime() {
        Regime::High => {
            let (least, most) = (FAILING_TASKS as u64, 2 * FAILING_TASKS as u64);
            count == (ORDER_RULES, HOLDS, FAILING_TASKS) && (least..=most).contains(&attempts)
        }
        Regime::Low => count == (0, 0, 1) && attempts == 1,
    }
}

/// Everything that could ever hold a task back: who waits stands second.
fn edges(world: &World) -> Vec<(Entity, Entity)> {
    let mut edges = Vec::new();
    for task in world.tasks() {
        edges.extend(task.requires.iter().map(|required| (*required, task.name)));
    }
    edges.extend(world.hidden().order.iter().map(|rule| (rule.after, rule.blocked)));
    for hold in &world.hidden().holds {
        if let Release::Done(task) = hold.release {
            edges.extend(world.users(hold.resource).into_iter().map(|user| (task, user)));
        }
    }
    edges
}

/// Tries open tasks at random, those alone that the graph lets through, until all is done.
fn ends(world: &World, walk: u64) -> bool {
    let mut numbers = stream(&format!("walk/{}/{}/{walk}", world.regime().name(), world.seed()));
    let mut environment = Environment::new(world);
    for turn in 1..=MAX_WALK_TURNS {
        let open = |name: &Entity| !environment.done().contains(name) && environment.unmet(*name).is_empty();
        let mut tasks: Vec<Entity> = world.tasks().iter().map(|task| task.name).filter(open).collect();
        numbers.shuffle(&mut tasks);
        if let Some(task) = tasks.first() {
            environment.call(Tool::Execute, &task.to_string(), turn);
        }
        if environment.is_complete() {
            return true;
        }
    }
    false
}
