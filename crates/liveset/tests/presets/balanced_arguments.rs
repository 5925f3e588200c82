//! Step 2 of `balanced`: what calls wrote to files leaves their arguments.

use liveset::{ArgumentRules, Policy, Preset};
use liveset_testkit::{Format, laws::Outcome};
use serde_json::json;

use crate::bench::size;
use crate::script::{self, Step, call, prose, result, seen, user};

const SAVED: &str = "[Content saved to file]";

/// Lines of code that no other `seed` has.
fn code(seed: &str, lines: usize) -> String {
    (0..lines).map(|at| format!("let {seed}_{at} = {seed}({at}, \"{seed} \\ é\") + {seed}_base;\n")).collect()
}

/// Three files are written and a log is read; then the user says so much that everything before is processed.
fn three_written() -> Vec<Step> {
    let write =
        |id, seed: &str| call(id, "Write", json!({ "file_path": seed, "content": code(seed, 60), "mode": 420 }));
    vec![
        user("Write the three files."),
        write("call_a", "alpha"),
        result("call_a", "File created."),
        write("call_b", "beta"),
        result("call_b", "File created."),
        call("call_log", "run", json!({ "cmd": "make" })),
        result("call_log", prose("build", 110)),
        write("call_c", "gamma"),
        result("call_c", "File created."),
        Step::Say("All are there.".to_owned()),
        user(prose("user", 110)),
    ]
}

/// The same with a word of the agent's before each call: calls alone would be folded by the step behind this one.
fn spoken(steps: &[Step]) -> Vec<Step> {
    let word = |step: &Step| matches!(step, Step::Call(_)).then(|| Step::Say("Next.".to_owned()));
    steps.iter().flat_map(|step| word(step).into_iter().chain([step.clone()])).collect()
}

fn body(format: Format, steps: &[Step]) -> Vec<u8> {
    script::body(format, &spoken(steps))
}

fn run_with(format: Format, steps: &[Step], window_permille: u64, set: impl FnOnce(&mut Policy)) -> Outcome {
    script::run_with(format, &spoken(steps), window_permille, set)
}

/// Which of these calls lost what they wrote.
fn cut<'i>(out: &Outcome, ids: &[&'i str]) -> Vec<&'i str> {
    let seen = seen(&out.body);
    ids.iter().filter(|id| seen.arguments(id)["content"] == SAVED).copied().collect()
}

const ALL: [&str; 3] = ["call_a", "call_b", "call_c"];

/// Runs a conversation in a window of its own size: only its last request is over the trigger.
fn run(format: Format, steps: &[Step], target: u32) -> Outcome {
    run_with(format, steps, 1_000, |policy| policy.target = target)
}

#[test]
fn results_go_first_and_then_arguments_oldest_first_down_to_the_target() {
    for format in Format::ALL {
        let steps = three_written();
        let kept = |target| {
            let out = run(format, &steps, target);
            assert!(out.body != body(format, &steps), "{format:?}: a sweep ran");
            let gone = seen(&out.body).result("call_log") != prose("build", 110);
            let cut = cut(&out, &ALL);
            assert!(gone || cut.is_empty(), "{format:?}, {target}: step 1 comes before step 2");
            assert_eq!(cut, ALL[..cut.len()], "{format:?}, {target}: oldest first");
            let limit = size(format, &body(format, &steps)) * u64::from(target) / 100;
            assert!(out.tokens_after <= limit || cut.len() == ALL.len(), "{format:?}, {target}: down to the target");
            (out, cut)
        };
        let counts: Vec<usize> = [90, 65, 50, 35, 10].map(|target| kept(target).1.len()).into();
        assert_eq!((counts[0], counts[4]), (0, 3), "{counts:?}: results alone are enough, then nothing is");
        assert!(counts.is_sorted() && counts.contains(&1) && counts.contains(&2), "{counts:?}: no more than it takes");
        for target in [65, 50, 35] {
            let (out, cut) = kept(target);
            let Some(last) = cut.last() else { continue };
            let edits = out.report["edits"].as_array().expect("edits").clone();
            let last = edits.iter().find(|edit| edit["call_id"] == *last).expect("its edit");
            let gain = last["tokens_before"].as_u64().expect("a size") - last["tokens_after"].as_u64().expect("a size");
            let limit = size(format, &body(format, &steps)) * u64::from(target) / 100;
            assert!(out.tokens_after + gain > limit, "{format:?}, {target}: one cut less would not do");
        }
    }
}

#[test]
fn the_rest_of_the_arguments_stays_and_the_report_names_step_and_kind() {
    for format in Format::ALL {
        let out = run(format, &three_written(), 10);
        let seen = seen(&out.body);
        let expected = json!({ "file_path": "beta", "content": SAVED, "mode": 420 });
        assert_eq!(seen.arguments("call_b"), &expected);
        assert_eq!(seen.result("call_b"), "File created.");
        let edits = out.report["edits"].as_array().expect("edits").clone();
        let of = |id: &str| edits.iter().find(|edit| edit["call_id"] == id).expect("an edit").clone();
        assert_eq!((&of("call_b")["kind"], &of("call_b")["step"]), (&json!("rule"), &json!(2)), "{format:?}");
        assert_eq!(&of("call_log")["step"], &json!(1));
    }
}

#[test]
fn a_failed_write_keeps_its_content() {
    let failures = [
        Step::Failed("call_a", "the disk is full".to_owned()),
        result("call_a", "Error: the disk is full"),
        result("call_a", "{\"success\": false, \"reason\": \"quota\"}"),
        result("call_a", prose("before", 20) + "\nexit code: 1"),
    ];
    for (at, failure) in failures.into_iter().enumerate() {
        for format in Format::ALL {
            // Only Anthropic's wire has a flag for errors.
            if at == 0 && format != Format::Anthropic {
                continue;
            }
            let mut steps = three_written();
            steps[2] = failure.clone();
            assert_eq!(cut(&run(format, &steps, 10), &ALL), ALL[1..], "{format:?}: {failure:?}");
        }
    }
}

#[test]
fn a_pin_keeps_the_arguments_of_its_call() {
    for format in Format::ALL {
        let out = run_with(format, &three_written(), 1_000, |policy| {
            policy.target = 10;
            policy.pins = vec!["call_b".to_owned()];
        });
        assert_eq!(cut(&out, &ALL), ["call_a", "call_c"], "{format:?}");
        let mut steps = three_written();
        steps[4] = result("call_b", "File created. [liveset:pin]");
        assert_eq!(cut(&run(format, &steps, 10), &ALL), ["call_a", "call_c"], "{format:?}");
    }
}

#[test]
fn the_switch_keeps_all_arguments_of_balanced_and_of_no_other_preset() {
    for format in Format::ALL {
        let off = |preset| {
            run_with(format, &three_written(), 1_000, |policy| {
                policy.target = 10;
                policy.preset = preset;
                policy.args = ArgumentRules::Off;
            })
        };
        let out = off(Preset::Balanced);
        assert!(cut(&out, &ALL).is_empty(), "{format:?}");
        assert!(seen(&out.body).result("call_log").starts_with("[pruned from context: run make"));
        assert_eq!(cut(&off(Preset::Rules), &ALL), ALL, "{format:?}");
    }
}

#[test]
fn what_is_not_processed_or_not_answered_keeps_its_content() {
    for format in Format::ALL {
        let mut steps = three_written();
        steps.truncate(9);
        steps[8] = result("call_c", prose("written", 60));
        assert_eq!(cut(&run(format, &steps, 10), &ALL), ALL[..2], "{format:?}: nothing follows the last call");
    }
    // Validity of the input is the client's: an unanswered call arrives broken and stays as it is.
    let mut steps = three_written();
    steps.remove(2);
    assert_eq!(cut(&run(Format::OpenaiResponses, &steps, 10), &ALL), ALL[1..]);
}

#[test]
fn what_was_read_and_written_back_stays_since_the_read_goes_as_said() {
    for format in Format::ALL {
        let mut steps = three_written();
        steps[5] = call("call_log", "read_file", json!({ "path": "gamma" }));
        // What is written later holds what was read; what was written before it is no witness of it.
        steps[6] = result("call_log", code("gamma", 60) + &code("alpha", 60));
        let out = run(format, &steps, 10);
        assert_eq!(cut(&out, &ALL), ["call_a", "call_b"], "{format:?}");
        assert_eq!(seen(&out.body).arguments("call_c")["content"], json!(code("gamma", 60)));
        let edits = out.report["edits"].as_array().expect("edits").clone();
        let read = edits.iter().find(|edit| edit["call_id"] == "call_log").expect("the read goes");
        assert_eq!(read["step"], json!(1));
    }
}

#[test]
fn a_new_file_with_a_few_lines_of_an_old_one_is_no_witness() {
    for format in Format::ALL {
        let mut steps = three_written();
        steps[6] = result("call_log", prose("build", 110) + &code("gamma", 3));
        steps[7] =
            call("call_c", "Write", json!({ "file_path": "c", "content": prose("build", 2) + &code("delta", 60) }));
        assert_eq!(cut(&run(format, &steps, 10), &ALL), ALL, "{format:?}");
    }
}

#[test]
fn behind_a_mark_of_an_earlier_run_arguments_stay() {
    let mark =
        "[pruned from context: run make, 110 lines, 1.9k tokens; run the call again only if repeating it is safe]";
    let gap = format!("{}[lines 4-90 of 110 left out]\n{}", prose("build", 3), prose("end", 20));
    for format in Format::ALL {
        for arrives in [mark.to_owned(), gap.clone()] {
            let mut steps = three_written();
            steps[6] = result("call_log", arrives);
            assert_eq!(cut(&run(format, &steps, 10), &ALL), ALL[..2], "{format:?}: what `call_c` repeats is not known");
        }
        let mut steps = three_written();
        steps[2] = result("call_a", mark);
        assert_eq!(cut(&run(format, &steps, 10), &ALL), [""; 0], "{format:?}: nor whether `call_a` failed");
    }
}

/// The three files, then the first of them is read; with or without a log behind it.
fn read_again(with_log: bool) -> Vec<Step> {
    let mut steps = three_written();
    steps.extend([call("call_read", "read_file", json!({ "path": "alpha" })), result("call_read", code("alpha", 60))]);
    if with_log {
        steps.extend([call("call_more", "run", json!({ "cmd": "make more" })), result("call_more", prose("more", 60))]);
    }
    steps.extend([Step::Say("Done.".to_owned()), user(prose("thanks", 20))]);
    steps
}

/// What was cut is not in view, so a later read of the same text is not said.
#[test]
fn what_was_cut_says_nothing_any_more() {
    for format in Format::ALL {
        let window = size(format, &body(format, &three_written()));
        let mut chosen = [0, 0];
        for target in (30..92).step_by(4) {
            for (steps, args) in [(read_again(true), ArgumentRules::On), (read_again(false), ArgumentRules::Off)] {
                let out = run_with(format, &steps, 1_000, |policy| {
                    policy.window = Some(window);
                    policy.target = target;
                    policy.args = args;
                });
                let edits = out.report["edits"].as_array().expect("edits").clone();
                let edit = |id: &str| edits.iter().find(|edit| edit["call_id"] == id);
                // Without room nothing is chosen by score, and the reason says nothing of passages.
                let reason = edit("call_read").and_then(|edit| edit["reason"].as_str()).unwrap_or_default();
                if reason.contains(" passages") {
                    let is_cut = edit("call_a").is_some();
                    chosen[usize::from(is_cut)] += 1;
                    assert_eq!(reason.contains("said by the agent"), !is_cut, "{format:?}, {target}: {reason}");
                }
            }
        }
        assert!(chosen.iter().all(|&count| count > 0), "{format:?}: {chosen:?}");
    }
}
