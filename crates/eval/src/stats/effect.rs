//! How large is a difference, beside the spread of what it is measured in?

use super::paired::mean;

/// Gives Cohen's d of paired differences: their mean over their standard deviation (`d_z`).
///
/// `None` where there is no spread to measure by.
///
/// ```
/// use liveset_eval::stats::cohen_d;
/// assert_eq!(cohen_d(&[1.0, 2.0, 3.0]), Some(2.0));
/// assert_eq!(cohen_d(&[2.0, 2.0]), None);
/// ```
#[must_use]
pub fn cohen_d(differences: &[f64]) -> Option<f64> {
    let (count, middle) = (differences.len(), mean(differences)?);
    if count < 2 {
        return None;
    }
    let squares: f64 = differences.iter().map(|value| (value - middle) * (value - middle)).sum();
    let spread = (squares / (count - 1) as f64).sqrt();
    (spread > 0.0).then(|| middle / spread)
}

/// Gives Cliff's delta: how much oftener a value of `a` is over one of `b` than under it, from -1 to 1.
///
/// ```
/// use liveset_eval::stats::cliff_delta;
/// assert_eq!(cliff_delta(&[3.0, 4.0], &[1.0, 3.0]), Some(0.75));
/// ```
#[must_use]
pub fn cliff_delta(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let sign = |x: f64, y: f64| f64::from(i8::from(x > y) - i8::from(x < y));
    let sum: f64 = a.iter().flat_map(|x| b.iter().map(move |y| sign(*x, *y))).sum();
    Some(sum / (a.len() * b.len()) as f64)
}
