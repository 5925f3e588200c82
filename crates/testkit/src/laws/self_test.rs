//! Do the oracles see? An honest toy compactor passes every law on generated conversations; each broken one fails.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::*;
use crate::oracle::decode;
use crate::oracle::view::{ItemKind, View};
use crate::{Conversation, Format, conversations};

mod broken;
mod folded;

/// Results shorter than this stay, as a tombstone would save nothing.
const WORTH_BYTES: usize = 400;
/// Tokens of the toy: bytes.
fn size(body: &[u8]) -> u64 {
    body.len() as u64
}

/// Turns every long result that may go into a tombstone. `limit` decides on whether it runs.
fn toy(format: Format, body: &[u8], limit: u64) -> Outcome {
    let (mut out, mut edits) = (body.to_vec(), Vec::new());
    let view = View::read(format, body).unwrap();
    let newest = view.items.iter().map(|item| item.number).max().unwrap_or(0);
    let is_over = size(body) > limit;
    let results: Vec<_> =
        view.results().filter(|item| is_over && item.number < newest && may_go(&view, item)).collect();
    for item in results.iter().rev() {
        for span in item.texts.iter().rev() {
            let text = view.text(span);
            if span.len() < WORTH_BYTES {
                continue;
            }
            let call = view.call_of(item).and_then(|call| call.name.clone()).unwrap_or_else(|| b"tool".to_vec());
            let count = decode::lines(&text).len();
            let noun = if count == 1 { "line" } else { "lines" };
            let name = String::from_utf8(call).unwrap();
            let literal =
                format!("\"[pruned from context: {name}, {count} {noun}, 1.2k tokens; run the call again to see it]\"");
            edits.push(json!({
                "item": 1, "unit": 1, "kind": "tombstone", "tool": name, "reason": "age", "step": 1,
                "call_id": item.id.as_ref().map(|id| String::from_utf8(id.clone()).unwrap()),
                "tokens_before": span.len(), "tokens_after": literal.len(), "archive_id": null,
            }));
            out.splice(span.clone(), literal.into_bytes());
        }
    }
    let outcome = if edits.is_empty() { "unchanged" } else { "compacted" };
    let sweeps = if edits.is_empty() {
        json!([])
    } else {
        json!([{"request_point": newest, "tokens_before": 1, "tokens_after": 1}])
    };
    let report = json!({
        "contract": 0, "format": format.name(), "fidelity": "exact_wire", "outcome": outcome, "reason": null,
        "tokens": {"before": size(body), "after": size(&out), "window": limit, "trigger": limit, "target": limit, "counter": "bytes", "exact": true},
        "edits": edits, "sweeps": sweeps, "rebase": null, "client_rewrote": null, "warnings": [],
    });
    Outcome::from_report(out, report)
}

/// Never what is pinned, and never what is a tombstone already.
fn may_go(view: &View<'_>, item: &crate::oracle::view::Item) -> bool {
    let text = String::from_utf8_lossy(&view.whole_text(item)).into_owned();
    let tool = view.call_of(item).and_then(|call| call.name.clone()).unwrap_or_default();
    !text.contains(crate::pieces::PIN_MARKER)
        && !matches!(tool.as_slice(), b"TodoWrite" | b"update_plan")
        && !protected::is_recent_recall(view, item)
}

fn all_laws(format: Format, input: &[u8], outcome: &Outcome) -> Result<(), String> {
    law_identity(input, outcome)?;
    law_fidelity(format, input, outcome)?;
    law_validity(format, input, outcome)?;
    law_no_invention(format, input, outcome)?;
    law_honest_size(input, outcome, size)?;
    law_never_worse(input, outcome, 32, size)?;
    law_protected(format, input, outcome, &Pins::default())?;
    law_routes(format, input, outcome)?;
    law_report(format, input, outcome)
}

fn each_conversation(cases: u32, mut check: impl FnMut(Format, Conversation)) {
    let mut runner = TestRunner::new_with_rng(
        Config { cases, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    for case in 0..cases {
        let conversation = conversations().new_tree(&mut runner).unwrap().current();
        let format = Format::ALL[case as usize % 3];
        check(format, conversation);
    }
}

#[test]
fn an_honest_run_breaks_no_law() {
    let mut compacted = 0;
    each_conversation(600, |format, conversation| {
        let input = conversation.body(format);
        for limit in [0, u64::MAX] {
            let outcome = toy(format, &input, limit);
            compacted += usize::from(outcome.body != input);
            let lawful = all_laws(format, &input, &outcome);
            assert_eq!(
                lawful,
                Ok(()),
                "{}\n{}",
                String::from_utf8_lossy(&input),
                String::from_utf8_lossy(&outcome.body)
            );
        }
        let run = |body: &[u8]| toy(format, body, 0);
        assert_eq!(law_determinism(&input, &[&run, &run]), Ok(()));
        assert_eq!(law_idempotence(&run(&input), run), Ok(()));
        assert_eq!(law_bounded(&input, |body| Ok(toy(format, body, 0))), Ok(()));
    });
    assert!(compacted > 200, "only {compacted} bodies were cut, so this says little");
}

#[test]
fn an_honest_run_keeps_its_prefix() {
    each_conversation(300, |format, conversation| {
        let bodies = conversation.prefix_bodies(format);
        let outcomes: Vec<_> = bodies
            .iter()
            .map(|body| Outcome { report: json!({"sweeps": []}), ..toy(format, body, u64::MAX) })
            .collect();
        assert_eq!(law_prefix_stability(format, &bodies, &outcomes), Ok(()));
    });
}
