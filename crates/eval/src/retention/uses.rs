//! Which text of a result did the agent use, and when? Each shingle and value once, at the message that first says it.

use super::occurrences::Occurrences;
use super::text::{Id, Place, Text};
use super::trajectory::{ChainText, Role, Speaker, Trajectory};

/// Whether a use is that of an edit's old text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Quote,
    OldText,
}

/// A message says for the first time what a result before it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub(crate) id: Id,
    /// Number of the message.
    pub message: u32,
    /// Number of the newest result before it that holds the text.
    pub newest: u32,
}

/// Everything that a trajectory's agent used.
///
/// ```
/// use liveset_engine::transcript::WireFormat;
/// use liveset_eval::retention::{Trajectory, Uses};
/// let body = br#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]}"#;
/// let uses = Uses::of(&Trajectory::read(WireFormat::OpenaiChat, body)?);
/// assert!(uses.shingles().is_empty());
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Uses {
    pub(crate) shingle_copies: Occurrences,
    pub(crate) value_copies: Occurrences,
    shingles: Vec<Use>,
    values: Vec<Use>,
    old_text: Vec<Use>,
}

impl Uses {
    /// Finds the uses of a trajectory.
    #[must_use]
    pub fn of(trajectory: &Trajectory) -> Self {
        let shingles_of: fn(&Text) -> &[(Id, Place)] = |text| &text.shingles;
        let values_of: fn(&Text) -> &[(Id, Place)] = |text| &text.values;
        let shingle_copies = Occurrences::of(&trajectory.results, trajectory.shingles, shingles_of);
        let value_copies = Occurrences::of(&trajectory.results, trajectory.values, values_of);
        let find = |copies: &Occurrences, ids, part, purpose| first_sayings(trajectory, copies, ids, part, purpose);
        let shingles = find(&shingle_copies, trajectory.shingles, shingles_of, Purpose::Quote);
        let values = find(&value_copies, trajectory.values, values_of, Purpose::Quote);
        let old_text = find(&shingle_copies, trajectory.shingles, shingles_of, Purpose::OldText);
        Self { shingle_copies, value_copies, shingles, values, old_text }
    }

    /// Lists the uses of shingles, by message.
    #[must_use]
    pub fn shingles(&self) -> &[Use] {
        &self.shingles
    }

    /// Lists the uses of values, by message.
    #[must_use]
    pub fn values(&self) -> &[Use] {
        &self.values
    }

    /// Lists the uses of shingles in what edits replace, by message.
    #[must_use]
    pub fn old_text(&self) -> &[Use] {
        &self.old_text
    }
}

fn first_sayings(
    trajectory: &Trajectory,
    copies: &Occurrences,
    ids: usize,
    part: fn(&Text) -> &[(Id, Place)],
    purpose: Purpose,
) -> Vec<Use> {
    let counts = |text: &&ChainText| purpose == Purpose::OldText || text.role != Role::OldOnly;
    let mut chain: Vec<&ChainText> = trajectory.chain.iter().filter(counts).collect();
    // A user text with the number of a message stands after it, system text before all.
    let order = |text: &&ChainText| match text.speaker {
        Speaker::System => (0, 0),
        Speaker::Agent => (text.number, 1),
        Speaker::User => (text.number, 2),
    };
    chain.sort_by_key(order);
    let mut seen = vec![false; ids];
    let mut uses = Vec::new();
    // The old text of an edit stands in its chain text too, so that both of one message are looked at together.
    for message in chain.chunk_by(|a, b| order(a) == order(b)) {
        let speaks = message.first().is_some_and(|text| text.speaker == Speaker::Agent);
        let asked = |text: &&&ChainText| purpose == Purpose::Quote || text.role != Role::Said;
        if speaks {
            let mut counted = std::collections::HashSet::new();
            for text in message.iter().filter(asked) {
                for (id, _) in part(&text.text) {
                    if seen.get(*id as usize) == Some(&false) && counted.insert(*id) {
                        let before = copies.copies(*id).iter().rev().map(|copy| number_of(trajectory, copy.result));
                        let newest = before.into_iter().find(|number| *number < text.number);
                        uses.extend(newest.map(|newest| Use { id: *id, message: text.number, newest }));
                    }
                }
            }
        }
        for (id, _) in message.iter().flat_map(|text| part(&text.text)) {
            if let Some(mark) = seen.get_mut(*id as usize) {
                *mark = true;
            }
        }
    }
    uses
}

fn number_of(trajectory: &Trajectory, result: u32) -> u32 {
    trajectory.results.get(result as usize).map_or(u32::MAX, |result| result.number)
}
