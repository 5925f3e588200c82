//! Kinds 16 to 18: pictures, runs that remove nothing, old output that is needed again.

use liveset_testkit::Format;
use serde_json::{Value, json};

use crate::{
    bench::size,
    case::{Case, Outcome, policy},
    view::history,
};

fn images(value: &Value) -> Vec<&Value> {
    value.as_array().into_iter().flatten().filter(|block| block["type"] == "image").collect()
}

#[test]
fn f70_pictures_of_the_open_question_stay() {
    let case = Case::read(Format::Anthropic, "F70");
    let out = case.about(900);
    let [before, after] = [history(case.format, &case.value()), history(out.format, &out.value())];
    assert_eq!(images(&before[2]["content"]).len(), 3);
    assert_eq!(before[2], after[2]);
    assert!(!out.is_whole("toolu_i1"));
    assert_eq!(before.iter().zip(&after).filter(|(old, new)| old != new).count(), 1, "only the result gets shorter");
}

/// The beginning of the fixture's pictures (6 x 6 pixels), and of the same pictures with 1,280 x 800.
const SMALL_HEAD: &str = "iVBORw0KGgoAAAANSUhEUgAAAAYAAAAG";
const LARGE_HEAD: &str = "iVBORw0KGgoAAAANSUhEUgAABQAAAAMg";

/// The results of `body`, as blocks.
fn results(body: &Value) -> Vec<Value> {
    let all = history(Format::Anthropic, body);
    let results = all.iter().map(|message| message["content"][0].clone());
    results.filter(|block| block["type"] == "tool_result").collect()
}

fn just_under(case: &Case) -> Outcome {
    let mut settings = policy(size(case.format, &case.body) - 1);
    settings.keep_media = 3;
    case.under(settings)
}

#[test]
fn f72_old_screenshots_leave_first_and_say_what_they_were() {
    let small = Case::read(Format::Anthropic, "F72");
    // A picture of 6 x 6 pixels costs less than any notice: law 10 leaves it in place.
    let out = just_under(&small);
    assert!(out.cannot_fit && out.is_input());
    let text = String::from_utf8(small.body).expect("UTF-8").replace(SMALL_HEAD, LARGE_HEAD);
    let case = Case::new(Format::Anthropic, text.into_bytes());
    let out = just_under(&case);
    assert!(!out.cannot_fit && !out.is_input(), "{}", out.report);
    let [before, after] = [results(&case.value()), results(&out.value())];
    assert_eq!((before.len(), after.len()), (9, 9));
    for (page, (old, new)) in before.iter().zip(&after).enumerate() {
        assert_eq!(new["content"][0]["text"], format!("page {page}"));
        if page >= 6 {
            assert_eq!(old, new, "the three newest");
            continue;
        }
        let blocks = new["content"].as_array().expect("still a list");
        let notice = blocks[1]["text"].as_str().unwrap_or_default();
        assert!(blocks.len() == 2 && images(&new["content"]).is_empty());
        let says = ["[pruned from context: ", "png", "1280x800", "tokens", "run the call again"];
        assert!(says.iter().all(|word| notice.contains(word)), "{notice}");
    }
}

#[test]
fn f74_one_user_turn_with_many_calls_is_compacted_inside() {
    let out = Case::read(Format::OpenaiChat, "F74").about(1_100);
    let pairs = out.pairs();
    let is_whole: Vec<_> = pairs.iter().map(|(old, new)| old == new).collect();
    assert!(!is_whole[0] && is_whole[pairs.len() - 1], "{is_whole:?}");
}

#[test]
fn f76_what_a_later_answer_leans_on_stays() {
    let case = Case::read(Format::Anthropic, "F76");
    // One more log behind the short answer, so that the body goes over its budget after that answer came.
    let mut body = case.value();
    let log = body["messages"][4]["content"][0]["content"].as_str().expect("a log").replace("build", "later");
    let messages = body["messages"].as_array_mut().expect("messages");
    let call = json!({"type": "tool_use", "id": "toolu_l4", "name": "run", "input": {"cmd": "cat later.log"}});
    let answer = json!({"type": "tool_result", "tool_use_id": "toolu_l4", "content": log});
    messages.push(json!({"role": "assistant", "content": [call]}));
    messages.push(json!({"role": "user", "content": [answer]}));
    let out = Case::of(case.format, &body).about(1_700);
    assert!(out.is_whole("toolu_l1") && out.is_whole("toolu_l3") && !out.is_whole("toolu_l2"));
    // At the stated budgets the body was over them before the short answer came, and what was decided there is final
    // (DESIGN section 8). A tombstone names the call; a gap stands under it.
    for (window, mark) in
        [(1_000, "[pruned from context: read_file a.rs, 21 lines"), (300, "[lines 1-19 of 21 left out; ")]
    {
        let out = case.at(window);
        let (_, new) = out.result("toolu_l1");
        assert!(new.starts_with(mark), "{new}");
        assert!(out.is_whole("toolu_l3"));
    }
    // With a handle the mark is longer, and at some budgets what is left of the call folds.
    let routed = case.by_route("shell");
    let stands = |out: &Outcome| {
        let edits = out.report["edits"].as_array().cloned().unwrap_or_default();
        edits.iter().any(|edit| edit["call_id"] == "toolu_l1" && edit["kind"] != "fold")
    };
    let by_handle = (3..20).map(|hundreds| routed.at(hundreds * 100)).find(stands).expect("a mark by itself");
    let (old, new) = by_handle.result("toolu_l1");
    let named = new.split("run liveset recall ").nth(1).and_then(|rest| rest.get(..32)).expect("a handle");
    assert_eq!(by_handle.original(named), Some(old), "the mark names what brings it back");
}
