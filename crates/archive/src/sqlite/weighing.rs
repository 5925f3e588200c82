//! How well does an original answer a query, among those of its scope? BM25, by what the scope holds and nothing else.

/// How fast one more time tells less than the one before.
const SATURATION: f64 = 1.2;

/// How far a long text needs more times than a short one.
const LENGTH_SHARE: f64 = 0.75;

/// What is known of a scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) originals: usize,
    /// Bytes of an original.
    pub(super) average_len: f64,
}

impl Scale {
    /// What a word tells that so many originals hold; never nothing.
    pub(super) fn rarity(self, holders: usize) -> f64 {
        let (all, holders) = (self.originals.max(holders) as f64, holders as f64);
        ((all - holders + 0.5) / (holders + 0.5)).ln_1p()
    }

    /// What it tells that a text of this length holds a word so often.
    pub(super) fn weight(self, times: f64, len: usize) -> f64 {
        let relative = len as f64 / self.average_len.max(1.0);
        times * (SATURATION + 1.0) / (times + SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * relative))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_many_times_and_short_texts_tell_more() {
        let scale = Scale { originals: 100, average_len: 1_000.0 };
        assert!(scale.rarity(1) > scale.rarity(50) && scale.rarity(100) > 0.0);
        assert!(scale.weight(3.0, 1_000) > scale.weight(1.0, 1_000));
        assert!(scale.weight(1.0, 100) > scale.weight(1.0, 10_000));
        let gain = |times| scale.weight(times + 1.0, 1_000) - scale.weight(times, 1_000);
        assert!(gain(1.0) > gain(5.0), "the tenth time tells less than the first");
    }
}
