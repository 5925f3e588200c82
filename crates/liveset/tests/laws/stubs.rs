//! Law 6 where what is asked again pins what was answered before: a full read, and later a stub that says "unchanged".

use std::cell::Cell;

use liveset::Preset;
use liveset_testkit::{
    AssistantMessage, Budget, Call, Conversation, Event, Format, Json, Marks, Part, ResultBatch, Shape, Style, System,
    ToolResult, UserMessage, budgets,
};
use proptest::{collection::vec, prelude::*};

use crate::{
    bench::{Bench, size},
    generated::{cases, runner},
};

/// A call of the agent: which tool, lines of its answer, and whether it says something beside.
type Work = (&'static str, usize, bool);

const STUB: &str = "File unchanged since last read";

fn work() -> impl Strategy<Value = Work> {
    let tool = prop::sample::select(vec!["read_file", "Bash", "Write", "grep"]);
    (tool, 1_usize..30, prop::bool::weighted(0.3))
}

fn lines(seed: &str, count: usize) -> String {
    (0..count).map(|at| format!("The {seed} says in line {at} that all is as it was before.\n")).collect()
}

fn user(text: String) -> Event {
    Event::User(UserMessage { parts: vec![Part::Text(text)], shape: Shape::Plain })
}

fn unit(id: String, tool: &'static str, path: &str, text: String, says: bool) -> [Event; 2] {
    let path_of = || Json::text(path);
    let arguments = match tool {
        "Write" => Json::object([("path", path_of()), ("content", Json::text(lines(path, 12)))]),
        _ => Json::object([("path", path_of())]),
    };
    let said = AssistantMessage {
        reasoning: None,
        afterthought: None,
        is_cut_off: false,
        text: says.then(|| format!("Now {path}.")),
        calls: vec![Call { id: id.clone(), tool, arguments }],
        unknown: None,
    };
    let parts = vec![Part::Text(text)];
    let result = ToolResult { call_id: id, tool, parts, shape: Shape::Plain, is_error: false };
    [Event::Assistant(said), Event::Results(ResultBatch { results: vec![result], text_after: None })]
}

/// A user's text of any length, work, a full read, more work, the stub, more work, and a user's text again: what stays
/// is over the trigger where the texts are long.
fn conversations() -> impl Strategy<Value = Conversation> {
    let stretches = (vec(work(), 0..5), vec(work(), 0..5), vec(work(), 1..6));
    (0_usize..80, 20_usize..90, stretches, any::<bool>(), 0_usize..40).prop_map(
        |(first, full, (before, between, behind), says, last)| {
            let mut ids = (1..).map(|at: u32| format!("c_{at}"));
            let mut events = vec![user(format!("Look. {}", lines("user", first)))];
            let mut play = |events: &mut Vec<Event>, works: Vec<Work>| {
                for ((tool, count, says), id) in works.into_iter().zip(&mut ids) {
                    let path = format!("src/{id}.rs");
                    let text = if tool == "Write" { "File written.".to_owned() } else { lines(&id, count) };
                    events.extend(unit(id, tool, &path, text, says));
                }
            };
            play(&mut events, before);
            events.extend(unit("full".to_owned(), "read_file", "src/parser.rs", lines("file", full), says));
            play(&mut events, between);
            events.extend(unit("stub".to_owned(), "read_file", "src/parser.rs", STUB.to_owned(), false));
            play(&mut events, behind);
            events.push(user(format!("Go on. {}", lines("next", last))));
            Conversation {
                style: Style::plain(),
                model: "gpt-4.1",
                system: System::Absent,
                tools: Vec::new(),
                extras: Vec::new(),
                marks: Marks::None,
                events,
            }
        },
    )
}

/// The same with answers of a word each: what stays of it whatever goes, or a little less.
fn without_answers(conversation: &Conversation) -> Conversation {
    let mut bare = conversation.clone();
    for event in &mut bare.events {
        if let Event::Results(batch) = event {
            batch.results.iter_mut().for_each(|result| result.parts = vec![Part::Text("ok".to_owned())]);
        }
    }
    bare
}

/// A window a little wider than what stays, so that this is often over the trigger and inside the window.
fn narrow(format: Format, conversation: &Conversation, permille: u64, budget: &Budget) -> Budget {
    let whole = size(format, &conversation.body(format)).max(1);
    let floor = size(format, &without_answers(conversation).body(format));
    Budget { window_permille: floor * permille / whole, reserve_percent: 0, ..*budget }
}

#[test]
fn what_a_stub_pins_is_compacted_once() {
    let seen = Cell::new((0, 0));
    let presets = prop::sample::select(vec![Preset::Rules, Preset::Dispatch, Preset::Balanced]);
    let generated = (conversations(), budgets(), presets, 1_000_u64..2_000);
    let outcome = runner(cases() / 2 + 1).run(&generated, |(conversation, budget, preset, permille)| {
        for format in Format::ALL {
            let budget = narrow(format, &conversation, permille, &budget);
            let bench = Bench::of_budget(format, &conversation.body(format), &budget, preset);
            let out = bench.check(&conversation.body(format)).map_err(TestCaseError::fail)?;
            let warnings = out.report["warnings"].as_array().cloned().unwrap_or_default();
            let is_floor = warnings.iter().any(|warning| warning["code"] == "floor_above_trigger");
            let (cut, floors) = seen.get();
            seen.set((cut + u32::from(!out.unchanged), floors + u32::from(is_floor && !out.unchanged)));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let (cut, floors) = seen.get();
    assert!(floors > cases() / 20, "{cut} bodies were cut, and {floors} of them stayed over the trigger");
}
