//! The study's "Reference values on the shared traces alone": what it measured, in percent, to hold ours against.

use liveset_eval::retention::Keeping;

/// Mean and difference to newest-first.
pub(crate) type Cell = (f64, f64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Quoted,
    Messages,
    Values,
    Edits,
}

/// Measure, policy, and figures where 50, 35, 20 and 10 percent are kept.
pub(crate) const STATIC: [(Measure, Keeping, [Cell; 4]); 20] = [
    (Measure::Quoted, Keeping::NewestFirst, [(89.9, 0.0), (75.5, 0.0), (47.3, 0.0), (39.5, 0.0)]),
    (Measure::Quoted, Keeping::KeepLast, [(89.9, 0.0), (75.4, -0.2), (44.8, -2.5), (36.8, -2.7)]),
    (Measure::Quoted, Keeping::LeastRecentlyReferenced, [(90.0, 0.1), (87.8, 12.3), (54.7, 7.3), (43.0, 3.5)]),
    (Measure::Quoted, Keeping::L5, [(95.2, 5.3), (80.8, 5.2), (56.9, 9.6), (35.2, -4.3)]),
    (Measure::Quoted, Keeping::HindsightBlocks, [(100.0, 10.1), (100.0, 24.5), (100.0, 52.7), (100.0, 60.5)]),
    (Measure::Messages, Keeping::NewestFirst, [(71.8, 0.0), (66.7, 0.0), (48.0, 0.0), (37.1, 0.0)]),
    (Measure::Messages, Keeping::KeepLast, [(69.1, -2.8), (66.0, -0.7), (43.4, -4.6), (36.4, -0.7)]),
    (Measure::Messages, Keeping::LeastRecentlyReferenced, [(78.9, 7.0), (71.4, 4.7), (51.1, 3.1), (35.2, -1.8)]),
    (Measure::Messages, Keeping::L5, [(85.5, 13.7), (70.2, 3.5), (57.8, 9.8), (30.8, -6.2)]),
    (Measure::Messages, Keeping::HindsightBlocks, [(100.0, 28.2), (100.0, 33.3), (100.0, 52.0), (100.0, 62.9)]),
    (Measure::Values, Keeping::NewestFirst, [(67.1, 0.0), (59.1, 0.0), (45.6, 0.0), (38.8, 0.0)]),
    (Measure::Values, Keeping::KeepLast, [(62.1, -5.0), (53.8, -5.2), (40.3, -5.2), (36.6, -2.2)]),
    (Measure::Values, Keeping::LeastRecentlyReferenced, [(67.6, 0.5), (59.5, 0.4), (45.1, -0.4), (39.5, 0.7)]),
    (Measure::Values, Keeping::L5, [(65.0, -2.1), (54.3, -4.7), (47.5, 1.9), (38.3, -0.6)]),
    (Measure::Values, Keeping::HindsightBlocks, [(67.3, 0.2), (60.4, 1.3), (50.1, 4.6), (45.6, 6.8)]),
    (Measure::Edits, Keeping::NewestFirst, [(87.0, 0.0), (82.4, 0.0), (63.0, 0.0), (54.6, 0.0)]),
    (Measure::Edits, Keeping::KeepLast, [(84.3, -2.8), (82.4, 0.0), (63.0, 0.0), (54.6, 0.0)]),
    (Measure::Edits, Keeping::LeastRecentlyReferenced, [(82.4, -4.6), (82.4, -0.0), (63.0, 0.0), (54.6, 0.0)]),
    (Measure::Edits, Keeping::L5, [(90.7, 3.7), (82.4, 0.0), (68.5, 5.6), (54.6, 0.0)]),
    (Measure::Edits, Keeping::HindsightBlocks, [(100.0, 13.0), (100.0, 17.6), (100.0, 37.0), (100.0, 45.4)]),
];

/// Policy, figures for quoted text, messages and values, sweeps, words rewritten, re-reads of dropped text and of text in view.
pub(crate) type ReplayRow = (Keeping, [Cell; 3], f64, u64, f64, f64);

/// A window of 15,000 words.
pub(crate) const REPLAY: [ReplayRow; 11] = [
    (Keeping::NewestFirst, [(84.7, 0.0), (82.1, 0.0), (83.6, 0.0)], 3.89, 74_379, 4.67, 8.33),
    (Keeping::KeepLast, [(84.8, 0.1), (81.8, -0.4), (83.3, -0.3)], 3.67, 63_499, 4.89, 8.11),
    (Keeping::ClearAllButThree, [(80.6, -4.1), (72.0, -10.1), (78.3, -5.2)], 3.00, 35_549, 5.67, 7.33),
    (Keeping::MaskAllButTen, [(83.5, -1.3), (76.7, -5.5), (81.5, -2.0)], 4.67, 80_641, 6.00, 7.00),
    (Keeping::HeadAndTail, [(84.9, 0.1), (83.3, 1.2), (82.7, -0.8)], 4.00, 85_979, 5.44, 7.56),
    (Keeping::Random, [(84.5, -0.2), (82.2, 0.0), (81.8, -1.8)], 3.89, 80_071, 4.33, 8.67),
    (Keeping::LeastRecentlyReferenced, [(84.9, 0.1), (78.7, -3.5), (82.8, -0.7)], 3.89, 74_792, 4.22, 8.78),
    (Keeping::SaidAndStaleOut, [(86.2, 1.5), (86.6, 4.5), (84.2, 0.6)], 4.11, 83_335, 4.67, 8.33),
    (Keeping::L5, [(85.8, 1.1), (86.6, 4.5), (84.9, 1.4)], 4.11, 85_632, 4.33, 8.67),
    (Keeping::L5WithClass, [(85.9, 1.2), (87.5, 5.4), (85.0, 1.4)], 4.11, 86_065, 4.78, 8.22),
    (Keeping::HindsightBlocks, [(87.7, 2.9), (90.6, 8.5), (84.2, 0.6)], 4.11, 85_943, 4.67, 8.33),
];
