//! The laws where intake shapes results by its own settings, and where a tool layer has shaped them before.

use liveset::{Intake, Policy, ShapeRequest, ToolOutcome};
use liveset_engine::{
    json::{self, Outline},
    transcript::{ArgumentsForm, ErrorFlag},
    wire,
};
use liveset_testkit::{Format, budgets, conversations, laws};
use proptest::prelude::*;

use crate::{
    bench::{Bench, size, wire as wire_format},
    fitted::{policy_of, presets},
    generated::{cases, runner},
};

/// Settings of intake: a default, a row for a tool that conversations call, a row for files.
fn intakes() -> impl Strategy<Value = Intake> {
    let strategy = || prop::sample::select(vec!["layered", "by_type", "outline", "head_summary", "summary"]);
    let chars = || prop_oneof![2 => 500_u64..900, 1 => 900_u64..4_000];
    let lines = prop_oneof![2 => Just(None), 1 => (8_u64..40).prop_map(Some)];
    (strategy(), chars(), lines, strategy(), chars()).prop_map(|(all, chars, lines, bash, bash_chars)| {
        let lines = lines.map(|lines| format!("max_lines = {lines}\n")).unwrap_or_default();
        let text = format!(
            "[intake]\nstrategy = \"{all}\"\nmax_chars = {chars}\n{lines}\
             [intake.tools.Bash]\nstrategy = \"{bash}\"\nmax_chars = {bash_chars}\n\
             [intake.files.\"*.rs\"]\nstrategy = \"outline\"\n"
        );
        Policy::from_toml(&text).expect("a lawful policy").intake
    })
}

#[test]
fn every_law_holds_where_intake_shapes_results() {
    let shaped = std::cell::Cell::new(0_u32);
    let strategy = (conversations(), budgets(), presets(), intakes());
    let outcome = runner(cases() / 2 + 1).run(&strategy, |(conversation, budget, preset, intake)| {
        for format in Format::ALL {
            let body = conversation.body(format);
            let mut policy = policy_of(size(format, &body), &budget, preset);
            policy.intake = intake.clone();
            let out = Bench::new(format, policy).check(&body).map_err(TestCaseError::fail)?;
            let edits = out.report["edits"].as_array().cloned().unwrap_or_default();
            let is_intake = |edit: &serde_json::Value| edit["kind"] == "shorten" && edit["step"].is_null();
            shaped.set(shaped.get() + u32::from(edits.iter().any(is_intake)));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(shaped.get() > cases() / 4, "bodies in which intake shaped a result: {}", shaped.get());
}

#[test]
fn what_intake_shaped_stays_as_it_was_sent() {
    let strategy = (conversations(), budgets(), presets(), intakes());
    let outcome = runner(cases() / 8 + 1).run(&strategy, |(conversation, budget, preset, intake)| {
        let format = Format::Anthropic;
        let bodies = conversation.prefix_bodies(format);
        let Some(last) = bodies.last() else { return Ok(()) };
        let mut policy = policy_of(size(format, last), &budget, preset);
        policy.intake = intake;
        let bench = Bench::new(format, policy);
        let mut session = bench.liveset.session();
        let turns: Vec<_> = bodies.iter().map(|body| bench.turn(&mut session, body)).collect();
        match laws::law_prefix_stability(format, &bodies, &turns) {
            Err(error) if !error.contains("the bodies are no appends") => Err(TestCaseError::fail(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_tool_layer_makes_the_same_bytes_and_they_are_left_alone() {
    let compared = std::cell::Cell::new(0_u32);
    let outcome = runner(cases() / 8 + 1).run(&(conversations(), intakes()), |(conversation, intake)| {
        for format in Format::ALL {
            let body = conversation.body(format);
            let mut policy = Policy::default();
            policy.window = Some(1 << 40);
            policy.intake = intake.clone();
            let bench = Bench::new(format, policy);
            let out = bench.run(&body);
            let (before, after) = (results(format, &body), results(format, &out.body));
            prop_assert_eq!(before.len(), after.len());
            for (was, is) in before.iter().zip(&after).filter(|(was, is)| was.text != is.text) {
                let mut request = ShapeRequest::new(was.tool.clone(), was.text.clone());
                request.arguments = was.arguments.clone();
                request.outcome = was.outcome;
                let shaped = bench.liveset.shape_result(&request).expect("it is shaped");
                prop_assert_eq!(&shaped.text, &is.text);
                laws::law_shaped(was.text.as_bytes(), is.text.as_bytes()).map_err(TestCaseError::fail)?;
                compared.set(compared.get() + 1);
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(compared.get() > cases() / 4, "results that were compared: {}", compared.get());
}

/// One result of a single text, and its call.
struct Answered {
    tool: String,
    arguments: Option<String>,
    text: String,
    outcome: ToolOutcome,
}

fn results(format: Format, body: &[u8]) -> Vec<Answered> {
    let outline = Outline::read(body).expect("a body");
    let transcript = wire::read(wire_format(format), &outline).expect("a body");
    let decode = |literal: liveset_engine::Span| {
        json::decode(literal.of(transcript.body)).map(|text| text.into_text().into_owned()).unwrap_or_default()
    };
    let results = transcript.items.iter().filter(|item| item.answer().is_some() && item.texts.len() == 1);
    results
        .filter_map(|item| {
            let call = transcript.items.get(item.answer()?.call?.at())?.call()?;
            let raw = call.arguments?;
            let arguments = match call.form {
                ArgumentsForm::Object => Some(String::from_utf8_lossy(raw.of(transcript.body)).into_owned()),
                ArgumentsForm::JsonString => Some(decode(raw)),
                ArgumentsForm::Text => None,
            };
            let outcome = match item.answer()?.error {
                ErrorFlag::Unset => ToolOutcome::Unsaid,
                ErrorFlag::Set => ToolOutcome::Failed,
            };
            let (tool, text) = (decode(call.name?), decode(*item.texts.first()?));
            arguments.is_some().then_some(Answered { tool, arguments, text, outcome })
        })
        .collect()
}
