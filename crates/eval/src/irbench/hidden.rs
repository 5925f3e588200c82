//! What does only a refused execution reveal? Ordering rules, holds of resources, and attempts that fail.
//!
//! Chosen so that no order of execution can get stuck: every edge that could ever hold a task back points along one order.

use std::{collections::BTreeMap, fmt};

use super::{
    entity::Entity,
    world::{Regime, World},
};
use crate::prng::Prng;

/// Ordering rules of a world of the high regime.
pub(super) const ORDER_RULES: usize = 4;
/// Holds of a world of the high regime.
pub(super) const HOLDS: usize = 3;
/// Tasks with failing attempts in the high regime.
pub(super) const FAILING_TASKS: usize = 4;
/// Shortest and longest hold that ends by itself, in turns.
pub(super) const HOLD_TURNS: (u64, u64) = (3, 5);
/// Of the pairs that could be a rule, those that hold longest come first; a rule is drawn from so many of them.
const DRAWN_FROM: u64 = 1;

/// A task that another one must go before, which the graph does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderRule {
    /// The task that is refused.
    pub blocked: Entity,
    /// The task that must be done first.
    pub after: Entity,
}

/// When a held resource is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// So many turns after the hold began.
    Turns(u64),
    /// When this task is done.
    Done(Entity),
}

/// A resource that stays held once a task has used it, whichever that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hold {
    /// What is held.
    pub resource: Entity,
    /// When it ends.
    pub release: Release,
}

/// All that a world hides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hidden {
    /// Ordering rules, at most one a task.
    pub order: Vec<OrderRule>,
    /// Holds, at most one a resource.
    pub holds: Vec<Hold>,
    /// Attempts of a task that fail before one succeeds.
    pub fails: BTreeMap<Entity, u64>,
}

impl Hidden {
    pub(super) fn new(world: &World, numbers: &mut Prng) -> Self {
        let mut hidden = Self::default();
        match world.regime() {
            Regime::High => {
                for _ in 0..ORDER_RULES {
                    let rule = hidden.draw_rule(world, numbers);
                    hidden.order.extend(rule);
                }
                hidden.holds = draw_holds(world, &hidden.order, numbers);
                hidden.fails = draw_fails(world, numbers, FAILING_TASKS, 2);
            }
            Regime::Low => hidden.fails = draw_fails(world, numbers, 1, 1),
        }
        hidden
    }

    /// Gives the attempts that fail, of all tasks.
    #[must_use]
    pub fn failing_attempts(&self) -> u64 {
        self.fails.values().sum()
    }

    /// Draws one more rule, among those in which the blocked task looks ready longest before the other one is done: only
    /// there does forgetting the rule cost anything.
    fn draw_rule(&self, world: &World, numbers: &mut Prng) -> Option<OrderRule> {
        let line = world.line();
        let place = |name: Entity| line.iter().position(|other| *other == name).unwrap_or(0);
        let mut pairs: Vec<(usize, OrderRule)> = Vec::new();
        for (at, &blocked) in line.iter().enumerate() {
            let ancestors = world.ancestors(blocked);
            let requires = world.task(blocked).map(|task| task.requires.as_slice()).unwrap_or_default();
            let ready = requires.iter().map(|name| place(*name) + 1).max().unwrap_or(0);
            let others = line.iter().take(at).copied().filter(|other| !ancestors.contains(other));
            let is_open = self.order.iter().all(|rule| rule.blocked != blocked);
            let held = |after: Entity| (place(after) + 1).saturating_sub(ready);
            pairs.extend(others.filter(|_| is_open).map(|after| (held(after), OrderRule { blocked, after })));
        }
        // Equal ones in a drawn order.
        numbers.shuffle(&mut pairs);
        pairs.sort_by_key(|(held, _)| std::cmp::Reverse(*held));
        let drawn = numbers.below(DRAWN_FROM.min(pairs.len() as u64));
        pairs.get(drawn as usize).map(|(_, rule)| *rule)
    }
}

/// Draws holds on resources that several tasks need: whichever comes first, the others wait.
fn draw_holds(world: &World, order: &[OrderRule], numbers: &mut Prng) -> Vec<Hold> {
    let mut shared: Vec<Entity> = (1..=super::world::RESOURCES).map(Entity::resource).collect();
    shared.retain(|resource| world.users(*resource).len() > 1);
    numbers.shuffle(&mut shared);
    shared.truncate(HOLDS);
    let mut edges: Vec<(Entity, Entity)> = order.iter().map(|rule| (rule.after, rule.blocked)).collect();
    for task in world.tasks() {
        edges.extend(task.requires.iter().map(|required| (*required, task.name)));
    }
    let mut holds = Vec::new();
    for resource in shared {
        let users = world.users(resource);
        let turns = HOLD_TURNS.0 + numbers.below(HOLD_TURNS.1 - HOLD_TURNS.0 + 1);
        let by_task = numbers.below(2) == 1;
        let mut others: Vec<Entity> = world.line().to_vec();
        numbers.shuffle(&mut others);
        // Whichever user comes first, none may wait for a task that itself waits for one of them.
        let waiting = |name: Entity| users.iter().map(move |user| (name, *user));
        let is_lawful = |name: &&Entity| {
            let with = edges.iter().copied().chain(waiting(**name)).collect::<Vec<_>>();
            !users.contains(*name) && is_acyclic(&with)
        };
        let ending = if by_task { others.iter().find(is_lawful).copied() } else { None };
        edges.extend(ending.into_iter().flat_map(waiting));
        holds.push(Hold { resource, release: ending.map_or(Release::Turns(turns), Release::Done) });
    }
    holds
}

fn draw_fails(world: &World, numbers: &mut Prng, tasks: usize, most: u64) -> BTreeMap<Entity, u64> {
    let mut names: Vec<Entity> = world.tasks().iter().map(|task| task.name).collect();
    numbers.shuffle(&mut names);
    names.truncate(tasks);
    names.into_iter().map(|name| (name, 1 + numbers.below(most))).collect()
}

/// Says whether no name waits for itself.
pub(super) fn is_acyclic(edges: &[(Entity, Entity)]) -> bool {
    let mut left: Vec<(Entity, Entity)> = edges.to_vec();
    loop {
        let before = left.len();
        // What nothing is waited for in leaves, and with it the edges that begin there.
        let ends: Vec<Entity> = left.iter().map(|(_, to)| *to).collect();
        left.retain(|(from, _)| ends.contains(from));
        if left.is_empty() {
            return true;
        }
        if left.len() == before {
            return false;
        }
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for OrderRule { blocked, after } in &self.order {
            writeln!(f, "order {blocked} after {after}")?;
        }
        for Hold { resource, release } in &self.holds {
            match release {
                Release::Turns(turns) => writeln!(f, "hold {resource} for {turns} turns")?,
                Release::Done(task) => writeln!(f, "hold {resource} until {task}")?,
            }
        }
        for (task, attempts) in &self.fails {
            writeln!(f, "fail {task} {attempts}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_wherever_it_is() {
        let edge = |from: u8, to: u8| (Entity::task(from), Entity::task(to));
        assert!(is_acyclic(&[edge(1, 2), edge(2, 3), edge(1, 3)]));
        assert!(!is_acyclic(&[edge(1, 2), edge(2, 3), edge(3, 2)]));
        assert!(!is_acyclic(&[edge(4, 4)]));
        assert!(is_acyclic(&[]));
    }
}
