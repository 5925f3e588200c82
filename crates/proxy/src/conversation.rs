//! What is kept of one conversation between two of its requests? Counts, decisions, and what left of it.
//!
//! What is kept saves work and notices changes; it decides nothing. Losing it changes no byte.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use liveset::{Policy, Session, SessionEvent};
use serde::{Deserialize, Serialize};

use crate::{chain::Chain, last_body::LastBody, named_policy::NamedPolicy, reacquisition::Watch};

/// One conversation between two of its requests.
pub(crate) struct Conversation {
    /// Counts and decisions.
    pub(crate) session: Session,
    /// The policy it began with.
    pub(crate) policy: Policy,
    /// What it goes by, session events included.
    pub(crate) named: Arc<NamedPolicy>,
    /// Whether the ledger says so.
    pub(crate) is_entered: bool,
    /// A smaller window that no upstream has taken a body by so far.
    pub(crate) tried: Option<SessionEvent>,
    /// What left of it.
    pub(crate) sent: Sent,
    /// What will have left once its newest body does.
    pub(crate) pending: Option<Sent>,
    /// Items of its newest body.
    pub(crate) items: usize,
    /// When its vendor was last at work on it: what the vendor had cached was there then.
    pub(crate) used_at: Option<Instant>,
    /// The newest body that was read.
    pub(crate) last: Option<LastBody>,
    /// What it takes, about.
    pub(crate) bytes: usize,
}

/// What left of a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// The links of the newest body that left as it was judged.
    pub(crate) chain: Chain,
    /// What stood for its edits, item by item.
    pub(crate) edits: Vec<(u32, u128)>,
    /// Its sweeps.
    pub(crate) sweeps: usize,
    /// Requests so far.
    pub(crate) requests: u64,
    /// What happened after cuts.
    pub(crate) watch: Watch,
    /// Tokens of the newest body, as it came and as it left.
    pub(crate) tokens: (u64, u64),
    /// Tokens that may still come before a sweep is due.
    pub(crate) room: u64,
    /// How long the vendor keeps what it cached of the newest body, by that body's marks.
    pub(crate) cache_lifetime: Duration,
}

/// How a body left that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// As it was judged.
    AsJudged,
    /// As it came, since judgements are only reported.
    Reported,
    /// As it came, for another reason.
    Original,
}

/// What becomes of the mark that a conversation left whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WholeMark {
    /// Its newest body left as it came, although the rules may have cut it.
    Set,
    /// A body left since as it was judged.
    Lifted,
}

impl Conversation {
    /// Begins with a session of which this much left.
    pub(crate) fn new(session: Session, policy: Policy, named: NamedPolicy, sent: Sent) -> Self {
        let named = Arc::new(named);
        Self {
            session,
            policy,
            named,
            is_entered: false,
            tried: None,
            sent,
            pending: None,
            items: 0,
            used_at: None,
            last: None,
            bytes: 0,
        }
    }

    /// Hears how its newest body left.
    pub(crate) fn left(&mut self, left: Left, now: Instant) {
        self.used_at = Some(now);
        let Some(next) = self.pending.take() else { return };
        match left {
            Left::AsJudged => self.sent = next,
            Left::Reported => {
                // Nothing was cut, so nothing can come back.
                let watch = std::mem::take(&mut self.sent.watch);
                self.sent = Sent { watch, tokens: (next.tokens.0, next.tokens.0), ..next };
            }
            Left::Original => {
                self.sent.requests = next.requests;
                self.sent.tokens = (next.tokens.0, next.tokens.0);
                self.sent.cache_lifetime = next.cache_lifetime;
            }
        }
    }
}
