//! Between which values does a mean lie? Resampling with a fixed seed: BCa, and the plain percentile beside it.

use super::{normal, paired::mean};
use crate::prng::Prng;

/// Resamples of every interval.
pub const RESAMPLES: usize = 10_000;
/// Seed of every interval: the same values give the same interval.
const SEED: u64 = 20_260_816;
/// Share of resamples on either side of an interval.
const TAIL: f64 = 0.025;

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Says whether a value lies in it.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The means of resamples, in order.
///
/// ```
/// use liveset_eval::stats::Bootstrap;
/// let bootstrap = Bootstrap::new(&[1.0, 2.0, 3.0, 4.0]);
/// assert!(bootstrap.bca().is_some_and(|interval| interval.holds(2.5)));
/// ```
#[derive(Clone, Debug)]
pub struct Bootstrap {
    values: Vec<f64>,
    means: Vec<f64>,
}

impl Bootstrap {
    /// Resamples values with repetition.
    #[must_use]
    pub fn new(values: &[f64]) -> Self {
        let mut numbers = Prng::new(SEED);
        let count = values.len();
        let mut draw = || -> f64 {
            // A place in a slice fits both types.
            let drawn = (0..count).map(|_| values.get(numbers.below(count as u64) as usize).copied().unwrap_or(0.0));
            drawn.sum::<f64>() / count as f64
        };
        let mut means: Vec<f64> = if count < 2 { Vec::new() } else { (0..RESAMPLES).map(|_| draw()).collect() };
        means.sort_by(f64::total_cmp);
        Self { values: values.to_vec(), means }
    }

    /// Gives the plain percentile interval; `None` of fewer than two values.
    #[must_use]
    pub fn percentile(&self) -> Option<Interval> {
        self.between(TAIL, 1.0 - TAIL)
    }

    /// Gives the bias-corrected and accelerated interval; `None` of fewer than two values.
    ///
    /// Where all values are the same it is that value.
    #[must_use]
    pub fn bca(&self) -> Option<Interval> {
        let middle = mean(&self.values)?;
        let (first, last) = (*self.means.first()?, *self.means.last()?);
        if first == last {
            return Some(Interval { low: first, high: last });
        }
        let below = self.means.iter().filter(|resampled| **resampled < middle).count();
        let not_over = self.means.iter().filter(|resampled| **resampled <= middle).count();
        let bias = normal::value_at((below + not_over) as f64 / (2 * self.means.len()) as f64);
        let acceleration = self.acceleration();
        let moved = |share: f64| {
            let sum = bias + normal::value_at(share);
            normal::share_below(bias + sum / (1.0 - acceleration * sum))
        };
        self.between(moved(TAIL), moved(1.0 - TAIL))
    }

    /// Gives how fast the spread changes with the mean, from leaving out each value once.
    fn acceleration(&self) -> f64 {
        let (count, sum) = (self.values.len() as f64, self.values.iter().sum::<f64>());
        let without: Vec<f64> = self.values.iter().map(|value| (sum - value) / (count - 1.0)).collect();
        let middle = mean(&without).unwrap_or(0.0);
        let power = |exponent: i32| without.iter().map(|value| (middle - value).powi(exponent)).sum::<f64>();
        let spread = power(2);
        // As scipy has it: each sum as a mean over the values.
        let (cubes, squares) = (power(3) / count, spread / count);
        if squares > 0.0 { cubes / (6.0 * count.sqrt() * squares * squares.sqrt()) } else { 0.0 }
    }

    fn between(&self, low: f64, high: f64) -> Option<Interval> {
        Some(Interval { low: self.quantile(low)?, high: self.quantile(high)? })
    }

    /// Gives a quantile of the means, on the line between two neighbours.
    fn quantile(&self, share: f64) -> Option<f64> {
        let place = share.clamp(0.0, 1.0) * self.means.len().checked_sub(1)? as f64;
        // A share of a length is a place.
        let (whole, rest) = (place.floor() as usize, place - place.floor());
        let low = *self.means.get(whole)?;
        let high = self.means.get(whole + 1).copied().unwrap_or(low);
        Some(low + (high - low) * rest)
    }
}
