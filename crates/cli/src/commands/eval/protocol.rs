//! `liveset eval protocol`: what did a strategy cost the agents of two folders of traces?

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use liveset::WireFormat;
use liveset_archive::shown;
use liveset_eval::protocol::{Comparison, Cost, CostClasses, RunPoint, pair};
use liveset_traces::{Detection, Trace, detect};

use crate::{args::EvalProtocol, failure::Failure, input, output};

/// The file of a folder that says what came of each run.
const OUTCOMES: &str = "outcomes.csv";

pub(crate) fn run(args: &EvalProtocol) -> Result<u8, Failure> {
    let classes = CostClasses::new(args.class.iter().cloned());
    let folders = [Some(&args.before), Some(&args.after), args.restored.as_ref()];
    let runs: Result<Vec<_>, Failure> = folders.into_iter().flatten().map(|path| folder(path, &classes)).collect();
    let paired = pair(runs?);
    let Some(comparison) = Comparison::of(&paired) else {
        let why = paired.refused.first().map(|(name, why)| format!(": `{name}` {why}")).unwrap_or_default();
        return Err(Failure::usage(format_args!("no two runs belong together{why}")).hint(format!(
            "runs are paired by file name, and `{OUTCOMES}` in each folder has a line `FILE,COMPLETION` for each"
        )));
    };
    output::text(&comparison.text(&paired)).map(|()| 0)
}

/// Reads every trace of a folder.
fn folder(path: &Path, classes: &CostClasses) -> Result<Vec<RunPoint>, Failure> {
    let outcomes = outcomes(&path.join(OUTCOMES))?;
    let entries = fs::read_dir(path).map_err(|error| Failure::reading(path, &error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.retain(|file| file.is_file() && file.file_name().is_some_and(|name| name != OUTCOMES));
    files.sort();
    files.iter().map(|file| one(file, &outcomes, classes)).collect()
}

fn one(file: &Path, outcomes: &BTreeMap<String, Outcome>, classes: &CostClasses) -> Result<RunPoint, Failure> {
    let (name, bytes) = input::bytes(Some(file))?;
    let bodies = bodies(&bytes).map_err(|failure| failure.in_file(&name))?;
    let cost = Cost::of(&bodies, classes).map_err(|error| Failure::usage(error).in_file(&name))?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let outcome = outcomes.get(&stem).copied().unwrap_or_default();
    Ok(RunPoint { name: stem, completion: outcome.completion, horizon: outcome.horizon, cost })
}

/// Gives the bodies of a trace's main conversation, one for each stretch between its own compactions.
fn bodies(bytes: &[u8]) -> Result<Vec<(WireFormat, Vec<u8>)>, Failure> {
    let Detection::Trace(format) = detect(bytes) else {
        return Err(Failure::usage("no trace that is known by its shape").hint("`liveset inspect FILE` says more"));
    };
    let trace = Trace::read(format, bytes).map_err(Failure::usage)?;
    let main = trace.agent("main").or_else(|| trace.conversations().first());
    let Some(main) = main else { return Err(Failure::usage("the trace holds no conversation")) };
    let format = WireFormat::ALL.into_iter().find(|format| format.name() == main.wire_format());
    let Some(format) = format else { return Err(Failure::usage("the trace is of no known wire format")) };
    (0..main.histories()).map(|history| Ok((format, main.history(history).map_err(Failure::usage)?))).collect()
}

/// What came of a run.
#[derive(Clone, Copy, Default)]
struct Outcome {
    completion: Option<f64>,
    horizon: Option<u64>,
}

/// Reads `FILE,COMPLETION[,TURNS]` line by line; a heading is no number, and is passed over.
fn outcomes(path: &Path) -> Result<BTreeMap<String, Outcome>, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::usage(format_args!("cannot read `{}`: it is not there", shown(path)))
                .hint("outcome and cost go together: a line `FILE,COMPLETION` for each run, completion in percent"));
        }
        Err(error) => return Err(Failure::reading(path, &error)),
    };
    let mut outcomes = BTreeMap::new();
    for line in text.lines() {
        let mut cells = line.split(',').map(str::trim);
        let Some(name) = cells.next() else { continue };
        let completion = cells.next().and_then(|cell| cell.parse().ok());
        let horizon = cells.next().and_then(|cell| cell.parse().ok());
        let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        outcomes.insert(stem, Outcome { completion, horizon });
    }
    Ok(outcomes)
}
