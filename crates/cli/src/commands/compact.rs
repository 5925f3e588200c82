//! `liveset compact`: body or trace in, body out, report beside it.

use liveset_engine::report::Warning;

use crate::{
    args::{Compact, ReportFormat},
    failure::{CANNOT_FIT, Failure},
    input::Input,
    output,
    picture::{self, Paint},
    setup,
};

pub(crate) fn run(args: &Compact) -> Result<u8, Failure> {
    let input = Input::read(&args.input)?;
    let mut liveset = setup::liveset(&input, &args.input, &args.policy)?;
    if args.paranoid {
        liveset = setup::paranoid(liveset);
    }
    if let (Some(path), false) = (&args.archive, args.dry_run) {
        liveset = liveset.with_archive(setup::archive(path)?);
    }
    let compaction = liveset.compact(&input.body).map_err(|error| Failure::from(error).in_file(&input.name))?;
    let mut report = compaction.report().clone();
    report.fidelity = input.fidelity;
    report.warnings.extend(input.warnings.iter().map(|text| Warning::new("trace", text)));
    let text = match args.report_format {
        ReportFormat::Json => report.to_json() + "\n",
        ReportFormat::Text => {
            let paint = Paint::of(args.report.is_none() && output::colour(output::error_is_terminal()));
            let inspection = liveset.inspect(&input.body)?;
            let total = inspection.tokens.before;
            let mut text = picture::bars("where the tokens were", &picture::by_kind(&inspection), total, paint);
            text.push_str(&picture::bars("tool results by tool", &picture::by_tool(&inspection), total, paint));
            text.push('\n');
            text + &report.to_text()
        }
    };
    // The report goes first where it is a file: a body that is handed out has its report.
    match &args.report {
        Some(path) => output::bytes(Some(path), text.as_bytes())?,
        None => output::note(&text),
    }
    if compaction.fits() {
        if !args.dry_run {
            output::bytes(args.output.as_deref(), compaction.body())?;
        }
        return Ok(0);
    }
    if !args.best_effort {
        let hint = "a larger --window, a smaller --reserve, or --best-effort for the smallest lawful body";
        return Err(Failure::cannot_fit(&report.reason).in_file(&input.name).hint(hint));
    }
    if !args.dry_run {
        output::bytes(args.output.as_deref(), compaction.body())?;
    }
    Ok(CANNOT_FIT)
}
