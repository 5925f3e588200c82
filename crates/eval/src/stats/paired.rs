//! What is known of one paired comparison? Mean, interval, test and size of the effect, together.

use super::{
    bootstrap::{Bootstrap, Interval},
    effect::cohen_d,
    wilcoxon::{SignedRank, signed_rank},
};

/// A comparison of values that belong together, one pair a seed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Paired {
    /// Pairs.
    pub count: usize,
    /// Mean difference.
    pub mean: f64,
    /// BCa interval of the mean difference.
    pub bca: Option<Interval>,
    /// Percentile interval of the mean difference.
    pub percentile: Option<Interval>,
    /// Signed-rank test of the differences.
    pub test: SignedRank,
    /// Cohen's d of the differences.
    pub cohen_d: Option<f64>,
}

impl Paired {
    /// Compares `now` with `before`, pair by pair; `None` without a pair.
    ///
    /// ```
    /// use liveset_eval::stats::Paired;
    /// let paired = Paired::of(&[5.0, 7.0, 6.0], &[1.0, 2.0, 3.0]).ok_or("no pair")?;
    /// assert_eq!((paired.mean, paired.test.p), (4.0, 0.25));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn of(now: &[f64], before: &[f64]) -> Option<Self> {
        let differences: Vec<f64> = now.iter().zip(before).map(|(now, before)| now - before).collect();
        let mean = mean(&differences)?;
        let bootstrap = Bootstrap::new(&differences);
        Some(Self {
            count: differences.len(),
            mean,
            bca: bootstrap.bca(),
            percentile: bootstrap.percentile(),
            test: signed_rank(&differences),
            cohen_d: cohen_d(&differences),
        })
    }
}

/// Gives the mean; `None` of nothing.
///
/// ```
/// assert_eq!(liveset_eval::stats::mean(&[1.0, 2.0]), Some(1.5));
/// ```
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
