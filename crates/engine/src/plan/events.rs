//! What does only one request know? Session events, and the limits that hold at each request point because of them.
//!
//! An event stands at an item: whoever replays it there decides what was decided then. Nothing here looks at a text.

use liveset_tokens::Tokens;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;

/// Something that one request told about its conversation; it holds from the request point after its item on.
///
/// The same items and events give the same bytes, so an event is kept with its conversation and handed in again with
/// each later body. Serialises to a flat JSON object.
///
/// ```
/// use liveset_engine::plan::SessionEvent;
/// let event = SessionEvent::too_long(12, 100_000);
/// assert_eq!(serde_json::to_string(&event)?, r#"{"kind":"too_long","item":12,"window":100000}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The model refused a body as too long: from now on its window is smaller than the policy says.
    #[non_exhaustive]
    TooLong {
        /// The newest item of that body, counted from 0.
        item: u32,
        /// The window from there on, in tokens.
        window: u64,
    },
    /// The provider's cache of this conversation ran out before this request, so a rewrite costs nothing now: a sweep is
    /// due at this one point if the view is over the target.
    #[non_exhaustive]
    CacheCold {
        /// The newest item of the request, counted from 0.
        item: u32,
    },
}

impl SessionEvent {
    /// Makes a [`SessionEvent::TooLong`].
    #[must_use]
    pub fn too_long(item: u32, window_tokens: u64) -> Self {
        Self::TooLong { item, window: window_tokens }
    }

    /// Makes a [`SessionEvent::CacheCold`].
    #[must_use]
    pub fn cache_cold(item: u32) -> Self {
        Self::CacheCold { item }
    }

    /// Gives the item whose request point is the first that the event holds at.
    #[must_use]
    pub fn item(&self) -> u32 {
        match self {
            Self::TooLong { item, .. } | Self::CacheCold { item } => *item,
        }
    }
}

/// The limits at each request point.
#[derive(Debug)]
pub(crate) struct Timeline {
    base: Budget,
    /// Limits from an item on, in order.
    smaller: Vec<(usize, Budget)>,
    /// Items at whose point the cache is cold, in order.
    cold: Vec<usize>,
}

impl Timeline {
    pub(crate) fn of(base: Budget, events: &[SessionEvent]) -> Self {
        let (mut windows, mut cold) = (Vec::new(), Vec::new());
        for event in events {
            match *event {
                SessionEvent::TooLong { item, window } => windows.push((item as usize, window)),
                SessionEvent::CacheCold { item } => cold.push(item as usize),
            }
        }
        windows.sort_unstable();
        cold.sort_unstable();
        let mut now = base;
        let smaller = windows.into_iter().map(|(item, window)| {
            now = now.narrowed(Tokens(window));
            (item, now)
        });
        Self { base, smaller: smaller.collect(), cold }
    }

    /// Gives the limits that hold once `items` items were delivered, apart from a cold cache.
    pub(crate) fn standing(&self, items: usize) -> Budget {
        let known = self.smaller.partition_point(|&(item, _)| item < items);
        known.checked_sub(1).and_then(|last| self.smaller.get(last)).map_or(self.base, |&(_, budget)| budget)
    }

    /// Gives the limits at the request point once `items` items were delivered.
    pub(crate) fn at(&self, items: usize) -> Budget {
        let standing = self.standing(items);
        let is_cold = items.checked_sub(1).is_some_and(|newest| self.cold.binary_search(&newest).is_ok());
        if is_cold { standing.triggered_at_target() } else { standing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    fn base() -> Budget {
        let policy = Policy::from_toml("window = 1000\nreserve = 100").expect("it is a policy");
        Budget::of(&policy, None).expect("it has a window").0
    }

    #[test]
    fn a_window_that_was_too_long_holds_from_its_item_on() {
        let timeline = Timeline::of(base(), &[SessionEvent::too_long(4, 500)]);
        let windows: Vec<u64> = [4, 5, 9].iter().map(|&items| timeline.at(items).window.0).collect();
        assert_eq!(windows, [1000, 500, 500]);
        assert_eq!(timeline.at(5).room.0, 400, "the reserve stays");
    }

    #[test]
    fn a_later_larger_window_changes_nothing() {
        let timeline = Timeline::of(base(), &[SessionEvent::too_long(6, 900), SessionEvent::too_long(4, 500)]);
        assert_eq!(timeline.at(9).window.0, 500);
    }

    #[test]
    fn a_cold_cache_holds_at_its_point_alone() {
        let timeline = Timeline::of(base(), &[SessionEvent::cache_cold(2)]);
        let triggers: Vec<u64> = [2, 3, 4].iter().map(|&items| timeline.at(items).trigger.0).collect();
        assert_eq!(triggers, [828, 540, 828]);
        assert_eq!(timeline.standing(3).trigger.0, 828);
    }

    #[test]
    fn a_window_below_the_reserve_leaves_room() {
        let timeline = Timeline::of(base(), &[SessionEvent::too_long(0, 80)]);
        assert_eq!((timeline.at(1).window.0, timeline.at(1).room.0), (80, 70));
    }

    #[test]
    fn events_are_read_as_they_are_written() {
        for event in [SessionEvent::too_long(3, 9), SessionEvent::cache_cold(7)] {
            let json = serde_json::to_string(&event).expect("it is JSON");
            assert_eq!(serde_json::from_str::<SessionEvent>(&json).expect("it is an event"), event);
        }
        assert!(serde_json::from_str::<SessionEvent>(r#"{"kind":"cache_cold","item":1,"more":2}"#).is_err());
    }
}
