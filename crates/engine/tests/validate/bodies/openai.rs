//! What else the OpenAI formats refuse.

use liveset_engine::transcript::WireFormat::{OpenaiChat, OpenaiResponses};
use liveset_engine::validate::Code;

use super::{ASK, Case, SAY, calls, case, function_call, list, output, text, tool};

pub(super) fn chat() -> Vec<Case> {
    [chat_messages(), chat_calls()].into_iter().flatten().collect()
}

fn chat_messages() -> Vec<Case> {
    let broken = |code, path, body: &str, sound: &str| case(code, OpenaiChat, path, body, sound);
    let result = |content: &str| {
        list(&[ASK, &calls(&["a"]), &format!(r#"{{"role":"tool","tool_call_id":"a","content":{content}}}"#)])
    };
    let named = |name: &str| format!(r#"[{{"role":"user","name":"{name}","content":"go"}}]"#);
    let picture = r#"[{"type":"image_url","image_url":{"url":"u"}}]"#;
    let reply = |fields: &str| list(&[ASK, &format!(r#"{{"role":"assistant",{fields}}}"#)]);
    let roles = r#"[{"role":"developer","content":"go"},{"role":"system","content":"go"}]"#;
    vec![
        broken(Code::EmptyText, "[1]", &reply(r#""content":null"#), &reply(r#""content":"""#)),
        broken(Code::EmptyText, "[1]", &reply(r#""content":[]"#), &reply(r#""refusal":"no""#)),
        broken(Code::RoleOrder, "[0]", r#"[{"role":"model","content":"go"}]"#, roles),
        broken(
            Code::EmptyToolCalls,
            "[1].tool_calls",
            &reply(r#""content":"ok","tool_calls":[]"#),
            &reply(r#""content":"ok","tool_calls":null"#),
        ),
        broken(Code::BadName, "[0].name", &named("a b"), &named("a.é")),
        broken(Code::ResultPartNotAllowed, "[2].content[0]", &result(picture), &result(&format!("[{}]", text("")))),
        broken(Code::WrongShape, "[2]", &result("null"), &result(r#""""#)),
        broken(Code::WrongShape, "[0]", r#"[{"role":"user","content":null}]"#, &list(&[ASK])),
        broken(Code::WrongShape, "", r#"{"input":"go"}"#, &format!(r#"{{"messages":[{ASK}]}}"#)),
    ]
}

fn chat_calls() -> Vec<Case> {
    let broken = |code, path, body: &str, sound: &str| case(code, OpenaiChat, path, body, sound);
    let call = |name: &str, arguments: &str| {
        let function = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        let call = format!(r#"{{"id":"a","type":"function","function":{function}}}"#);
        list(&[ASK, &format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#), &tool("a")])
    };
    let custom = |input: &str| {
        let call = format!(r#"{{"id":"a","type":"custom","custom":{{"name":"f"{input}}}}}"#);
        list(&[ASK, &format!(r#"{{"role":"assistant","tool_calls":[{call}]}}"#), &tool("a")])
    };
    let request = |tools: &str| format!(r#"{{{tools}"messages":{}}}"#, list(&[ASK, &calls(&["a"]), &tool("a")]));
    let with_id = |chars: usize| list(&[ASK, &calls(&[&"é".repeat(chars)]), &tool(&"é".repeat(chars))]);
    let arguments = "[1].tool_calls[0].function.arguments";
    let other = request(r#""tools":[{"type":"function","function":{"name":"g"}}],"#);
    vec![
        broken(Code::IdTooLong, "[1].tool_calls[0]", &with_id(41), &with_id(40)),
        broken(Code::ArgumentsNotAnObject, arguments, &call("f", r#""{\"a\":""#), &call("f", r#"" {\"a\":1} ""#)),
        broken(Code::ArgumentsNotAnObject, arguments, &call("f", r#""[1]""#), &call("f", r#""{}""#)),
        broken(Code::ArgumentsNotAnObject, arguments, &call("f", "{}"), &call("f", r#""{}""#)),
        broken(Code::BadName, "[1].tool_calls[0].function.name", &call("f.g", r#""{}""#), &call("f-g_1", r#""{}""#)),
        broken(
            Code::UndeclaredToolNames,
            "messages[1].tool_calls[0]",
            &other,
            &request(r#""tools":[{"type":"custom","custom":{"name":"f"}}],"#),
        ),
        broken(Code::UndeclaredToolNames, "messages[1].tool_calls[0]", &other, &request("")),
        broken(Code::WrongShape, "[1].tool_calls[0]", &custom(""), &custom(r#","input":"[""#)),
    ]
}

pub(super) fn responses() -> Vec<Case> {
    [responses_reasoning(), responses_items()].into_iter().flatten().collect()
}

fn responses_reasoning() -> Vec<Case> {
    let broken =
        |code, path, items: &[&str], sound: &[&str]| case(code, OpenaiResponses, path, &list(items), &list(sound));
    let with_id = r#"{"type":"reasoning","encrypted_content":"x","id":"r"}"#;
    let without = r#"{"type":"reasoning","encrypted_content":"x"}"#;
    let pair = [function_call("a"), output("a")].join(",");
    let said = |text: &str| format!(r#"{{"role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#);
    vec![
        broken(Code::ReasoningWithoutFollower, "[0]", &[with_id, ASK], &[with_id, SAY, ASK]),
        broken(Code::ReasoningWithoutFollower, "[0]", &[with_id], &[without]),
        broken(Code::ReasoningWithoutFollower, "[1]", &[with_id, with_id, ASK], &[with_id, with_id, &pair]),
        broken(Code::EmptyText, "[1]", &[with_id, &said(" "), &pair], &[with_id, &said("ok"), &pair]),
    ]
}

fn responses_items() -> Vec<Case> {
    let broken = |code, path, body: &str, sound: &str| case(code, OpenaiResponses, path, body, sound);
    let pair = [function_call("a"), output("a")].join(",");
    let trigger = r#"{"type":"compaction_trigger"}"#;
    let reference = |store: &str| format!(r#"{{"store":{store},"input":[{{"type":"item_reference","id":"r"}}]}}"#);
    let call = |arguments: &str| {
        let call = format!(r#"{{"type":"function_call","call_id":"a","name":"f","arguments":{arguments}}}"#);
        list(&[&call, &output("a")])
    };
    let result = |output: &str| {
        let result = format!(r#"{{"type":"function_call_output","call_id":"a","output":{output}}}"#);
        list(&[&function_call("a"), &result])
    };
    let request = |tools: &str| format!(r#"{{"tools":[{tools}],"input":[{pair}]}}"#);
    let with_id = |chars: usize| list(&[&function_call(&"a".repeat(chars)), &output(&"a".repeat(chars))]);
    let part = |role: &str, kind: &str| {
        let part = format!(r#"{{"type":"{kind}","text":"ok","prompt_cache_breakpoint":{{}}}}"#);
        format!(r#"[{{"role":"{role}","content":[{part}]}}]"#)
    };
    vec![
        broken(Code::TriggerNotLast, "[1]", &list(&[ASK, trigger, ASK]), &list(&[ASK, trigger])),
        broken(Code::ItemReferenceWhileStateless, "input[0]", &reference("false"), &reference("true")),
        broken(Code::IdTooLong, "[0]", &with_id(65), &with_id(64)),
        broken(Code::ArgumentsNotAnObject, "[0].arguments", &call(r#""""#), &call(r#""{}""#)),
        broken(
            Code::ResultPartNotAllowed,
            "[1].output[0]",
            &result(r#"[{"type":"audio"}]"#),
            &result(r#"[{"type":"input_image","image_url":"u"}]"#),
        ),
        broken(
            Code::UndeclaredToolNames,
            "input[0]",
            &request(r#"{"type":"function","name":"g"},{"type":"web_search"}"#),
            &request(r#"{"type":"function","name":"g"},{"type":"namespace","name":"n","tools":[]}"#),
        ),
        broken(
            Code::MarkOnBadBlock,
            "[0].content[0].prompt_cache_breakpoint",
            &part("assistant", "output_text"),
            &part("user", "input_text"),
        ),
        broken(
            Code::RoleOrder,
            "[0]",
            r#"[{"role":"tool","content":"ok"}]"#,
            r#"[{"role":"developer","content":"ok"}]"#,
        ),
        broken(Code::WrongShape, "[0]", "[1]", "[]"),
        broken(Code::WrongShape, "", r#"{"model":"m"}"#, r#"{"prompt":{"id":"p"}}"#),
        broken(Code::WrongShape, "[1]", &result("null"), &result(r#""""#)),
    ]
}
