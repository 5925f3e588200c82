use super::*;

fn class(tool: &str, arguments: &str) -> ToolClass {
    read_call(tool, arguments.as_bytes()).1
}

#[track_caller]
fn check_lines(class_expected: ToolClass, lines: &[&str]) {
    for line in lines {
        let found = class_of(&[Command::Line((*line).to_owned()).unwrapped()]);
        assert_eq!(found, class_expected, "{line}");
    }
}

#[test]
fn a_line_that_only_reads_is_retrieval() {
    check_lines(
        ToolClass::Retrieval,
        &[
            "cat a.txt",
            "cd src && grep -rn foo . | head -5",
            "sed -n '1,200p' 'src/a (b)/x.ts'",
            "sed -n '/^fn /,/^}/p;$p' a.rs",
            "sed -n 40,80p a.rs | cat -n",
            "rg -n \"a > b\" src 2>/dev/null | sort -u | uniq -c",
            "find . -name '*.rs' -not -path './target/*' 2>&1 | xargs grep -ln unsafe",
            "git --no-pager -C sub log --oneline -5 && git show HEAD:a.rs",
            "# what is here?\nls -la; echo '---'; cat < notes.md",
            "bash -lc 'cat a.txt | wc -l'",
            "test -f a && echo yes || echo no",
        ],
    );
}

#[test]
fn a_line_that_asks_for_the_state_of_things_is_volatile() {
    let lines = [
        "date +%F",
        "git status --short",
        "git diff HEAD~1 -- a.rs | head -50",
        "ls && ps aux",
        "git branch -a",
        "sleep 5; cat log",
    ];
    check_lines(ToolClass::Volatile, &lines);
}

#[test]
fn a_line_that_may_do_more_is_execution() {
    check_lines(
        ToolClass::Execution,
        &[
            "",
            "cd src",
            "cargo test",
            "catalog --all",
            "cat a; rm b",
            "cat a > b",
            "cat a >> b",
            "cat > a <<EOF\nx\nEOF",
            "cat a | tee b",
            "cat a 2> errors.txt",
            "cat a >/dev/null.txt",
            "git diff > a.patch",
            "git diff --output=a.patch",
            "git log --outp a.txt",
            "git branch new",
            "git branch -D old",
            "git tag v1",
            "gh pr view 3 --web",
            "git -c core.pager=x log",
            "find . -name '*.o' -delete",
            "find . -exec rm {} \\;",
            "find . -del{ete,}",
            "find . $FLAGS",
            "find . | xargs rm",
            "find . | xargs -I {} sh -c 'rm {}'",
            "find . | xargs find",
            "fd -e o -x rm",
            "rg --pre ./run x",
            "sort -uo a a",
            "uniq a b",
            "sed -i s/a/b/ a",
            "sed -n 'w b' a",
            "sed -n 's/a/b/w b' a",
            "sed -n '/a/w /tmp/p' a",
            "sed -n '1e rm b' a",
            "sed -n 1p a -i",
            "echo $(rm a)",
            "echo \"`rm a`\"",
            "cat <(rm a)",
            "(cat a)",
            "cat 'a",
            "awk '{print > \"b\"}' a",
            "date -s 2020-01-01",
            "date 01010000",
            "curl https://example.org",
            "PATH=. cat a",
            "bash -c 'cat a > b'",
            "bash -lc \"cat a\" rm",
            "grep x a & rm b",
            "\"cat a\" b",
        ],
    );
}

#[test]
fn a_shell_in_an_argument_list_is_looked_through() {
    let (label, class, _) =
        read_call("shell", br#"{"command":["bash","-lc","sed -n '1,9p' a.rs"],"workdir":"/w","timeout":5}"#);
    assert_eq!((label.as_str(), class), ("sed -n '1,9p' a.rs", ToolClass::Retrieval));
    for arguments in [
        r#"{"command":["bash","-lc","cat a > b"]}"#,
        r#"{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\nEOF"]}"#,
        r#"{"command":["bash","-lc","cat a","b"]}"#,
        r#"{"command":["rm","a"]}"#,
        r#"{"command":[]}"#,
        r#"{"command":[{"command":"rm a"}]}"#,
    ] {
        assert_eq!(self::class("shell", arguments), ToolClass::Execution, "{arguments}");
    }
    assert_eq!(self::class("shell", r#"{"command":["/bin/bash","-c","ls"]}"#), ToolClass::Retrieval);
    assert_eq!(
        self::class("local_shell_call", r#"{"type":"exec","command":["grep","a|b","x"]}"#),
        ToolClass::Retrieval
    );
}

#[test]
fn each_of_several_command_lines_is_judged_by_itself() {
    assert_eq!(class("run_commands", r#"{"commands":["cat a","ls b"]}"#), ToolClass::Retrieval);
    // Joined by a space these would be one harmless command.
    assert_eq!(class("run_commands", r#"{"commands":["cat a","rm b"]}"#), ToolClass::Execution);
    assert_eq!(class("run_commands", r#"{"commands":["cat a","git status"]}"#), ToolClass::Volatile);
}

#[test]
fn a_tool_of_many_trades_is_classed_by_what_it_is_asked() {
    let editor = |command: &str| class("str_replace_editor", &format!(r#"{{"command":"{command}","path":"/a"}}"#));
    assert_eq!(editor("view"), ToolClass::Retrieval);
    assert_eq!(editor("create"), ToolClass::Execution);
    assert_eq!(class("str_replace_editor", r#"{"path":"/a"}"#), ToolClass::Execution);
    assert_eq!(class("developer__text_editor", r#"{"command":"view","path":"/a"}"#), ToolClass::Retrieval);
    assert_eq!(class("text_editor", r#"{"command":"view","x":{"command":"write"}}"#), ToolClass::Execution);
}

#[test]
fn the_tools_of_common_agents_have_their_class() {
    for (tool, expected) in [
        ("Read", ToolClass::Retrieval),
        ("Grep", ToolClass::Retrieval),
        ("list_directory", ToolClass::Retrieval),
        ("read_files", ToolClass::Retrieval),
        ("find_file", ToolClass::Retrieval),
        ("semantic_search", ToolClass::Retrieval),
        ("WebFetch", ToolClass::Volatile),
        ("webfetch", ToolClass::Volatile),
        ("google_web_search", ToolClass::Volatile),
        ("TaskOutput", ToolClass::Volatile),
        ("get_errors", ToolClass::Volatile),
        ("Edit", ToolClass::Execution),
        ("write_stdin", ToolClass::Execution),
        ("browser_snapshot", ToolClass::Execution),
        ("submit", ToolClass::Execution),
        ("get_reservation_details", ToolClass::Execution),
    ] {
        assert_eq!(class(tool, r#"{"path":"a"}"#), expected, "{tool}");
    }
}

#[test]
fn a_served_tool_is_known_by_the_rest_of_its_name() {
    for (tool, expected) in [
        ("mcp__filesystem__read_text_file", ToolClass::Retrieval),
        ("mcp_filesystem_read_text_file", ToolClass::Retrieval),
        ("filesystem_read_text_file", ToolClass::Retrieval),
        ("filesystem-read_text_file", ToolClass::Retrieval),
        ("filesystem__read_text_file", ToolClass::Retrieval),
        ("mcp__my_files__directory_tree", ToolClass::Retrieval),
        ("mcp__git__git_log", ToolClass::Retrieval),
        ("developer__tree", ToolClass::Retrieval),
        ("github-mcp-server-list_issues", ToolClass::Volatile),
        ("mcp__plugin_context7_context7__query-docs", ToolClass::Volatile),
        ("mcp__claude_ai_Slack__slack_list_channels", ToolClass::Volatile),
        ("mcp__plugin_playwright_playwright__browser_close", ToolClass::Execution),
    ] {
        assert_eq!(class(tool, "{}"), expected, "{tool}");
    }
}

#[test]
fn a_name_that_only_ends_like_a_known_one_is_unknown() {
    for tool in [
        "mcp__mail__read",
        "mcp__jobs__list",
        "mcp__jobs__run",
        "mcp__crm__list_issues",
        "delete_read_file",
        "filesystem_delete_read_file",
        "my_files_directory_tree",
        "mcp__directory_tree",
        "mcp____directory_tree",
        "mcp__postgres__query",
        "mcp__notes__edit",
        "unread_file",
        "schedule_web_fetch",
        "",
        "_",
        "__",
    ] {
        assert!(Tool::named(tool).is_none(), "{tool}");
    }
    assert!(Tool::named(&format!("{}filesystem_read_file", "_".repeat(300))).is_none());
}

#[test]
fn plans_notes_and_memory_are_known_however_they_arrive() {
    for tool in [
        "TodoWrite",
        "TaskUpdate",
        "TaskList",
        "update_plan",
        "todowrite",
        "write_todos",
        "manage_todo_list",
        "task_tracker",
        "todo__todo_write",
        "save_memory",
        "memory__remember_memory",
        "mcp__memory__read_graph",
        "memory_create_entities",
    ] {
        assert!(is_plan_tool(tool), "{tool}");
    }
    assert!(!is_plan_tool("mcp__plans__update") && !is_plan_tool("Read") && !is_plan_tool("sequentialthinking"));
}

#[test]
fn what_a_call_writes_is_named() {
    let write = |tool| Tool::named(tool).unwrap().written_arguments().to_vec();
    assert_eq!(write("Write"), ["content"]);
    assert_eq!(write("create_file"), ["content"]);
    assert_eq!(write("mcp__filesystem__write_file"), ["content"]);
    assert_eq!(write("text_editor"), ["file_text"]);
    assert_eq!(write("NotebookEdit"), ["new_source"]);
    assert!(write("Edit").is_empty() && write("Bash").is_empty() && write("Read").is_empty());
    let edit = |tool| Tool::named(tool).unwrap().edit_arguments().to_vec();
    assert_eq!(edit("MultiEdit"), ["old_string", "new_string"]);
    assert_eq!(edit("str_replace_editor"), ["old_str", "new_str"]);
    assert!(edit("apply_patch").contains(&"input".to_owned()));
    assert!(edit("Write").is_empty());
}

#[test]
fn failures_of_common_tools_are_evidence() {
    for line in [
        // pytest, unittest
        "E       assert 1 == 2",
        "E   KeyError: 'a'",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "ERROR tests/test_a.py - ImportError: no",
        "=================== 1 failed, 2 passed in 0.12s ===================",
        "!!!!!!!! Interrupted: 1 error during collection !!!!!!!!",
        "tests/test_a.py:3: AssertionError",
        "FAIL: test_b (tests.A)",
        "FAILED (failures=1)",
        "Traceback (most recent call last):",
        "django.core.exceptions.ImproperlyConfigured: failed",
        "ModuleNotFoundError: No module named 'x'",
        "SyntaxError: invalid syntax",
        // cargo
        "error[E0308]: mismatched types",
        "error: could not compile `a` (lib) due to 2 previous errors",
        "thread 'main' panicked at src/main.rs:2:5:",
        "test a::b ... FAILED",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored",
        "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: test failed, to rerun pass `--lib`",
        "\u{1b}[31m\u{1b}[1mAssertionError\u{1b}[22m: expected '' to be 'a'",
        // go
        "--- FAIL: TestA (0.00s)",
        "FAIL\tpkg/a\t0.01s",
        "FAIL",
        "panic: runtime error: index out of range",
        "./a.go:3:5: undefined: b",
        "./a.go:3:2: \"fmt\" imported and not used",
        // npm, jest, tsc, eslint, mocha
        "npm ERR! code ELIFECYCLE",
        "npm error code 1",
        "FAIL src/a.test.js",
        "  ✕ adds (3 ms)",
        "Tests:       1 failed, 3 passed, 4 total",
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable",
        "src/a.ts:3:5 - error TS2322: Type",
        "✖ 3 problems (1 error, 2 warnings)",
        "  2 failing",
        "TypeError: x is not a function",
        "Error: Cannot find module 'x'",
        "  code: 'ENOENT',",
        // gcc, make, ld
        "a.c:3:5: error: expected ';'",
        "a.c:1:10: fatal error: x.h: No such file or directory",
        "a.c:(.text+0x5): undefined reference to `f'",
        "make: *** [Makefile:3: all] Error 2",
        "make[1]: *** [all] Error 1",
        "CMake Error at CMakeLists.txt:28 (find_package):",
        "2 errors generated.",
        // maven, gradle, java, kotlin, dotnet
        "[ERROR] COMPILATION ERROR :",
        "[INFO] BUILD FAILURE",
        "BUILD FAILED in 1s",
        "> Task :test FAILED",
        "Exception in thread \"main\" java.lang.NullPointerException",
        "java.lang.IllegalStateException: no",
        "Caused by: java.io.IOException",
        "e: file:///a.kt:3:5 Unresolved reference: b",
        "A.cs(3,5): error CS1002: ; expected",
        "Failed!  - Failed:     1, Passed:     2",
        // ruby, tap
        "a.rb:3:in `b': undefined method (NoMethodError)",
        "3 examples, 1 failure",
        "not ok 3 - adds",
        // git, shells
        "fatal: not a git repository (or any of the parent directories): .git",
        "error: pathspec 'x' did not match any file(s) known to git",
        "CONFLICT (content): Merge conflict in a.rs",
        " ! [rejected]        main -> main (fetch first)",
        "bash: line 1: pip: command not found",
        "zsh: command not found: pip",
        "sh: 1: pip: not found",
        "cat: a: No such file or directory",
        "bash: ./a: Permission denied",
        "Segmentation fault (core dumped)",
        "Command timed out after 2m",
        "bash: -c: line 0: syntax error near unexpected token `('",
    ] {
        assert!(is_error_line(line), "{line}");
    }
}

#[test]
fn passing_verdicts_and_prose_are_no_evidence() {
    for line in [
        "",
        "test result: ok. 5 passed; 0 failed; 0 ignored",
        "test errors::reads_failed_state ... ok",
        "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
        "Passed!  - Failed:     0, Passed:     3",
        "host : ok=3 changed=1 unreachable=0 failed=0",
        "0 errors, 0 warnings",
        "Found 0 errors. Watching for file changes.",
        "no error: all fine",
        "const MAX_ERROR_LINES: usize = 20;",
        "if (LOG_LEVEL === 'ERRORS') {",
        "Error handling is described in the next chapter",
        "an error is a value in this language",
        "    except Exception: pass",
        "class ExceptionHandler extends Base",
        "Compiling thiserror v2.0.1",
        "unfailed and failedness",
        "it was not failed on purpose",
        "=================== 3 passed in 0.12s ===================",
        "PASS src/a.test.js",
        "ok  \tpkg/a\t0.01s",
        "ERROR_CODE=3",
        "-rw-r--r-- 1 root root  6744 Apr 30 08:32 error.c",
        "if (teamsError) {",
    ] {
        assert!(!is_error_line(line), "{line}");
    }
}

#[test]
fn labels_come_from_the_argument_the_table_names() {
    let label = |tool, arguments: &str| read_call(tool, arguments.as_bytes()).0;
    assert_eq!(label("Grep", r#"{"output_mode":"content","path":"src","pattern":"fn main"}"#), "fn main");
    assert_eq!(label("mcp__filesystem__read_text_file", r#"{"head":3,"path":"/a/b"}"#), "/a/b");
    assert_eq!(label("unheard_of", r#"{"text":"two\nlines","id":"short"}"#), "short");
    assert_eq!(label("Bash", r#"{"command":"bash -lc 'cargo test'","description":"x"}"#), "cargo test");
    assert_eq!(label("Bash", "no json"), "");
}

#[test]
fn a_recall_is_known_by_its_call_and_named_by_its_id() {
    let id = "0123456789abcdef0123456789abcdef";
    let line = |command: &str| format!("{{\"command\":\"{command}\"}}");
    for (tool, arguments, named) in [
        ("recall", r#"{"handle":"h-0001"}"#.to_owned(), "h-0001".to_owned()),
        ("mcp__liveset__recall", format!("{{\"view\":\"outline\",\"id\":\"{id}\"}}"), id.to_owned()),
        ("mcp__any__recall", format!("{{\"id\":\"{id}\"}}"), id.to_owned()),
        ("liveset_recall", format!("{{\"id\":\"{id}\"}}"), id.to_owned()),
        ("Bash", line(&format!("liveset recall {id}")), format!("liveset recall {id}")),
        (
            "Bash",
            line(&format!(
                "cd /a/long/way/that/fills/the/label/and/more/than/that/so/that/nothing/is/left && liveset recall --outline {id} | head -5"
            )),
            format!("liveset recall {id}"),
        ),
        ("Bash", line(&format!("liveset recall --grep token {id}")), format!("liveset recall {id}")),
        (
            "Bash",
            line(&format!("liveset recall --grep 'a pattern of more words than a label may hold' {id}")),
            format!("liveset recall {id}"),
        ),
    ] {
        assert_eq!(read_call(tool, arguments.as_bytes()), (named, ToolClass::Retrieval, Ask::Recall), "{arguments}");
    }
    for (tool, arguments) in [
        ("recall", r#"{"query":"the port"}"#.to_owned()),
        ("recall", r#"{"id":" "}"#.to_owned()),
        ("recall", String::new()),
        ("total_recall", format!("{{\"id\":\"{id}\"}}")),
        ("Bash", line("liveset recall --help")),
        ("Bash", line("liveset recall $ID")),
        ("Bash", line(&format!("echo liveset recall {id}"))),
        ("Bash", line(&format!("liveset recall {id} > out"))),
        ("Bash", line(&format!("liveset recall {id}; cargo test"))),
        ("Read", format!("{{\"file_path\":\"{id}\"}}")),
    ] {
        assert_eq!(read_call(tool, arguments.as_bytes()).2, Ask::Other, "{tool} {arguments}");
    }
    assert_eq!(class("recall", r#"{"query":"the port"}"#), ToolClass::Execution);
    assert_eq!(class("mcp__liveset__search", r#"{"words":"port"}"#), ToolClass::Volatile);
}

proptest::proptest! {
    #[test]
    fn one_pass_over_a_text_misses_no_line_that_is_evidence(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..40)
    ) {
        let text = pieces.concat();
        let mut suspects = suspects(&text);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            let plain = line.trim_end_matches(['\n', '\r']);
            let is_error = is_error_line(plain) || is_error_line(&crate::content::line::without_colour(plain));
            let may_be = suspects.may_be(range);
            proptest::prop_assert!(may_be || !is_error, "{:?}", line);
        }
    }
}

/// What lines of evidence, and lines that only look like it, are made of.
const PIECES: [&str; 32] = [
    "\n",
    "\n",
    "\n",
    "\r\n",
    " ",
    " ",
    "  ",
    "\t",
    "failed",
    "FAILED",
    "FAIL",
    "FAIL:",
    "error",
    "error:",
    "err",
    "or: ",
    "Error:",
    "errors",
    "0",
    "3",
    "no",
    "not ok",
    "E",
    "E   ",
    "✗",
    "\u{1b}[31m",
    "\u{1b}[0m",
    "panic:",
    "panicked at",
    "x",
    "é",
    "fatal:",
];
