//! The laws over every fault case, with default settings and with tight windows.

use std::{fs, path::PathBuf};

use liveset::{Policy, Preset};
use liveset_testkit::{Budget, Format};

use crate::bench::Bench;

/// Every fault body in the repository with its format.
pub(crate) fn bodies() -> Vec<(String, Format, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut found = Vec::new();
    for format in Format::ALL {
        let Ok(cases) = fs::read_dir(root.join(format.name())) else { continue };
        for case in cases.flatten() {
            for file in fs::read_dir(case.path()).expect("a case is a folder").flatten() {
                if file.path().extension().is_some_and(|kind| kind == "json") {
                    let name = format!("{}/{}", case.file_name().to_string_lossy(), file.file_name().to_string_lossy());
                    found.push((name, format, fs::read(file.path()).expect("a body reads")));
                }
            }
        }
    }
    found.sort();
    found
}

/// What the laws found, each under the policy that it was found with.
#[test]
fn what_was_found_stays_mended() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut found = 0;
    for format in Format::ALL {
        let Ok(cases) = fs::read_dir(root.join(format.name())) else { continue };
        for case in cases.flatten() {
            let Ok(policy) = fs::read_to_string(case.path().join("policy.toml")) else { continue };
            let body = fs::read(case.path().join("body.json")).expect("a case has a body");
            let policy = Policy::from_toml(&policy).expect("its policy reads");
            let name = case.file_name();
            Bench::new(format, policy).check(&body).unwrap_or_else(|error| panic!("{}: {error}", name.display()));
            found += 1;
        }
    }
    assert!(found > 1, "the cases are in the repository");
}

#[test]
fn every_law_holds_for_every_fault_case() {
    let bodies = bodies();
    assert!(bodies.len() > 40, "the fault cases are in the repository");
    for (name, format, body) in bodies {
        for preset in Preset::ALL {
            let mut defaults = Policy::default();
            defaults.preset = preset;
            let name = format!("{name} under {}", preset.name());
            Bench::new(format, defaults).check(&body).unwrap_or_else(|error| panic!("{name}: {error}"));
            for (window_permille, reasoning) in [(300, "respect"), (600, "keep"), (600, "drop"), (900, "respect")] {
                let budget = Budget { window_permille, reasoning, ..Budget::DEFAULT };
                let bench = Bench::of_budget(format, &body, &budget, preset);
                bench.check(&body).unwrap_or_else(|error| panic!("{name} at {window_permille} per mille: {error}"));
            }
        }
    }
}
