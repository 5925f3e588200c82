//! Do the modules stand in the order of the data flow? Each `lib.rs`, and `plan.rs` of the engine, lists its modules so
//! that a file uses only what stands before it. Cargo forbids circles between crates; this forbids them within.

#![expect(clippy::disallowed_methods, reason = "the subject of this test is the source tree")]
#![expect(clippy::unwrap_used, reason = "a source tree that cannot be read fails the test")]

mod order;
mod tokens;

use std::fs;
use std::path::Path;

use order::{Sources, findings};

/// Reads the files of one crate under their module paths: `src/plan/score.rs` is `[plan, score]`.
fn read(folder: &Path, module: &[String], sources: &mut Sources) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut module = module.to_vec();
        if path.is_dir() {
            module.push(name);
            read(&path, &module, sources);
        } else if path.file_name().is_some_and(|name| name == "tests.rs") {
            // Tests stand on the whole crate, wherever their file is.
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            if !matches!(name.as_str(), "lib" | "main" | "mod") {
                module.push(name);
            }
            sources.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

fn findings_of(package: &Path) -> Vec<String> {
    let mut sources = Sources::new();
    read(&package.join("src"), &[], &mut sources);
    assert!(!sources.is_empty(), "no source files in `{}`", package.display());
    let name = package.file_name().unwrap().display();
    findings(&sources).into_iter().map(|finding| format!("{name}: {finding}")).collect()
}

#[test]
fn files_of_the_engine_use_only_modules_that_stand_before_them() {
    let findings = findings_of(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn files_of_the_crates_beside_it_use_only_modules_that_stand_before_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut packages: Vec<_> = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Crates that are never published serve the tests only.
    let is_published = |manifest: String| !manifest.lines().any(|line| line == "publish = false");
    packages.retain(|package| fs::read_to_string(package.join("Cargo.toml")).is_ok_and(is_published));
    packages.retain(|package| !package.ends_with("engine"));
    assert!(packages.len() > 1, "no crates beside this one");
    packages.sort();
    let findings: Vec<String> = packages.iter().flat_map(|package| findings_of(package)).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// Checks a made-up crate, given as (module path, source) with `/` between names and `` for `lib.rs`.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let module = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let sources = files.iter().map(|&(path, source)| (module(path), source.to_owned())).collect();
    assert_eq!(findings(&sources), expected);
}

#[test]
fn a_module_that_stands_later_is_found_however_it_is_named() {
    let lib = ("", "mod span;\npub mod plan;\npub(crate) mod apply;\npub use apply::{Applied, apply as put};\n");
    let clean = [("plan", "use crate::span::Span;\n"), ("apply", "use crate::{plan, span};\n")];
    check(&[lib, clean[0], clean[1], ("span", "")], &[]);
    for usage in [
        "use crate::apply::Edit;",
        "use crate::{plan::Plan as _, apply};",
        "use crate::{\n    plan,\n    apply::{self, Edit},\n};",
        "use super::apply::Edit;",
        "fn f() { crate::apply::run() }",
        "use crate::Applied;",
        "use crate::put;",
        "mod inner { use super::super::apply::Edit; }",
    ] {
        let plan = ("plan", usage);
        check(&[lib, plan, clean[1], ("span", "")], &["`plan` uses `apply`, which stands later"]);
    }
}

#[test]
fn the_order_holds_inside_a_module_too() {
    let files = |score| {
        [
            ("", "mod plan; mod tools;"),
            ("plan", "mod score; mod fill; pub use fill::Fill; use crate::plan::fill::Fill; pub struct Own;"),
            ("plan/score", score),
            ("plan/fill", "use super::score::Score; use super::Own; use crate::plan::score;"),
            ("tools", ""),
        ]
    };
    check(&files("use super::Own; use super::*;"), &[]);
    check(&files("use super::fill::Fill;"), &["`plan/score` uses `plan/fill`, which stands later"]);
    check(&files("use super::Fill;"), &["`plan/score` uses `plan/fill`, which stands later"]);
    check(&files("use super::super::tools;"), &["`plan/score` uses `tools`, which stands later"]);
    let family = [("", "mod a;"), ("a", "mod b; mod c;"), ("a/b", "use super::c;"), ("a/c", "use super::b;")];
    check(&family, &[]);
}

#[test]
fn words_and_tests_are_no_use() {
    let span = "//! See crate::plan.\n/* crate::plan /* twice */ */\nconst A: &str = \"crate::plan\";\n\
                const B: &str = r#\"crate::plan \" \"#; const C: char = '\"'; fn f<'a>(x: &'a u8) {}\n\
                #[cfg(test)]\nmod tests { use crate::plan; mod deep { use crate::plan; } }\n";
    check(&[("", "mod span; mod plan;"), ("span", span), ("plan", "")], &[]);
    let after = format!("{span}use crate::plan;");
    let found = ["`span` uses `plan`, which stands later"];
    check(&[("", "mod span; mod plan;"), ("span", &after), ("plan", "")], &found);
    let with_tests = [("", "#[cfg(test)]\nmod checks; mod plan;"), ("checks", "use crate::plan;"), ("plan", "")];
    check(&with_tests, &[]);
}

#[test]
fn a_file_that_no_module_names_is_found() {
    check(&[("", "mod span;"), ("span", ""), ("old", "")], &["`old` is named by no `mod` line"]);
}
