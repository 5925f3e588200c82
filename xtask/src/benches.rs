//! How fast is it? Runs the benches of the workspace one after another and says when the machine is too busy to tell.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::repository;

/// Running processes per core from which on figures are doubtful. The benches keep one core busy themselves, and
/// ratios of things that take turns stand some load, but not a machine at its limit.
const BUSY_PER_CORE: f64 = 0.75;

/// Runs the benches whose name matches, in release, printing their tables as they come.
pub(crate) fn run(pattern: &str) -> Result<ExitCode> {
    let arguments = ["bench", "--workspace", "--bench", pattern];
    println!("command: cargo {}", arguments.join(" "));
    // The build keeps every core busy, and its load would be blamed on others.
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
    match std::fs::read_to_string("/proc/loadavg").ok().as_deref().and_then(newest_load) {
        Some(load) if is_busy(load, cores) => {
            println!("warning: load {load} on {cores} cores {when} the benches; figures may be off, run them again");
        }
        Some(load) => println!("load {load} on {cores} cores {when} the benches"),
        None => println!("load unknown {when} the benches"),
    }
}

/// The load of the last minute, the first number of the file.
fn newest_load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

fn is_busy(load: f64, cores: usize) -> bool {
    load > BUSY_PER_CORE * cores as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_the_load_file_counts() {
        assert_eq!(newest_load("1.90 0.50 0.10 1/200 4242\n"), Some(1.9));
        assert_eq!(newest_load(""), None);
        assert!(is_busy(1.9, 2) && !is_busy(1.0, 2));
    }
}
