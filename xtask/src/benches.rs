//! How fast is it? Runs the benches of the workspace one after another and says when the machine is too busy to tell.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::repository;

/// Other running threads per core from which on figures are doubtful. The benches need one core and the memory of the
/// machine to themselves; ratios of things that take turns stand a little company.
const BUSY_PER_CORE: f64 = 0.25;

/// How often the machine is looked at, and how long between two looks: one second in all.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Runs the benches whose name matches, in release, printing their tables as they come.
pub(crate) fn run(pattern: &str) -> Result<ExitCode> {
    let arguments = ["bench", "--workspace", "--bench", pattern];
    println!("command: cargo {}", arguments.join(" "));
    // Built first, so that nothing else of ours runs when the machine is looked at.
    let built = repository::cargo(&arguments).arg("--no-run").status().context("cannot start cargo")?;
    if !built.success() {
        return Ok(ExitCode::FAILURE);
    }
    warn_if_busy("before");
    let run = repository::cargo(&arguments).status().context("cannot start cargo")?;
    warn_if_busy("after");
    Ok(if run.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn warn_if_busy(when: &str) {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match running_others() {
        Some(others) if is_busy(others, cores) => println!(
            "warning: {others:.1} other threads run on {cores} cores {when} the benches; figures may be off, run them again"
        ),
        Some(others) => println!("{others:.1} other threads run on {cores} cores {when} the benches"),
        None => println!("what else runs {when} the benches is unknown on this system"),
    }
}

/// How many threads other than this one run, on average over a second. The load averages of the system would still hold
/// our own build.
fn running_others() -> Option<f64> {
    let mut sum = 0;
    for _ in 0..LOOKS {
        std::thread::sleep(BETWEEN_LOOKS);
        let running = running_threads(&std::fs::read_to_string("/proc/loadavg").ok()?)?;
        sum += running.saturating_sub(1);
    }
    Some(f64::from(sum) / f64::from(LOOKS))
}

/// The running threads in Linux's `loadavg`: the number before the slash.
fn running_threads(text: &str) -> Option<u32> {
    text.split_whitespace().nth(3)?.split('/').next()?.parse().ok()
}

fn is_busy(others: f64, cores: usize) -> bool {
    others > BUSY_PER_CORE * cores as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_before_the_slash_counts() {
        assert_eq!(running_threads("1.90 0.50 0.10 3/200 4242\n"), Some(3));
        assert_eq!(running_threads("1.90 0.50"), None);
        assert_eq!(running_threads(""), None);
        assert!(is_busy(1.0, 2) && !is_busy(0.4, 2) && !is_busy(1.0, 8));
    }
}
