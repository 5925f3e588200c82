//! Kind 3: the size is measured wrongly.

use bpe_openai::o200k_base;
use liveset::{Liveset, Policy, WireFormat};
use liveset_testkit::Format;

use crate::{
    bench::size,
    case::Case,
    view::{calls, history, user_texts},
};

#[test]
fn f14_a_picture_costs_its_pixels_and_not_its_letters() {
    let case = Case::read(Format::OpenaiChat, "F14");
    let out = case.at(600);
    assert!(out.is_input() && out.tokens_before < 400, "{}", out.tokens_before);
    let text = String::from_utf8(case.body.clone()).expect("UTF-8");
    let at = text.find("base64,").expect("a data URI") + "base64,".len();
    let end = at + text[at..].find('"').expect("it ends");
    let filler = "AAAA".repeat(9 * (end - at) / 4);
    // Filler before the padding keeps it base64; the header with the size in pixels stands in front.
    let padding = text[at..end].trim_end_matches('=').len() + at;
    let padding = padding - (padding - at) % 4;
    let longer = format!("{}{filler}{}", &text[..padding], &text[padding..]);
    assert_eq!(size(Format::OpenaiChat, longer.as_bytes()), out.tokens_before);
}

#[test]
fn f16_japanese_is_counted_with_the_real_vocabulary() {
    let case = Case::read(Format::OpenaiChat, "F16");
    let out = case.at(2_000);
    let body = case.value();
    let contents: String = history(case.format, &body)
        .iter()
        .filter_map(|message| message["content"].as_str().map(str::to_owned))
        .collect();
    let counted = o200k_base().count(contents.as_str()) as u64;
    assert!(out.tokens_before.abs_diff(counted) * 4 <= counted, "{} for {counted}", out.tokens_before);
    assert!(contents.chars().count() as u64 / 4 * 2 < counted, "characters / 4 is less than half of it");
    assert_eq!(user_texts(case.format, &body), user_texts(case.format, &out.value()));
}

#[test]
fn f17_text_like_control_tokens_is_text() {
    let case = Case::read(Format::OpenaiChat, "F17");
    let out = case.at(8_000);
    assert!(out.is_input());
    let text = String::from_utf8(case.body.clone()).expect("UTF-8");
    for token in ["<|im_start|>", "<|fim_prefix|>", "<|endofprompt|>"] {
        assert!(text.contains(token));
        let without = size(case.format, text.replacen(token, "", 1).as_bytes());
        assert!(out.tokens_before >= without + 3, "{token} is several tokens");
    }
}

#[test]
fn f19_arguments_count_and_stay_json() {
    let out = Case::read(Format::OpenaiChat, "F19").at(1_100);
    assert!(out.tokens_before > 1_100, "the size is seen");
    assert!(!out.cannot_fit && out.tokens_after <= 1_100, "{}", out.report["reason"]);
    let cut: Vec<_> = out.cut_calls().into_iter().map(|(old, ..)| old["path"].clone()).collect();
    let oldest: Vec<_> = (0..cut.len()).map(|number| format!("conf/{number}.toml")).collect();
    assert!((1..5).contains(&cut.len()) && cut == oldest, "oldest first, and `call_4` is not needed: {cut:?}");
    for (number, asked) in calls(out.format, &out.value()).iter().enumerate() {
        let arguments: serde_json::Value =
            serde_json::from_str(asked.arguments.as_str().expect("a string")).expect("arguments are JSON");
        assert_eq!(arguments["path"], format!("conf/{number}.toml"));
    }
}

#[test]
fn f23_the_limit_follows_the_model_of_each_request() {
    let requests = Case::all(Format::OpenaiChat, "F23");
    let mut policy = Policy::default();
    policy.default_window = Some(900);
    policy.reserve = Some(0);
    policy.trigger = 100;
    policy.target = 100;
    policy.min_sweep_gain = 0;
    let liveset = Liveset::new(policy).with_format(WireFormat::OpenaiChat);
    let [first, second] = [&requests[0].body, &requests[1].body];
    assert_eq!(requests[0].value()["messages"], requests[1].value()["messages"]);
    let alone = liveset.compact(second).expect("it is read");
    assert!(alone.fits() && alone.report().tokens.after <= 900 && alone.body() != *second);
    let mut session = liveset.session();
    assert_eq!(session.compact(first).expect("it is read").body(), *first, "a large window: nothing to do");
    let switched = session.compact(second).expect("it is read");
    assert_eq!(switched.body(), alone.body(), "whatever was decided before");
    assert_eq!(switched.report().rebase.as_ref().map(|rebase| rebase.cause.as_str()), Some("model"));
    let third = String::from_utf8(second.clone()).expect("UTF-8").replace("tiny-8k", "model-of-next-year");
    let unknown = liveset.compact(third.as_bytes()).expect("it is read");
    assert!(unknown.report().tokens.after <= 900);
    assert!(unknown.report().warnings.iter().any(|warning| warning.code == "default_window"));
}
