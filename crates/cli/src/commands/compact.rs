//! `liveset compact`: body or trace in, body out, report beside it.

use std::path::{Path, PathBuf};

use liveset::{Compaction, Liveset, RecallRoute, Report};
use liveset_engine::report::Warning;

use crate::{
    args::{Compact, ReportFormat},
    failure::{CANNOT_FIT, Failure},
    input::Input,
    output,
    picture::Paint,
    setup, summary,
};

pub(crate) fn run(args: &Compact) -> Result<u8, Failure> {
    let place = match args.archive.no_archive {
        true => None,
        false => Some(setup::archive_place(args.archive.archive.as_deref())?),
    };
    check_places(args, place.as_deref())?;
    let input = Input::read(&args.input)?;
    let liveset = compactor(args, place.as_deref(), &input)?;
    let (compaction, sizes) = liveset.compact_with_sizes(&input.body).map_err(|error| input.failure(error))?;
    let mut report = report_of(&compaction, &input);
    if names_other_archive(args, &compaction)? {
        let text = "`liveset recall` looks in the archive of this user: an agent finds nothing there of what goes to --archive";
        report.warnings.push(Warning::new("route_to_other_archive", text));
    }
    let text = match args.report_format {
        ReportFormat::Json => report.to_json() + "\n",
        ReportFormat::Text => {
            let paint = Paint::of(args.report.is_none() && output::colour(output::error_is_terminal()));
            summary::draw(&report, &sizes, paint)
        }
    };
    // The report goes first: a body that is handed out has its report.
    match &args.report {
        Some(path) => output::bytes(Some(path), text.as_bytes())?,
        None => output::note(&text),
    }
    if (compaction.fits() || args.best_effort) && !args.dry_run {
        output::bytes(args.output.as_deref(), compaction.body())?;
    }
    match (compaction.fits(), args.best_effort) {
        (true, _) => Ok(0),
        // The report has said it already.
        (false, true) => Ok(CANNOT_FIT),
        // A report on standard error is JSON to its end.
        (false, false) if args.report.is_none() && args.report_format == ReportFormat::Json => Ok(CANNOT_FIT),
        (false, false) => {
            let hint = "a larger --window, a smaller --reserve, or --best-effort for the smallest lawful body";
            Err(Failure::cannot_fit(&report.reason).in_file(&input.name).hint(hint))
        }
    }
}

/// Refuses to let one file take what another is for, above all the archive.
fn check_places(args: &Compact, place: Option<&Path>) -> Result<(), Failure> {
    let body_to = args.output.as_deref().unwrap_or(Path::new("-"));
    let both_standard = args.report.as_deref().is_some_and(output::is_standard) && output::is_standard(body_to);
    if both_standard && !args.dry_run {
        return Err(Failure::usage("body and report would both go to standard output")
            .hint("name a file with -o or --report, or ask for the report alone with --dry-run"));
    }
    // SQLite keeps files of its own beside the archive.
    let beside = ["-wal", "-shm", "-journal"].map(|end| {
        place.map(|place| {
            let mut name = place.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        })
    });
    let mut places: Vec<(&str, Option<&Path>)> = vec![("--archive", place)];
    places.extend(beside.iter().map(|path| ("--archive", path.as_deref())));
    places.push(("--output", args.output.as_deref()));
    places.push(("--report", args.report.as_deref().filter(|path| !output::is_standard(path))));
    output::apart(&places)
}

fn compactor(args: &Compact, place: Option<&Path>, input: &Input) -> Result<Liveset, Failure> {
    let mut liveset = setup::liveset_with(input, &args.input, &args.policy, &args.summarizer)?;
    if args.dry_run {
        liveset = liveset.without_summarizer();
    }
    if args.paranoid {
        liveset = setup::paranoid(liveset);
    }
    if args.archive.strict_sessions {
        liveset = liveset.with_strict_sessions();
    }
    Ok(match (place, args.dry_run) {
        (None, _) => liveset,
        (Some(_), true) => setup::as_if_archived(liveset),
        (Some(path), false) => {
            let archive = setup::archive_for_run(path, args.archive.archive_capacity, &args.policy)?;
            liveset.with_archive(archive)
        }
    })
}

/// Says whether the body tells an agent to ask for originals where they are not.
fn names_other_archive(args: &Compact, compaction: &Compaction<'_>) -> Result<bool, Failure> {
    let is_other = args.archive.archive.is_some() && !compaction.report().edits.is_empty();
    Ok(is_other && setup::policy(&args.policy)?.recall_route == RecallRoute::Shell)
}

/// The report, with what only the importer knows.
fn report_of(compaction: &Compaction<'_>, input: &Input) -> Report {
    let mut report = compaction.report().clone();
    report.fidelity = input.fidelity;
    report.warnings.extend(input.warnings.iter().map(|text| Warning::new("trace", text)));
    report
}
