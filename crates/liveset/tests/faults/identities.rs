//! Kinds 13 and 14: conversations are mixed up, ids are not unique.

use liveset_testkit::Format;

use crate::{
    bench::Bench,
    case::{Case, policy},
    view::calls,
};

#[test]
fn f62_two_conversations_with_one_system_text_stay_apart() {
    let both = Case::all(Format::OpenaiChat, "F62");
    let outs: Vec<_> = both.iter().map(|case| case.about(1_000)).collect();
    assert!(outs.iter().all(|out| !out.is_input()));
    assert!(!outs[1].text().contains("Alpha") && !outs[0].text().contains("Beta"));
    assert!(!outs[1].text().contains("alpha") && !outs[0].text().contains("beta"));
    assert!(outs[0].handles().iter().all(|handle| !outs[1].handles().contains(handle)));
    let windows: Vec<_> = outs.iter().map(|out| out.report["tokens"]["window"].as_u64().expect("a window")).collect();
    let shared = Bench::new(Format::OpenaiChat, policy(*windows.iter().max().expect("two")));
    let fresh: Vec<_> = both.iter().map(|case| shared.run(&case.body).body).collect();
    for place in [0, 1, 0, 1] {
        assert_eq!(shared.run(&both[place].body).body, fresh[place]);
    }
    std::thread::scope(|scope| {
        let runs: Vec<_> = both.iter().map(|case| scope.spawn(|| shared.run(&case.body).body)).collect();
        for (run, fresh) in runs.into_iter().zip(&fresh) {
            assert_eq!(&run.join().expect("it ends"), fresh);
        }
    });
}

#[test]
fn f64_ids_that_start_again_name_each_result_by_its_place() {
    let case = Case::read(Format::OpenaiChat, "F64");
    let out = case.about(900);
    assert_eq!(calls(out.format, &out.value()).len(), 4);
    let pairs = out.pairs();
    assert!(pairs.len() == 4 && pairs.iter().all(|(old, _)| old.id == "bash:0"));
    assert!(out.text().contains("check 3 says: code 3333"));
    let is_whole: Vec<_> = pairs.iter().map(|(old, new)| old == new).collect();
    assert!(!is_whole[0] && is_whole[3], "older ones first: {is_whole:?}");
    // The original behind result k is the text of result k: checked with every case.
}

#[test]
fn f65_the_same_id_twice_in_one_message_keeps_both_results() {
    let out = Case::read(Format::OpenaiChat, "F65").about(600);
    let body = out.value();
    assert_eq!(calls(out.format, &body).iter().map(|asked| asked.id.as_str()).collect::<Vec<_>>(), ["call_x"; 2]);
    let pairs = out.pairs();
    assert!(pairs.len() == 2 && pairs.iter().any(|(old, new)| old != new));
    assert!(pairs[0].1.text().starts_with("A: ") && pairs[1].1.text().starts_with("B: "));
}
