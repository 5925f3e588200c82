//! Where does a value stand in the normal distribution, and which value stands there?

use std::f64::consts::SQRT_2;

/// Widest value that is searched: the share beyond it is under any interval's resolution.
const WIDEST: f64 = 40.0;
/// Halvings of the search: more than the bits of a value.
const HALVINGS: u32 = 200;

/// Gives the share of the standard normal distribution below a value.
pub(super) fn share_below(value: f64) -> f64 {
    0.5 * libm::erfc(-value / SQRT_2)
}

/// Gives the value below which a share of the standard normal distribution lies.
///
/// Halving is slow and exact; an interval asks four times.
pub(super) fn value_at(share: f64) -> f64 {
    if share <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if share >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (-WIDEST, WIDEST);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if share_below(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_quantiles_come_back() {
        assert!((value_at(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((share_below(1.0) - 0.841_344_746_068_542_9).abs() < 1e-14);
        assert_eq!(value_at(0.0), f64::NEG_INFINITY);
    }
}
