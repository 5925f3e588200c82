//! Where do random numbers come from? A frozen generator, so that a seed means the same numbers in every version.
//!
//! Never the clock, never the system, never a library whose stream may change.

/// SplitMix64 with a frozen rule for ranges.
///
/// ```
/// use liveset_eval::prng::Prng;
/// let mut numbers = Prng::new(7);
/// assert!(numbers.below(6) < 6);
/// ```
#[derive(Clone, Debug)]
pub struct Prng {
    state: u64,
}

impl Prng {
    /// Starts the stream of a number.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Gives the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let value = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    /// Gives a whole number below `end`, each as likely as the others; 0 where `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 {
            return 0;
        }
        // Bits over the last whole multiple would make low numbers likelier.
        let limit = u64::MAX - u64::MAX % end;
        loop {
            let bits = self.bits();
            if bits < limit {
                return bits % end;
            }
        }
    }

    /// Puts a list into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            // A place in a slice fits both types.
            items.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_splitmix64() {
        let mut numbers = Prng::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| numbers.bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_range_is_hit_evenly_and_never_left() {
        let mut numbers = Prng::new(3);
        let mut hits = [0_u32; 6];
        for _ in 0..6_000 {
            hits[numbers.below(6) as usize] += 1;
        }
        assert!(hits.iter().all(|&hit| (850..1_150).contains(&hit)), "{hits:?}");
        assert_eq!(numbers.below(0), 0);
    }

    #[test]
    fn a_shuffle_loses_nothing_and_is_the_same_each_time() {
        let shuffled = || {
            let mut items: Vec<u32> = (0..20).collect();
            Prng::new(9).shuffle(&mut items);
            items
        };
        let mut sorted = shuffled();
        assert_eq!(sorted, shuffled());
        assert_ne!(sorted, (0..20).collect::<Vec<_>>());
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
