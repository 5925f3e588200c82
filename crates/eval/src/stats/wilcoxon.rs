//! Do paired values differ? The signed-rank test, exact at any size.

/// What the signed-rank test found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SignedRank {
    /// Differences that are not zero.
    pub pairs: usize,
    /// Sum of the ranks of positive differences.
    pub positive: f64,
    /// Two-sided p: the share of all sign patterns that are as far from the middle, or farther.
    pub p: f64,
}

/// Tests whether differences lie around zero: zeros dropped, ties at their middle rank, every sign pattern counted.
///
/// Without a difference that is not zero, p is 1.
///
/// ```
/// use liveset_eval::stats::signed_rank;
/// let all_up = [3.0, 5.0, 1.0, 8.0, 2.0, 9.0, 4.0, 7.0, 6.0, 10.0];
/// assert_eq!(signed_rank(&all_up).p, 2.0 / 1024.0);
/// ```
#[must_use]
pub fn signed_rank(differences: &[f64]) -> SignedRank {
    let mut kept: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    kept.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = doubled_ranks(&kept);
    let total: usize = ranks.iter().sum();
    let positive: usize = kept.iter().zip(&ranks).filter(|(value, _)| **value > 0.0).map(|(_, rank)| rank).sum();
    SignedRank { pairs: kept.len(), positive: positive as f64 / 2.0, p: two_sided(&ranks, positive, total) }
}

/// Gives twice the rank of each value, so that middle ranks are whole numbers; values stand in order of size.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for tied in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let (first, last) = (ranks.len() + 1, ranks.len() + tied.len());
        ranks.extend(std::iter::repeat_n(first + last, tied.len()));
    }
    ranks
}

/// Gives the share of sign patterns whose sum is at least as far from the middle as `positive`.
fn two_sided(ranks: &[usize], positive: usize, total: usize) -> f64 {
    // The share of patterns with each sum, one rank after the other.
    let mut shares = vec![0.0; total + 1];
    if let Some(none) = shares.first_mut() {
        *none = 1.0;
    }
    let mut reached = 0;
    for &rank in ranks {
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = sum.checked_sub(rank).and_then(|before| shares.get(before)).copied().unwrap_or(0.0);
            if let Some(share) = shares.get_mut(sum) {
                *share = f64::midpoint(*share, with);
            }
        }
    }
    let low = positive.min(total - positive);
    let tail: f64 = shares.iter().take(low + 1).sum();
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_differs_where_nothing_is_left() {
        assert_eq!(signed_rank(&[]).p, 1.0);
        assert_eq!(signed_rank(&[0.0, 0.0]).p, 1.0);
    }

    /// Every sign pattern, one by one.
    fn plain(differences: &[f64]) -> f64 {
        let kept: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
        let rank = |value: f64| {
            let below = kept.iter().filter(|other| other.abs() < value.abs()).count() as f64;
            let same = kept.iter().filter(|other| other.abs() == value.abs()).count() as f64;
            below + (same + 1.0) / 2.0
        };
        let ranks: Vec<f64> = kept.iter().map(|value| rank(*value)).collect();
        let middle = ranks.iter().sum::<f64>() / 2.0;
        let found: f64 = kept.iter().zip(&ranks).filter(|(value, _)| **value > 0.0).map(|(_, rank)| rank).sum();
        let patterns = 1_u32 << kept.len();
        let sum = |signs: u32| -> f64 {
            (0..).zip(&ranks).filter(|(at, _): &(u32, _)| signs >> at & 1 == 1).map(|(_, rank)| rank).sum()
        };
        let as_far = (0..patterns).filter(|signs| (sum(*signs) - middle).abs() >= (found - middle).abs() - 1e-9);
        as_far.count() as f64 / f64::from(patterns)
    }

    #[test]
    fn it_is_the_count_of_all_sign_patterns() {
        let mut numbers = crate::prng::Prng::new(5);
        for _ in 0..60 {
            let size = 1 + numbers.below(9);
            let values: Vec<f64> = (0..size).map(|_| numbers.below(9) as f64 - 4.0).collect();
            let (fast, slow) = (signed_rank(&values).p, plain(&values));
            assert!((fast - slow).abs() < 1e-12, "{values:?}: {fast} {slow}");
        }
    }
}
