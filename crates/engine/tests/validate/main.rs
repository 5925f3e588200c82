//! Does the validator find each kind of defect, and nothing in bodies that are sound?

#![expect(clippy::unwrap_used, reason = "a reading that fails here fails the test")]

mod bodies;
mod changes;
mod faults;
mod novelty;
mod properties;

use liveset_engine::json::Outline;
use liveset_engine::transcript::WireFormat;
use liveset_engine::validate::{self, Code, Defect, Epoch};

fn check(format: WireFormat, body: &str) -> Vec<Defect> {
    validate::check(format, &Outline::read(body.as_bytes()).unwrap())
}

fn check_against(format: WireFormat, original: &str, output: &str, epoch: Epoch) -> Vec<Defect> {
    let original = Outline::read(original.as_bytes()).unwrap();
    validate::check_against(format, &original, &Outline::read(output.as_bytes()).unwrap(), epoch)
}

fn codes(defects: &[Defect]) -> Vec<Code> {
    defects.iter().map(|defect| defect.code).collect()
}

#[test]
fn every_code_has_a_case() {
    let covered = [bodies::codes(), changes::codes()].concat();
    let missing: Vec<&Code> = Code::ALL.iter().filter(|code| !covered.contains(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn names_are_those_that_json_has() {
    for code in Code::ALL {
        assert_eq!(serde_json::to_string(code).unwrap(), format!("\"{}\"", code.name()));
    }
}
