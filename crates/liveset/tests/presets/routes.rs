//! What do tombstones, gaps, notices and folded lines say on how to get a text back, under each `recall_route`?

use liveset::{Archive, Liveset, Policy, Preset, RecallRoute, SpillFolder};
use liveset_archive::Spill;
use liveset_testkit::{Format, laws::Outcome};
use serde_json::{Value, json};

use crate::bench::{Bench, MODEL, size, wire};
use crate::script::{Step, body, call, prose, result, seen, user};

/// Every route that names an original: the setting, what stands before its id and what behind.
const NAMING: [(&str, &str, &str); 4] = [
    ("tool", "recall ", " to see it"),
    ("mcp", "recall ", " to see it"),
    ("shell", "run liveset recall ", " to see it"),
    ("spill:.liveset/cut", "read .liveset/cut/", ".txt to see it"),
];

fn route(name: &str) -> RecallRoute {
    name.parse().expect("a route")
}

/// Two searches and a read, all processed.
fn worked() -> Vec<Step> {
    let searched = |id, seed| [call(id, "search_web", json!({ "query": seed })), result(id, prose(seed, 60))];
    let read = [call("read", "read_file", json!({ "path": "a.rs" })), result("read", prose("rust", 60))];
    let said = || Step::Say("Then this.".to_owned());
    let steps = [user("Find it.")].into_iter().chain(searched("one", "alder")).chain([said(), user("Go on.")]);
    steps
        .chain(searched("two", "birch"))
        .chain([said(), user("Go on.")])
        .chain(read)
        .chain([Step::Say("Done.".to_owned()), user(prose("user", 20))])
        .collect()
}

/// The body with these tools offered.
fn offering(format: Format, steps: &[Step], tools: &[&str]) -> Vec<u8> {
    let mut body: Value = serde_json::from_slice(&body(format, steps)).expect("a body is JSON");
    let tool = |name: &&str| {
        // A memory of others has the name, and is asked with a question.
        let key = if name.contains("mem0") { "query" } else { "id" };
        let schema = json!({ "type": "object", "properties": { key: { "type": "string" } } });
        match format {
            Format::Anthropic => json!({ "name": name, "input_schema": schema }),
            Format::OpenaiChat => json!({ "type": "function", "function": { "name": name, "parameters": schema } }),
            Format::OpenaiResponses => json!({ "type": "function", "name": name, "parameters": schema }),
        }
    };
    body["tools"] = tools.iter().map(tool).collect();
    body.to_string().into_bytes()
}

fn policy(format: Format, body: &[u8], name: &str, permille: u64) -> Policy {
    let mut policy = Policy::default();
    policy.window = Some(size(format, body) * permille / 1_000);
    policy.reserve = Some(0);
    policy.min_sweep_gain = 0;
    policy.recall_route = route(name);
    policy
}

/// Runs a body in a window of this share under a route, and checks every law.
fn run(format: Format, body: &[u8], name: &str, permille: u64) -> (Outcome, Bench) {
    let bench = Bench::new(format, policy(format, body, name, permille));
    let out = bench.check(body).unwrap_or_else(|error| panic!("{name}, {format:?}: {error}"));
    (out, bench)
}

fn warnings(out: &Outcome) -> Vec<&str> {
    out.report["warnings"].as_array().into_iter().flatten().filter_map(|one| one["code"].as_str()).collect()
}

#[test]
fn a_result_that_went_names_the_original_that_comes_back() {
    for format in Format::ALL {
        let body = offering(format, &worked(), &["search_web", "recall"]);
        for (name, start, end) in NAMING {
            let (out, bench) = run(format, &body, name, 300);
            let (old, new) = (seen(&body), seen(&out.body));
            let cut: Vec<_> = new.results.iter().filter(|(id, text)| old.result(id) != text).collect();
            assert!(cut.len() >= 2, "{name}, {format:?}: {cut:?}");
            for (call, text) in cut {
                let (_, words) = text.rsplit_once("; ").expect("a route is parted");
                let words = words.split_once(']').map_or(words, |(words, _)| words);
                let volatile = if call == "read" { "" } else { ", a new run may answer differently" };
                let id = words.strip_prefix(start).and_then(|rest| rest.strip_suffix(&format!("{end}{volatile}")));
                let id = id.unwrap_or_else(|| panic!("{name}, {format:?}: {words}"));
                let original = bench.archive.original(id).expect("an id").expect("an original");
                assert_eq!(String::from_utf8_lossy(&original), old.result(call), "{name}, {format:?}");
            }
            assert_eq!(warnings(&out), [] as [&str; 0]);
        }
    }
}

#[test]
fn the_parts_of_a_result_are_one_original() {
    let part = |seed: &str| json!({ "type": "text", "text": prose(seed, 30) });
    let answer = json!({ "type": "tool_result", "tool_use_id": "a", "content": [part("alder"), part("birch")] });
    let call = json!({ "type": "tool_use", "id": "a", "name": "read_file", "input": { "path": "a" } });
    let body = json!({ "model": "gpt-4.1", "messages": [
        { "role": "user", "content": "Look." }, { "role": "assistant", "content": [call] },
        { "role": "user", "content": [answer] }, { "role": "assistant", "content": "Done." },
        { "role": "user", "content": "Go on." },
    ] });
    let body = body.to_string().into_bytes();
    let (out, bench) = run(Format::Anthropic, &body, "mcp", 300);
    let new: Value = serde_json::from_slice(&out.body).expect("JSON");
    let text = new["messages"][2]["content"][0]["content"].to_string();
    assert_eq!(text.matches("recall ").count(), 1, "{text}");
    let id = text.split("recall ").nth(1).and_then(|rest| rest.get(..32)).expect("an id");
    let original = bench.archive.original(id).expect("an id").expect("an original");
    assert_eq!(String::from_utf8_lossy(&original), format!("{}\n{}", prose("alder", 30), prose("birch", 30)));
}

#[test]
fn a_way_that_is_not_open_is_not_named() {
    for format in Format::ALL {
        let without = offering(format, &worked(), &["search_web", "total_recall", "mcp__mem0__recall"]);
        let plain = run(format, &without, "none", 300).0;
        let (out, _) = run(format, &without, "tool", 300);
        assert_eq!((&out.body, warnings(&out)), (&plain.body, vec!["no_recall_tool"]));
        // Clients that load tools on demand do not list them.
        assert_ne!(run(format, &without, "mcp", 300).0.body, plain.body);
        // Without an archive nothing could be recalled.
        let with = offering(format, &worked(), &["search_web", "total_recall", "mcp__liveset__recall"]);
        assert_ne!(run(format, &with, "tool", 300).0.body, run(format, &with, "none", 300).0.body);
        let bare = |name: &str| {
            let liveset = Liveset::new(policy(format, &with, name, 300)).with_format(wire(format)).with_model(MODEL);
            let out = liveset.compact(&with).unwrap_or_else(|error| panic!("{error}"));
            (out.body().to_vec(), out.report().warnings.iter().map(|one| one.code.to_string()).collect::<Vec<_>>())
        };
        let (plain, quiet) = bare("none");
        assert!(quiet.is_empty());
        for (name, ..) in NAMING {
            assert_eq!(bare(name), (plain.clone(), vec!["route_without_archive".to_owned()]), "{name}");
        }
    }
}

#[test]
fn a_folded_line_names_what_finds_its_originals() {
    let ids = ["c_0", "c_1", "c_2", "c_3", "c_4", "c_5"];
    let step = |id| {
        let path = format!("src/module/a_file_with_a_long_name_{id}.rs");
        [call(id, "read_file", json!({ "path": path })), result(id, format!("The file {path} is empty."))]
    };
    let steps: Vec<Step> = [user("Look.")]
        .into_iter()
        .chain(ids.into_iter().flat_map(step))
        .chain([Step::Say("Done.".to_owned()), user(prose("user", 30))])
        .collect();
    let both = ["mcp__liveset__recall", "mcp__liveset__search"];
    for format in Format::ALL {
        for (name, tools, words) in [
            ("none", &both[..], "run a call again to see its result"),
            ("mcp", &[], "search liveset to find a result"),
            ("tool", &both, "search liveset to find a result"),
            // A recall tool alone finds nothing by its words.
            ("tool", &both[..1], "run a call again to see its result"),
            ("shell", &[], "run liveset search WORDS to find a result"),
            ("spill:out", &[], "search out to find a result"),
        ] {
            let body = offering(format, &steps, tools);
            let mut policy = policy(format, &body, name, 1_000);
            (policy.trigger, policy.target) = (90, 40);
            let out = Bench::new(format, policy).check(&body).unwrap_or_else(|error| panic!("{name}: {error}"));
            let text = seen(&out.body).result("c_5").to_owned();
            assert!(text.starts_with("[folded from context: 6 calls"), "{name}, {format:?}: {text}");
            assert!(text.ends_with(&format!("; {words}]")), "{name}, {format:?}: {text}");
        }
    }
}

#[test]
fn a_picture_that_went_names_its_own_original() {
    let data = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAADwf7zUAAAA";
    let picture = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    let shot = |id: &str| {
        let call = json!({ "type": "tool_use", "id": id, "name": "screenshot", "input": {} });
        let answer = json!({ "type": "tool_result", "tool_use_id": id, "content": [picture] });
        [json!({ "role": "assistant", "content": [call] }), json!({ "role": "user", "content": [answer] })]
    };
    let history: Vec<Value> = [json!({ "role": "user", "content": "Look." })]
        .into_iter()
        .chain(["a", "b", "c"].into_iter().flat_map(shot))
        .chain([json!({ "role": "assistant", "content": "Done." }), json!({ "role": "user", "content": "Go on." })])
        .collect();
    let body = json!({ "model": "gpt-4.1", "messages": history }).to_string().into_bytes();
    let (out, bench) = run(Format::Anthropic, &body, "shell", 900);
    let text = String::from_utf8(out.body).expect("UTF-8");
    let id = text.split("run liveset recall ").nth(1).and_then(|rest| rest.get(..32)).expect("a notice names an id");
    let original = bench.archive.original(id).expect("an id").expect("an original");
    assert_eq!(serde_json::from_slice::<Value>(&original).expect("JSON"), picture);
}

/// The engine names the files, the archive writes them: neither knows the other.
#[test]
fn the_file_that_is_named_is_the_one_that_is_written() {
    let id = "0f".repeat(16);
    for relative in [".liveset", "./a//b", "a/./b/", "größe/x-1"] {
        let named = SpillFolder::new(relative).expect("a folder").file(&id);
        assert_eq!(named, Spill::new("/base", relative).expect("a folder").name(&id), "{relative}");
    }
    for relative in ["", ".", "..", "/etc", "a/../../b"] {
        assert!(SpillFolder::new(relative).is_none() && Spill::new("/base", relative).is_err(), "{relative}");
    }
}

#[test]
fn what_arrives_cut_goes_whole_and_names_what_it_held_beside_itself() {
    let held = "0123456789abcdef0123456789abcdef";
    for format in Format::ALL {
        for (name, gap, own) in [
            ("mcp", format!("recall {held} to see it"), "recall "),
            ("spill:out", format!("read out/{held}.txt to see it"), "read out/"),
        ] {
            let cut = format!("{}[lines 41-90 of 90 left out; {gap}]", prose("alder", 40));
            let steps = [
                user("Look."),
                call("a", "read_file", json!({ "path": "a" })),
                result("a", cut.clone()),
                Step::Say("Done.".to_owned()),
                user("Go on."),
            ];
            let body = body(format, &steps);
            let (out, bench) = run(format, &body, name, 250);
            let text = seen(&out.body).result("a").to_owned();
            let id = text.split(own).nth(1).and_then(|rest| rest.get(..32)).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(bench.archive.original(id).expect("an id").expect("an original"), cut.into_bytes());
            let place = if name == "mcp" { held.to_owned() } else { format!("out/{held}.txt") };
            assert!(text.ends_with(&format!(" to see it, and {place} for what it left out]")), "{text}");
        }
    }
}

#[test]
fn every_preset_names_the_way_where_it_leaves_a_tombstone() {
    for format in Format::ALL {
        let body = offering(format, &worked(), &["recall"]);
        for preset in [Preset::Balanced, Preset::Liveness] {
            let mut policy = policy(format, &body, "tool", 300);
            policy.preset = preset;
            let out = Bench::new(format, policy).check(&body).unwrap_or_else(|error| panic!("{error}"));
            let new = seen(&out.body);
            assert!(!new.tombstones().is_empty(), "{preset:?}");
            for id in new.tombstones() {
                assert!(new.result(id).contains("; recall "), "{preset:?}: {}", new.result(id));
            }
        }
    }
}
