//! Kind 1: a call and its result are torn apart. Kind 14 is in `identities`.

use liveset_testkit::{Format, laws::defects};

use crate::{
    case::Case,
    view::{answers, calls, history},
};

#[test]
fn f01_a_cut_between_call_and_result_tears_no_pair() {
    let out = Case::read(Format::Anthropic, "F01").about(900);
    let found = defects(out.format, &out.body).expect("it is read");
    // The body ends in two user messages, which the provider merges.
    assert!(!out.is_input() && found.iter().all(|defect| defect.starts_with("role_order")), "{found:?}");
    let body = out.value();
    for (asked, answer) in calls(out.format, &body).iter().zip(answers(out.format, &body)) {
        assert_eq!((answer.id.as_str(), answer.message), (asked.id.as_str(), asked.message + 1));
    }
}

#[test]
fn f02_a_parallel_batch_stays_whole_and_its_largest_result_loses_most() {
    let out = Case::read(Format::OpenaiChat, "F02").about(1_000);
    let body = out.value();
    let ids: Vec<_> = calls(out.format, &body).into_iter().map(|asked| asked.id).collect();
    assert_eq!(ids, ["call_a", "call_b", "call_c"]);
    assert_eq!(answers(out.format, &body).into_iter().map(|answer| answer.id).collect::<Vec<_>>(), ids);
    let lost = |id: &str| {
        let (old, new) = out.result(id);
        old.len() - new.len()
    };
    assert!(lost("call_b") > lost("call_a").max(lost("call_c")));
}

#[test]
fn f03_an_interrupted_call_stays_once_and_gets_no_result() {
    let out = Case::read(Format::Anthropic, "F03").about(500);
    assert_eq!(out.text().matches("toolu_12").count(), 1);
    let (_, shortened) = out.result("toolu_11");
    assert!(!shortened.is_empty());
}

#[test]
fn f06_user_text_beside_a_result_stays_and_the_result_stays_first() {
    let case = Case::read(Format::Anthropic, "F06");
    let out = case.about(600);
    assert!(out.text().contains("alias"), "the sentence about the alias");
    let (old, new) = out.pairs().remove(0);
    assert!(old != new && (new.message, new.block) == (old.message, 0));
    assert_eq!(calls(out.format, &out.value()).remove(0).message + 1, new.message);
}

#[test]
fn f07_seven_results_keep_their_pairs_and_their_first_lines_come_back() {
    let out = Case::read(Format::Anthropic, "F07").about(700);
    assert!(!out.is_input());
    let handles = out.handles();
    let originals: Vec<_> = handles.iter().filter_map(|handle| out.original(handle)).collect();
    let pairs = out.pairs();
    assert_eq!(pairs.len(), 7);
    for (number, (_, new)) in (100..).zip(&pairs) {
        let name = format!("media/{number}");
        assert!(new.text().contains(&name) || originals.iter().any(|text| text.contains(&name)), "{name}");
    }
}

#[test]
fn f73_an_old_open_call_blocks_only_its_own_message() {
    let case = Case::read(Format::Anthropic, "F73");
    let out = case.about(1_000);
    assert!(!out.is_whole("toolu_k1") && !out.is_whole("toolu_k2") && !out.is_whole("toolu_k3"));
    assert!(out.is_whole("toolu_k4"), "the newest unit");
    let open = |body| history(Format::Anthropic, &body).remove(1);
    assert_eq!(open(case.value()), open(out.value()));
    assert!(out.text().contains("toolu_k0"));
}
