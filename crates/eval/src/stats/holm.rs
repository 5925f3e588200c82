//! What is left of several tests once each has had its chance? Holm's step-down correction.

/// Corrects p values of one family, in the order in which they came.
///
/// ```
/// use liveset_eval::stats::holm;
/// assert_eq!(holm(&[0.25, 0.125]), [0.25, 0.25]);
/// ```
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = p.to_vec();
    let mut least = 0.0_f64;
    for (rank, (at, value)) in order.iter().enumerate() {
        least = least.max(((p.len() - rank) as f64 * value).min(1.0));
        if let Some(place) = corrected.get_mut(*at) {
            *place = least;
        }
    }
    corrected
}
