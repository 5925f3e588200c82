//! The help of each command, word for word: flags are an interface.

use expect_test::expect_file;

use crate::program::{COMMANDS, Place};

#[test]
fn each_command_explains_itself() {
    let parts = [
        "",
        "policy show",
        "policy explain",
        "policy check",
        "archive ls",
        "archive gc",
        "archive verify",
        "archive purge",
        "archive export",
        "archive import",
        "eval irbench",
        "eval protocol",
    ];
    for command in COMMANDS.into_iter().chain(parts) {
        let run = Place::new().run(&format!("{command} --help"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command}");
        let name = if command.is_empty() { "liveset".to_owned() } else { command.replace(' ', "-") };
        let has_examples = run.text().contains("\nExamples:\n  liveset ");
        assert_eq!(has_examples, !["", "policy", "archive", "eval"].contains(&command), "{command}");
        expect_file![format!("help/{name}.txt")].assert_eq(run.text());
    }
}

#[test]
fn nothing_to_do_is_bad_usage_with_the_list_of_commands() {
    let run = Place::new().run("");
    assert_eq!((run.code, run.text()), (2, ""));
    assert!(run.err.contains("Usage: liveset <COMMAND>") && run.err.contains("  compact "), "{}", run.err);
}

#[test]
fn the_version_is_that_of_the_package() {
    let run = Place::new().run("--version");
    assert_eq!(run.text(), format!("liveset {}\n", env!("CARGO_PKG_VERSION")));
}
