//! The preset `rules`.

use liveset::Preset;
use liveset_testkit::Format;
use serde_json::json;

use crate::bench::{MODEL, size, wire};
use crate::script::{Step, body, call, prose, result, run, run_with, seen, user};

const FILE: &str = "Content \"quoted\"\twith \\ escapes, é and 😀.\n";

fn file() -> String {
    FILE.chars().cycle().take(10_000).collect()
}

/// A file is written, the web is searched, a file is read; then the agent goes on.
fn written_and_searched() -> Vec<Step> {
    vec![
        user("Write the guide."),
        call("call_1", "create_file", json!({ "path": "docs/guide.md", "content": file(), "mode": 420 })),
        result("call_1", "File created."),
        call("call_2", "search_web", json!({ "query": "rust \"span\" types", "limit": 5 })),
        result("call_2", prose("search", 60)),
        call("call_3", "read_file", json!({ "file_path": "src/span.rs" })),
        result("call_3", prose("file", 60)),
        Step::Say("Now I know enough.".to_owned()),
        // Long, so that only this request is over the trigger, with everything before it processed.
        user(prose("user", 200)),
    ]
}

#[test]
fn written_content_and_processed_results_become_their_lines() {
    for format in Format::ALL {
        let out = run(format, &written_and_searched(), Preset::Rules, 900);
        let seen = seen(&out.body);
        let expected = json!({ "path": "docs/guide.md", "content": "[Content saved to file]", "mode": 420 });
        assert_eq!(seen.arguments("call_1"), &expected);
        assert_eq!(seen.arguments("call_2"), &json!({ "query": "rust \"span\" types", "limit": 5 }));
        assert_eq!(seen.result("call_1"), "File created.");
        let line = "Search results processed. Query: rust \"span\" types. Re-search if needed.";
        assert_eq!(seen.result("call_2"), line);
        assert_eq!(seen.result("call_3"), "File content from src/span.rs. Re-read if needed.");
        assert_eq!((seen.ids(), seen.tombstones()), (vec!["call_1", "call_2", "call_3"], vec![]));
        let edits = out.report["edits"].as_array().map_or(0, Vec::len);
        assert_eq!((edits, &out.report["edits"][0]["kind"]), (3, &json!("rule")), "{format:?}");
        assert_eq!((&out.report["edits"][0]["step"], &out.report["edits"][1]["step"]), (&json!(1), &json!(2)));
    }
}

#[test]
fn below_the_threshold_nothing_happens() {
    for format in Format::ALL {
        let steps = written_and_searched();
        let out = run(format, &steps, Preset::Rules, 1_200);
        assert_eq!(out.body, body(format, &steps));
        assert!(out.unchanged);
    }
}

#[test]
fn what_is_not_processed_stays() {
    for format in Format::ALL {
        let mut steps = written_and_searched();
        steps.truncate(5);
        let out = run(format, &steps, Preset::Rules, 1_000);
        let seen = seen(&out.body);
        assert_eq!(seen.arguments("call_1")["content"], "[Content saved to file]");
        assert_eq!(seen.result("call_2"), prose("search", 60), "the newest result is not processed yet");
    }
}

#[test]
fn a_failed_write_keeps_its_content() {
    let failures = [
        Step::Failed("call_1", "the disk is full".to_owned()),
        result("call_1", "Error: the disk is full"),
        result("call_1", "{\"success\": false, \"reason\": \"quota\"}"),
        result("call_1", "exit code: 1"),
    ];
    for (at, failure) in failures.into_iter().enumerate() {
        for format in Format::ALL {
            // Only Anthropic's wire has a flag for errors.
            if at == 0 && format != Format::Anthropic {
                continue;
            }
            let mut steps = written_and_searched();
            steps[2] = failure.clone();
            let seen = seen(&run(format, &steps, Preset::Rules, 900).body);
            assert_eq!(seen.arguments("call_1")["content"], json!(file()), "{failure:?}");
            assert!(seen.result("call_2").starts_with("Search results processed."));
        }
    }
}

#[test]
fn a_write_without_its_result_keeps_its_content() {
    // Validity of the input is the client's: an unanswered call arrives broken and stays as it is.
    let mut steps = written_and_searched();
    steps.remove(2);
    let seen = seen(&run(Format::OpenaiResponses, &steps, Preset::Rules, 900).body);
    assert_eq!(seen.arguments("call_1")["content"], json!(file()));
}

#[test]
fn a_result_without_its_call_stays() {
    let mut steps = written_and_searched();
    steps.remove(3);
    let seen = seen(&run(Format::OpenaiResponses, &steps, Preset::Rules, 900).body);
    assert_eq!(seen.result("call_2"), prose("search", 60));
}

#[test]
fn what_a_call_does_not_name_is_unknown() {
    for format in Format::ALL {
        let mut steps = written_and_searched();
        steps[3] = call("call_2", "tavily_search", json!({ "q": "other key" }));
        steps[5] = call("call_3", "read_file", json!({ "file_path": 7, "path": "" }));
        let seen = seen(&run(format, &steps, Preset::Rules, 900).body);
        assert_eq!(seen.result("call_2"), "Search results processed. Query: unknown. Re-search if needed.");
        assert_eq!(seen.result("call_3"), "File content from unknown. Re-read if needed.");
    }
}

#[test]
fn file_path_comes_before_path() {
    for (arguments, named) in [
        (json!({ "path": "b", "file_path": "a" }), "a"),
        (json!({ "path": "b" }), "b"),
        (json!({ "file_path": null, "path": "b" }), "b"),
    ] {
        let mut steps = written_and_searched();
        steps[5] = call("call_3", "read_file", arguments);
        let seen = seen(&run(Format::OpenaiChat, &steps, Preset::Rules, 900).body);
        assert_eq!(seen.result("call_3"), format!("File content from {named}. Re-read if needed."));
    }
}

#[test]
fn other_tools_and_other_keys_stay() {
    for format in Format::ALL {
        let mut steps = written_and_searched();
        steps[1] = call("call_1", "write_file", json!({ "path": "a", "text": file(), "nested": { "content": "x" } }));
        steps[5] = call("call_3", "grep", json!({ "pattern": "span" }));
        let out = run(format, &steps, Preset::Rules, 900);
        let seen = seen(&out.body);
        assert_eq!(seen.arguments("call_1")["text"], json!(file()));
        assert_eq!(seen.result("call_3"), prose("file", 60));
        assert!(seen.result("call_2").starts_with("Search results processed."));
    }
}

#[test]
fn a_pin_keeps_result_and_arguments() {
    for format in Format::ALL {
        let out = run_with(format, &written_and_searched(), 900, |policy| {
            policy.preset = Preset::Rules;
            policy.pins = vec!["call_1".to_owned(), "call_2".to_owned()];
        });
        let seen = seen(&out.body);
        assert_eq!(seen.arguments("call_1")["content"], json!(file()));
        assert_eq!(seen.result("call_2"), prose("search", 60));
        assert_eq!(seen.result("call_3"), "File content from src/span.rs. Re-read if needed.");
    }
}

#[test]
fn what_no_rule_may_take_cannot_fit() {
    let steps = [
        user("Look."),
        call("call_1", "grep", json!({ "pattern": "x" })),
        result("call_1", prose("grep", 200)),
        Step::Say("Seen.".to_owned()),
        user("Go on."),
    ];
    for format in Format::ALL {
        let out = run(format, &steps, Preset::Rules, 500);
        assert!(out.cannot_fit && out.body == body(format, &steps));
    }
}

#[test]
fn a_manifest_holds_no_copy_of_what_the_archive_holds() {
    for format in Format::ALL {
        let body = body(format, &written_and_searched());
        let mut policy = liveset::Policy::default();
        policy.preset = Preset::Rules;
        policy.window = Some(size(format, &body) * 900 / 1_000);
        policy.reserve = Some(0);
        let liveset = liveset::Liveset::new(policy).with_format(wire(format)).with_model(MODEL);
        let compaction = liveset.compact(&body).expect("the body reads");
        let manifest = compaction.manifest().expect("something was cut");
        assert!(manifest.to_json().len() < 1_500, "{format:?}: {}", manifest.to_json().len());
        let original = |id: &str| {
            let found = compaction.originals().iter().find(|original| original.id.to_string() == id);
            found.map(|original| original.bytes.clone())
        };
        assert_eq!(manifest.restore(compaction.body(), original).expect("it comes back"), body);
        let file = file();
        assert!(compaction.originals().iter().any(|original| original.bytes == file.as_bytes()));
    }
}
