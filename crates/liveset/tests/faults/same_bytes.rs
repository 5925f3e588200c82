//! Kind 12: the prompt cache is missed. Unchanged bytes, stable prefixes, marks, numbers.

use liveset_testkit::Format;
use serde_json::Value;

use crate::{
    case::{Case, policy},
    view::history,
};

#[test]
fn f04_what_fits_leaves_as_it_came() {
    assert!(Case::read(Format::OpenaiChat, "F04").at(8_000).is_input());
}

#[test]
fn f56_unusual_json_leaves_as_it_came() {
    let case = Case::read(Format::Anthropic, "F56");
    assert!(case.body.ends_with(b"\n\n") && case.at(8_000).is_input());
}

#[test]
fn f58_the_next_turn_begins_with_the_turn_before() {
    let turns = Case::all(Format::Anthropic, "F58");
    let mut settings = policy(900);
    settings.target = 80;
    let run = |turn: &Case| turn.under(settings.clone());
    let [first, second] = [run(&turns[0]), run(&turns[1])];
    assert!(!first.is_input() && !first.cannot_fit && !second.cannot_fit);
    let [before, after] = [&first, &second].map(|out| history(out.format, &out.value()));
    assert_eq!(before, after[..before.len()]);
    let again = run(&turns[1]);
    assert_eq!((again.body, run(&turns[0]).body), (second.body, first.body), "in any order");
}

/// The places of all members of a name.
fn places(value: &Value, key: &str, at: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == key {
                    found.push((at.to_owned(), member.clone()));
                }
                places(member, key, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(place, one)| places(one, key, &format!("{at}/{place}"), found))
        }
        _ => {}
    }
}

#[test]
fn f59_four_cache_marks_stay_where_they_are() {
    let case = Case::read(Format::Anthropic, "F59");
    let out = case.about(700);
    assert!(!out.is_whole("toolu_h1"));
    let marks = |body| {
        let mut found = Vec::new();
        places(&body, "cache_control", "", &mut found);
        found
    };
    assert_eq!(marks(case.value()).len(), 4);
    assert_eq!(marks(case.value()), marks(out.value()));
}

#[test]
fn f63_numbers_keep_their_form() {
    let case = Case::read(Format::OpenaiChat, "F63");
    let out = case.about(600);
    assert!(!out.is_input());
    let (before, after) = (String::from_utf8(case.body).expect("UTF-8"), out.text());
    for number in [
        "738529527931269425",
        "36893488147419103233",
        "9007199254740993",
        "0.70",
        "1.0",
        r#"\"x\": 1.10"#,
        r#"\"e\": 1E+2"#,
        r#"\"z\": -0.0"#,
    ] {
        assert!(before.contains(number), "{number}");
        assert_eq!(before.matches(number).count(), after.matches(number).count(), "{number}");
    }
}
