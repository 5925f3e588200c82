//! Do the fault cases have the defects that they arrive with, and no others?

#![expect(clippy::disallowed_methods, reason = "cases are files, and an environment variable says where more are")]

use std::path::{Path, PathBuf};

use liveset_engine::json::Outline;
use liveset_engine::transcript::WireFormat;
use liveset_engine::validate::{self, Code, Epoch};

/// Cases that arrive broken. F13's empty result is none of them: `tool_result.content` "may be empty".
const BROKEN: [(&str, Code); 3] =
    [("F03", Code::UnpairedCall), ("F12", Code::LoneSurrogate), ("F73", Code::UnpairedCall)];

/// Finds bodies below a folder: files side by side, or each case in a folder of its own.
fn bodies(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bodies(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") && number(&path).is_some() {
            found.push(path);
        }
    }
}

/// Gives the number that opens a case's name: `F03` of `F03-interrupted-call.json`.
fn number(path: &Path) -> Option<String> {
    let (number, _) = path.file_name()?.to_str()?.split_once('-')?;
    let digits = number.strip_prefix('F')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.to_owned())
}

fn format_of(path: &Path) -> Option<WireFormat> {
    WireFormat::ALL.into_iter().find(|format| path.to_string_lossy().contains(format.name()))
}

/// The cases in the folder that `LIVESET_FAULTS` names, and the repository's own.
fn cases() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let named = std::env::var_os("LIVESET_FAULTS").map(PathBuf::from);
    let mut found = Vec::new();
    for folder in named.iter().chain([&own]) {
        bodies(folder, &mut found);
    }
    found.sort();
    found
}

#[test]
fn fault_cases_have_the_defects_they_arrive_with() {
    let cases = cases();
    assert!(!cases.is_empty(), "no fault cases below `fixtures`");
    for path in cases {
        let Some(format) = format_of(&path) else { panic!("no format in the name of {}", path.display()) };
        let body = std::fs::read(&path).unwrap();
        let outline = Outline::read(&body).unwrap();
        let number = number(&path).unwrap();
        let expected: Vec<Code> =
            BROKEN.iter().filter(|(broken, _)| *broken == number).map(|&(_, code)| code).collect();
        let defects = validate::check(format, &outline);
        let codes: Vec<Code> = defects.iter().map(|defect| defect.code).collect();
        assert_eq!(codes, expected, "{}: {defects:#?}", path.display());
        // Against itself no body has changed.
        let again = validate::check_against(format, &outline, &outline, Epoch::Undeclared);
        assert_eq!(again, defects, "{}", path.display());
    }
}
