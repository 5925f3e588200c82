//! Does any text under any limit make shaping panic, pass its limit by far, or say what its source does not?
//!
//! The first four bytes choose strategy, limits and tool; the rest is the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use liveset::{Liveset, Policy, ShapeRequest, ToolOutcome};
use liveset_testkit::laws::law_shaped;

const STRATEGIES: [&str; 5] = ["layered", "by_type", "outline", "head_summary", "summary"];
const TOOLS: [(&str, &str); 4] = [
    ("Bash", r#"{"command": "make"}"#),
    ("Read", r#"{"file_path": "a/b.rs"}"#),
    ("Read", r#"{"file_path": "data.csv"}"#),
    ("unheard_of", "{}"),
];

fuzz_target!(|input: &[u8]| {
    let [strategy, chars, lines, tool, text @ ..] = input else { return };
    let strategy = STRATEGIES[usize::from(*strategy) % STRATEGIES.len()];
    let chars = 500 + usize::from(*chars) * 8;
    let lines = if lines % 2 == 0 { String::new() } else { format!("max_lines = {}\n", 8 + lines / 2) };
    let policy = format!("min_gain = 0\n[intake]\nstrategy = \"{strategy}\"\nmax_chars = {chars}\n{lines}");
    let policy = Policy::from_toml(&policy).expect("a lawful policy");
    let (name, arguments) = TOOLS[usize::from(*tool) % TOOLS.len()];
    let text = String::from_utf8_lossy(text);
    let mut request = ShapeRequest::new(name, text.as_ref());
    request.arguments = Some(arguments.to_owned());
    request.outcome = if tool % 8 < 4 { ToolOutcome::Unsaid } else { ToolOutcome::Failed };
    let liveset = Liveset::new(policy).with_model("gpt-4.1");
    let shaped = liveset.shape_result(&request).expect("a result is shaped");
    law_shaped(text.as_bytes(), shaped.text.as_bytes()).expect("no invention");
    let mut again = request.clone();
    again.text = shaped.text.clone();
    assert_eq!(liveset.shape_result(&again).expect("a result is shaped").text, shaped.text, "shaped twice");
});
