//! Whose originals are these? Who may redeem an id, and which sessions a reader sees; checks nothing itself.

use crate::{Error, Result};

/// What a handle of an archive may see.
///
/// Ids are redeemed within a tenant only: the id of another tenant's original is answered like one that nobody issued.
/// Within a tenant sessions are an index, unless [`Sessions::Strict`] makes them a border too: then also what a body
/// points at, what is purged and what is evicted is what the session itself stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Who owns what is stored.
    pub tenant: String,
    /// What sessions are.
    pub sessions: Sessions,
}

/// What sessions are to a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sessions {
    /// An index: all of the tenant's originals can be redeemed.
    #[default]
    Open,
    /// A border: only what this session stored can be redeemed. For proxies that many share.
    Strict(String),
}

impl Scope {
    /// All that one tenant stored.
    ///
    /// ```
    /// use liveset_archive::{Scope, Sessions};
    /// assert_eq!(Scope::tenant("ada").sessions, Sessions::Open);
    /// ```
    #[must_use]
    pub fn tenant(name: impl Into<String>) -> Self {
        Self { tenant: name.into(), sessions: Sessions::Open }
    }

    /// Only what one session of the tenant stored.
    #[must_use]
    pub fn strictly(self, session: impl Into<String>) -> Self {
        Self { sessions: Sessions::Strict(session.into()), ..self }
    }

    /// The session that is a border, if one is.
    pub(crate) fn border(&self) -> Option<&str> {
        match &self.sessions {
            Sessions::Open => None,
            Sessions::Strict(session) => Some(session),
        }
    }

    /// Refuses to store for a session behind the border.
    pub(crate) fn admit(&self, session: &str) -> Result<()> {
        match self.border() {
            Some(border) if border != session => Err(Error::OtherSession),
            Some(_) | None => Ok(()),
        }
    }
}

/// One user of one machine, whose files nobody else opens: the tenant where none is named.
pub(crate) const OWN: &str = "";

impl Default for Scope {
    /// The owner of the file.
    fn default() -> Self {
        Self::tenant(OWN)
    }
}
