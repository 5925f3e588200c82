//! Law 7 with the archive that lasts: every turn of a growing session comes back, whatever happened in between.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a failed step of a test ends the test")]

mod sweeps;
mod removed;
mod generated;
mod growing;
mod traces;

use std::sync::Arc;

use liveset::{Liveset, Policy, SqliteArchive};
use serde_json::{Value, json};

/// A file-backed archive in a folder of its own.
struct Store {
    folder: tempfile::TempDir,
    archive: Arc<SqliteArchive>,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = SqliteArchive::open(folder.path().join("archive")).expect("an archive opens");
        Self { folder, archive: Arc::new(archive) }
    }

    /// The same file, opened by somebody who knows nothing of the first handle.
    fn opened_again(&self) -> Arc<SqliteArchive> {
        Arc::new(SqliteArchive::open(self.folder.path().join("archive")).expect("an archive opens"))
    }
}

fn liveset(window: u64, archive: &Arc<SqliteArchive>) -> Liveset {
    let mut policy = Policy::default();
    policy.window = Some(window);
    policy.reserve = Some(window / 10);
    Liveset::new(policy).with_model("gpt-4.1").with_archive(archive.clone())
}

fn lines(topic: &str, count: usize) -> String {
    (0..count).map(|at| format!("{topic} line {at}: value {} of part {}\n", at * 37 % 101, at * 53 % 89)).collect()
}

/// A conversation of `results` calls and their results.
fn conversation(results: &[String]) -> Vec<u8> {
    let mut messages = vec![
        json!({"role": "system", "content": "You keep the station's log in order."}),
        json!({"role": "user", "content": "Find out why the pump stops at night."}),
    ];
    for (at, result) in results.iter().enumerate() {
        let arguments = format!("{{\"path\":\"logs/pump-{at}.txt\"}}");
        let call = json!({"id": format!("call_{at}"), "type": "function",
            "function": {"name": "read_log", "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("call_{at}"), "content": result}));
    }
    serde_json::to_vec(&json!({"model": "gpt-4.1", "messages": messages})).expect("it is JSON")
}

fn sweeps(report: &liveset::Report) -> usize {
    let report: Value = serde_json::from_str(&report.to_json()).expect("a report is JSON");
    report["sweeps"].as_array().map_or(0, Vec::len)
}
