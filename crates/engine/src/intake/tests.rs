//! What is left of one small text a kind? And what holds for any text.

use expect_test::{Expect, expect};

use super::*;
use crate::{
    content::recognise,
    policy::{Shape, Strategy},
};

const ROUTE: &str = "run the call again to see it";

fn shaped(text: &str, strategy: Strategy, max_chars: u64, max_lines: u64) -> Option<String> {
    let shape = Shape { strategy, max_chars, max_lines };
    let kind = recognise(text, None);
    Request { text, kind, shape, tells_of_a_run: false, route: ROUTE }.shaped()
}

fn check(text: &str, max_chars: u64, expected: Expect) {
    let out = shaped(text, Strategy::ByType, max_chars, u64::MAX).unwrap_or_default();
    assert!(out.chars().count() as u64 <= max_chars, "{} of {max_chars}: {out}", out.chars().count());
    expected.assert_eq(&format!("{}\n{out}", recognise(text, None).name()));
}

#[test]
fn a_text_under_its_limits_is_left_alone() {
    assert_eq!(shaped("a\nb\n", Strategy::ByType, 500, 8), None);
    assert!(shaped(&"a\n".repeat(9), Strategy::ByType, 500, 8).is_some());
}

#[test]
fn code_keeps_its_signatures() {
    let body = |name: &str| {
        format!("    pub fn {name}(&self) -> u32 {{\n{}    }}\n", "        let x = self.count + 1;\n".repeat(12))
    };
    let text = format!(
        "use std::fmt;\n\npub struct A {{\n    count: u32,\n}}\n\nimpl A {{\n{}{}{}}}\n",
        body("one"),
        body("two"),
        body("three")
    );
    check(
        &text,
        500,
        expect![[r#"
        source code
        use std::fmt;

        pub struct A {
            count: u32,
        }

        impl A {
            pub fn one(&self) -> u32 {
                let x = self.count + 1;
                let x = self.count + 1;
                let x = self.count + 1;
                let x = self.count + 1;
        [lines 13-21 of 50 left out]
            pub fn two(&self) -> u32 {
        [lines 23-35 of 50 left out]
            pub fn three(&self) -> u32 {
        [lines 37-46 of 50 left out; run the call again to see it]
                let x = self.count + 1;
                let x = self.count + 1;
            }
        }
    "#]],
    );
}

#[test]
fn a_diff_keeps_whole_hunks() {
    let hunk = |at: usize, lines: usize| {
        format!(
            "@@ -{at},{lines} +{at},{lines} @@\n{}",
            (0..lines).map(|line| format!("-old {at} {line}\n+new {at} {line}\n")).collect::<String>()
        )
    };
    let file = |name: &str| format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n");
    let text = format!("{}{}{}{}{}", file("one.rs"), hunk(1, 3), hunk(50, 30), file("two.rs"), hunk(7, 2));
    check(
        &text,
        600,
        expect![[r#"
        diff
        diff --git a/one.rs b/one.rs
        --- a/one.rs
        +++ b/one.rs
        @@ -1,3 +1,3 @@
        -old 1 0
        +new 1 0
        -old 1 1
        +new 1 1
        -old 1 2
        +new 1 2
        [lines 11-71 of 79 left out; run the call again to see it]
        diff --git a/two.rs b/two.rs
        --- a/two.rs
        +++ b/two.rs
        @@ -7,2 +7,2 @@
        -old 7 0
        +new 7 0
        -old 7 1
        +new 7 1
    "#]],
    );
}

#[test]
fn a_run_keeps_failures_and_what_it_came_to() {
    let passed: String = (0..80).map(|at| format!("test module::passes_{at} ... ok\n")).collect();
    let text = format!(
        "running 81 tests\n{passed}test module::fails ... FAILED\n\nfailures:\n\n---- module::fails stdout ----\nthread panicked at src/a.rs:3:5:\nassertion failed\n\ntest result: FAILED. 80 passed; 1 failed\n"
    );
    check(
        &text,
        600,
        expect![[r#"
        test results
        running 81 tests
        test module::passes_0 ... ok
        test module::passes_1 ... ok
        test module::passes_2 ... ok
        test module::passes_3 ... ok
        test module::passes_4 ... ok
        test module::passes_5 ... ok
        test module::passes_6 ... ok
        [lines 9-76 of 90 left out; run the call again to see it]
        test module::passes_75 ... ok
        test module::passes_76 ... ok
        test module::passes_77 ... ok
        test module::passes_78 ... ok
        test module::passes_79 ... ok
        test module::fails ... FAILED

        failures:

        ---- module::fails stdout ----
        thread panicked at src/a.rs:3:5:
        assertion failed

        test result: FAILED. 80 passed; 1 failed
    "#]],
    );
}

#[test]
fn a_log_keeps_its_failures_whole() {
    let mut text = String::new();
    for at in 0..60 {
        let level = if at == 31 { "ERROR lost peer" } else { "INFO tick" };
        text.push_str(&format!("2024-01-02 10:00:{:02} {level} {at}\n", at % 60));
    }
    check(
        &text,
        500,
        expect![[r#"
        log
        2024-01-02 10:00:00 INFO tick 0
        2024-01-02 10:00:01 INFO tick 1
        2024-01-02 10:00:02 INFO tick 2
        [lines 4-29 of 60 left out]
        2024-01-02 10:00:29 INFO tick 29
        2024-01-02 10:00:30 INFO tick 30
        2024-01-02 10:00:31 ERROR lost peer 31
        2024-01-02 10:00:32 INFO tick 32
        2024-01-02 10:00:33 INFO tick 33
        [lines 35-56 of 60 left out; run the call again to see it]
        2024-01-02 10:00:56 INFO tick 56
        2024-01-02 10:00:57 INFO tick 57
        2024-01-02 10:00:58 INFO tick 58
        2024-01-02 10:00:59 INFO tick 59
    "#]],
    );
}

#[test]
fn json_stays_json() {
    let rows: Vec<String> = (0..60).map(|at| format!("{{\"id\": {at}, \"name\": \"item {at}\"}}")).collect();
    let text = format!(
        "{{\"ok\": true, \"rows\": [{}], \"note\": \"{}\"}}",
        rows.join(", "),
        "long words \\u00e9 ".repeat(60)
    );
    check(
        &text,
        500,
        expect![[r#"
        JSON
        {"ok": true, "rows": [{"id": 0, "name": "item 0"}, {"id": 1, "name": "item 1"}, "[elements 3-58 of 60 left out]", {"id": 58, "name": "item 58"}, {"id": 59, "name": "item 59"}], "note": "long words \u00e9 long words \u00e9 long words \u00e9 long words \u00e9 long words \u00e9 long words \u00e9 lo[characters 81-700 of 780 left out; run the call again to see it]\u00e9 long words \u00e9 long words \u00e9 long words \u00e9 long words \u00e9 long words \u00e9 long words \u00e9 "}"#]],
    );
    let lines: String = (0..60).map(|at| format!("{{\"id\": {at}, \"name\": \"item {at}\"}}\n")).collect();
    check(
        &lines,
        500,
        expect![[r#"
        JSON lines
        {"id": 0, "name": "item 0"}
        {"id": 1, "name": "item 1"}
        {"id": 2, "name": "item 2"}
        {"id": 3, "name": "item 3"}
        {"id": 4, "name": "item 4"}
        {"id": 5, "name": "item 5"}
        "[lines 7-29 of 60 left out]"
        {"id": 29, "name": "item 29"}
        {"id": 30, "name": "item 30"}
        "[lines 32-55 of 60 left out; run the call again to see it]"
        {"id": 55, "name": "item 55"}
        {"id": 56, "name": "item 56"}
        {"id": 57, "name": "item 57"}
        {"id": 58, "name": "item 58"}
        {"id": 59, "name": "item 59"}
    "#]],
    );
}

#[test]
fn rows_keep_their_heading() {
    let rows: String = (0..60).map(|at| format!("{at},item {at},{}\n", at * 7)).collect();
    check(
        &format!("id,name,price\n{rows}"),
        500,
        expect![[r#"
        delimited rows
        id,name,price
        0,item 0,0
        1,item 1,7
        2,item 2,14
        3,item 3,21
        4,item 4,28
        5,item 5,35
        6,item 6,42
        7,item 7,49
        8,item 8,56
        9,item 9,63
        10,item 10,70
        11,item 11,77
        12,item 12,84
        [lines 15-27 of 61 left out]
        26,item 26,182
        27,item 27,189
        28,item 28,196
        29,item 29,203
        [lines 32-50 of 61 left out; run the call again to see it]
        49,item 49,343
        50,item 50,350
        51,item 51,357
        52,item 52,364
        53,item 53,371
        54,item 54,378
        55,item 55,385
        56,item 56,392
        57,item 57,399
        58,item 58,406
        59,item 59,413
    "#]],
    );
}

#[test]
fn a_giant_line_keeps_both_its_ends() {
    let text = format!("start\n{}\nend\n", "0123456789".repeat(400));
    check(
        &text,
        500,
        expect![[r#"
        blob
        start
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234[characters 196-3805 of line 2 left out; run the call again to see it]567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789
        end
    "#]],
    );
}

#[test]
fn places_are_kept_by_layers_and_structure_by_an_outline() {
    let text: String =
        (1..=90).map(|at| if at % 30 == 1 { format!("# Part {at}\n") } else { format!("words {at}\n") }).collect();
    let layered = shaped(&text, Strategy::Layered, 500, 12).unwrap();
    assert!(
        layered.starts_with("# Part 1\nwords 2\n") && layered.ends_with("words 90\n") && layered.lines().count() <= 12,
        "{layered}"
    );
    let outline = shaped(&text, Strategy::Outline, 500, u64::MAX).unwrap();
    assert!(
        ["# Part 1\n", "# Part 31\n", "# Part 61\n"].iter().all(|part| outline.contains(part))
            && !outline.contains("words 2\n"),
        "{outline}"
    );
}

#[test]
fn prose_keeps_its_headings_and_hits_one_of_each_file() {
    let text: String = (1..=6).map(|at| format!("## Part {at}\n\n{}", "- words of it\n".repeat(14))).collect();
    check(
        &text,
        500,
        expect![[r#"
        Markdown
        ## Part 1

        - words of it
        - words of it
        - words of it
        - words of it
        - words of it
        [lines 8-16 of 96 left out]
        ## Part 2
        [lines 18-32 of 96 left out]
        ## Part 3
        [lines 34-46 of 96 left out]
        - words of it
        - words of it
        ## Part 4

        - words of it
        - words of it
        [lines 53-64 of 96 left out]
        ## Part 5
        [lines 66-80 of 96 left out]
        ## Part 6
        [lines 82-90 of 96 left out; run the call again to see it]
        - words of it
        - words of it
        - words of it
        - words of it
        - words of it
        - words of it
    "#]],
    );
    let hits: String = (0..90).map(|at| format!("src/file_{}.rs:{at}: let x = {at};\n", at / 30)).collect();
    check(
        &hits,
        500,
        expect![[r#"
        search hits
        src/file_0.rs:0: let x = 0;
        src/file_0.rs:1: let x = 1;
        src/file_0.rs:2: let x = 2;
        src/file_0.rs:3: let x = 3;
        src/file_0.rs:4: let x = 4;
        src/file_0.rs:5: let x = 5;
        src/file_0.rs:6: let x = 6;
        [lines 8-30 of 90 left out]
        src/file_1.rs:30: let x = 30;
        [lines 32-60 of 90 left out]
        src/file_2.rs:60: let x = 60;
        [lines 62-87 of 90 left out; run the call again to see it]
        src/file_2.rs:87: let x = 87;
        src/file_2.rs:88: let x = 88;
        src/file_2.rs:89: let x = 89;
    "#]],
    );
}

#[test]
fn a_listing_keeps_its_folders_and_a_table_its_heading() {
    let listing: String =
        (0..60).map(|at| if at % 20 == 0 { format!("./folder_{at}:\n") } else { format!("file_{at}.rs\n") }).collect();
    check(
        &listing,
        500,
        expect![[r#"
        listing
        ./folder_0:
        file_1.rs
        file_2.rs
        file_3.rs
        file_4.rs
        file_5.rs
        file_6.rs
        file_7.rs
        file_8.rs
        file_9.rs
        file_10.rs
        file_11.rs
        file_12.rs
        file_13.rs
        file_14.rs
        file_15.rs
        file_16.rs
        file_17.rs
        file_18.rs
        file_19.rs
        ./folder_20:
        file_21.rs
        file_22.rs
        file_23.rs
        [lines 25-40 of 60 left out]
        ./folder_40:
        [lines 42-48 of 60 left out; run the call again to see it]
        file_48.rs
        file_49.rs
        file_50.rs
        file_51.rs
        file_52.rs
        file_53.rs
        file_54.rs
        file_55.rs
        file_56.rs
        file_57.rs
        file_58.rs
        file_59.rs
    "#]],
    );
    let rows: String = (0..60).map(|at| format!("web-{at:<4} 1/1    Running\n")).collect();
    check(
        &format!("NAME     READY  STATUS\n{rows}"),
        500,
        expect![[r#"
        table
        NAME     READY  STATUS
        web-0    1/1    Running
        web-1    1/1    Running
        web-2    1/1    Running
        web-3    1/1    Running
        web-4    1/1    Running
        web-5    1/1    Running
        [lines 8-29 of 61 left out]
        web-28   1/1    Running
        web-29   1/1    Running
        [lines 32-54 of 61 left out; run the call again to see it]
        web-53   1/1    Running
        web-54   1/1    Running
        web-55   1/1    Running
        web-56   1/1    Running
        web-57   1/1    Running
        web-58   1/1    Running
        web-59   1/1    Running
    "#]],
    );
}

#[test]
fn a_trace_keeps_what_was_thrown_and_a_build_its_errors() {
    let frames: String = (0..40).map(|at| format!("  File \"a.py\", line {at}, in f\n    g({at})\n")).collect();
    check(
        &format!("Traceback (most recent call last):\n{frames}ValueError: no such pump\n"),
        500,
        expect![[r#"
        stack trace
        Traceback (most recent call last):
          File "a.py", line 0, in f
            g(0)
          File "a.py", line 1, in f
            g(1)
          File "a.py", line 2, in f
            g(2)
          File "a.py", line 3, in f
            g(3)
          File "a.py", line 4, in f
            g(4)
          File "a.py", line 5, in f
        [lines 13-73 of 82 left out; run the call again to see it]
          File "a.py", line 36, in f
            g(36)
          File "a.py", line 37, in f
            g(37)
          File "a.py", line 38, in f
            g(38)
          File "a.py", line 39, in f
            g(39)
        ValueError: no such pump
    "#]],
    );
    let compiled: String = (0..40).map(|at| format!("   Compiling crate_{at} v0.1.0\n")).collect();
    let error = "error[E0308]: mismatched types\n  --> src/a.rs:3:5\n   |\n3  | let x: u32 = \"\";\n";
    check(
        &format!("{compiled}{error}{compiled}error: could not compile `a`\n"),
        600,
        expect![[r#"
        build log
           Compiling crate_0 v0.1.0
           Compiling crate_1 v0.1.0
           Compiling crate_2 v0.1.0
           Compiling crate_3 v0.1.0
           Compiling crate_4 v0.1.0
           Compiling crate_5 v0.1.0
           Compiling crate_6 v0.1.0
        [lines 8-39 of 85 left out]
           Compiling crate_39 v0.1.0
        error[E0308]: mismatched types
          --> src/a.rs:3:5
           |
        3  | let x: u32 = "";
           Compiling crate_0 v0.1.0
        [lines 46-79 of 85 left out; run the call again to see it]
           Compiling crate_35 v0.1.0
           Compiling crate_36 v0.1.0
           Compiling crate_37 v0.1.0
           Compiling crate_38 v0.1.0
           Compiling crate_39 v0.1.0
        error: could not compile `a`
    "#]],
    );
}
