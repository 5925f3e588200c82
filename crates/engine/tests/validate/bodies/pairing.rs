//! Calls and results, in all formats.

use liveset_engine::transcript::WireFormat::{Anthropic, OpenaiChat, OpenaiResponses};
use liveset_engine::validate::Code::{
    BatchSplit, DuplicateResult, OrphanResult, ResultNotAdjacent, ResultsNotFirst, UnpairedCall,
};

use super::{ASK, Case, SAY, calls, case, function_call, list, message, output, text, tool, tool_result, tool_use};

pub(super) fn cases() -> Vec<Case> {
    [anthropic(), chat(), responses()].into_iter().flatten().collect()
}

fn anthropic() -> Vec<Case> {
    let (a, b, ra, rb) = (tool_use("a"), tool_use("b"), tool_result("a"), tool_result("b"));
    let go = text("go");
    let reply = |blocks: &[&str]| message("assistant", blocks);
    let answer = |blocks: &[&str]| message("user", blocks);
    let (ask_a, ask_both) = (reply(&[&a]), reply(&[&a, &b]));
    let one = list(&[ASK, &ask_a, &answer(&[&ra])]);
    let two = list(&[ASK, &ask_both, &answer(&[&ra, &rb])]);
    // Neighbours of one role are one message.
    let apart = list(&[ASK, &reply(&[&a]), &reply(&[&b]), &answer(&[&rb]), &answer(&[&ra])]);
    let broken = |code, path, messages: &[&str], sound: &str| case(code, Anthropic, path, &list(messages), sound);
    vec![
        broken(UnpairedCall, "[1].content[0]", &[ASK, &ask_a, ASK], &one),
        broken(UnpairedCall, "[1].content[0]", &[ASK, &ask_a], &one),
        broken(UnpairedCall, "[1].content[1]", &[ASK, &ask_both, &answer(&[&ra])], &two),
        broken(OrphanResult, "[2].content[0]", &[ASK, SAY, &answer(&[&ra])], &one),
        broken(OrphanResult, "[0].content[0]", &[&answer(&[&ra]), SAY], &one),
        broken(DuplicateResult, "[2].content[1]", &[ASK, &ask_a, &answer(&[&ra, &ra])], &apart),
        broken(DuplicateResult, "[4].content[0]", &[ASK, &ask_a, &answer(&[&ra]), SAY, &answer(&[&ra])], &one),
        broken(ResultNotAdjacent, "[4].content[0]", &[ASK, &ask_a, ASK, SAY, &answer(&[&ra])], &one),
        broken(BatchSplit, "[4].content[0]", &[ASK, &ask_both, &answer(&[&ra]), SAY, &answer(&[&rb])], &two),
        broken(
            ResultsNotFirst,
            "[2].content[1]",
            &[ASK, &ask_a, &answer(&[&go, &ra])],
            &list(&[ASK, &ask_a, &answer(&[&ra, &go])]),
        ),
        broken(
            ResultsNotFirst,
            "[3].content[0]",
            &[ASK, &ask_a, ASK, &answer(&[&ra])],
            &list(&[ASK, &ask_a, &answer(&[&ra]), ASK]),
        ),
    ]
}

fn chat() -> Vec<Case> {
    let (a, both, ra, rb) = (calls(&["a"]), calls(&["a", "b"]), tool("a"), tool("b"));
    let one = list(&[ASK, &a, &ra, ASK]);
    let two = list(&[ASK, &both, &rb, &ra, ASK]);
    let ids_again = list(&[ASK, &calls(&["a", "a"]), &ra, &ra, &a, &ra]);
    let broken = |code, path, messages: &[&str], sound: &str| case(code, OpenaiChat, path, &list(messages), sound);
    vec![
        broken(UnpairedCall, "[1].tool_calls[0]", &[ASK, &a, ASK], &one),
        broken(OrphanResult, "[1]", &[ASK, &ra], &one),
        broken(DuplicateResult, "[3]", &[ASK, &a, &ra, &ra], &ids_again),
        broken(ResultNotAdjacent, "[3]", &[ASK, &a, ASK, &ra], &one),
        broken(BatchSplit, "[4]", &[ASK, &both, &ra, ASK, &rb], &two),
        // The id's newest call is answered; the older one stays open.
        broken(UnpairedCall, "[1].tool_calls[0]", &[ASK, &a, ASK, &a, &ra], &ids_again),
    ]
}

fn responses() -> Vec<Case> {
    let (a, ra) = (function_call("a"), output("a"));
    let one = list(&[ASK, &a, ASK, &ra]);
    let broken = |code, path, body: &str, sound: &str| case(code, OpenaiResponses, path, body, sound);
    let request = r#"{"type":"mcp_approval_request","id":"p"}"#;
    let response = r#"{"type":"mcp_approval_response","approval_request_id":"p"}"#;
    let reference = r#"{"type":"item_reference","id":"i"}"#;
    vec![
        broken(UnpairedCall, "[1]", &list(&[ASK, &a]), &one),
        broken(OrphanResult, "[1]", &list(&[ASK, &ra]), &one),
        broken(OrphanResult, "[0]", &list(&[&ra]), &list(&[reference, &ra])),
        broken(
            OrphanResult,
            "input[0]",
            &format!(r#"{{"input":[{ra}]}}"#),
            &format!(r#"{{"previous_response_id":"r","input":[{ra}]}}"#),
        ),
        broken(DuplicateResult, "[3]", &list(&[ASK, &a, &ra, &ra]), &list(&[ASK, &a, &a, &ra, &ra])),
        broken(UnpairedCall, "[0]", &list(&[request]), &list(&[request, response])),
        broken(OrphanResult, "[0]", &list(&[response]), &list(&[request, response])),
        broken(
            UnpairedCall,
            "[0]",
            r#"[{"type":"tool_search_call","call_id":"a","execution":"client"}]"#,
            r#"[{"type":"tool_search_call","call_id":"a","execution":"server"}]"#,
        ),
    ]
}
