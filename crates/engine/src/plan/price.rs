//! When does a sweep pay? The price rule of DESIGN section 8 in whole numbers.

use liveset_tokens::{Price, Tokens};

/// Gives the number of further requests after which a warm rewrite has paid: N > ((w - r) / r) * (R / S).
///
/// `removed` is S, `cached` is R: tokens that stay after the first edit and must be written to the cache again.
/// `None` where nothing was removed, or reading the cache costs nothing.
pub(crate) fn break_even(price: Price, removed: Tokens, cached: Tokens) -> Option<u64> {
    let extra = u128::from(price.write_permille.saturating_sub(price.read_permille));
    let saved = u128::from(price.read_permille) * u128::from(removed.0);
    if saved == 0 {
        return None;
    }
    u64::try_from(extra * u128::from(cached.0) / saved + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_price_table_hold() {
        // Opus 5.5: dropping the oldest 20k of 150k needs 156 further requests, 100k of 150k needs 12.
        let price = Price { read_permille: 50, write_permille: 1_250 };
        assert_eq!(break_even(price, Tokens(20_000), Tokens(130_000)), Some(157));
        assert_eq!(break_even(price, Tokens(100_000), Tokens(50_000)), Some(13));
    }
}
