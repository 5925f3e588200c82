//! One tiny trace of each format: known by its shape, inspected, compacted, cut at a point.

use serde_json::Value;

use crate::program::Place;

/// File name, file, wire format of the bodies, model, items at the last point.
type Tiny = (&'static str, &'static str, &'static str, &'static str, usize);

const TINY: [Tiny; 11] = [
    (
        "claude-code.jsonl",
        r#"{"type":"user","uuid":"a","parentUuid":null,"isMeta":true,"message":{"role":"user","content":"Read a.py"}}
{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a.py"}}]}}
{"type":"user","uuid":"c","parentUuid":"b","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x = 1"}]}}
"#,
        "anthropic",
        "claude-sonnet-4-5",
        3,
    ),
    (
        "codex.jsonl",
        r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","cwd":"/x"}}
{"timestamp":"t","type":"turn_context","payload":{"model":"gpt-5-codex"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Read a.py"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"cat\",\"a.py\"]}","call_id":"c"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"x = 1"}}
"#,
        "openai-responses",
        "gpt-5-codex",
        3,
    ),
    (
        "codex-older.jsonl",
        r#"{"id":"s","timestamp":"t","instructions":null}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Read a.py"}]}
{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}
{"type":"function_call_output","call_id":"c","output":"x = 1"}
"#,
        "openai-responses",
        "",
        3,
    ),
    (
        "swe-agent.traj",
        r#"{"trajectory":[],"history":[{"role":"system","content":"s","agent":"main"},{"role":"user","content":"Read a.py","agent":"main"},{"role":"assistant","content":"","agent":"main","tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat a.py\"}"}}]},{"role":"tool","content":"x = 1","tool_call_ids":["c"],"agent":"main"}],"replay_config":"{\"agent\":{\"model\":{\"name\":\"gpt-4o\"}}}"}"#,
        "openai-chat",
        "gpt-4o",
        4,
    ),
    (
        "mini-swe-agent.traj.json",
        r#"{"trajectory_format":"mini-swe-agent-1.1","info":{"config":{"model":{"model_name":"gpt-4o"}}},"messages":[{"role":"system","content":"s"},{"role":"user","content":"Read a.py"},{"role":"assistant","content":"cat a.py","extra":{}},{"role":"user","content":"x = 1"}]}"#,
        "openai-chat",
        "gpt-4o",
        4,
    ),
    (
        "tau-bench.json",
        r#"[{"task_id":0,"reward":1.0,"traj":[{"role":"system","content":"s"},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","name":"look","content":"x"}]}]"#,
        "openai-chat",
        "",
        4,
    ),
    (
        "tau2.json",
        r#"{"info":{"agent_info":{"llm":"gpt-4.1"},"environment_info":{"policy":"be kind"}},"simulations":[{"id":"s1","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","name":"look","arguments":{"at":1},"requestor":"assistant"}]},{"id":"c","role":"tool","content":"x","requestor":"assistant"}]}]}"#,
        "openai-chat",
        "gpt-4.1",
        4,
    ),
    (
        "pi.jsonl",
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/x"}
{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"Read a.py"}]}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path":"a.py"}}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"toolUse"}}
{"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"x = 1"}],"isError":false}}
"#,
        "anthropic",
        "claude-sonnet-4-5",
        3,
    ),
    (
        "gemini.json",
        r#"{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"user","content":"Read a.py"},{"id":"2","type":"gemini","content":"","model":"gemini-2.5-pro","toolCalls":[{"id":"c","name":"read_file","args":{"path":"a.py"},"status":"success","result":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":"x = 1"}}}]}]}]}"#,
        "openai-chat",
        "gemini-2.5-pro",
        3,
    ),
    (
        "inspect.json",
        r#"{"eval":{"model":"gpt-4o"},"samples":[{"messages":[{"role":"user","content":"Read a.py"},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":"read","arguments":{"path":"a.py"}}]},{"role":"tool","content":"x = 1","tool_call_id":"c"}]}]}"#,
        "openai-chat",
        "gpt-4o",
        3,
    ),
    (
        "langchain.json",
        r#"[{"lc":1,"id":["x"],"kwargs":{"type":"human","content":"Read a.py"}},{"lc":1,"id":["x"],"kwargs":{"type":"ai","content":[{"type":"tool_use","id":"t","name":"read","input":{"path":"a.py"}}],"response_metadata":{"model_name":"claude-sonnet-4-5"}}},{"lc":1,"id":["x"],"kwargs":{"type":"tool","tool_call_id":"t","content":"x = 1"}}]"#,
        "anthropic",
        "claude-sonnet-4-5",
        3,
    ),
];

/// Names a window where neither the trace nor the model table does.
const ROOM: &str = "--window 9000 --reserve 1000";

#[test]
fn each_format_is_inspected() {
    for (name, file, ..) in TINY {
        let place = Place::with(name, file);
        let agent = if name.starts_with("tau2") { "--agent s1" } else { "" };
        let run = place.run(&format!("inspect {name} {agent} {ROOM}"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert!(!run.err.contains("warning"), "{name}: {}", run.err);
    }
}

#[test]
fn each_format_is_compacted_to_a_body_in_its_wire_format() {
    for (name, file, wire, model, items) in TINY {
        let place = Place::with(name, file);
        let run = place.run(&format!("compact {name} --dry-run --report report.json --report-format json {ROOM}"));
        assert_eq!((run.code, run.out.len()), (0, 0), "{name}: {}", run.err);
        let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
        assert_eq!((&report["format"], &report["fidelity"]), (&wire.into(), &"model_visible".into()), "{name}");
        let run = place.run(&format!("compact {name} {ROOM}"));
        let body: Value = serde_json::from_slice(&run.out).unwrap();
        let list = if wire == "openai-responses" { &body["input"] } else { &body["messages"] };
        assert_eq!(list.as_array().map(Vec::len), Some(items), "{name}");
        assert_eq!(body["model"].as_str().unwrap_or(""), model, "{name}");
        // The body is one that a provider takes.
        place.write("body.json", &run.out);
        let check = place.run(&format!("check body.json --format {wire}"));
        // Traces lack the declarations of the tools that they call.
        let mut defects = check.text().lines().filter(|line| line.starts_with("body.json"));
        assert!(defects.all(|line| line.contains("undeclared_tool_names")), "{name}: {}", check.shown());
    }
}

#[test]
fn each_format_is_cut_at_its_first_request() {
    for (name, file, _, _, items) in TINY {
        let place = Place::with(name, file);
        let run = place.run(&format!("compact {name} --at 0 {ROOM}"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        let body: Value = serde_json::from_slice(&run.out).unwrap();
        let list = body["messages"].as_array().or(body["input"].as_array()).unwrap();
        assert_eq!(list.len(), items - 2, "{name}");
        assert_eq!(place.run(&format!("inspect {name} --at 99 {ROOM}")).code, 2, "{name}");
    }
}

#[test]
fn overhead_stands_for_what_a_trace_lacks() {
    let (name, file, ..) = TINY[1];
    let place = Place::with(name, file);
    let total = |flags: &str| -> u64 {
        let run = place.run(&format!("inspect {name} {ROOM} --json {flags}"));
        assert_eq!(run.code, 0, "{}", run.err);
        let shown: Value = serde_json::from_slice(&run.out).unwrap();
        shown["tokens"]["before"].as_u64().unwrap()
    };
    assert_eq!(total("--overhead 4000"), total("") + 4_000);
}

#[test]
fn a_broken_line_is_one_error_with_its_number() {
    let (name, file, ..) = TINY[1];
    let place =
        Place::with(name, file.replacen("{\"timestamp\":\"t\",\"type\":\"turn_context\"", "{\"timestamp\":", 1));
    let run = place.run(&format!("inspect {name} {ROOM}"));
    assert_eq!(run.code, 2, "{}", run.err);
    let first = run.err.lines().next().unwrap();
    assert!(first.contains("codex.jsonl: line 2 (byte 72) is not a JSON object"), "{}", run.err);
}
