//! Which facts stay under a budget? The digests of the retention family, each a choice among what was observed.
//!
//! Every intervention has the same title and the same filling; only the order of the facts, or their content, differs.

use std::collections::BTreeMap;

use liveset_tokens::o200k;

use super::{
    atom::{Atom, Availability, StateClass},
    condition::Picks,
    entity::Entity,
    stream::stream,
    trajectory::{Observation, newest},
    world::{RESOURCES, TASKS},
};

/// Opens every digest of the family.
pub const DIGEST_TITLE: &str = "[State retention digest]";

/// What a digest holds of what was observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Coverage {
    /// Share of observed D facts that it holds.
    pub d: f64,
    /// Share of observed R facts that it holds.
    pub r: f64,
    /// Its size.
    pub digest_tokens: u64,
}

/// A digest, written.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    /// `None` where the intervention writes none.
    pub(super) text: Option<String>,
    pub(super) coverage: Coverage,
}

/// What the choice of facts may rest on beside the facts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis<'b> {
    pub(super) seed: u64,
    /// How often a reference run looked an entity up after the compaction point.
    pub(super) later: &'b BTreeMap<Entity, u64>,
}

/// Writes the digest of what was observed.
pub(super) fn digest(observed: &[Observation], picks: Picks, budget: u64, basis: Basis<'_>) -> Digest {
    let facts = newest(observed);
    let ordered = ordered(&facts, picks, basis);
    let mut text = DIGEST_TITLE.to_owned();
    let mut kept: Vec<StateClass> = Vec::new();
    for atom in ordered {
        let shown = match picks {
            Picks::DIrrelevant if atom.class() == StateClass::D => irrelevant(atom),
            Picks::DWrong if atom.class() == StateClass::D => wrong(atom),
            _ => atom.clone(),
        };
        let longer = format!("{text}\n{shown}");
        if o200k().count(&longer).0 <= budget {
            text = longer;
            let is_true = shown == *atom;
            kept.extend(is_true.then(|| atom.class()));
        }
    }
    let share = |class: StateClass| {
        let all = facts.iter().filter(|fact| fact.atom.class() == class).count();
        let kept = kept.iter().filter(|kept| **kept == class).count();
        if all == 0 { 1.0 } else { kept as f64 / all as f64 }
    };
    match picks {
        Picks::Sliding => Digest { text: None, coverage: Coverage::default() },
        _ => {
            let coverage =
                Coverage { d: share(StateClass::D), r: share(StateClass::R), digest_tokens: o200k().count(&text).0 };
            Digest { text: Some(text), coverage }
        }
    }
}

/// Facts in the order in which they are tried.
fn ordered<'f>(facts: &'f [Observation], picks: Picks, basis: Basis<'_>) -> Vec<&'f Atom> {
    let of = |class: StateClass| facts.iter().map(|fact| &fact.atom).filter(move |atom| atom.class() == class);
    let mut all: Vec<&Atom> = facts.iter().map(|fact| &fact.atom).collect();
    match picks {
        Picks::Sliding => Vec::new(),
        Picks::RarD => of(StateClass::D).collect(),
        Picks::RarR => of(StateClass::R).collect(),
        Picks::RarAll => all,
        Picks::TypeAware | Picks::DIrrelevant | Picks::DWrong => of(StateClass::R).chain(of(StateClass::D)).collect(),
        Picks::Random => {
            stream(&format!("pick/{}", basis.seed)).shuffle(&mut all);
            all
        }
        Picks::Recent => {
            all.reverse();
            all
        }
        Picks::Hindsight => {
            let later = |atom: &&Atom| basis.later.get(&atom.key().1).copied().unwrap_or(0);
            all.sort_by_key(|atom| std::cmp::Reverse(later(atom)));
            all
        }
    }
}

fn each(names: &[Entity], change: impl Fn(Entity) -> Entity) -> Vec<Entity> {
    names.iter().map(|name| change(*name)).collect()
}

/// A fact of the same shape about something of no world.
fn irrelevant(atom: &Atom) -> Atom {
    match atom {
        Atom::Info { task, requires, needs } => Atom::Info {
            task: task.estranged(),
            requires: each(requires, Entity::estranged),
            needs: needs.map(Entity::estranged),
        },
        Atom::Done { task } => Atom::Done { task: task.estranged() },
        Atom::Dependency { task, unmet, turn } => {
            Atom::Dependency { task: task.estranged(), unmet: each(unmet, Entity::estranged), turn: *turn }
        }
        Atom::Resource { resource, state, turn } => {
            Atom::Resource { resource: resource.estranged(), state: *state, turn: *turn }
        }
        Atom::Order { .. } | Atom::Hold { .. } | Atom::Fail { .. } => atom.clone(),
    }
}

/// The next of the same kind, in a circle.
fn next(name: Entity) -> Entity {
    if name.is_task() {
        Entity::task(name.number() % TASKS + 1)
    } else {
        Entity::resource(name.number() % RESOURCES + 1)
    }
}

/// A fact about the same thing, or its neighbour, that is not so.
fn wrong(atom: &Atom) -> Atom {
    match atom {
        Atom::Info { task, requires, needs } => {
            Atom::Info { task: *task, requires: each(requires, next), needs: needs.map(next) }
        }
        Atom::Done { task } => Atom::Done { task: next(*task) },
        Atom::Dependency { task, unmet, turn } => {
            let unmet = if unmet.is_empty() { vec![next(*task)] } else { each(unmet, next) };
            Atom::Dependency { task: *task, unmet, turn: *turn }
        }
        Atom::Resource { resource, state, turn } => {
            let state = match state {
                Availability::Free => Availability::Held,
                Availability::Held => Availability::Free,
            };
            Atom::Resource { resource: *resource, state, turn: *turn }
        }
        Atom::Order { .. } | Atom::Hold { .. } | Atom::Fail { .. } => atom.clone(),
    }
}
