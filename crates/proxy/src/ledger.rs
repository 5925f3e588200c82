//! Under which policy and after which events did a conversation go on? What must outlive a restart, in the archive.
//!
//! Holds no text of a conversation. What it says stays in force: a changed configuration is for new conversations.

use std::sync::Arc;

use liveset::{Policy, SqliteArchive};
use liveset_archive::Event;
use liveset_engine::policy::CONTRACT;
use serde::{Deserialize, Serialize};

use crate::conversation::Chain;

/// The ledger of all conversations.
#[derive(Clone)]
pub(crate) struct Ledger {
    archive: Arc<SqliteArchive>,
}

/// One line of the ledger, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    /// The conversation goes by this policy.
    Policy { contract: u32, policy: Policy },
    /// From here on the window is smaller: the upstream said "too long".
    Window { tokens: u64, link: String },
}

/// What is in force for a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InForce {
    /// The policy, where one is written.
    pub(crate) policy: Option<Policy>,
    /// Whether what is written belongs to another contract.
    pub(crate) is_of_other_contract: bool,
    /// The smallest window that an upstream left.
    pub(crate) window: Option<u64>,
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
            match line {
                Line::Policy { contract: CONTRACT, policy } => {
                    found.policy.get_or_insert(policy);
                }
                Line::Policy { .. } => found.is_of_other_contract = true,
                Line::Window { tokens, link } => {
                    // A branch that left before the event knows nothing of it.
                    let is_of_this_branch =
                        usize::try_from(event.item).is_ok_and(|item| chain.link_before(item).map(shown) == Some(link));
                    if is_of_this_branch {
                        found.window = Some(found.window.map_or(tokens, |window| window.min(tokens)));
                    }
                }
            }
        }
        found.is_of_other_contract &= found.policy.is_none();
        Ok(found)
    }

    /// Enters the policy that a conversation goes by, and gives the one that holds: the first, whoever wrote it.
    pub(crate) fn hold(&self, chain: &Chain, policy: &Policy) -> Result<Policy, Unreadable> {
        self.write(chain, 0, &Line::Policy { contract: CONTRACT, policy: policy.clone() })?;
        Ok(self.read(chain)?.policy.unwrap_or_else(|| policy.clone()))
    }

    /// Enters that the window is smaller from the end of this chain on.
    pub(crate) fn shrink(&self, chain: &Chain, tokens: u64) -> Result<(), Unreadable> {
        let Some(link) = chain.link_before(chain.len()) else { return Err(Unreadable) };
        self.write(chain, chain.len(), &Line::Window { tokens, link: shown(link) })
    }

    fn write(&self, chain: &Chain, item: usize, line: &Line) -> Result<(), Unreadable> {
        let item = u32::try_from(item).map_err(|_| Unreadable)?;
        let event = serde_json::to_string(line).map_err(|_| Unreadable)?;
        self.archive.put_event(&chain.name(), &Event { item, event }).map_err(|_| Unreadable)
    }
}

fn shown(link: u128) -> String {
    format!("{link:032x}")
}

#[cfg(test)]
mod tests {
    use liveset::WireFormat;

    use super::*;
    use crate::conversation::Reading;

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
    fn the_first_policy_stays_in_force() {
        let (_folder, ledger) = ledger();
        let conversation = chain(&["a"]);
        assert_eq!(ledger.hold(&conversation, &of_window(1)).unwrap().window, Some(1));
        assert_eq!(ledger.hold(&chain(&["a", "b"]), &of_window(1)).unwrap().window, Some(1));
        assert_eq!(ledger.read(&chain(&["a", "b"])).unwrap().policy.unwrap().window, Some(1));
        assert_eq!(ledger.read(&chain(&["other"])).unwrap(), InForce::default());
    }

    #[test]
    fn a_smaller_window_holds_from_its_place_on_and_in_its_branch_alone() {
        let (_folder, ledger) = ledger();
        ledger.shrink(&chain(&["a", "b"]), 900).unwrap();
        ledger.shrink(&chain(&["a", "b", "c"]), 700).unwrap();
        let window = |texts: &[&str]| ledger.read(&chain(texts)).unwrap().window;
        assert_eq!(window(&["a"]), None);
        assert_eq!(window(&["a", "b"]), Some(900));
        assert_eq!(window(&["a", "b", "c", "d"]), Some(700));
        assert_eq!(window(&["a", "x", "c"]), None);
    }
}
