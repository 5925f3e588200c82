//! Every world is sound, and the first ones are what they were.

use std::fmt::Write as _;

use expect_test::expect_file;
use liveset_eval::irbench::{Environment, Regime, Tool, World, check_world};

const SEEDS: u64 = 200;
const WALKS: u64 = 20;

#[test]
fn each_of_two_hundred_worlds_is_sound_and_every_walk_through_it_ends() {
    for seed in 1..=SEEDS {
        for regime in Regime::ALL {
            assert_eq!(check_world(&World::new(seed, regime), WALKS), [], "seed {seed}, {}", regime.name());
        }
    }
}

#[test]
fn the_first_worlds_are_what_they_were() {
    let mut text = String::new();
    for (seed, regime) in (1..=5).flat_map(|seed| Regime::ALL.map(|regime| (seed, regime))) {
        writeln!(text, "{}", World::new(seed, regime)).unwrap();
    }
    expect_file!["data/worlds.txt"].assert_eq(&text);
}

#[test]
fn failing_attempts_and_chains_are_as_long_as_meant() {
    let worlds: Vec<World> = (1..=SEEDS).map(|seed| World::new(seed, Regime::High)).collect();
    let mean = |value: fn(&World) -> u64| worlds.iter().map(value).sum::<u64>() as f64 / SEEDS as f64;
    let attempts = mean(|world| world.hidden().failing_attempts());
    assert!((5.7..6.4).contains(&attempts), "{attempts}");
    let chain = mean(|world| world.longest_chain() as u64);
    assert!((4.0..7.0).contains(&chain), "{chain}");
}

#[test]
fn a_call_log_played_again_gives_the_same_bytes() {
    let world = World::new(3, Regime::High);
    let play = || {
        let mut environment = Environment::new(&world);
        let names: Vec<String> = world.line().iter().map(ToString::to_string).chain(["Z41".into()]).collect();
        let calls = (1..=24_u64).flat_map(|turn| Tool::OF_WORLD.map(|tool| (turn, tool)));
        let answers = calls.map(|(turn, tool)| environment.call(tool, &names[turn as usize % names.len()], turn).text);
        answers.collect::<Vec<_>>()
    };
    assert_eq!(play(), play());
}

#[test]
fn an_answer_names_the_first_reason_and_a_failed_attempt_counts_only_then() {
    let world = World::new(1, Regime::High);
    let mut environment = Environment::new(&world);
    let blocked = world.tasks().iter().find(|task| !task.requires.is_empty()).unwrap();
    let answered = environment.call(Tool::Execute, &blocked.name.to_string(), 1);
    assert!(answered.text.contains(r#""reason":"unmet""#), "{}", answered.text);
    let unknown = environment.call(Tool::GetTaskInfo, "Z41", 1);
    assert!(unknown.is_unknown && unknown.text.contains("unknown task"), "{}", unknown.text);
    assert!(environment.call(Tool::QueryResource, "Q1", 1).is_unknown);
    assert!(environment.call(Tool::QueryResource, "T01", 1).is_unknown);
    let mut turn = 1;
    while !environment.is_complete() {
        for task in world.line() {
            environment.call(Tool::Execute, &task.to_string(), turn);
        }
        turn += 1;
    }
    let first = world.line()[0];
    let again = environment.call(Tool::Execute, &first.to_string(), turn);
    assert!(again.text.contains("already done"), "{}", again.text);
}
