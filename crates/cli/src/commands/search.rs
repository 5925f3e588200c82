//! `liveset search`: which originals hold these words, and which call gave each.

use liveset_archive::{Hit, Query};
use serde_json::json;

use crate::{args::Search, failure::Failure, output, setup};

pub(crate) fn run(args: &Search) -> Result<u8, Failure> {
    let archive = args.scope.of(setup::existing_archive(args.archive.archive.as_deref())?);
    let mut query = Query::new(args.words.join(" "));
    query.limit = args.limit;
    let found = archive.search_and_index(&query)?;
    let hits = &found.hits;
    if args.json {
        output::text(&as_json(hits)?)?;
    } else if !hits.is_empty() {
        output::text(&hits.iter().map(Hit::told).collect::<String>())?;
    } else if found.not_searched.is_nothing() {
        output::note("nothing holds all of these words\n");
    } else {
        output::note("nothing that was searched holds all of these words\n");
    }
    if let Some(told) = found.not_searched.told() {
        let hint = "name a session with --session, or whole words; `liveset archive verify` tells of damage";
        output::note(&format!("note: {told}\nhint: {hint}\n"));
    }
    Ok(0)
}

fn as_json(hits: &[Hit]) -> Result<String, Failure> {
    let rows: Vec<_> = hits
        .iter()
        .map(|hit| {
            json!({"id": hit.id, "tool": hit.source.tool, "label": hit.source.label, "session": hit.session,
                "lines": hit.lines, "line": hit.line, "text": hit.text})
        })
        .collect();
    Ok(serde_json::to_string_pretty(&rows).map_err(Failure::usage)? + "\n")
}
