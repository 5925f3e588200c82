//! What does a policy keep when results must go? The policies of the study's tables, on results, blocks or lines.
//!
//! Each gives an order or a choice; what fits is decided in one place.

mod fill;
mod hindsight;
mod score;
mod whole;

use super::evidence::Evidence;
use super::view::View;
use crate::prng::Prng;
use fill::{Misfit, fill};

/// Results that clearing leaves.
const CLEARING_KEEPS: usize = 3;
/// Results that masking leaves.
const MASKING_KEEPS: usize = 10;

/// A sweep that is due: what is in view, and how much may stay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'e> {
    pub(crate) evidence: &'e Evidence,
    pub(crate) view: &'e View,
    /// Number of the newest assistant message.
    pub(crate) now: u32,
    /// Words of results that may stay.
    pub(crate) budget: u64,
}

/// A policy of the study's tables.
///
/// ```
/// use liveset_eval::retention::Keeping;
/// assert_eq!(Keeping::named("l5"), Some(Keeping::L5));
/// assert!(Keeping::ALL.iter().all(|keeping| Keeping::named(keeping.name()) == Some(*keeping)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Keeping {
    /// Whole results, newest first; one that does not fit is skipped.
    NewestFirst,
    /// Whole results, newest first, up to the first that does not fit.
    KeepLast,
    /// The newest three results, whatever they weigh.
    ClearAllButThree,
    /// The newest ten results, whatever they weigh.
    MaskAllButTen,
    /// Beginning and end of each result.
    HeadAndTail,
    /// Whole results in random order.
    Random,
    /// Whole results, last quoted first.
    LeastRecentlyReferenced,
    /// Blocks: those said or repeated go first, then the oldest.
    SaidAndStaleOut,
    /// Blocks by the study's rule.
    L5,
    /// Blocks by the study's rule, with the class of the tool.
    L5WithClass,
    /// Blocks that will be used most, by word.
    HindsightBlocks,
    /// Whole results that will be used most, by word.
    HindsightWhole,
}

impl Keeping {
    /// All policies, in the order of the study's tables.
    pub const ALL: [Self; 12] = [
        Self::NewestFirst,
        Self::KeepLast,
        Self::ClearAllButThree,
        Self::MaskAllButTen,
        Self::HeadAndTail,
        Self::Random,
        Self::LeastRecentlyReferenced,
        Self::SaidAndStaleOut,
        Self::L5,
        Self::L5WithClass,
        Self::HindsightBlocks,
        Self::HindsightWhole,
    ];

    /// Gives the name that flags and tables use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NewestFirst => "newest-first",
            Self::KeepLast => "keep-last",
            Self::ClearAllButThree => "clear-all-but-3",
            Self::MaskAllButTen => "mask-all-but-10",
            Self::HeadAndTail => "head-and-tail",
            Self::Random => "random",
            Self::LeastRecentlyReferenced => "lru",
            Self::SaidAndStaleOut => "said-stale-out",
            Self::L5 => "l5",
            Self::L5WithClass => "l5-class",
            Self::HindsightBlocks => "hindsight-blocks",
            Self::HindsightWhole => "hindsight-whole",
        }
    }

    /// Finds the policy that has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|keeping| keeping.name() == name)
    }

    /// Says what stays of a view.
    pub(crate) fn keep(self, situation: &Situation<'_>, numbers: &mut Prng) -> View {
        match self {
            Self::NewestFirst => fill(situation, whole::newest_first(situation), Misfit::Skip),
            Self::KeepLast => fill(situation, whole::newest_first(situation), Misfit::Stop),
            Self::ClearAllButThree => whole::last(situation, CLEARING_KEEPS),
            Self::MaskAllButTen => whole::last(situation, MASKING_KEEPS),
            Self::HeadAndTail => whole::head_and_tail(situation),
            Self::Random => {
                let mut order = whole::newest_first(situation);
                numbers.shuffle(&mut order);
                fill(situation, order, Misfit::Skip)
            }
            Self::LeastRecentlyReferenced => fill(situation, whole::last_quoted_first(situation), Misfit::Skip),
            Self::SaidAndStaleOut => fill(situation, score::order(situation, score::said_and_stale), Misfit::Skip),
            Self::L5 => fill(situation, score::order(situation, score::l5), Misfit::Skip),
            Self::L5WithClass => fill(situation, score::order(situation, score::l5_with_class), Misfit::Skip),
            Self::HindsightBlocks => fill(situation, hindsight::blocks(situation), Misfit::Skip),
            Self::HindsightWhole => fill(situation, hindsight::whole(situation), Misfit::Skip),
        }
    }
}
