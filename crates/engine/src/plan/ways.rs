//! Which ways back are open in a body? From the setting, the archive and the body's own tools to a route.
//!
//! A way that is not open is never named: an agent would try it again and again.

use crate::{
    policy::{ArchiveUse, Policy, RecallRoute},
    report::Warning,
    tombstone::Route,
    tools::{self, ToolClass},
    transcript::{Call, Transcript},
};

/// How an agent gets back what goes.
#[derive(Debug)]
pub(crate) struct Ways {
    /// One original, by its id.
    pub(crate) single: Route,
    /// One of many, by its words.
    pub(crate) folded: Route,
    /// Why the setting does not hold.
    closed: Option<(&'static str, &'static str)>,
}

impl Ways {
    pub(crate) fn of(transcript: &Transcript<'_>, policy: &Policy) -> Self {
        let both = |route: Route| Self { folded: route.clone(), single: route, closed: None };
        let closed = |code, why| Self { single: Route::Rerun, folded: Route::Rerun, closed: Some((code, why)) };
        if policy.archive == ArchiveUse::Off && policy.recall_route != RecallRoute::None {
            return closed(
                "route_without_archive",
                "`recall_route` needs an archive: without one what is cut names its call and no way to recall it",
            );
        }
        match &policy.recall_route {
            RecallRoute::None => both(Route::Rerun),
            RecallRoute::Mcp => both(Route::Tool),
            RecallRoute::Shell => both(Route::Shell),
            RecallRoute::Spill(folder) => both(Route::Spill(folder.clone())),
            RecallRoute::Tool => {
                let offered = tools::offered(transcript);
                if !offered.recall {
                    return closed(
                        "no_recall_tool",
                        "the body offers no recall tool, so what is cut names its call and no way to recall it",
                    );
                }
                // Without the tool that searches, nothing would find what a folded line stands for.
                let folded = if offered.search { Route::Tool } else { Route::Rerun };
                Self { single: Route::Tool, folded, closed: None }
            }
        }
    }

    /// Gives the id of the original to which a call goes by its spilled file, if it does no more than read it.
    ///
    /// Asks the call's own words: a label is shortened.
    pub(crate) fn asked_for(&self, transcript: &Transcript<'_>, call: &Call, class: ToolClass) -> Option<String> {
        let Route::Spill(folder) = &self.single else { return None };
        let id = |path: &str| folder.id_under(path).map(str::to_owned);
        tools::find_word(transcript, call, id).filter(|_| class == ToolClass::Retrieval)
    }

    /// Names the spilled file of an original, short enough for any label.
    pub(crate) fn file(&self, id: &str) -> Option<String> {
        match &self.single {
            Route::Spill(folder) => Some(folder.file(id)),
            Route::Rerun | Route::Tool | Route::Shell => None,
        }
    }

    /// Says why the setting does not hold, if it does not.
    pub(crate) fn warning(&self) -> Option<Warning> {
        self.closed.map(|(code, why)| Warning::new(code, why))
    }
}
