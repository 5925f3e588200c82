//! How was `examples/session.json` made? A scripted agent works on a copy of this repository, and what its tools
//! really said is written down as a request body.
//!
//! The script is fixed, the tools are real: files are read, edited and searched, and tests are run in the copy. Nothing
//! in the repository itself is touched but the example.

mod script;
mod tools;

use std::{fs, process::ExitCode};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::repository;
use script::{Step, Turn};

/// Where the session is written.
const OUTPUT: &str = "examples/session.json";
/// The model that the body names.
const MODEL: &str = "claude-sonnet-4-5";

/// Plays the script and writes the example.
pub(crate) fn run() -> Result<ExitCode> {
    let workshop = tools::Workshop::clone_of(repository::root())?;
    workshop.take_back(&script::BEFORE)?;
    let mut messages = Vec::new();
    let mut calls = 0;
    for turn in script::turns() {
        match turn {
            Turn::User(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Says(text) => {
                messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": text}]}))
            }
            Turn::Does(text, steps) => {
                let first = calls;
                calls += steps.len();
                play(&workshop, text, &steps, first, &mut messages)?;
            }
        }
    }
    let body = json!({
        "model": MODEL,
        "max_tokens": 8192,
        "system": script::SYSTEM,
        "tools": tools::definitions(),
        "messages": messages,
    });
    let text = serde_json::to_string_pretty(&body)? + "\n";
    fs::write(repository::root().join(OUTPUT), &text).with_context(|| format!("cannot write {OUTPUT}"))?;
    println!("wrote {OUTPUT}: {} messages, {calls} calls, {} bytes", messages.len(), text.len());
    Ok(ExitCode::SUCCESS)
}

fn play(workshop: &tools::Workshop, text: &str, steps: &[Step], first: usize, messages: &mut Vec<Value>) -> Result<()> {
    let mut said = Vec::new();
    let mut answers = Vec::new();
    if !text.is_empty() {
        said.push(json!({"type": "text", "text": text}));
    }
    for (at, step) in steps.iter().enumerate() {
        let id = format!("toolu_{:03}", first + at + 1);
        let (name, input) = step.call();
        said.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        let answer = workshop.run(step)?;
        println!("{id} {name}: {} bytes", answer.text.len());
        let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": answer.text});
        if answer.failed {
            result["is_error"] = json!(true);
        }
        answers.push(result);
    }
    messages.push(json!({"role": "assistant", "content": said}));
    messages.push(json!({"role": "user", "content": answers}));
    Ok(())
}
