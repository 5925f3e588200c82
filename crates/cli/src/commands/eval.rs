//! `liveset eval`: what does a cut cost the agent?

mod protocol;

use std::{fs, path::Path, sync::Mutex, time::Instant};

use liveset_eval::irbench::{MatrixOptions, Plan, Played, RunOptions, play, report, report::Report};

use crate::{
    args::{EvalCommand, EvalIrbench},
    failure::Failure,
    output,
};

/// Characters of the bar that shows how far a matrix is.
const BAR_CHARS: usize = 30;

pub(crate) fn run(command: &EvalCommand) -> Result<u8, Failure> {
    match command {
        EvalCommand::Irbench(args) => irbench(args),
        EvalCommand::Protocol(args) => protocol::run(args),
    }
}

fn irbench(args: &EvalIrbench) -> Result<u8, Failure> {
    let options = options(args);
    let plan = Plan::of(&options);
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
        // Before the first run, so that nothing that was seen can have changed it.
        write(folder, "plan.txt", &plan.text)?;
    }
    let progress = Progress::new();
    let played = play(&options, &|done, total| progress.show(done, total)).map_err(Failure::usage)?;
    progress.clear();
    let report = Report::of(&options, plan, &played);
    if let Some(folder) = &args.output {
        write_all(folder, &report, &played)?;
    }
    output::text(&report::text(&report))?;
    Ok(0)
}

fn options(args: &EvalIrbench) -> MatrixOptions {
    let mut options = MatrixOptions::default();
    options.seeds = args.seeds;
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok());
    options.threads = threads.map_or(1, std::num::NonZeroUsize::get);
    if !args.regime.is_empty() {
        options.regimes.clone_from(&args.regime);
    }
    if !args.condition.is_empty() {
        options.conditions.clone_from(&args.condition);
    }
    let mut run = RunOptions::default();
    run.profile = args.profile;
    run.turns = args.turns;
    options.run = run;
    options
}

fn write_all(folder: &Path, report: &Report, played: &[Played]) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(report).map_err(Failure::store)? + "\n";
    write(folder, "results.json", &json)?;
    write(folder, "results.csv", &report::results_csv(report))?;
    write(folder, "runs.csv", &report::runs_csv(played))?;
    write(folder, "turns.csv", &report::turns_csv(played))?;
    write(folder, "report.md", &report::markdown(report))?;
    write(folder, "report.html", &report::html(report))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    output::bytes(Some(&folder.join(name)), text.as_bytes())
}

/// A bar on a terminal; nothing where standard error is none.
struct Progress {
    is_shown: bool,
    /// When the bar was last drawn.
    drawn: Mutex<Option<Instant>>,
}

impl Progress {
    fn new() -> Self {
        Self { is_shown: output::error_is_terminal(), drawn: Mutex::new(None) }
    }

    fn show(&self, done: usize, total: usize) {
        if !self.is_shown {
            return;
        }
        let Ok(mut drawn) = self.drawn.lock() else { return };
        // Ten times a second is as fast as anybody reads.
        if drawn.is_some_and(|drawn| drawn.elapsed().as_millis() < 100) && done < total {
            return;
        }
        *drawn = Some(Instant::now());
        let filled = BAR_CHARS * done / total.max(1);
        output::note(&format!("\r{}{} {done} of {total} runs", "█".repeat(filled), "░".repeat(BAR_CHARS - filled)));
    }

    fn clear(&self) {
        if self.is_shown {
            output::note("\r\u{1b}[2K");
        }
    }
}
