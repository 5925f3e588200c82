//! Law 8 over shaped texts of every kind: whole lines in order, counted gaps, JSON stays JSON, limits are kept.

use liveset::{Liveset, Policy, ShapeRequest, ToolOutcome};
use liveset_testkit::laws::law_shaped;
use proptest::prelude::*;

use crate::{
    bench::MODEL,
    generated::{cases, runner},
};

/// Lines of a kind, `at` counted from 0; `odd` makes some of them different.
type Write = fn(at: usize, odd: u64) -> String;

const KINDS: [(&str, Write); 16] = [
    ("code", |at, odd| match odd % 9 {
        0 => format!("pub fn item_{at}(&self) -> u32 {{\n"),
        1 => "}\n\n".to_owned(),
        _ => format!("    let x{at} = self.count + {odd};\n"),
    }),
    ("diff", |at, odd| match odd % 12 {
        0 => format!("diff --git a/f{at} b/f{at}\n--- a/f{at}\n+++ b/f{at}\n@@ -1,9 +1,9 @@\n"),
        1 => format!("@@ -{at},9 +{at},9 @@ fn f\n"),
        2 => " \n".to_owned(),
        odd => format!("{}line {at}\n", if odd % 2 == 0 { '+' } else { '-' }),
    }),
    ("tests", |at, odd| match odd % 20 {
        0 => format!("test a::b{at} ... FAILED\n"),
        1 => "test result: FAILED. 3 passed; 1 failed\n".to_owned(),
        _ => format!("test a::b{at} ... ok\n"),
    }),
    ("build", |at, odd| match odd % 9 {
        0 => format!("error[E0308]: mismatched types {at}\n  --> src/a.rs:{at}:3\n"),
        _ => format!("   Compiling crate_{at} v0.1.0\r\n"),
    }),
    ("log", |at, odd| {
        format!("2024-01-02 10:00:{:02} {} tick {at}\n", at % 60, if odd % 9 == 0 { "ERROR" } else { "INFO" })
    }),
    ("JSON lines", |at, odd| match odd % 30 {
        0 => format!("{{\"id\": {at}, \"text\": \"{}\"}}\n", "long \\u00e9 ".repeat(300)),
        _ => format!("{{\"id\": {at}, \"odd\": {odd}}}\n"),
    }),
    ("rows", |at, odd| match odd % 15 {
        _ if at == 0 => "id,name,price\n".to_owned(),
        0 => format!("{at},\"two\nlines, quoted\",{odd}\n"),
        _ => format!("{at},item {at},{odd}\n"),
    }),
    ("Markdown", |at, odd| match odd % 9 {
        0 => format!("## Part {at}\n\n"),
        1 => "```\n".to_owned(),
        _ => format!("- words of line {at}\n"),
    }),
    ("listing", |at, odd| if odd % 9 == 0 { format!("./folder_{at}:\n") } else { format!("file_{at}.rs\n") }),
    ("hits", |at, odd| format!("src/file_{}.rs:{at}: let x = {odd};\n", odd % 5)),
    ("table", |at, odd| match at {
        0 => "| id | state |\n|----|-------|\n".to_owned(),
        _ => format!("| {at} | {odd} |\n"),
    }),
    ("markup", |at, odd| if odd % 9 == 0 { format!("<h2>Part {at}</h2>\n") } else { format!("<p>words {at}</p>\n") }),
    ("blob", |_, odd| format!("{}\n", format!("{odd:016x}").repeat(5))),
    ("screen", |at, odd| format!("\u{1b}[{};1Hcpu {at} {odd}\r\n", at % 24)),
    ("trace", |at, odd| match odd % 9 {
        0 => format!("ValueError: {at}\n"),
        _ => format!("  File \"a.py\", line {at}, in f\n    g({odd})\n"),
    }),
    ("prose", |at, odd| match odd % 40 {
        0 => format!("{}\n", "日本語 👨‍👩‍👧‍👦 and words ".repeat(90)),
        1 => "\n".to_owned(),
        2 => format!("[lines {at} to 9 of it are left out]\n"),
        _ => format!("It was {odd} o'clock.\n"),
    }),
];

/// A text of a kind, perhaps with another behind it, perhaps without its last line's ending.
fn texts() -> impl Strategy<Value = (String, bool)> {
    let lines = prop::collection::vec(any::<u64>(), 1..260);
    (0..KINDS.len(), lines, prop::option::weighted(0.2, 0..KINDS.len()), any::<bool>()).prop_map(
        |(kind, odds, second, ends)| {
            let written = |kind: usize| -> String {
                let (_, write) = KINDS[kind];
                odds.iter().enumerate().map(|(at, &odd)| write(at, odd)).collect()
            };
            let mut text = written(kind) + &second.map(written).unwrap_or_default();
            if !ends {
                text.pop();
            }
            (text, KINDS[kind].0 == "rows" && second.is_none())
        },
    )
}

/// A JSON value, packed or over lines.
fn values() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|number| serde_json::json!(number)),
        any::<bool>().prop_map(|is| serde_json::json!(is)),
        "\\PC{0,12}".prop_map(|text| serde_json::json!(text)),
        "([a-z\u{e9}\u{1f600}\"\n]{1,9} ){1,90}".prop_map(|text| serde_json::json!(text)),
    ];
    let value = leaf.prop_recursive(5, 400, 60, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..60).prop_map(serde_json::Value::from),
            prop::collection::vec(("[a-z_]{1,9}|error", inner), 0..20)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    });
    (prop::collection::vec(value, 1..12), any::<bool>()).prop_map(|(values, is_packed)| {
        let value = serde_json::Value::from(values);
        let text = if is_packed { serde_json::to_string(&value) } else { serde_json::to_string_pretty(&value) };
        text.expect("a value is written")
    })
}

fn settings() -> impl Strategy<Value = (&'static str, usize, Option<usize>, ToolOutcome)> {
    (
        prop::sample::select(vec!["layered", "by_type", "outline"]),
        500_usize..3_000,
        prop::option::weighted(0.3, 8_usize..60),
        prop::sample::select(vec![ToolOutcome::Unsaid, ToolOutcome::Failed]),
    )
}

/// Shapes a text, checks what holds for all, and gives what came out.
fn check(
    text: &str,
    (strategy, chars, lines, outcome): (&str, usize, Option<usize>, ToolOutcome),
) -> Result<String, String> {
    let max_lines = lines.map(|lines| format!("max_lines = {lines}\n")).unwrap_or_default();
    let policy = format!("[intake]\nstrategy = \"{strategy}\"\nmax_chars = {chars}\n{max_lines}");
    let liveset = Liveset::new(Policy::from_toml(&policy).expect("a lawful policy")).with_model(MODEL);
    let mut request = ShapeRequest::new("Bash", text);
    request.outcome = outcome;
    let shaped = liveset.shape_result(&request).map_err(|error| error.to_string())?.text;
    law_shaped(text.as_bytes(), shaped.as_bytes())?;
    if shaped != text {
        let (has_chars, has_lines) = (shaped.chars().count(), shaped.lines().count());
        if has_chars > chars || lines.is_some_and(|lines| has_lines > lines) {
            return Err(format!("{has_chars} characters and {has_lines} lines are over the limit:\n{shaped}"));
        }
        request.text = shaped.clone();
        let again = liveset.shape_result(&request).map_err(|error| error.to_string())?.text;
        if again != shaped {
            return Err("shaped twice it differs".to_owned());
        }
    }
    Ok(shaped)
}

#[test]
fn a_shaped_text_is_its_source_with_counted_gaps() {
    let shaped = std::cell::Cell::new(0_u32);
    let outcome = runner(cases() * 2).run(&(texts(), settings()), |((text, is_rows), settings)| {
        let out = check(&text, settings).map_err(TestCaseError::fail)?;
        shaped.set(shaped.get() + u32::from(out != text));
        prop_assert!(!is_rows || out.starts_with("id,name,price"), "rows without their heading: {}", out);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(shaped.get() > cases() / 2, "texts that were shaped: {}", shaped.get());
}

#[test]
fn shaped_json_is_json_with_counted_gaps() {
    let shaped = std::cell::Cell::new(0_u32);
    let outcome = runner(cases()).run(&(values(), settings()), |(text, settings)| {
        let out = check(&text, settings).map_err(TestCaseError::fail)?;
        shaped.set(shaped.get() + u32::from(out != text));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "no JSON: {}", out);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(shaped.get() > cases() / 8, "values that were shaped: {}", shaped.get());
}
