//! The smallest change that brings each defect, beside changes that bring none.

mod elements;

use liveset_engine::transcript::WireFormat::{self, Anthropic, OpenaiChat, OpenaiResponses};
use liveset_engine::validate::Code;
use liveset_engine::validate::Epoch::{self, Declared, Undeclared};

use super::{check, check_against, codes as codes_of};
use elements::body;

pub(crate) fn codes() -> Vec<Code> {
    UNLAWFUL.iter().map(|&(code, ..)| code).collect()
}

/// The defect, the format, original and output by one letter for each element (see [`elements`]), and the epoch.
const UNLAWFUL: &[(Code, WireFormat, &str, &str, Epoch)] = &[
    // Inside the current tool loop thinking stays, sweep or not; before it, all but a leading run needs a sweep.
    (Code::ReasoningLost, Anthropic, "UgAtcUr", "UgAcUr", Declared),
    (Code::ReasoningLost, Anthropic, "UgAtoUgAvoUg", "UgAtoUgAoUg", Undeclared),
    (Code::ReasoningLost, OpenaiChat, "gtg", "gog", Declared),
    (Code::ReasoningLost, OpenaiChat, "gtg", "gg", Undeclared),
    (Code::ReasoningLost, OpenaiResponses, "gtog", "gog", Declared),
    (Code::ReasoningLost, OpenaiResponses, "gtcrg", "gg", Undeclared),
    // Another text under the same signature, another block, a block from nowhere.
    (Code::ReasoningEdited, Anthropic, "UgAtoUg", "UgAxoUg", Undeclared),
    (Code::ReasoningEdited, Anthropic, "UgAtoUg", "UgAyoUg", Declared),
    (Code::ReasoningEdited, Anthropic, "UgAoUg", "UgAtoUg", Declared),
    (Code::ReasoningEdited, OpenaiChat, "gtg", "gxg", Declared),
    (Code::ReasoningEdited, OpenaiResponses, "gtog", "gxog", Declared),
    (Code::ReasoningReordered, Anthropic, "UgAtvoUg", "UgAvtoUg", Declared),
    (Code::ReasoningReordered, Anthropic, "UgAtoUg", "UgAotUg", Declared),
    (Code::ReasoningReordered, OpenaiResponses, "gtvog", "gvtog", Declared),
    (Code::ReasoningWithoutFollower, OpenaiResponses, "gtogcr", "gtcr", Declared),
    (Code::ReasoningWithoutFollower, OpenaiResponses, "gtcrog", "gtog", Declared),
    (Code::CallWithoutItsReasoning, OpenaiResponses, "gtcrg", "gcrg", Declared),
    (Code::ToolReferenceLost, Anthropic, "UgAcUl", "UgAcUk", Declared),
    (Code::ToolReferenceLost, Anthropic, "UgAcUlAo", "UgAo", Declared),
    (Code::CitationTargetLost, Anthropic, "UgAwfoUg", "UgAwboUg", Declared),
    (Code::CompactionBlockEdited, Anthropic, "ApUg", "AeUg", Declared),
    (Code::CompactionBlockEdited, Anthropic, "UgApUg", "UgAoUg", Declared),
    (Code::CompactionBlockEdited, OpenaiResponses, "gpgeg", "gpgg", Declared),
    // A cut result, a dropped batch.
    (Code::EditBeforeSignedReasoningWithoutEpoch, Anthropic, "UgAcUrAtoUg", "UgAcUkAtoUg", Undeclared),
    (Code::EditBeforeSignedReasoningWithoutEpoch, Anthropic, "UgAcUrAtoUg", "UgAtoUg", Undeclared),
    (Code::EditBeforeSignedReasoningWithoutEpoch, OpenaiResponses, "gcrtog", "gcktog", Undeclared),
    (Code::EditBeforeSignedReasoningWithoutEpoch, OpenaiResponses, "gcrtog", "gtog", Undeclared),
    (Code::IdChanged, Anthropic, "UgAcUr", "UgAcUrAdUz", Declared),
    (Code::IdChanged, OpenaiChat, "gcr", "gcrcr", Declared),
    (Code::MarkLost, Anthropic, "UgAcUm", "UgAcUr", Declared),
    (Code::MarkLost, Anthropic, "UgAcUmAo", "UgAo", Declared),
    (Code::EmptyText, Anthropic, "UgAcUr", "UgAcUn", Declared),
    (Code::EmptyText, OpenaiChat, "gcr", "gcb", Declared),
    (Code::EmptyText, OpenaiChat, "gog", "gng", Declared),
];

const LAWFUL: &[(WireFormat, &str, &str, Epoch)] = &[
    // Another writer's spacing and escapes say the same.
    (Anthropic, "UgAcUrAtoUg", "UgAcUqAtoUg", Undeclared),
    // A leading run of thinking goes at any time, all of it at a sweep, and with its message too.
    (Anthropic, "UgAtoUgAvoUg", "UgAoUgAvoUg", Undeclared),
    (Anthropic, "UgAtoUgAvoUg", "UgAtoUgAoUg", Declared),
    (Anthropic, "UgAtcUrAvdUz", "UgAvdUz", Declared),
    // Edits behind the last reasoning, or at a sweep.
    (Anthropic, "UgAtcUr", "UgAtcUk", Undeclared),
    (Anthropic, "UgAcUrAtoUg", "UgAcUkAtoUg", Declared),
    // A result that arrives blank; marks that move; what a compaction stands for.
    (Anthropic, "UgAcUn", "UgAcUn", Declared),
    (Anthropic, "UgAcUm", "UhAcUr", Declared),
    (Anthropic, "UhAtoUg", "UgAtoUh", Undeclared),
    (Anthropic, "UgAcUrUgApoUgAtoUg", "ApoUgAtoUg", Undeclared),
    // A tool that a later result loads again.
    (Anthropic, "UgAcUlAdUj", "UgAdUj", Declared),
    (OpenaiChat, "gtgog", "ggog", Declared),
    (OpenaiChat, "gcrg", "gckg", Undeclared),
    (OpenaiResponses, "gtcrvog", "gvog", Declared),
    (OpenaiResponses, "gtcrvog", "gtckvog", Declared),
    (OpenaiResponses, "gtcrg", "gtckg", Undeclared),
    (OpenaiResponses, "gtogpvog", "pvog", Undeclared),
];

#[test]
fn each_unlawful_change_has_its_one_defect() {
    for &(code, format, original, output, epoch) in UNLAWFUL {
        let (before, after) = (body(format, original), body(format, output));
        assert_eq!(codes_of(&check_against(format, &before, &after, epoch)), [code], "{original} {output}");
        assert_eq!(check(format, &before), [], "{original}");
        assert_eq!(check_against(format, &before, &before, Undeclared), [], "{original}");
    }
}

#[test]
fn lawful_changes_have_none() {
    for &(format, original, output, epoch) in LAWFUL {
        let (before, after) = (body(format, original), body(format, output));
        assert_eq!(check_against(format, &before, &after, epoch), [], "{original} {output}");
    }
}

#[test]
fn what_is_gone_has_its_old_path_and_the_byte_where_it_would_stand() {
    let output = body(OpenaiResponses, "gcrg");
    let defects = check_against(OpenaiResponses, &body(OpenaiResponses, "gtcrg"), &output, Declared);
    assert_eq!(defects[0].path, "[1]");
    assert_eq!(output.find(r#"{"type":"function_call","#), Some(defects[0].offset));
}

#[test]
fn request_fields_before_signed_reasoning_count_and_their_marks_do_not() {
    let request = |fields: &str| format!(r#"{{{fields},"messages":{}}}"#, body(Anthropic, "UgAtoUg"));
    let changed = |before: &str, after: &str| {
        let defects = check_against(Anthropic, &request(before), &request(after), Undeclared);
        defects.iter().map(|defect| (defect.code.name(), defect.path.clone())).collect::<Vec<_>>()
    };
    let edited = "edit_before_signed_reasoning_without_epoch";
    assert_eq!(changed(r#""system":"a""#, r#""system":"b""#), [(edited, "system".to_owned())]);
    assert_eq!(changed(r#""tools":[{"name":"f"}]"#, r#""tools":[{"name":"g"}]"#), [(edited, "tools".to_owned())]);
    let marked = r#""system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]"#;
    assert_eq!(changed(r#""system":"a""#, marked), []);
    assert_eq!(changed(marked, r#""system":"a""#), [("mark_lost", "system[0].cache_control".to_owned())]);
}

#[test]
fn text_format_and_effort_are_prefix_of_responses() {
    let items = body(OpenaiResponses, "gtog");
    let request = |fields: &str| format!(r#"{{{fields},"input":{items}}}"#);
    let paths = |before: &str, after: &str| {
        let defects = check_against(OpenaiResponses, &request(before), &request(after), Undeclared);
        defects.into_iter().map(|defect| defect.path).collect::<Vec<_>>()
    };
    assert_eq!(paths(r#""text":{"format":"a"}"#, r#""text":{"format":"b"}"#), ["text"]);
    assert_eq!(paths(r#""text":{"verbosity":"a"}"#, r#""text":{"verbosity":"b"}"#), [""; 0]);
    assert_eq!(paths(r#""reasoning":{"effort":"low"}"#, r#""reasoning":{"effort":"high"}"#), ["reasoning"]);
}

#[test]
fn ids_that_clients_use_again_are_told_apart_by_place() {
    // The oldest of three batches with one id is dropped.
    assert_eq!(check_against(OpenaiChat, &body(OpenaiChat, "gcrcrcr"), &body(OpenaiChat, "gcrck"), Declared), []);
    let reused = body(OpenaiResponses, "gtcrvcrg");
    assert_eq!(check_against(OpenaiResponses, &reused, &body(OpenaiResponses, "gvcrg"), Declared), []);
}
