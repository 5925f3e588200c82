//! `liveset search`: which originals hold these words, and which call gave each.

use liveset::Archive as _;
use liveset_archive::{Hit, Query, one_line};
use serde_json::json;

use crate::{args::Search, failure::Failure, output, setup};

pub(crate) fn run(args: &Search) -> Result<u8, Failure> {
    let archive = setup::existing_archive(args.archive.archive.as_deref())?;
    let mut query = Query::new(args.words.join(" "));
    query.session = args.session.clone();
    query.limit = args.limit;
    let hits = archive.search(&query)?;
    if args.json {
        output::text(&as_json(&hits)?)?;
    } else if hits.is_empty() {
        output::note("nothing holds all of these words\n");
    } else {
        output::text(&hits.iter().map(as_text).collect::<String>())?;
    }
    Ok(0)
}

fn as_text(hit: &Hit) -> String {
    let name = hit.source.name();
    let name = if name.is_empty() { "tool".to_owned() } else { one_line(&name) };
    match hit.line {
        0 => format!("{}  {name}, {} lines\n", hit.id, hit.lines),
        line => format!("{}  {name}, line {line} of {}\n    {}\n", hit.id, hit.lines, one_line(hit.text.trim())),
    }
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
