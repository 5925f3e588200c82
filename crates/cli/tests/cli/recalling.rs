//! `recall` and `search`: originals come back, in parts that say what they are; a miss is final.

use expect_test::expect;
use serde_json::Value;

use crate::{bodies, bodies::SMALL, program::Place};

/// A place whose body was compacted into the archive of its user, and the ids of what was cut.
fn compacted() -> (Place, Vec<String>) {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} -o small.json --report report.json --report-format json"));
    assert_eq!(run.code, 0, "{}", run.err);
    let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    let ids = report["edits"].as_array().unwrap().iter().map(|edit| edit["archive_id"].as_str().unwrap().to_owned());
    let ids = ids.collect();
    (place, ids)
}

#[test]
fn the_archive_of_the_user_is_used_by_default_and_by_every_command() {
    let (place, ids) = compacted();
    assert_eq!(place.run("restore small.json").out, bodies::long());
    let run = place.run(&format!("recall {}", ids[0]));
    assert_eq!((run.code, run.text()), (0, bodies::lines("night 0", 100).as_str()));
    assert_eq!(run.err, "[all 100 lines; read_log logs/pump-0.txt]\n");
    assert!(place.data().join("liveset/archive.db").is_file());
    assert_eq!(place.files(), ["body.json", "report.json", "small.json"], "nothing is written beside the body");
    let upper = place.run(&format!("recall {}", ids[0].to_uppercase()));
    assert_eq!(upper.out, run.out);
}

#[test]
fn what_a_body_tells_an_agent_to_run_gives_the_original() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --recall-route shell -o small.json"));
    assert_eq!(run.code, 0, "{}", run.err);
    let body = String::from_utf8(place.read("small.json")).unwrap();
    let told = body.split("run liveset ").nth(1).and_then(|rest| rest.split_once(" to see it")).unwrap().0;
    let run = place.run(told);
    assert_eq!(run.code, 0, "{told}: {}", run.err);
    assert!(String::from_utf8_lossy(&bodies::long()).contains(run.text().lines().nth(50).unwrap()));
    // There `liveset recall` would find nothing.
    let other = place.run(&format!("compact body.json {SMALL} --recall-route shell -o other.json --archive other"));
    assert!(other.code == 0 && other.err.contains("route_to_other_archive"), "{}", other.err);
}

#[test]
fn what_a_body_tells_an_agent_to_read_is_there_before_it_goes_out() {
    let place = Place::with("body.json", bodies::long());
    let words = format!("compact body.json {SMALL} --recall-route spill:out/cut");
    assert_eq!(place.run(&format!("{words} --dry-run")).code, 0);
    assert!(!place.path("out").exists(), "a dry run writes nothing");
    assert_eq!(place.run(&format!("{words} -o small.json")).code, 0);
    let body = String::from_utf8(place.read("small.json")).unwrap();
    let mut names = body.split("read out/cut/").skip(1).filter_map(|rest| rest.split_once(" to see it")).peekable();
    assert!(names.peek().is_some(), "{body}");
    for (name, _) in names {
        let text = String::from_utf8(place.read(&format!("out/cut/{name}"))).unwrap();
        assert!(String::from_utf8_lossy(&bodies::long()).contains(text.lines().nth(50).unwrap()));
    }
}

#[test]
fn a_route_that_is_none_and_one_that_is_not_open_are_told() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --recall-route spill:../out"));
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--recall-route") && run.err.contains("a folder below"), "{}", run.err);
    let run = place.run(&format!("compact body.json {SMALL} --recall-route shell --no-archive -o small.json"));
    assert!(run.code == 0 && run.err.contains("route_without_archive"), "{}", run.err);
    assert!(!String::from_utf8(place.read("small.json")).unwrap().contains("liveset recall"));
}

#[test]
fn no_archive_stores_nothing_and_dry_runs_neither() {
    let place = Place::with("body.json", bodies::long());
    for flags in ["--no-archive -o small.json", "--dry-run"] {
        assert_eq!(place.run(&format!("compact body.json {SMALL} {flags}")).code, 0);
        assert_eq!(std::fs::read_dir(place.data()).unwrap().count(), 0, "{flags}");
    }
    assert_eq!(place.run("compact body.json --no-archive --archive x").code, 2);
    let missing = place.run("restore small.json");
    let own = place.data().display().to_string();
    expect![[r#"
        exit 4
        err | liveset: no archive at `DATA/liveset/archive.db`
        err | hint: `compact` makes it; name another with --archive PATH
    "#]]
    .assert_eq(&missing.shown().replace(&own, "DATA"));
}

#[test]
fn a_part_says_first_which_part_it_is() {
    let (place, ids) = compacted();
    let id = &ids[0];
    expect![[r#"
        exit 0
        out | [lines 3-4 of 100; read_log logs/pump-0.txt]
        out | night 0 line 2: value 74 of part 17
        out | night 0 line 3: value 10 of part 70
    "#]]
    .assert_eq(&place.run(&format!("recall {id} --lines 3-4")).shown());
    expect![[r#"
        exit 0
        out | [1 of 100 lines matches; read_log logs/pump-0.txt]
        out | 50-night 0 line 49: value 96 of part 16
        out | 51:night 0 line 50: value 32 of part 69
        out | 52-night 0 line 51: value 69 of part 33
    "#]]
    .assert_eq(&place.run(&format!("recall {id} --grep line.50 --context 1")).shown());
    expect![[r#"
        exit 0
        out | [line 100 of 100; read_log logs/pump-0.txt]
        out | night 0 line 99: value 27 of part 85
    "#]]
    .assert_eq(&place.run(&format!("recall {id} --tail 1")).shown());
    let outline = place.run(&format!("recall {id} --outline"));
    assert!(outline.text().starts_with("[outline of 100 lines, as "), "{}", outline.text());
    assert!(outline.text().lines().count() < 20);
    assert_eq!(place.run(&format!("recall {id} --head 2")).text().lines().count(), 3);
}

#[test]
fn what_is_not_asked_for_well_is_bad_usage() {
    let (place, ids) = compacted();
    for words in ["--lines 0-3", "--lines 9-3", "--lines x", "--head 1 --tail 1", "--context 3", "--outline --grep x"] {
        let run = place.run(&format!("recall {} {words}", ids[0]));
        assert_eq!((run.code, run.text()), (2, ""), "{words}: {}", run.err);
    }
    expect![[r#"
        exit 2
        err | liveset: an id has 32 hexadecimal digits
        err | hint: `liveset search WORDS` finds originals and names their ids
    "#]]
    .assert_eq(&place.run("recall 0f3c").shown());
    assert_eq!(place.run("search").code, 2);
    assert_eq!(place.run("search x --limit 0").code, 2);
}

#[test]
fn a_miss_is_final_and_names_the_call_where_it_is_known() {
    let (place, ids) = compacted();
    let unknown = "0".repeat(32);
    expect![[r#"
        exit 4
        err | liveset: no original `00000000000000000000000000000000` here, and asking again will not find it
        err | hint: run the call again that gave it, or look for its words: `liveset search WORDS`
    "#]]
    .assert_eq(&place.run(&format!("recall {unknown}")).shown());
    let gc = place.run("archive gc --to 0 --everything");
    assert!(gc.text().contains("in use by living conversations"), "{}", gc.text());
    expect![[r#"
        exit 4
        err | liveset: original `ID` was stored and is evicted for good
        err | hint: run the call again that gave it: read_log logs/pump-0.txt
    "#]]
    .assert_eq(&place.run(&format!("recall {}", ids[0])).shown().replace(&ids[0], "ID"));
    // Another session's id is answered like one that nobody issued.
    let (again, ids) = compacted();
    let other = again.run(&format!("recall {} --session other", ids[0])).shown().replace(&ids[0], "ID");
    let never = again.run(&format!("recall {unknown} --session other")).shown().replace(&unknown, "ID");
    assert_eq!(other, never);
}

#[test]
fn strict_sessions_ask_for_one_and_answer_of_no_other() {
    let (place, ids) = compacted();
    let id = &ids[0];
    let json: Value = serde_json::from_slice(&place.run("archive ls --json").out).unwrap();
    let own = json[0]["session"].as_str().unwrap().to_owned();
    for words in [format!("recall {id}"), "search night".into(), "restore small.json".into()] {
        let refused = place.run(&format!("{words} --strict-sessions"));
        assert_eq!((refused.code, refused.text()), (2, ""), "{words}: {}", refused.err);
        let inside = place.run(&format!("{words} --strict-sessions --session {own}"));
        assert!(inside.code == 0 && inside.out == place.run(&words).out, "{words}: {}", inside.err);
        let outside = place.run(&format!("{words} --strict-sessions --session other"));
        assert_eq!(outside.text(), "", "{words}: {}", outside.err);
    }
    let unknown = "0".repeat(32);
    let answer = |id: &str| {
        let run = place.run(&format!("recall {id} --strict-sessions --session other"));
        run.shown().replace(id, "ID")
    };
    assert_eq!(answer(id), answer(&unknown));
    let strict = place.run(&format!("compact body.json {SMALL} -o strict.json --strict-sessions"));
    assert_eq!((strict.code, place.read("strict.json")), (0, place.read("small.json")));
}

#[test]
fn search_names_the_call_and_the_line_of_each_hit() {
    let (place, ids) = compacted();
    let run = place.run("search night 0 line 50:");
    assert_eq!(run.code, 0, "{}", run.err);
    let expected =
        format!("{}  read_log logs/pump-0.txt, line 51 of 100\n    night 0 line 50: value 32 of part 69\n", ids[0]);
    assert!(run.text().starts_with(&expected), "{}", run.text());
    let json: Value = serde_json::from_slice(&place.run("search pump-0.txt --json").out).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 1);
    assert_eq!((json[0]["id"].as_str(), json[0]["tool"].as_str()), (Some(ids[0].as_str()), Some("read_log")));
    let session = json[0]["session"].as_str().unwrap();
    assert!(place.run(&format!("search night --session {session}")).text().lines().count() > 2);
    let none = place.run("search night --session other");
    assert_eq!((none.code, none.text(), none.err.as_str()), (0, "", "nothing holds all of these words\n"));
}

#[test]
fn secrets_of_arguments_are_shown_by_no_list() {
    let place = Place::new();
    let mut body: Value = serde_json::from_slice(&bodies::long()).unwrap();
    for message in body["messages"].as_array_mut().unwrap() {
        if let Some(arguments) = message.pointer_mut("/tool_calls/0/function/arguments") {
            *arguments = "{\"path\":\"a.txt\",\"api_key\":\"hunter2-secret\"}".into();
        }
    }
    place.write("body.json", serde_json::to_vec(&body).unwrap());
    let run = place.run(&format!("compact body.json {SMALL} -o small.json --report report.json --report-format json"));
    assert_eq!(run.code, 0);
    let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    let id = report["edits"][0]["archive_id"].as_str().unwrap();
    for words in ["search night", "search night --json", "archive ls", "archive ls --json", &format!("recall {id}")] {
        let run = place.run(words);
        assert!(run.code == 0 && !run.text().contains("hunter2") && !run.err.contains("hunter2"), "{words}");
    }
    assert_eq!(place.run("search hunter2-secret").text(), "");
}
