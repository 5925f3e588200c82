#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests stop where something is wrong, and say what they skip"
)]

//! Does the metric give the study's figures on the shared traces? Row by row, static and replay.

mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use liveset_eval::retention::{
    Corpus, Evidence, Keeping, ReplayScore, Replaying, Source, StaticScore, compare, replay, score,
};
use liveset_traces::{Detection, Trace, TraceFormat, detect};
use reference::{Measure, REPLAY, STATIC};

fn traces() -> Option<PathBuf> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var("LIVESET_TRACES").map_or(default, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("NOT RUN: no shared traces at {}; set LIVESET_TRACES", folder.display());
    None
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
    found.sort();
}

/// Every main conversation of the shared traces.
fn corpus(folder: &Path) -> Corpus {
    let mut all = Vec::new();
    files(folder, &mut all);
    let mut corpus = Corpus::default();
    for file in all {
        let bytes = fs::read(&file).unwrap();
        let Detection::Trace(format) = detect(&bytes) else { continue };
        let Ok(trace) = Trace::read(format, &bytes) else { continue };
        let name = file.strip_prefix(folder).unwrap().display().to_string();
        for one in trace.conversations() {
            if format != TraceFormat::ClaudeCode || one.agent() == "main" {
                corpus.add(&name, one).expect("a body of its format");
            }
        }
    }
    corpus
}

/// How far our figures may lie from the study's, in points: its importers counted other traces among these files.
const LEVEL: f64 = 8.5;
/// The same for differences to newest-first.
const DIFFERENCE: f64 = 5.0;
/// Orders results by references differently than the study, which does not say how.
const BY_REFERENCE: f64 = 9.0;

fn of(measure: Measure, score: &StaticScore) -> Option<f64> {
    match measure {
        Measure::Quoted => score.quoted,
        Measure::Messages => score.messages,
        Measure::Values => score.values,
        Measure::Edits => score.edits,
    }
}

#[test]
fn the_static_table_of_the_study_comes_out() {
    let Some(folder) = traces() else { return };
    let corpus = corpus(&folder);
    let scores = |keeping, percent| -> Vec<StaticScore> {
        corpus.trajectories().iter().map(|(_, evidence)| score(evidence, keeping, percent)).collect()
    };
    let mut wrong = Vec::new();
    for (column, percent) in [50, 35, 20, 10].into_iter().enumerate() {
        let base = scores(Keeping::NewestFirst, percent);
        for (measure, keeping, cells) in STATIC {
            let mine = scores(keeping, percent);
            let sessions = corpus.trajectories().iter().map(|(source, _)| source.session);
            let figures: Vec<_> = sessions
                .zip(base.iter().zip(&mine))
                .map(|(session, (base, mine))| (session, of(measure, base), of(measure, mine)))
                .collect();
            let row = compare(&figures).expect("some traces have figures");
            let (mean, difference) = (row.mean * 100.0, row.difference.mean * 100.0);
            let (their_mean, their_difference) = cells[column];
            println!(
                "{percent} % | {measure:?} | {} | {their_mean:.1} ({their_difference:+.1}) | {mean:.1} ({difference:+.1}) | {}/{}",
                keeping.name(),
                row.traces,
                row.sessions
            );
            let slack = if keeping == Keeping::LeastRecentlyReferenced { BY_REFERENCE } else { 0.0 };
            // Hindsight keeps everything: its difference is the level of newest-first.
            let slack = if keeping == Keeping::HindsightBlocks { LEVEL - DIFFERENCE } else { slack };
            if (mean - their_mean).abs() > LEVEL + slack || (difference - their_difference).abs() > DIFFERENCE + slack {
                wrong.push((percent, measure, keeping.name(), mean, their_mean));
            }
            // Hardly any trace has edits, and the same ones have them in both.
            if measure == Measure::Edits && keeping != Keeping::LeastRecentlyReferenced {
                assert!((mean - their_mean).abs() < 0.06, "{percent} {}: {mean}", keeping.name());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_replay_table_of_the_study_comes_out() {
    let Some(folder) = traces() else { return };
    let corpus = corpus(&folder);
    // The study swept nine trajectories, none of them of OpenHands, of which one is just over the window here.
    let swept_there = |(source, _): &&(Source, Evidence)| !source.trace.starts_with("openhands");
    let replaying = Replaying { window_words: 15_000, seed: 1 };
    let scores = |keeping| -> Vec<Option<ReplayScore>> {
        let trajectories = corpus.trajectories().iter().filter(swept_there);
        trajectories.map(|(_, evidence)| replay(evidence, keeping, replaying)).collect()
    };
    assert_eq!(scores(Keeping::NewestFirst).iter().flatten().count(), 9);
    let base = scores(Keeping::NewestFirst);
    let mut wrong = Vec::new();
    type Figure = fn(&ReplayScore) -> Option<f64>;
    let measures: [(Figure, f64, f64); 3] =
        [(|score| score.quoted, 1.0, 1.5), (|score| score.messages, 15.0, 4.0), (|score| score.values, 0.8, 0.8)];
    for (keeping, cells, sweeps, rewritten, dropped, in_view) in REPLAY {
        let mine = scores(keeping);
        let mut line = format!("{} |", keeping.name());
        for ((figure, level, difference), (their_mean, their_difference)) in measures.into_iter().zip(cells) {
            let sessions = corpus.trajectories().iter().filter(swept_there).map(|(source, _)| source.session);
            let figures: Vec<_> = sessions
                .zip(base.iter().zip(&mine))
                .map(|(session, (base, mine))| {
                    (session, base.as_ref().and_then(figure), mine.as_ref().and_then(figure))
                })
                .collect();
            let row = compare(&figures).expect("some traces have figures");
            let (mean, mine) = (row.mean * 100.0, row.difference.mean * 100.0);
            line += &format!(" {their_mean:.1} ({their_difference:+.1}) | {mean:.1} ({mine:+.1}) |");
            if (mean - their_mean).abs() > level || (mine - their_difference).abs() > difference {
                wrong.push((keeping.name(), mean, their_mean));
            }
        }
        let swept: Vec<&ReplayScore> = mine.iter().flatten().collect();
        let mean =
            |figure: fn(&ReplayScore) -> f64| swept.iter().map(|score| figure(score)).sum::<f64>() / swept.len() as f64;
        let my_sweeps = mean(|score| f64::from(score.sweeps));
        let my_rewritten = mean(|score| score.rewritten_words as f64);
        println!(
            "{line} {sweeps:.2} | {my_sweeps:.2} | {rewritten} | {my_rewritten:.0} | {dropped:.2} / {in_view:.2} | {:.2} / {:.2}",
            mean(|score| f64::from(score.rereads.of_dropped)),
            mean(|score| f64::from(score.rereads.in_view))
        );
        assert!((my_rewritten / rewritten as f64 - 1.0).abs() < 0.08, "{}: {my_rewritten}", keeping.name());
        let is_exact = !matches!(keeping, Keeping::HeadAndTail | Keeping::Random);
        assert!((my_sweeps - sweeps).abs() < if is_exact { 0.006 } else { 0.2 }, "{}: {my_sweeps}", keeping.name());
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn hindsight_is_on_top_and_keeping_all_loses_nothing() {
    let Some(folder) = traces() else { return };
    for (source, evidence) in corpus(&folder).trajectories() {
        for keeping in Keeping::ALL {
            let all = score(evidence, keeping, 100);
            // Clearing and masking keep what they keep, however much would fit.
            if !matches!(keeping, Keeping::ClearAllButThree | Keeping::MaskAllButTen) {
                for share in [all.quoted, all.messages, all.values, all.edits].into_iter().flatten() {
                    assert!((share - 1.0).abs() < 1e-9, "{}: {}", source.trace, keeping.name());
                }
            }
            let (best, other) = (score(evidence, Keeping::HindsightBlocks, 20), score(evidence, keeping, 20));
            if let (Some(best), Some(other)) = (best.quoted, other.quoted) {
                assert!(best + 1e-9 >= other, "{}: {} {other} over {best}", source.trace, keeping.name());
            }
        }
    }
}
