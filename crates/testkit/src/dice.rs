//! Where do small choices come from? A seeded stream of numbers; never the clock, never the system.

/// A reproducible stream of choices.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Gives a number below `sides` (0 when `sides` is 0).
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let value = scramble(self.state);
        if sides == 0 { 0 } else { (value % sides as u64) as usize }
    }

    /// Picks one of the values given.
    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let place = self.roll(choices.len());
        choices.get(place).copied().unwrap_or("")
    }

    /// Says yes once in `sides` times.
    pub(crate) fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }
}

/// Derives the seed of a part from the seed of the whole, so that parts keep their bytes when others come or go.
pub(crate) fn derive(seed: u64, part: u64) -> u64 {
    scramble(seed ^ scramble(part.wrapping_add(0x51_7C_C1_B7)))
}

/// Gives a number for a name, the same on every machine.
pub(crate) fn of_name(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
