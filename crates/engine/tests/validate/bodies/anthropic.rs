//! What else Anthropic Messages refuses.

use liveset_engine::transcript::WireFormat::Anthropic;
use liveset_engine::validate::Code;

use super::{ASK, Case, SAY, case, list, message, text, tool_result, tool_use};

fn broken(code: Code, path: &'static str, body: &str, sound: &str) -> Case {
    case(code, Anthropic, path, body, sound)
}

fn reply(blocks: &[&str]) -> String {
    message("assistant", blocks)
}

/// A call whose result has these fields.
fn result(fields: &str) -> String {
    let result = format!(r#"{{"type":"tool_result","tool_use_id":"a",{fields}}}"#);
    list(&[ASK, &reply(&[&tool_use("a")]), &message("user", &[&result])])
}

/// A call with these fields, and its result.
fn call(id: &str, fields: &str) -> String {
    let call = format!(r#"{{"type":"tool_use","id":"{id}",{fields}}}"#);
    list(&[ASK, &reply(&[&call]), &message("user", &[&tool_result(id)])])
}

pub(super) fn messages() -> Vec<Case> {
    [texts(), roles(), calls(), shapes()].into_iter().flatten().collect()
}

fn texts() -> Vec<Case> {
    let ok = text("ok");
    vec![
        broken(Code::EmptyText, "[0].content", r#"[{"role":"user","content":" \n"}]"#, &list(&[ASK])),
        broken(
            Code::EmptyText,
            "[1].content[0]",
            &list(&[ASK, &reply(&[&text(r"\n"), &ok])]),
            &list(&[ASK, &reply(&[&ok, &ok])]),
        ),
        // "except a final assistant turn"
        broken(Code::EmptyText, "[1].content", &list(&[ASK, &reply(&[]), ASK]), &list(&[ASK, &reply(&[])])),
        // Content "may be empty", but not a text block in it.
        broken(
            Code::EmptyText,
            "[2].content[0].content[0]",
            &result(&format!(r#""content":[{}]"#, text(""))),
            &result(r#""content":"""#),
        ),
        broken(
            Code::EmptyText,
            "system[0]",
            &format!(r#"{{"system":[{}],"messages":[{ASK}]}}"#, text("")),
            &format!(r#"{{"system":"","messages":[{ASK}]}}"#),
        ),
        broken(
            Code::TrailingWhitespace,
            "[1].content[0].text",
            &list(&[ASK, &reply(&[&text("so ")])]),
            &list(&[ASK, &reply(&[&text("so ")]), ASK]),
        ),
        broken(
            Code::TrailingWhitespace,
            "[1].content",
            &list(&[ASK, r#"{"role":"assistant","content":"so\n"}"#]),
            &list(&[ASK, r#"{"role":"assistant","content":"\nso"}"#]),
        ),
        broken(
            Code::LoneSurrogate,
            "[0].content",
            r#"[{"role":"user","content":"\\ud83d \ud83d."}]"#,
            r#"[{"role":"user","content":"\\ud83d \ud83d\ude00"}]"#,
        ),
        broken(
            Code::LoneSurrogate,
            "[1].content[0].input",
            &call("a", r#""name":"f","input":{"a":"\ude00\ud83d"}"#),
            &call("a", r#""name":"f","input":{"a":"\u00e9\\"}"#),
        ),
    ]
}

fn roles() -> Vec<Case> {
    let system = r#"{"role":"system","content":"note"}"#;
    let compaction = r#"{"type":"compaction","content":"c"}"#;
    let ok = text("ok");
    let other = list(&[ASK, r#"{"role":"tool","content":"ok"}"#]);
    vec![
        broken(Code::RoleOrder, "[1]", &other, &list(&[ASK, ASK, SAY, SAY])),
        broken(Code::RoleOrder, "[2]", &list(&[ASK, SAY, system]), &list(&[ASK, system])),
        broken(Code::RoleOrder, "[2]", &list(&[ASK, system, ASK]), &list(&[ASK, system, SAY])),
        broken(
            Code::RoleOrder,
            "[1].content[0]",
            &list(&[ASK, &reply(&[&tool_result("a")])]),
            &result(r#""content":[]"#),
        ),
        broken(
            Code::RoleOrder,
            "[0].content[0]",
            &list(&[&message("user", &[&tool_use("a")])]),
            &result(r#""is_error":true"#),
        ),
        broken(Code::FirstRole, "[0]", &list(&[SAY, ASK]), &list(&[&reply(&[compaction]), ASK])),
        broken(Code::FirstRole, "[0]", &list(&[system, SAY]), &list(&[ASK, system, SAY])),
        broken(
            Code::CompactionBlockNotFirst,
            "[1].content[1]",
            &list(&[ASK, &reply(&[&ok, compaction])]),
            &list(&[ASK, &reply(&[compaction, &ok])]),
        ),
    ]
}

fn calls() -> Vec<Case> {
    let image = r#"{"type":"image","source":{"type":"url","url":"u"}}"#;
    let ok = text("ok");
    let request = |tools: &str| format!(r#"{{{tools}"messages":{}}}"#, result(r#""content":"ok""#));
    let twice = list(&[
        ASK,
        &reply(&[&tool_use("a"), &tool_use("a")]),
        &message("user", &[&tool_result("a"), &tool_result("a")]),
    ]);
    let good = call("a", r#""name":"f.g","input":{"a":[1]}"#);
    vec![
        broken(
            Code::MediaInsideIsError,
            "[2].content[0].content[1]",
            &result(&format!(r#""is_error":true,"content":[{ok},{image}]"#)),
            &result(&format!(r#""is_error":false,"content":[{ok},{image}]"#)),
        ),
        broken(
            Code::ResultPartNotAllowed,
            "[2].content[0].content[0]",
            &result(&format!(r#""content":[{}]"#, tool_use("b"))),
            &result(&format!(r#""content":[{image}]"#)),
        ),
        broken(
            Code::UndeclaredToolNames,
            "messages[1].content[0]",
            &request(r#""tools":[{"name":"g"}],"#),
            &request(r#""tools":[{"name":"g"},{"name":"\u0066"}],"#),
        ),
        // "tool blocks in history require tool definitions"
        broken(Code::UndeclaredToolNames, "messages[1].content[0]", &request(r#""max_tokens":1,"#), &request("")),
        broken(
            Code::UndeclaredToolNames,
            "messages[1].content[0]",
            &request(r#""max_tokens":1,"tools":[],"#),
            &request(r#""tools":[{"type":"mcp_toolset","mcp_server_name":"s"}],"#),
        ),
        broken(Code::ArgumentsNotAnObject, "[1].content[0].input", &call("a", r#""name":"f","input":"{}""#), &good),
        broken(Code::BadId, "[1].content[0]", &call("a.b", r#""name":"f","input":{}"#), &good),
        broken(Code::DuplicateCallId, "[1].content[1]", &twice, &good),
    ]
}

fn shapes() -> Vec<Case> {
    let sound = list(&[ASK]);
    let thinking = |fields: &str| list(&[ASK, &reply(&[&format!(r#"{{"type":"thinking","thinking":""{fields}}}"#)])]);
    vec![
        broken(Code::WrongShape, "", r#"{"messages":[]}"#, &format!(r#"{{"messages":[{ASK}]}}"#)),
        broken(Code::WrongShape, "", "1", &sound),
        broken(Code::WrongShape, "[0]", r#"[{"content":"go"}]"#, &sound),
        broken(Code::WrongShape, "[0]", r#"[{"role":"user"}]"#, &sound),
        broken(Code::WrongShape, "[0].content[0]", r#"[{"role":"user","content":["go"]}]"#, &sound),
        broken(Code::WrongShape, "[1].content[0]", &thinking(""), &thinking(r#","signature":"s""#)),
    ]
}

pub(super) fn references() -> Vec<Case> {
    let server_use = r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#;
    let found_at = |url: &str| {
        let page = format!(r#"{{"type":"web_search_result","url":"{url}"}}"#);
        format!(r#"{{"type":"web_search_tool_result","tool_use_id":"s","content":[{page}]}}"#)
    };
    let found = found_at("u");
    let cited = |citation: &str| format!(r#"{{"type":"text","text":"ok","citations":[{citation}]}}"#);
    let of_url = cited(r#"{"type":"web_search_result_location","url":"u"}"#);
    let of_document = cited(r#"{"type":"char_location","document_index":0}"#);
    let of_search = cited(r#"{"type":"search_result_location","search_result_index":1}"#);
    let document = r#"{"type":"document","source":{"type":"text","data":"d"}}"#;
    let search = r#"{"type":"search_result","content":[]}"#;
    let page = r#"{"type":"web_fetch_result","content":{"type":"document"}}"#;
    let fetched = format!(r#"{{"type":"web_fetch_tool_result","tool_use_id":"s","content":{page}}}"#);
    let compaction = r#"{"type":"compaction","content":"c"}"#;
    let caller = r#""caller":{"type":"code_execution","tool_id":"s"}"#;
    let programmatic = format!(r#"{{"type":"tool_use","id":"a","name":"f","input":{{}},{caller}}}"#);
    let resumed = |call: &str| {
        let answer = message("user", &[&tool_result("a")]);
        list(&[ASK, &reply(&[server_use, call]), &answer, &reply(&[&found])])
    };
    let only_cited = list(&[ASK, &reply(&[&of_document])]);
    vec![
        broken(
            Code::ServerToolResultOrphan,
            "[1].content[0]",
            &list(&[ASK, &reply(&[&found, server_use])]),
            &list(&[ASK, &reply(&[server_use, &found])]),
        ),
        // A programmatic call's server result comes after the client's.
        broken(Code::ServerToolResultOrphan, "[3].content[0]", &resumed(&tool_use("a")), &resumed(&programmatic)),
        broken(
            Code::CitationTargetLost,
            "[1].content[2].citations",
            &list(&[ASK, &reply(&[server_use, &found_at("v"), &of_url])]),
            &list(&[ASK, &reply(&[server_use, &found, &of_url])]),
        ),
        broken(
            Code::CitationTargetLost,
            "[1].content[0].citations",
            &only_cited,
            &list(&[&message("user", &[document]), &reply(&[&of_document])]),
        ),
        broken(
            Code::CitationTargetLost,
            "[1].content[0].citations",
            &only_cited,
            &list(&[ASK, &reply(&[server_use, &fetched, &of_document])]),
        ),
        broken(
            Code::CitationTargetLost,
            "[1].content[0].citations",
            &list(&[&message("user", &[search]), &reply(&[&of_search])]),
            &list(&[&message("user", &[search, search]), &reply(&[&of_search])]),
        ),
        broken(
            Code::CitationTargetLost,
            "[1].content[0].citations",
            &list(&[ASK, &reply(&[&of_url])]),
            &list(&[&reply(&[compaction]), ASK, &reply(&[&of_url])]),
        ),
    ]
}

pub(super) fn marks() -> Vec<Case> {
    let short = r#""cache_control":{"type":"ephemeral"}"#;
    let long = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
    let marked = |mark: &str| format!(r#"{{"type":"text","text":"go",{mark}}}"#);
    let request = |fields: &str, blocks: &[&str]| format!(r#"{{{fields},"messages":[{}]}}"#, message("user", blocks));
    let (s, l) = (marked(short), marked(long));
    let tool = format!(r#""tools":[{{"name":"f",{short}}}]"#);
    let system = format!(r#""tools":[{{"name":"f",{long}}}],"system":[{s}]"#);
    let thinking = |mark: &str| {
        let block = format!(r#"{{"type":"thinking","thinking":"t","signature":"s"{mark}}}"#);
        list(&[ASK, &reply(&[&block, &text("ok")]), ASK])
    };
    let parts = |count: usize| result(&format!(r#""content":[{}]"#, vec![s.as_str(); count].join(",")));
    vec![
        broken(
            Code::TooManyMarks,
            "messages[0].content[2].cache_control",
            &request(&system, &[&s, &s, &s]),
            &request(&system, &[&s, &s]),
        ),
        broken(
            Code::TooManyMarks,
            "cache_control",
            &request(&format!("{tool},{short}"), &[&s, &s, &s]),
            &request(&format!(r#"{tool},"cache_control":null"#), &[&s, &s, &s]),
        ),
        broken(Code::TooManyMarks, "[2].content[0].content[4].cache_control", &parts(5), &parts(4)),
        broken(
            Code::TtlOrder,
            "messages[0].content[0].cache_control",
            &request(&tool, &[&l]),
            &request(&system, &[&s]),
        ),
        broken(Code::TtlOrder, "cache_control", &request(long, &[&s]), &request(long, &[&l])),
        broken(Code::MarkOnBadBlock, "[1].content[0].cache_control", &thinking(&format!(",{short}")), &thinking("")),
    ]
}

pub(super) fn limits() -> Vec<Case> {
    let many = |count: usize| list(&vec![ASK; count]);
    let large = |bytes: usize| list(&[&format!(r#"{{"role":"user","content":"{}"}}"#, "a".repeat(bytes))]);
    let limit = 32 * 1024 * 1024;
    vec![
        broken(Code::TooLarge, "[100000]", &many(100_001), &many(100_000)),
        broken(Code::TooLarge, "", &large(limit), &large(limit - 100)),
    ]
}
