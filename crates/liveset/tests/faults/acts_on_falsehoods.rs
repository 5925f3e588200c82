//! Kinds 7 to 10: shortened output says something false, cannot be got back, loses the task, or gains a voice.

use liveset_testkit::Format;
use serde_json::json;

use crate::{
    case::Case,
    view::{calls, history, shortened, user_texts},
};

#[test]
fn f35_line_number_and_text_never_part() {
    let out = Case::read(Format::OpenaiChat, "F35").about(900);
    let (old, new) = out.result("call_g");
    let lines: Vec<_> = old.split_inclusive('\n').collect();
    let short = shortened(&new);
    assert_eq!(lines.len(), 60);
    assert_eq!(short.kept.len() + short.left_out, 60);
    assert!(short.gaps > 0 && short.kept.iter().all(|line| lines.contains(&line.as_str())), "{new}");
}

/// Lines of F36's failing run that must reach the model.
fn telling(run: &str) -> Vec<&str> {
    let words = ["ImportError", "Interrupted", "[exit code 2]"];
    let telling: Vec<_> = run.lines().filter(|line| words.iter().any(|word| line.contains(word))).collect();
    assert_eq!(telling.len(), 4);
    telling
}

#[test]
fn f36_the_newest_failure_stays_word_for_word() {
    let out = Case::read(Format::Anthropic, "F36").at(700);
    // It is pinned, so only the log gives way.
    assert!(out.is_whole("toolu_81") && !out.is_whole("toolu_82"));
    assert_eq!(telling(&out.result("toolu_81").1).len(), 4);
    // The engine writes no sentence of its own: law 8, checked with every case.
}

#[test]
fn f36_a_failure_that_is_cut_keeps_its_error_lines() {
    let mut body = Case::read(Format::Anthropic, "F36").value();
    // A newer failure, so that the older one is no longer pinned.
    let call = json!({"type": "tool_use", "id": "toolu_83", "name": "run", "input": {"cmd": "make lint"}});
    let answer = json!({"type": "tool_result", "tool_use_id": "toolu_83", "content": "1 problem\n[exit code 1]"});
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.push(json!({"role": "assistant", "content": [call]}));
    messages.push(json!({"role": "user", "content": [answer]}));
    let case = Case::of(Format::Anthropic, &body);
    let mut shapes = [0; 2];
    for window in (350..=1_150).step_by(50) {
        let out = case.at(window);
        let (old, new) = out.result("toolu_81");
        assert!(!out.cannot_fit && out.is_whole("toolu_83"), "{window}");
        let is_tombstone = new.starts_with("[pruned from context: ");
        shapes[usize::from(is_tombstone)] += usize::from(old != new);
        for line in telling(&old) {
            let is_stated = is_tombstone && line == "[exit code 2]" && new.contains(", exit code 2; ");
            assert!(is_stated || new.lines().any(|kept| kept == line), "{line}\n{new}");
        }
        let passing = |text: &str| text.matches("PASSED").count();
        assert!(old == new || passing(&new) < passing(&old), "what went is first of all what passed: {new}");
    }
    assert!(shapes.iter().all(|&count| count > 1), "cut in part and as a whole: {shapes:?}");
}

#[test]
fn f37_an_error_result_stays_word_for_word() {
    let case = Case::read(Format::Anthropic, "F37");
    let out = case.about(1_100);
    assert!(out.is_whole("toolu_92") && !out.is_whole("toolu_91"));
    let error = |body| history(Format::Anthropic, &body).remove(4)["content"][0].clone();
    assert_eq!(error(case.value()), error(out.value()));
    assert_eq!(error(out.value())["is_error"], true);
    let tight = case.at(500).text();
    assert!(tight.contains("CardError") && tight.contains("/repo/app/pay.py"));
}

#[test]
fn f39_kept_lines_keep_their_own_endings() {
    let out = Case::read(Format::OpenaiChat, "F39").about(300);
    let (old, new) = out.result("call_c");
    assert!(old != new && ["\r\n", "\n", "\r"].iter().all(|ending| old.contains(ending)));
    // What stands before and after each mark is the source, endings included.
    let mut rest = old.as_str();
    let mut pieces = 0;
    let mut piece = String::new();
    let mut take = |piece: &mut String| {
        if !piece.is_empty() {
            let at = rest.find(piece.as_str()).unwrap_or_else(|| panic!("{piece:?} is not in the source"));
            rest = &rest[at + piece.len()..];
            pieces += 1;
            piece.clear();
        }
    };
    for line in new.split_inclusive('\n') {
        if line.starts_with("[lines ") || line.starts_with("[pruned") { take(&mut piece) } else { piece.push_str(line) }
    }
    take(&mut piece);
    assert!(pieces > 0 || new.starts_with("[pruned"));
    // Recall gives as many of each ending: the originals are equal, checked with every case.
}

#[test]
fn f40_without_a_recall_tool_marks_name_none() {
    let case = Case::read(Format::OpenaiChat, "F40");
    // A policy that asks for the tool gets it only where the body offers one, and nothing adds one.
    for route in ["none", "tool"] {
        let out = case.by_route(route).about(900);
        for (old, new) in out.pairs().into_iter().filter(|(old, new)| old != new) {
            assert!(new.text().contains("run the call again"), "{}", new.text());
            assert!(!new.text().contains("recall") && old.id == new.id);
            assert!(out.handles().iter().all(|handle| !new.text().contains(handle.as_str())));
        }
        assert!(!out.is_input() && out.has_warning("no_recall_tool") == (route == "tool"));
        assert_eq!(case.value()["tools"], out.value()["tools"]);
    }
}

#[test]
fn f41_the_newest_recall_answer_stays_word_for_word() {
    for route in ["none", "tool"] {
        let out = Case::read(Format::Anthropic, "F41").by_route(route).about(1_050);
        assert!(out.is_whole("toolu_a2") && !out.is_whole("toolu_a1"));
    }
}

#[test]
fn f41_an_old_recall_answer_keeps_the_handle_it_asked_for_and_gets_no_new_one() {
    let case = Case::read(Format::Anthropic, "F41");
    let mut body = case.value();
    let messages = body["messages"].as_array_mut().expect("messages");
    // Four more units: by the last of them the answer is none of the newest three.
    for at in 0..4 {
        messages.push(json!({"role": "assistant", "content": format!("It was batch {at}.")}));
        messages.push(json!({"role": "user", "content": "Look again."}));
    }
    for route in ["none", "tool", "shell", "spill:out"] {
        let out = Case::of(case.format, &body).by_route(route).about(700);
        let (old, new) = out.result("toolu_a2");
        assert!(new.starts_with("[pruned from context: recall h-0001, 22 lines, "), "{route}: {new}");
        assert!(new.ends_with("; run the call again to see it]"), "{route}: {new}");
        assert!(out.handles().iter().any(|handle| out.original(handle).as_deref() == Some(&old)), "it is stored");
        assert!(out.handles().iter().all(|handle| !new.contains(handle.as_str())), "{route}: {new}");
    }
}

#[test]
fn f44_marks_of_others_are_plain_text() {
    let case = Case::read(Format::Anthropic, "F44");
    for route in ["none", "tool", "mcp", "shell", "spill:out"] {
        let out = case.by_route(route).about(600);
        let (old, new) = out.result("toolu_b1");
        assert!(old != new && old.contains("hash=0123456789abcdef01234567"));
        assert_eq!(out.original("0123456789abcdef01234567"), None);
        let mut handles = out.handles().into_iter();
        let own = handles.find(|handle| out.original(handle).as_deref() == Some(&old)).expect("its original");
        // Of all that looks like a handle the mark names its own alone, and only where a way to it is open.
        assert_eq!(new.contains(&own), route != "none", "{new}");
        let mark = new.lines().find(|line| line.starts_with('[') && line.contains(" see it")).expect("a mark of ours");
        let digits = |text: &str| text.split(|c: char| !c.is_ascii_hexdigit()).filter(|run| run.len() > 11).count();
        assert_eq!(digits(mark), usize::from(route != "none"), "{mark}");
        for key in ["tools", "system"] {
            assert_eq!(case.value()[key], out.value()[key], "nothing is added to `{key}`");
        }
    }
}

#[test]
fn f47_a_finished_task_stays_finished_and_the_current_one_stays_last() {
    let case = Case::read(Format::OpenaiChat, "F47");
    let out = case.about(900);
    assert!(!out.is_input());
    let texts = user_texts(out.format, &out.value());
    assert_eq!(texts, user_texts(case.format, &case.value()));
    assert!(texts.len() == 2 && texts[1].starts_with("Task B"));
    assert!(out.text().contains("Done with A: (1) faster start"));
    assert_eq!(calls(out.format, &out.value()).last().map(|asked| asked.id.clone()).as_deref(), Some("b2"));
}

#[test]
fn f48_the_only_user_item_stays_first_and_the_newest_output_goes_last() {
    let case = Case::read(Format::OpenaiResponses, "F48");
    let out = case.about(900);
    assert_eq!(history(out.format, &out.value())[0], history(case.format, &case.value())[0]);
    assert!(!out.is_whole("call_0") && out.is_whole("call_4"));
}

#[test]
fn f50_ids_of_running_jobs_stay_readable() {
    let out = Case::read(Format::Anthropic, "F50").about(600);
    assert!(!out.is_input() && out.is_whole("toolu_c1") && out.is_whole("toolu_c2"));
    assert!(out.text().contains("ag-7f31") && out.text().contains("ag-90bc"));
}

#[test]
fn f51_secrets_stand_in_the_body_or_the_store_and_nowhere_else() {
    let case = Case::read(Format::Anthropic, "F51");
    let out = case.about(500);
    let (old, new) = out.result("toolu_d1");
    assert!(old != new);
    let is_secret = |line: &&str| !line.starts_with("VAR_") && !line.starts_with("PATH_");
    let secrets: Vec<_> =
        old.lines().filter(is_secret).filter_map(|line| line.split_once('=')).map(|(_, value)| value).collect();
    assert!(secrets.len() >= 2, "{old}");
    for secret in secrets {
        assert!(!out.report.to_string().contains(secret));
        assert!(out.handles().iter().all(|handle| !handle.contains(secret)));
        assert!(!new.lines().any(|line| line.starts_with('[') && line.contains(secret)), "{new}");
    }
}

#[cfg(unix)]
#[test]
fn f51_the_store_is_readable_by_its_owner_only() {
    use std::{os::unix::fs::PermissionsExt, sync::Arc};
    let case = Case::read(Format::Anthropic, "F51");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let archive = liveset::SqliteArchive::open(&path).expect("a store opens");
    let liveset = liveset::Liveset::new(crate::case::policy(500)).with_model("gpt-4.1").with_archive(Arc::new(archive));
    assert!(liveset.compact(&case.body).expect("it is read").manifest().is_some());
    assert_eq!(std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
}

/// Secrets where clients leave them: in addresses, in commands, in arguments of tools that nobody knows.
#[cfg(unix)]
#[test]
fn f51_no_list_name_or_error_of_the_store_shows_a_secret() {
    use std::{fs, sync::Arc};

    use liveset_archive::{Archive as _, Purge, Query, Spill, Spilling};
    let secrets = ["hunter2pw", "q-key-77", "sk-proj-0123456789abcdef", "tool-secret-5", "text-secret-6"];
    let arguments = [
        serde_json::json!({"url": "https://me:hunter2pw@host/page?key=q-key-77"}),
        serde_json::json!({"command": "curl -u me:hunter2pw https://host/x"}),
        serde_json::json!({"command": "API_KEY=sk-proj-0123456789abcdef ./deploy"}),
        serde_json::json!({"api_key": "tool-secret-5"}),
    ];
    let tools = ["web_fetch", "bash", "bash", "frobnicate"];
    let mut messages = vec![serde_json::json!({"role": "user", "content": "look"})];
    for at in 0..8 {
        let text = format!("TOKEN=text-secret-6 {at}\n") + &"some words of a page that is long\n".repeat(60);
        let call = serde_json::json!({"id": format!("c{at}"), "type": "function", "function":
            {"name": tools[at % 4], "arguments": arguments[at % 4].to_string()}});
        messages.push(serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(serde_json::json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": text}));
    }
    let body = serde_json::json!({"model": "gpt-4.1", "messages": messages}).to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(liveset::SqliteArchive::open(folder.path().join("store")).expect("a store opens"));
    let spill = Spill::new(folder.path(), "spilled").expect("it leads nowhere else");
    let spilling = Spilling::new(liveset::SqliteArchive::open(store.path()).expect("it opens"), spill);
    let liveset = liveset::Liveset::new(crate::case::policy(1_500)).with_archive(Arc::new(spilling));
    let compaction = liveset.compact(body.as_bytes()).expect("it is read");
    assert!(compaction.report().edits.len() >= 5, "{:?}", compaction.report());
    let mut told = vec![compaction.report().to_json()];
    for id in compaction.report().edits.iter().map(|edit| &edit.archive_id) {
        told.push(id.clone());
        told.push(format!("{:?}", store.look_up(id).expect("it is read")));
    }
    told.extend(
        store
            .search(&Query::new("page"))
            .expect("it is searched")
            .hits
            .iter()
            .map(|hit| format!("{:?} {}", hit.source, hit.session)),
    );
    told.push(format!("{:?}", store.sessions().expect("they are read")));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder.path().join("spilled")).expect("it is there").flatten() {
        told.push(entry.file_name().to_string_lossy().into_owned());
        if entry.path().is_dir() {
            told.push(fs::read_to_string(entry.path().join("history.md")).expect("the index is there"));
        } else {
            files.push(entry.path());
        }
    }
    assert!(!files.is_empty());
    for secret in secrets {
        assert!(body.contains(secret), "{secret} is not in the case");
        for told in &told {
            assert!(!told.contains(secret), "{secret}: {told}");
        }
        for line in compaction.body().split(|&byte| byte == b'[').map(String::from_utf8_lossy) {
            assert!(
                !line.starts_with("pruned") || !line.split(']').next().is_some_and(|mark| mark.contains(secret)),
                "{line}"
            );
        }
    }
    // What is purged is not in the file any more, and recall says that it was there.
    let id = compaction.report().edits[0].archive_id.clone();
    let session = store.sessions().expect("they are read")[0].session.clone();
    store.purge(&Purge::Session(session)).expect("it is purged");
    for end in ["", "-wal"] {
        let bytes = fs::read(format!("{}{end}", store.path().display())).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "purged, and still in the file{end}");
    }
    let recalled = liveset::recall::recall(&*store, &id, &liveset::recall::View::Whole).expect("it is asked");
    let liveset::recall::Recall::Missed(missed) = recalled else { panic!("it was purged") };
    assert!(missed.told(&id).contains("is purged for good"));
}

#[test]
fn f52_tool_text_never_changes_its_voice() {
    let case = Case::read(Format::Anthropic, "F52");
    let out = case.about(450);
    let (old, new) = out.result("toolu_e1");
    assert!(old != new);
    let roles =
        |body| history(Format::Anthropic, &body).iter().map(|message| message["role"].clone()).collect::<Vec<_>>();
    assert_eq!(roles(case.value()), roles(out.value()));
    let mut others = out.value();
    for message in others["messages"].as_array_mut().expect("messages") {
        if let Some(blocks) = message["content"].as_array_mut() {
            blocks.retain(|block| block["type"] != "tool_result");
        }
    }
    for line in old.lines().filter(|line| line.len() > 20) {
        assert!(!others.to_string().contains(line), "{line}");
    }
    // Nothing of the source stands inside a mark, so no look-alike of an end can end it: law 8.
}
