//! Under which policy and after which events did a conversation go on? What must outlive a restart, in the archive.
//!
//! Holds no text of a conversation. What it says stays in force: a changed configuration is for new conversations.

use std::sync::Arc;

use liveset::{Policy, SessionEvent, SqliteArchive};
use liveset_archive::Event;
use liveset_engine::policy::CONTRACT;
use serde::{Deserialize, Serialize};

use crate::{chain::Chain, conversation::WholeMark};

/// The ledger of all conversations.
#[derive(Clone)]
pub(crate) struct Ledger {
    archive: Arc<SqliteArchive>,
}

/// One line of the ledger, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    /// From this first cut on the branch that the link stands for goes by this policy.
    Policy { contract: u32, policy: Box<Policy>, link: String },
    /// What the decisions of this branch rest on besides its items.
    Basis { basis: Basis, link: String },
    /// What one request told, in the branch that this link stands for.
    Event { event: SessionEvent, link: String },
    /// How the newest body of this branch left, where that was not as before; the highest number is the newest.
    Whole { mark: WholeMark, number: u64, link: String },
}

/// What decisions rest on besides items and policy, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Basis {
    /// Stands for the model's name.
    pub(crate) model: u64,
    /// Stands for the tools.
    pub(crate) tools: u64,
}

/// What is in force for a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InForce {
    /// The policy, where one is written.
    pub(crate) policy: Option<Policy>,
    /// Whether what is written belongs to another contract.
    pub(crate) is_of_other_contract: bool,
    /// What its newest decisions rest on, where that is written.
    pub(crate) basis: Option<Basis>,
    /// What single requests told, in the order of items.
    pub(crate) events: Vec<SessionEvent>,
    /// Items that left whole with the newest body, where nothing left as it was judged since.
    pub(crate) whole: usize,
    /// The highest number of a line that says so, or that it holds no more.
    pub(crate) whole_number: u64,
}

/// A ledger that cannot be read or written: nothing may be cut then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

impl Ledger {
    /// Keeps the ledger in an archive.
    pub(crate) fn new(archive: Arc<SqliteArchive>) -> Self {
        Self { archive }
    }

    /// The archive it is kept in.
    pub(crate) fn archive(&self) -> Arc<SqliteArchive> {
        self.archive.clone()
    }

    /// Reads what is in force for the conversation of a chain.
    pub(crate) fn read(&self, chain: &Chain) -> Result<InForce, Unreadable> {
        let events = self.archive.events(&chain.name()).map_err(|_| Unreadable)?;
        let mut found = InForce::default();
        for event in events {
            // What a later version wrote is not ours to read.
            let Ok(line) = serde_json::from_str::<Line>(&event.event) else { continue };
            // A branch that left before knows nothing of it.
            if link_at(chain, event.item).as_ref() != Some(line.link()) {
                continue;
            }
            match line {
                Line::Policy { contract: CONTRACT, policy, .. } => {
                    found.policy.get_or_insert(*policy);
                }
                Line::Policy { .. } => found.is_of_other_contract = true,
                Line::Basis { basis, .. } => found.basis = Some(basis),
                Line::Event { event, .. } => found.events.push(event),
                Line::Whole { mark, number, .. } => found.take_mark(event.item, mark, number),
            }
        }
        found.is_of_other_contract &= found.policy.is_none();
        Ok(found)
    }

    /// Enters the policy that a conversation goes by from this body on, where none is in force, and gives the one that holds:
    /// the first, whoever wrote it.
    pub(crate) fn hold(&self, chain: &Chain, policy: &Policy) -> Result<Policy, Unreadable> {
        if let Some(held) = self.read(chain)?.policy {
            return Ok(held);
        }
        let (item, link) = newest(chain).ok_or(Unreadable)?;
        self.write(chain, item, &Line::Policy { contract: CONTRACT, policy: Box::new(policy.clone()), link })?;
        Ok(self.read(chain)?.policy.unwrap_or_else(|| policy.clone()))
    }

    /// Enters what the decisions of a conversation rest on from this body on.
    pub(crate) fn rest_on(&self, chain: &Chain, basis: Basis) -> Result<(), Unreadable> {
        let (item, link) = newest(chain).ok_or(Unreadable)?;
        self.write(chain, item, &Line::Basis { basis, link })
    }

    /// Enters what a request of this chain told.
    pub(crate) fn note(&self, chain: &Chain, event: SessionEvent) -> Result<(), Unreadable> {
        let Some(link) = link_at(chain, event.item()) else { return Err(Unreadable) };
        self.write(chain, event.item(), &Line::Event { event, link })
    }

    /// Enters that the newest body of a chain left whole, or as it was judged after others had left whole. Where nothing
    /// was ever cut there is nothing to tell apart, and nothing is entered.
    pub(crate) fn mark(&self, chain: &Chain, mark: WholeMark) -> Result<(), Unreadable> {
        let in_force = self.read(chain)?;
        let says_so = match mark {
            WholeMark::Set => in_force.whole == chain.len(),
            WholeMark::Lifted => in_force.whole == 0,
        };
        if in_force.policy.is_none() || says_so {
            return Ok(());
        }
        let (item, link) = newest(chain).ok_or(Unreadable)?;
        self.write(chain, item, &Line::Whole { mark, number: in_force.whole_number.saturating_add(1), link })
    }

    fn write(&self, chain: &Chain, item: u32, line: &Line) -> Result<(), Unreadable> {
        let event = serde_json::to_string(line).map_err(|_| Unreadable)?;
        self.archive.put_event(&chain.name(), &Event { item, event }).map_err(|_| Unreadable)
    }
}

impl InForce {
    /// Takes in a line about bodies that left whole, newest number last.
    fn take_mark(&mut self, item: u32, mark: WholeMark, number: u64) {
        if number < self.whole_number {
            return;
        }
        self.whole_number = number;
        self.whole = match mark {
            WholeMark::Set => usize::try_from(item).map_or(0, |item| item.saturating_add(1)),
            WholeMark::Lifted => 0,
        };
    }
}

impl Line {
    fn link(&self) -> &String {
        match self {
            Self::Policy { link, .. }
            | Self::Basis { link, .. }
            | Self::Event { link, .. }
            | Self::Whole { link, .. } => link,
        }
    }
}

/// The newest item, and what stands for all up to it.
fn newest(chain: &Chain) -> Option<(u32, String)> {
    let item = u32::try_from(chain.len().checked_sub(1)?).ok()?;
    link_at(chain, item).map(|link| (item, link))
}

/// What stands for the items up to one and itself.
fn link_at(chain: &Chain, item: u32) -> Option<String> {
    let item = usize::try_from(item).ok()?;
    chain.link_before(item.checked_add(1)?).map(|link| format!("{link:032x}"))
}

#[cfg(test)]
mod tests {
    use liveset::WireFormat;

    use super::*;
    use crate::chain::Reading;

    fn chain(texts: &[&str]) -> Chain {
        let messages: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"role":"user","content":"{text}"}}"#)).collect();
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        Reading::of(WireFormat::Anthropic, body.as_bytes()).unwrap().chain
    }

    fn ledger() -> (tempfile::TempDir, Ledger) {
        let folder = tempfile::tempdir().unwrap();
        let archive = SqliteArchive::open(folder.path().join("a.db")).unwrap();
        (folder, Ledger::new(Arc::new(archive)))
    }

    fn of_window(window: u64) -> Policy {
        let mut policy = Policy::default();
        policy.window = Some(window);
        policy
    }

    #[test]
    fn the_first_policy_stays_in_force_whatever_its_text() {
        let (_folder, ledger) = ledger();
        // As text the later ones come first.
        assert_eq!(ledger.hold(&chain(&["a"]), &of_window(5)).unwrap().window, Some(5));
        assert_eq!(ledger.hold(&chain(&["a"]), &of_window(1)).unwrap().window, Some(5));
        assert_eq!(ledger.hold(&chain(&["a", "b"]), &of_window(1)).unwrap().window, Some(5));
        assert_eq!(ledger.read(&chain(&["a", "b", "c"])).unwrap().policy.unwrap().window, Some(5));
        assert_eq!(ledger.read(&chain(&["other"])).unwrap(), InForce::default());
    }

    #[test]
    fn a_conversation_that_only_begins_the_same_has_a_policy_of_its_own() {
        let (_folder, ledger) = ledger();
        ledger.hold(&chain(&["a", "b", "c"]), &of_window(5)).unwrap();
        assert_eq!(ledger.read(&chain(&["a"])).unwrap(), InForce::default());
        assert_eq!(ledger.hold(&chain(&["a", "x", "c"]), &of_window(1)).unwrap().window, Some(1));
        assert_eq!(ledger.read(&chain(&["a", "b", "c", "d"])).unwrap().policy.unwrap().window, Some(5));
    }

    #[test]
    fn a_smaller_window_holds_from_its_place_on_and_in_its_branch_alone() {
        let (_folder, ledger) = ledger();
        let told = [SessionEvent::too_long(1, 900), SessionEvent::too_long(2, 700)];
        ledger.note(&chain(&["a", "b"]), told[0]).unwrap();
        ledger.note(&chain(&["a", "b", "c"]), told[1]).unwrap();
        let events = |texts: &[&str]| ledger.read(&chain(texts)).unwrap().events;
        assert_eq!(events(&["a"]), []);
        assert_eq!(events(&["a", "b"]), told[..1]);
        assert_eq!(events(&["a", "b", "c", "d"]), told);
        assert_eq!(events(&["a", "x", "c"]), []);
    }

    #[test]
    fn what_left_whole_holds_until_a_body_leaves_as_judged_however_often_it_turns() {
        let (_folder, ledger) = ledger();
        let body = chain(&["a", "b"]);
        let whole = |texts: &[&str]| ledger.read(&chain(texts)).unwrap().whole;
        ledger.mark(&body, WholeMark::Set).unwrap();
        assert_eq!(whole(&["a", "b"]), 0, "nothing was ever cut");
        ledger.hold(&chain(&["a"]), &of_window(5)).unwrap();
        for _ in 0..3 {
            ledger.mark(&body, WholeMark::Set).unwrap();
            assert_eq!((whole(&["a", "b", "c"]), whole(&["a", "x"])), (2, 0));
            ledger.mark(&body, WholeMark::Lifted).unwrap();
            assert_eq!(whole(&["a", "b", "c"]), 0);
        }
    }
}
