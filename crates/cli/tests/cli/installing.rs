//! `completions` and `man`: what a package installs beside the binary.

use expect_test::expect;

use crate::program::{COMMANDS, Place};

#[test]
fn the_list_of_commands_is_whole() {
    let help = Place::new().run("--help");
    let section = help.text().split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut listed: Vec<&str> = section.lines().filter_map(|line| line.split_whitespace().next()).collect();
    listed.retain(|name| *name != "help");
    assert_eq!(listed, COMMANDS);
}

#[test]
fn each_shell_gets_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Place::new().run(&format!("completions {shell}"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{shell}");
        for command in COMMANDS {
            assert!(run.text().contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn a_shell_that_is_not_known() {
    expect![[r#"
        exit 2
        err | liveset: invalid value 'fsh' for '<SHELL>'
        err | hint: a similar value exists: 'fish'
    "#]]
    .assert_eq(&Place::new().run("completions fsh").shown());
}

#[test]
fn each_command_has_a_page() {
    let place = Place::new();
    for command in COMMANDS {
        let run = place.run(&format!("man {command}"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command}");
        assert!(run.text().contains(&format!(".TH liveset-{command} 1")), "{}", run.text());
        assert!(run.text().contains(".SH OPTIONS") || command == "policy", "{command}");
    }
    assert!(place.run("man policy explain").text().contains("liveset\\-policy\\-explain"));
    assert!(place.run("man").text().contains(".TH liveset 1"));
}

#[test]
fn all_pages_go_into_a_folder() {
    let place = Place::new();
    let run = place.run("man --dir share/man1");
    assert_eq!(run.shown(), "exit 0\n");
    let pages = std::fs::read_dir(place.path("share/man1")).unwrap().count();
    assert_eq!(pages, 1 + COMMANDS.len() + 3 + 6 + 2, "and three of `policy`, six of `archive`, two of `eval`");
    assert_eq!(place.read("share/man1/liveset-policy-show.1"), place.run("man policy show").out);
}

#[test]
fn a_page_that_is_not_there() {
    expect![[r#"
        exit 2
        err | liveset: `liveset policy` has no command `shw`
        err | hint: there are: show, explain, check
    "#]]
    .assert_eq(&Place::new().run("man policy shw").shown());
    expect![[r#"
        exit 2
        err | liveset: `liveset compact` has no command `all`
        err | hint: `liveset man compact` is its page
    "#]]
    .assert_eq(&Place::new().run("man compact all").shown());
    let place = Place::with("taken", "");
    expect![[r#"
        exit 4
        err | liveset: cannot write `taken`: file exists
    "#]]
    .assert_eq(&place.run("man --dir taken").shown());
}
