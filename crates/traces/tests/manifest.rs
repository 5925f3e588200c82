#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub,
    dead_code,
    reason = "tests stop where something is wrong, and say what they skip; the helpers serve several tests"
)]

//! Do the bodies hold what the shared manifest counts? Items, calls, results and tokens per trace.

mod shared;

use std::fs;

use liveset_traces::{Detection, Trace, TraceFormat, detect};
use shared::items::{Item, Kind, items};

/// One row of the shared manifest: file, format, conversations, items, calls, tokens, share of results in percent.
type Row = (&'static str, TraceFormat, usize, usize, usize, u64, u64);

const MANIFEST: [Row; 31] = [
    ("claude-code/entire-cli-compacted-twice.jsonl", TraceFormat::ClaudeCode, 1, 771, 224, 206_617, 75),
    ("claude-code/entire-cli-a.jsonl", TraceFormat::ClaudeCode, 1, 390, 129, 75_215, 56),
    ("claude-code/entire-cli-compacted-bash-heavy.jsonl", TraceFormat::ClaudeCode, 1, 900, 247, 149_788, 64),
    ("claude-code/entire-cli-b.jsonl", TraceFormat::ClaudeCode, 1, 260, 78, 35_678, 63),
    ("claude-code/kimi-cli-dev-images.jsonl", TraceFormat::ClaudeCode, 1, 211, 72, 42_862, 59),
    ("claude-code/kimi-cli-dev-tasks.jsonl", TraceFormat::ClaudeCode, 1, 98, 39, 15_008, 78),
    ("claude-code/agentcmd-session-four.jsonl", TraceFormat::ClaudeCode, 1, 82, 27, 18_017, 72),
    ("claude-code/vscode-copilot-chat-fixture.jsonl", TraceFormat::ClaudeCode, 1, 58, 25, 28_398, 91),
    ("codex/rollout-long.jsonl", TraceFormat::Codex, 1, 395, 123, 81_164, 60),
    ("codex/rollout-medium.jsonl", TraceFormat::Codex, 1, 54, 16, 10_756, 74),
    ("codex/agent-sessions-fixture.jsonl", TraceFormat::Codex, 1, 21, 4, 157, 25),
    ("pi/large-session.jsonl", TraceFormat::Pi, 1, 1_097, 391, 137_869, 50),
    ("gemini/entire-cli.json", TraceFormat::Gemini, 1, 44, 9, 2_651, 43),
    ("gemini/agentcmd.json", TraceFormat::Gemini, 1, 74, 13, 5_682, 36),
    ("cline/session.messages.json", TraceFormat::AnthropicMessages, 1, 41, 11, 15_722, 49),
    ("swe-agent/swe-smith-pandas-53856.traj", TraceFormat::SweAgent, 1, 53, 17, 15_054, 68),
    ("swe-agent/marshmallow-1867-function-calling.traj", TraceFormat::SweAgent, 1, 41, 13, 7_855, 75),
    ("swe-agent/pydicom-1458-gpt4.traj", TraceFormat::SweAgent, 1, 38, 12, 13_789, 40),
    ("swe-agent/ctf-web-i-got-id.traj", TraceFormat::SweAgent, 1, 64, 21, 13_014, 66),
    ("swe-agent/ctf-crypto-katy.traj", TraceFormat::SweAgent, 1, 55, 18, 7_534, 49),
    ("openai-chat/swe-smith-xml-tools.jsonl", TraceFormat::OpenaiChat, 3, 209, 0, 84_688, 0),
    ("openai-chat/openhands-sdk-deepseek-log.json", TraceFormat::OpenaiChat, 1, 9, 1, 7_022, 0),
    ("openai-chat/openhands-sdk-sonnet-log.json", TraceFormat::OpenaiChat, 1, 18, 6, 3_551, 30),
    ("openai-chat/tau-bench-airline-gpt-4o-first-50.json", TraceFormat::OpenaiChat, 50, 1_406, 282, 175_088, 38),
    ("tau2/airline-gpt-4.1.json", TraceFormat::Tau2, 20, 568, 148, 55_883, 64),
    ("tau2/retail-gpt-4.1.json", TraceFormat::Tau2, 40, 1_178, 299, 134_742, 72),
    ("openhands/multi-swe-bench-output.jsonl", TraceFormat::Openhands, 3, 317, 103, 65_231, 75),
    ("openhands/resolver-output.jsonl", TraceFormat::Openhands, 2, 52, 26, 11_744, 100),
    ("intercode/ctf-gpt-4-first-40.json", TraceFormat::Intercode, 40, 512, 236, 712_686, 99),
    ("inspect/browser.json", TraceFormat::Inspect, 1, 10, 4, 4_971, 94),
    ("langchain/deepagents-summarization-seed.json", TraceFormat::Langchain, 1, 8, 2, 11_987, 89),
];

/// How much more (or less) items, calls and tokens the bodies hold than the manifest counts, and why.
const DIFFERENCES: [(&str, i64, i64, i64, &str); 16] = [
    ("claude-code/entire-cli-compacted-twice.jsonl", -2, 0, -44, "two texts on a branch that was left"),
    ("claude-code/kimi-cli-dev-images.jsonl", 1, 0, -1, "the picture beside a text is an item of its own"),
    ("codex/rollout-medium.jsonl", 1, 0, 0, "the picture beside a text is an item of its own"),
    (
        "codex/agent-sessions-fixture.jsonl",
        617,
        4,
        3_478,
        "what six compactions put there, which the manifest skips; upstream trimmed all ids to one",
    ),
    ("pi/large-session.jsonl", -25, -18, -6_439, "replies that broke off or failed are never sent back"),
    ("gemini/entire-cli.json", -15, 0, -851, "thoughts are shown and never sent back"),
    ("gemini/agentcmd.json", -31, 0, -2_173, "thoughts are shown and never sent back"),
    ("cline/session.messages.json", 2, 0, 705, "the system text; a file beside a text is an item of its own"),
    ("swe-agent/pydicom-1458-gpt4.traj", -12, -12, 47, "text actions are sent as text, with their fences"),
    ("swe-agent/ctf-web-i-got-id.traj", -21, -21, 83, "text actions are sent as text, with their fences"),
    ("swe-agent/ctf-crypto-katy.traj", -18, -18, 70, "text actions are sent as text, with their fences"),
    ("tau2/airline-gpt-4.1.json", 20, 0, 32_295, "the policy of each conversation; five tokens are the manifest's own"),
    ("tau2/retail-gpt-4.1.json", 40, 0, 56_080, "the policy of each conversation"),
    (
        "openhands/multi-swe-bench-output.jsonl",
        4,
        2,
        -132,
        "the model's own replies, `finish` among them, which no result answers",
    ),
    (
        "openhands/resolver-output.jsonl",
        0,
        -26,
        8_286,
        "pairs without ids stand as text; the words of actions are whole",
    ),
    ("intercode/ctf-gpt-4-first-40.json", -21, -236, -2, "no ids: actions stand as text; 21 observations are empty"),
];

/// Side chains are not in the manifest: only main conversations and lists count.
fn all_items(trace: &Trace) -> Vec<Item> {
    let conversations = trace.conversations().iter();
    let counted = conversations.filter(|one| one.agent() == "main" || one.agent().parse::<usize>().is_ok());
    let histories = counted.flat_map(|one| (0..one.histories()).map(|at| one.history(at).unwrap()));
    histories.flat_map(|body| items(&body)).collect()
}

fn tokens<'a>(items: impl Iterator<Item = &'a Item>) -> u64 {
    items.map(|item| liveset_tokens::o200k().count(&item.text).0).sum()
}

fn of_kind(items: &[Item], kind: Kind) -> impl Iterator<Item = &Item> {
    items.iter().filter(move |item| item.kind == kind)
}

#[test]
fn every_trace_holds_what_the_manifest_counts() {
    let Some(folder) = shared::traces() else { return };
    for (name, format, conversations, items, calls, counted, _) in MANIFEST {
        let bytes = fs::read(folder.join(name)).expect("the trace is there");
        assert_eq!(detect(&bytes), Detection::Trace(format), "{name}");
        let trace = Trace::read(format, &bytes).expect("the trace reads");
        let mains = trace.conversations().iter().filter(|one| one.agent() == "main" || trace.agent("main").is_none());
        assert_eq!(mains.count(), conversations, "{name}");
        let found = all_items(&trace);
        let difference = DIFFERENCES.iter().find(|(file, ..)| *file == name);
        let (more_items, more_calls, more_tokens) = difference.map_or((0, 0, 0), |row| (row.1, row.2, row.3));
        let expected = (items as i64 + more_items, calls as i64 + more_calls, counted as i64 + more_tokens);
        let found_calls = of_kind(&found, Kind::Call).count();
        assert_eq!((found.len() as i64, found_calls as i64, tokens(found.iter()) as i64), expected, "{name}");
    }
}

#[test]
fn results_have_the_share_that_the_manifest_gives_them() {
    let Some(folder) = shared::traces() else { return };
    for (name, format, .., counted, share) in MANIFEST {
        if DIFFERENCES.iter().any(|(file, ..)| *file == name) {
            continue;
        }
        let trace = Trace::read(format, &fs::read(folder.join(name)).unwrap()).unwrap();
        let of_results = tokens(of_kind(&all_items(&trace), Kind::Result));
        let nearest = (of_results * 200 + counted) / (counted * 2);
        assert_eq!(nearest, share, "{name}");
    }
}

#[test]
fn results_answer_calls_one_to_one_as_in_the_trace() {
    let Some(folder) = shared::traces() else { return };
    for (name, format, ..) in MANIFEST {
        let trace = Trace::read(format, &fs::read(folder.join(name)).unwrap()).unwrap();
        for conversation in trace.conversations() {
            for history in 0..conversation.histories() {
                let found = items(&conversation.history(history).unwrap());
                let mut open: Vec<&str> = Vec::new();
                for item in found.iter().filter(|item| !item.id.is_empty()) {
                    match item.kind {
                        Kind::Call => open.push(&item.id),
                        _ => {
                            let call = open.iter().rposition(|id| *id == item.id);
                            open.remove(call.unwrap_or_else(|| panic!("{name}: a result without a call")));
                        }
                    }
                }
            }
        }
    }
}
