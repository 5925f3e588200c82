//! `policy`: what holds, what a setting does, and what is wrong in a file.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::program::Place;

fn check(place: &Place, words: &str, expected: Expect) {
    expected.assert_eq(&place.run(words).shown());
}

fn place() -> Place {
    let place = Place::with("mine.toml", "# mine\nwindow = 50_000\ntarget = 45\n");
    place
        .write("bad.toml", "triger = 90\nwindow = \"wide\"\nkeep_media = -3\npins = [1]\nmin_gain = 3.5\ncolour = 1\n");
    place
}

#[test]
fn what_is_shown_is_a_policy_file_that_says_the_same() {
    let place = place();
    let words = "--policy mine.toml --trigger 80 --pin toolu_1";
    let shown = place.run(&format!("policy show {words}"));
    place.write("shown.toml", shown.text());
    assert_eq!(place.run("policy check shown.toml").shown(), "exit 0\n");
    let values = |words: &str| -> Vec<(String, Value)> {
        let json: Value = serde_json::from_str(place.run(&format!("policy show {words} --json")).text()).unwrap();
        let rows = json["settings"].as_array().unwrap().iter();
        rows.map(|row| (row["key"].as_str().unwrap().to_owned(), row["value"].clone())).collect()
    };
    assert_eq!(values("--policy shown.toml"), values(words));
}

#[test]
fn each_value_says_where_it_comes_from() {
    let place = place();
    let shown = place.run("policy show --policy mine.toml --trigger 80 --model claude-sonnet-4-5");
    for line in [
        "# From mine.toml (default: 60)\ntarget = 45\n",
        "# From a flag (default: 92)\ntrigger = 80\n",
        "# reserve is not set: claude-sonnet-4-5 has 25,000\n",
        "# Tokens that each edit saves at least.\nmin_gain = 32\n",
    ] {
        assert!(shown.text().contains(line), "{line}\n{}", shown.text());
    }
    let json: Value = serde_json::from_str(place.run("policy show --policy mine.toml --json").text()).unwrap();
    let row = json["settings"].as_array().unwrap().iter().find(|row| row["key"] == "target").unwrap();
    assert_eq!((&row["source"], &row["default"], &row["value"]), (&"file".into(), &60.into(), &45.into()));
}

#[test]
fn a_setting_is_explained() {
    check(
        &place(),
        "policy explain target --policy mine.toml",
        expect![[r#"
            exit 0
            out | target: A sweep ends at this share (percent) of window less reserve.
            out |
            out |   may be   a whole number, 0 or more
            out |   default  60
            out |   now      45 (from the policy file)
            out |   flag     --target <PERCENT>
        "#]],
    );
    check(
        &place(),
        "policy explain --trigger 80 trigger",
        expect![[r#"
            exit 0
            out | trigger: A sweep starts where the view is over this share (percent) of window less reserve.
            out |
            out |   may be   a whole number, 0 or more
            out |   default  92
            out |   now      80 (from a flag)
            out |   flag     --trigger <PERCENT>
        "#]],
    );
    check(
        &place(),
        "policy explain recall-route --recall-route spill:./out",
        expect![[r#"
        exit 0
        out | recall_route: How the agent gets an original back; decides the last words of tombstones.
        out |
        out |   may be   "none"            By running the call again.
        out |            "tool"            By the recall tool, where the body's tools hold one; elsewhere as none. Needs an archive.
        out |            "mcp"             By the recall tool, whether or not the body lists it, as clients that load tools on demand do not. Needs an archive.
        out |            "shell"           By `liveset recall ID` in a shell of the agent. Needs an archive.
        out |            "spill:RELATIVE"  By reading the file RELATIVE/ID.txt, to which an archive that spills writes each original. Needs an archive.
        out |   default  "none"
        out |   now      "spill:out" (from a flag)
        out |   flag     --recall-route <ROUTE>
    "#]],
    );
    let preset = place().run("policy explain preset");
    assert!(preset.text().contains("may be   \"balanced\""), "{}", preset.text());
}

#[test]
fn a_recall_route_is_one_of_a_few_or_names_a_folder() {
    let place = Place::with("routes.toml", "recall_route = \"spill:/etc\"\n");
    check(
        &place,
        "policy check routes.toml",
        expect![[r#"
        exit 1
        out | routes.toml:1:16: `recall_route` must be "none" or "tool" or "mcp" or "shell" or "spill:RELATIVE", not "spill:/etc"
        out | hint: the default is "none"
    "#]],
    );
    place.write("routes.toml", "recall_route = \"shel\"\n");
    check(
        &place,
        "policy check routes.toml",
        expect![[r#"
        exit 1
        out | routes.toml:1:16: `recall_route` must be "none" or "tool" or "mcp" or "shell" or "spill:RELATIVE", not "shel"
        out | hint: did you mean "shell"?
    "#]],
    );
    place.write("routes.toml", "recall_route = \"spill:out\"\n");
    check(
        &place,
        "policy check routes.toml",
        expect![[r#"
        exit 0
    "#]],
    );
}

#[test]
fn every_setting_and_every_spelling_has_an_explanation() {
    let place = place();
    let json: Value = serde_json::from_str(place.run("policy show --json").text()).unwrap();
    for row in json["settings"].as_array().unwrap() {
        let key = row["key"].as_str().unwrap();
        assert_eq!(place.run(&format!("policy explain {key}")).code, 0, "{key}");
    }
    assert_eq!(place.run("policy explain min-gain").text(), place.run("policy explain min_gain").text());
}

#[test]
fn a_setting_that_does_not_exist() {
    check(
        &place(),
        "policy explain triger",
        expect![[r#"
        exit 2
        err | liveset: no setting is called `triger`
        err | hint: did you mean `trigger`?
    "#]],
    );
    let far = place().run("policy explain colour_of_the_moon");
    assert!(far.code == 2 && far.err.contains("hint: there are: preset, window, "), "{}", far.err);
}

#[test]
fn every_fault_of_a_file_has_its_line_and_column() {
    check(
        &place(),
        "policy check bad.toml",
        expect![[r#"
            exit 1
            out | bad.toml:1:1: unknown setting `triger`
            out | hint: did you mean `trigger`?
            out | bad.toml:2:10: `window` must be a whole number, 0 or more, not "wide"
            out | hint: leave it out for the default
            out | bad.toml:3:14: `keep_media` must be a whole number, 0 or more, not -3
            out | hint: the default is 2
            out | bad.toml:4:8: `pins` must be a list, each a text: invalid type: integer `1`, expected a string
            out | bad.toml:5:12: `min_gain` must be a whole number, 0 or more, not 3.5
            out | hint: the default is 32
            out | bad.toml:6:1: unknown setting `colour`
            out | hint: `liveset policy show` lists the settings
        "#]],
    );
    let json: Value = serde_json::from_str(place().run("policy check bad.toml --json").text()).unwrap();
    let faults = json["faults"].as_array().unwrap();
    assert_eq!((faults.len(), &faults[0]["line"], &faults[1]["column"]), (6, &1.into(), &10.into()));
}

#[test]
fn a_preset_that_does_not_exist_is_told_the_nearest() {
    let place = Place::with("p.toml", "preset = \"balansed\"\n");
    let run = place.run("policy check p.toml");
    assert!(run.text().starts_with("p.toml:1:10: `preset` must be \"balanced\""), "{}", run.text());
    assert!(run.text().ends_with(", not \"balansed\"\nhint: did you mean \"balanced\"?\n"), "{}", run.text());
}

#[test]
fn sound_files_have_nothing_to_say() {
    let place = place();
    check(
        &place,
        "policy check mine.toml",
        expect![[r#"
        exit 0
    "#]],
    );
    assert_eq!(place.pipe("policy check -", b"").shown(), "exit 0\n", "an empty file holds every default");
}

#[test]
fn what_compact_refuses_check_finds() {
    let place = place();
    for text in [
        "trigger = 10\n",
        "target = 99\n",
        "window = 0\n",
        "max_result_chars = 5\n",
        "window = \n",
        "a = 1\na = 2\n",
        "[window]\na = 1\n",
    ] {
        place.write("p.toml", text);
        let refused = place.run("policy show --policy p.toml");
        let found = place.run("policy check p.toml");
        assert_eq!((refused.code, found.code), (2, 1), "{text}{}", refused.err);
        assert!(found.text().starts_with("p.toml:"), "{text}{}", found.text());
    }
    place.write("p.toml", "trigger = 10\n");
    check(
        &place,
        "policy check p.toml",
        expect![[r#"
        exit 1
        out | p.toml:1:1: `target` is a percentage from 1 up to `trigger`
        out | hint: without a line of its own `target` is 60
    "#]],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_no_fault_of_the_policy() {
    check(
        &place(),
        "policy check none.toml",
        expect![[r#"
        exit 2
        err | liveset: cannot read `none.toml`: no such file or directory
    "#]],
    );
}
