//! Wrong words on the command line: one line says what, one says what next, exit 2.

use expect_test::{Expect, expect};

use crate::{bodies, program::Place};

fn check(words: &str, expected: Expect) {
    let place = Place::with("body.json", bodies::long());
    place.write("typo.toml", "# mine\nwindow = 16_000\ntriger = 90\n");
    place.write("broken.toml", "window = \n");
    place.write("bad.toml", "trigger = 101\n");
    expected.assert_eq(&place.run(words).shown());
    assert_eq!(place.files(), ["bad.toml", "body.json", "broken.toml", "typo.toml"], "nothing was written");
}

#[test]
fn a_command_that_does_not_exist() {
    check(
        "inspct body.json",
        expect![[r#"
        exit 2
        err | liveset: unrecognized subcommand 'inspct'
        err | hint: a similar subcommand exists: 'inspect'
    "#]],
    );
}

#[test]
fn a_flag_that_does_not_exist() {
    check(
        "compact body.json --wndow 3",
        expect![[r#"
        exit 2
        err | liveset: unexpected argument '--wndow' found
        err | hint: a similar argument exists: '--window'
    "#]],
    );
}

#[test]
fn a_number_that_is_none() {
    check(
        "compact body.json --window many",
        expect![[r#"
        exit 2
        err | liveset: invalid value 'many' for '--window <TOKENS>': invalid digit found in string
        err | hint: `--help` lists what there is
    "#]],
    );
}

#[test]
fn a_format_that_does_not_exist() {
    check(
        "compact body.json --format openai",
        expect![[r#"
        exit 2
        err | liveset: invalid value 'openai' for '--format <FORMAT>'
        err | hint: a similar value exists: 'openai-chat'
    "#]],
    );
}

#[test]
fn a_preset_that_does_not_exist() {
    check(
        "compact body.json --preset best",
        expect![[r#"
            exit 2
            err | liveset: invalid value 'best' for '--preset <NAME>'
            err | hint: possible values: balanced, rules, liveness, dispatch
        "#]],
    );
}

#[test]
fn a_required_flag_that_is_missing() {
    check(
        "archive gc",
        expect![[r#"
            exit 2
            err | liveset: the following required arguments were not provided: --to <BYTES>
            err | hint: usage: liveset archive gc --to <BYTES>
        "#]],
    );
}

#[test]
fn two_flags_that_exclude_each_other() {
    check(
        "compact body.json --archive a.liveset --no-archive",
        expect![[r#"
        exit 2
        err | liveset: the argument '--archive <PATH>' cannot be used with '--no-archive'
        err | hint: usage: liveset compact --archive <PATH> <FILE>
    "#]],
    );
}

#[test]
fn a_typo_in_the_policy() {
    check(
        "compact body.json --policy typo.toml",
        expect![[r#"
            exit 2
            err | liveset: typo.toml: policy: line 3: unknown field `triger`
            err | hint: did you mean `trigger`?
        "#]],
    );
}

#[test]
fn a_policy_that_is_no_toml() {
    check(
        "compact body.json --policy broken.toml",
        expect![[r#"
            exit 2
            err | liveset: broken.toml: policy: line 1: string values must be quoted, expected literal string
            err | hint: `liveset schema policy` lists the settings, `liveset compact --help` the flags
        "#]],
    );
}

#[test]
fn a_setting_out_of_its_limits_in_the_policy() {
    check(
        "compact body.json --policy bad.toml",
        expect![[r#"
            exit 2
            err | liveset: bad.toml: policy: `trigger` is a percentage from 1 to 100
            err | hint: `liveset schema policy` lists the settings, `liveset compact --help` the flags
        "#]],
    );
}

#[test]
fn a_setting_out_of_its_limits_as_a_flag() {
    check(
        "compact body.json --target 99",
        expect![[r#"
            exit 2
            err | liveset: policy: `target` is a percentage from 1 up to `trigger`
            err | hint: `liveset schema policy` lists the settings, `liveset compact --help` the flags
        "#]],
    );
}

#[test]
fn a_policy_that_is_not_there() {
    check(
        "compact body.json --policy none.toml",
        expect![[r#"
        exit 2
        err | liveset: cannot read `none.toml`: no such file or directory
    "#]],
    );
}

#[test]
fn a_reserve_that_takes_the_whole_window() {
    check(
        "compact body.json --window 1000 --reserve 1000",
        expect![[r#"
            exit 2
            err | liveset: body.json: policy: `reserve` (1000) takes the whole window (1000)
            err | hint: `liveset schema policy` lists the settings, `liveset compact --help` the flags
        "#]],
    );
}

#[test]
fn flags_for_traces_beside_a_body() {
    check(
        "compact body.json --at 3",
        expect![[r#"
        exit 2
        err | liveset: body.json: `--at` and `--agent` are for traces, and this is a request body
    "#]],
    );
    check(
        "compact body.json --agent main",
        expect![[r#"
        exit 2
        err | liveset: body.json: `--at` and `--agent` are for traces, and this is a request body
    "#]],
    );
}

#[test]
fn body_and_report_in_one_place() {
    check(
        "compact body.json -o out.json --report ./out.json",
        expect![[r#"
        exit 2
        err | liveset: `--output` and `--report` name the same file
    "#]],
    );
    check(
        "compact body.json --report -",
        expect![[r#"
        exit 2
        err | liveset: body and report would both go to standard output
        err | hint: name a file with -o or --report, or ask for the report alone with --dry-run
    "#]],
    );
}

#[test]
fn a_body_where_the_archive_is() {
    check(
        "compact body.json --archive a.liveset -o a.liveset",
        expect![[r#"
        exit 2
        err | liveset: `--archive` and `--output` name the same file
    "#]],
    );
    check(
        "restore body.json --archive bad.toml -o ./bad.toml",
        expect![[r#"
        exit 2
        err | liveset: `--archive` and `--output` name the same file
    "#]],
    );
}

#[test]
fn an_item_that_is_not_there() {
    check(
        "explain body.json --item 99",
        expect![[r#"
        exit 2
        err | liveset: body.json: item 99 does not exist, the body has 19 (counted from 0)
        err | hint: `liveset inspect --json` lists the items
    "#]],
    );
}
