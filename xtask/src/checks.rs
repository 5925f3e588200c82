//! What must hold before a commit lands? The list of checks, in order, and their summary.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::tally::Tally;
use crate::{generated, readme, repository};

/// One check: what it is called, and what it does.
struct Check {
    name: &'static str,
    run: fn() -> Result<Tally>,
}

/// Cheap ones first. The module order of the crates is one of the tests.
const CHECKS: &[Check] = &[
    Check { name: "formatting", run: formatting },
    Check { name: "lints", run: lints },
    Check { name: "tests", run: tests },
    Check { name: "fuzz targets", run: fuzz_targets },
    Check { name: "documentation", run: documentation },
    Check { name: "generated files", run: generated_files },
    Check { name: "README examples", run: readme_examples },
];

/// Runs each check, also after one has failed, and ends with the line `N passed, N failed`.
pub(crate) fn run_all() -> Result<ExitCode> {
    let mut total = Tally::default();
    let mut failed = Vec::new();
    for check in CHECKS {
        println!("== {}", check.name);
        let start = Instant::now();
        let tally = (check.run)().unwrap_or_else(|error| {
            println!("{error:#}");
            Tally::ONE_FAILED
        });
        println!("== {}: {tally}, {} s", check.name, start.elapsed().as_secs());
        if tally.failed > 0 {
            failed.push(check.name);
        }
        total += tally;
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
    }
    println!("{total}");
    Ok(if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn formatting() -> Result<Tally> {
    succeeds(&mut repository::cargo(&["fmt", "--all", "--check"]))
}

fn lints() -> Result<Tally> {
    succeeds(&mut repository::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn tests() -> Result<Tally> {
    count_tests(&mut repository::cargo(&["test", "--workspace", "--no-fail-fast"]))
}

/// Checks the fuzz targets, which are a workspace of their own and so are built by nothing else.
///
/// Nothing is linked, so naming any library for libFuzzer spares the C++ compiler that building it would take.
fn fuzz_targets() -> Result<Tally> {
    let mut check = repository::cargo(&["check", "--locked", "--manifest-path", "fuzz/Cargo.toml"]);
    succeeds(check.env("CUSTOM_LIBFUZZER_PATH", "none/libfuzzer.a"))
}

fn documentation() -> Result<Tally> {
    succeeds(repository::cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn generated_files() -> Result<Tally> {
    let (all, stale) = generated::freshness()?;
    for path in &stale {
        println!("{path} is not fresh; run `cargo xtask gen`");
    }
    Ok(Tally { passed: (all - stale.len()) as u64, failed: stale.len() as u64, skipped: 0 })
}

fn readme_examples() -> Result<Tally> {
    let blocks = readme::run_examples()?;
    Ok(Tally { passed: blocks as u64, failed: 0, skipped: 0 })
}

fn succeeds(command: &mut Command) -> Result<Tally> {
    let status = command.status().context("cannot start cargo")?;
    Ok(if status.success() { Tally::ONE_PASSED } else { Tally::ONE_FAILED })
}

/// Runs the test harness, shows what it prints as it comes, and adds up its summaries.
fn count_tests(command: &mut Command) -> Result<Tally> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
    let mut tally = Tally::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.context("cannot read what the tests print")?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            tally += Tally::of_harness_line(&line).unwrap_or_default();
        }
    }
    let status = child.wait().context("cannot wait for the tests")?;
    // A crate that does not build, or a test that takes the whole process down, reports no failed test.
    if !status.success() && tally.failed == 0 {
        tally += Tally::ONE_FAILED;
    }
    // Tests that were all skipped by mistake must not look like success.
    if status.success() && tally.passed == 0 {
        tally += Tally::ONE_FAILED;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(script: &str) -> Tally {
        count_tests(Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn each_summary_of_the_harness_is_added() {
        let line = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'";
        assert_eq!(count(&format!("{line}; echo other; {line}")), Tally { passed: 4, failed: 0, skipped: 0 });
    }

    #[test]
    fn a_run_that_dies_or_tests_nothing_has_failed() {
        assert_eq!(count("echo 'test result: ok. 2 passed; 0 failed; 0 ignored'; exit 101").failed, 1);
        assert_eq!(count("kill -9 $$").failed, 1);
        assert_eq!(count("true").failed, 1);
    }

    #[test]
    fn a_step_fails_with_its_command() {
        assert_eq!(succeeds(&mut Command::new("false")).unwrap(), Tally::ONE_FAILED);
        assert!(succeeds(&mut Command::new("there-is-no-such-program")).is_err());
    }
}
