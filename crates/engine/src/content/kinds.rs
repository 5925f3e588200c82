//! Which kind is each of these? One small text a kind, and those that are taken for another most easily.

use super::*;

fn check(text: &str, kind: ContentKind) {
    assert_eq!(recognise(text, None), kind, "{text}");
}

#[test]
fn programs_are_known_by_their_language() {
    let rust = "use std::fmt;\n\npub struct A {\n    x: u32,\n}\n\nimpl A {\n    pub fn x(&self) -> u32 {\n        self.x\n    }\n}\n";
    check(rust, ContentKind::Source(Language::Rust));
    let numbered: String = rust.lines().enumerate().map(|(at, line)| format!("{:>6}\t{line}\n", at + 1)).collect();
    check(&numbered, ContentKind::Source(Language::Rust));
    let python = "import os\nfrom a import b\n\nclass A:\n    def f(self, x):\n        self.x = x\n        return x\n\ndef main():\n    raise ValueError(x)\n";
    check(python, ContentKind::Source(Language::Python));
    let go = "package main\n\nimport (\n\t\"fmt\"\n)\n\nfunc main() {\n\tif err := f(); err != nil {\n\t\treturn\n\t}\n\tdefer g()\n}\n";
    check(go, ContentKind::Source(Language::Go));
}

#[test]
fn diffs_need_hunks_and_headers() {
    check("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", ContentKind::Diff);
    check("--- a\n- one thing\n- another\n", ContentKind::Plain);
}

#[test]
fn runs_are_known_by_what_they_print() {
    check(
        "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed\n",
        ContentKind::Tests(Runner::Cargo),
    );
    check(
        "===== test session starts =====\ncollected 2 items\na.py::one PASSED\na.py::two FAILED\n===== 1 failed, 1 passed in 0.1s =====\n",
        ContentKind::Tests(Runner::Python),
    );
    check(
        "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)\nFAIL\texample.com/a\t0.2s\n",
        ContentKind::Tests(Runner::Go),
    );
    check(
        "PASS src/a.test.ts\nFAIL src/b.test.ts\n  ✓ adds (2 ms)\n  ✕ takes (1 ms)\n\nTests:       1 failed, 1 passed, 2 total\n",
        ContentKind::Tests(Runner::JavaScript),
    );
    check(
        "[INFO] T E S T S\nTests run: 3, Failures: 1, Errors: 0\nTests run: 3, Failures: 1\n",
        ContentKind::Tests(Runner::JUnit),
    );
    check(
        "   Compiling a v0.1.0\n   Compiling b v0.1.0\nerror[E0308]: mismatched types\n  --> src/a.rs:3:5\n   |\n3  | let x: u32 = \"\";\n   |              ^^ expected `u32`\n",
        ContentKind::BuildLog,
    );
    check(
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n  File \"a.py\", line 1, in f\n    raise ValueError(1)\nValueError: 1\n",
        ContentKind::StackTrace,
    );
    check(
        "2024-01-02 10:00:01 INFO start\n2024-01-02 10:00:02 WARN slow\n2024-01-02 10:00:03 ERROR lost\n",
        ContentKind::Log,
    );
}

#[test]
fn data_is_known_by_its_form() {
    check("[{\"a\": 1}, {\"a\": 2}]", ContentKind::Json);
    check("{\"a\": 1}\n{\"a\": 2}\n", ContentKind::JsonLines);
    check("name,size,when\na,1,mon\nb,2,tue\n\"c, d\",3,wed\n", ContentKind::Delimited);
    check("| id | state |\n|----|-------|\n| 1 | on |\n| 2 | off |\n", ContentKind::Table);
    check(
        "NAME     READY  STATUS\nweb-1    1/1    Running\nweb-2    0/1    Pending\ndb-1     1/1    Running\n",
        ContentKind::Table,
    );
    check("<!DOCTYPE html>\n<html>\n<body>\nHello\n</body>\n</html>\n", ContentKind::Markup);
    check("# Title\n\nSome words.\n\n## Part\n\n- one\n- two\n", ContentKind::Markdown);
    check(&"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\n".repeat(10), ContentKind::Blob);
}

#[test]
fn a_listing_is_never_a_table() {
    check(
        "total 12\ndrwxr-xr-x 2 root root 4096 Jan  1 10:00 src\n-rw-r--r-- 1 root root  120 Jan  1 10:00 a.toml\n-rw-r--r-- 1 root root  120 Jan  1 10:00 b.toml\n",
        ContentKind::Listing,
    );
    check("4.0K\t./src\n12K\t./docs\n16K\t./target\n", ContentKind::Listing);
    check(".\n├── src\n│   └── main.rs\n└── Cargo.toml\n", ContentKind::Listing);
    check("src/a.rs\nsrc/b.rs\nREADME.md\n", ContentKind::Listing);
}

#[test]
fn hits_and_screens() {
    check("src/a.rs:12:    let x = 1;\nsrc/a.rs:40:    let y = x;\nsrc/b.rs:7:use a;\n", ContentKind::Hits);
    check("\x1b[2J\x1b[1;1Htop\n\x1b[2;1Hcpu 1\n\x1b[3;1Hcpu 2\n", ContentKind::Terminal);
    check(&format!("{}done\n", "progress\r".repeat(20)), ContentKind::Terminal);
}

#[test]
fn unsure_is_plain() {
    for text in [
        "Well, this is long, and it goes on, and on.\nAnd so is this, as it were, too.\nOne more, for good measure, now.\n",
        "The file was written.",
        "1\n2\n3\n",
        "yes",
        "\u{0}",
        "a\n\n\nb\n",
    ] {
        check(text, ContentKind::Plain);
    }
}

#[test]
fn a_path_helps_where_lines_leave_it_open() {
    let text = "x = 1\ny = f(x)\nz = [\n  1,\n]\n";
    assert_eq!(recognise(text, None), ContentKind::Plain);
    assert_eq!(recognise(text, Some("a/b.py")), ContentKind::Source(Language::Python));
    assert_eq!(recognise("File not found.", Some("a/b.py")), ContentKind::Plain);
}
