//! What is being read in pages just now? Long answers as they were shown first, so that a page costs what the page is.
//!
//! Never answers by itself: whether an original may still be shown, the archive is asked for each page.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use liveset::recall::View;

/// Bytes of the answers that are kept, the newest not counted: some agents that read long logs at once.
const MAX_BYTES: usize = 64 << 20;
/// Answers that are kept.
const MAX_VIEWS: usize = 16;

/// An answer as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) heading: String,
    pub(crate) text: String,
}

/// The answers of which a page was given and another was not asked for yet, newest first.
#[derive(Debug, Default)]
pub(crate) struct OpenViews {
    open: Mutex<VecDeque<Open>>,
}

#[derive(Debug)]
struct Open {
    id: String,
    view: View,
    shown: Arc<Shown>,
}

impl OpenViews {
    /// Gives an answer that is kept, and keeps it no longer; [`OpenViews::keep`] takes it back.
    pub(crate) fn take(&self, id: &str, view: &View) -> Option<Arc<Shown>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|one| one.id == id && one.view == *view)?;
        open.remove(at).map(|one| one.shown)
    }

    /// Keeps an answer of which more pages will be asked for.
    pub(crate) fn keep(&self, id: &str, view: View, shown: Arc<Shown>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Two clients may have read the same at once.
        open.retain(|one| one.id != id || one.view != view);
        open.push_front(Open { id: id.to_owned(), view, shown });
        let bytes = |open: &VecDeque<Open>| open.iter().skip(1).map(|one| one.shown.text.len()).sum::<usize>();
        while open.len() > MAX_VIEWS || bytes(&open) > MAX_BYTES {
            open.pop_back();
        }
    }

    /// Drops every answer about an original that may not be shown any more.
    pub(crate) fn forget(&self, id: &str) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.id != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: usize) -> Arc<Shown> {
        Arc::new(Shown { heading: "[all]".to_owned(), text: "x".repeat(bytes) })
    }

    #[test]
    fn the_newest_answer_is_kept_whatever_its_size_and_the_oldest_go() {
        let views = OpenViews::default();
        for id in ["a", "b", "c"] {
            views.keep(id, View::Whole, shown(MAX_BYTES / 2 + 1));
        }
        assert_eq!(["a", "b", "c"].map(|id| views.take(id, &View::Whole).is_some()), [false, true, true]);
        views.keep("d", View::Whole, shown(2 * MAX_BYTES));
        assert!(views.take("d", &View::Outline).is_none() && views.take("d", &View::Whole).is_some());
        assert!(views.take("d", &View::Whole).is_none(), "it was taken");
        for at in 0..=MAX_VIEWS {
            views.keep(&at.to_string(), View::Whole, shown(1));
        }
        assert!(views.take("0", &View::Whole).is_none() && views.take("1", &View::Whole).is_some());
        views.forget("2");
        assert!(views.take("2", &View::Whole).is_none() && views.take("3", &View::Whole).is_some());
    }
}
