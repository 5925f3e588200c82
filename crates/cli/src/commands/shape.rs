//! `liveset shape`: one tool's output in, what is sent instead of it out.

use liveset::{Liveset, Policy, RecallOffer, RecallRoute, ShapePin, ShapeRequest, Shaped, Strategy, ToolOutcome};
use liveset_engine::report::grouped;
use serde_json::json;

use crate::{args::Shape, failure::Failure, input, output, setup};

pub(crate) fn run(args: &Shape) -> Result<u8, Failure> {
    let place = match args.archive.no_archive {
        true => None,
        false => Some(setup::archive_place(args.archive.archive.as_deref())?),
    };
    output::apart(&[("--archive", place.as_deref()), ("--output", args.output.as_deref())])?;
    let (name, bytes) = input::bytes_or_nothing(args.file.as_deref())?;
    let policy = policy(args)?;
    let mut liveset = Liveset::new(policy.clone());
    if let Some(model) = &args.model {
        liveset = liveset.with_model(model);
    }
    if args.archive.strict_sessions {
        liveset = liveset.with_strict_sessions();
    }
    if let Some(place) = &place {
        liveset = liveset.with_archive(setup::archive_by_route(place, args.archive.archive_capacity, &policy)?);
    }
    let shaped =
        liveset.shape_result(&request(args, &policy, &bytes)).map_err(|error| Failure::from(error).in_file(&name))?;
    output::note(&told(&shaped));
    match shaped.edit() {
        Some(_) => output::bytes(args.output.as_deref(), shaped.text.as_bytes())?,
        // What is not shaped leaves as it came, also where it is no UTF-8.
        None => output::bytes(args.output.as_deref(), &bytes)?,
    }
    Ok(0)
}

/// The policy of the file, flags laid over every row that shapes anything.
fn policy(args: &Shape) -> Result<Policy, Failure> {
    let mut policy = setup::file_policy(args.policy.as_deref())?;
    policy.recall_route = args.recall_route.clone().unwrap_or(policy.recall_route);
    let intake = &mut policy.intake;
    let has_limit = args.max_chars.is_some() || args.max_lines.is_some();
    if has_limit && intake.strategy.is_none_or(|strategy| strategy == Strategy::Keep) {
        intake.strategy = Some(Strategy::ByType);
    }
    intake.strategy = args.strategy.or(intake.strategy);
    intake.max_chars = args.max_chars.or(intake.max_chars);
    intake.max_lines = args.max_lines.or(intake.max_lines);
    for row in intake.tools.values_mut().chain(intake.files.values_mut()) {
        row.strategy = args.strategy.or(row.strategy);
        if row.strategy != Some(Strategy::Keep) {
            row.max_chars = args.max_chars.or(row.max_chars);
            row.max_lines = args.max_lines.or(row.max_lines);
        }
    }
    Ok(policy.checked()?)
}

fn request(args: &Shape, policy: &Policy, bytes: &[u8]) -> ShapeRequest {
    let mut request = ShapeRequest::new(args.tool.clone(), String::from_utf8_lossy(bytes));
    let by_path = args.path.as_ref().map(|path| json!({ "path": path }).to_string());
    request.arguments = args.arguments.clone().or(by_path);
    request.pin = if args.pin { ShapePin::Pinned } else { ShapePin::Free };
    request.outcome = if args.failed { ToolOutcome::Failed } else { ToolOutcome::Unsaid };
    // Whoever sets this route offers the tool: there is no body here to look at.
    request.recall = if policy.recall_route == RecallRoute::Tool { RecallOffer::Offered } else { RecallOffer::Absent };
    request
}

/// Says in a line what was done, and each warning.
fn told(shaped: &Shaped) -> String {
    let mut out = match shaped.edit() {
        None => "left as it is: under every limit, pinned, or nothing worth leaving out\n".to_owned(),
        Some(edit) => format!(
            "{}: {} to {} tokens; original {}\n",
            edit.reason,
            grouped(edit.tokens_before),
            grouped(edit.tokens_after),
            edit.archive_id
        ),
    };
    for warning in &shaped.report.warnings {
        out.push_str(&format!("warning: {} ({})\n", warning.text, warning.code));
    }
    out
}
