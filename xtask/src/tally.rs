//! How many checks passed, and how many failed? Counts; runs nothing.

use std::fmt;
use std::ops::AddAssign;

/// Checks that passed and failed. A single test of the test harness is one check, and so is each other step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// What a test said that it could not do here; the test itself is among those that passed.
    pub(crate) skipped: u64,
}

impl Tally {
    pub(crate) const ONE_PASSED: Tally = Tally { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const ONE_FAILED: Tally = Tally { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const ONE_SKIPPED: Tally = Tally { passed: 0, failed: 0, skipped: 1 };

    /// Reads a summary line of the test harness, or one by which a test says that it skips something; `None` for any other
    /// line.
    pub(crate) fn of_harness_line(line: &str) -> Option<Tally> {
        if line.starts_with("SKIPPED: ") {
            return Some(Self::ONE_SKIPPED);
        }
        let (_verdict, counts) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
        let (mut passed, mut failed) = (None, None);
        for count in counts.split(';') {
            match count.trim().split_once(' ') {
                Some((number, "passed")) => passed = number.parse().ok(),
                Some((number, "failed")) => failed = number.parse().ok(),
                _ => {}
            }
        }
        Some(Tally { passed: passed?, failed: failed?, skipped: 0 })
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(formatter, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harness_lines_are_counted_and_other_lines_are_not() {
        let good = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.06s";
        assert_eq!(Tally::of_harness_line(good), Some(Tally { passed: 12, failed: 0, skipped: 0 }));
        let bad = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s";
        assert_eq!(Tally::of_harness_line(bad), Some(Tally { passed: 1, failed: 2, skipped: 0 }));
        assert_eq!(Tally::of_harness_line("SKIPPED: a disk: no"), Some(Tally::ONE_SKIPPED));
        for other in ["test tests::a ... ok", "running 3 tests", "", "test result: ", "test result: ok. x passed; "] {
            assert_eq!(Tally::of_harness_line(other), None, "{other}");
        }
    }

    #[test]
    fn the_summary_reads_as_promised() {
        assert_eq!(Tally { passed: 3, failed: 1, skipped: 0 }.to_string(), "3 passed, 1 failed");
        assert_eq!(Tally { passed: 3, failed: 0, skipped: 2 }.to_string(), "3 passed, 0 failed, 2 skipped");
    }
}
