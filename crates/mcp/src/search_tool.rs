//! What does an agent get for words? Ids of originals that hold them, with the call and the line of each.

use liveset_archive::{Archive, MAX_HITS, Query, one_line};

use crate::{
    arguments::SearchArguments,
    listing::{Answer, listed, tool_name},
};

/// Answers a call of `search`.
pub(crate) fn answer(archive: &dyn Archive, arguments: SearchArguments) -> Answer {
    let mut query = Query::new(arguments.query);
    query.session = arguments.session;
    query.limit = arguments.limit.unwrap_or(query.limit).clamp(1, MAX_HITS);
    let hits = match archive.search(&query) {
        Ok(hits) => hits,
        Err(error) => return Answer::error(error.to_string()),
    };
    if hits.is_empty() {
        return Answer::text("nothing that was pruned holds all of these words".to_owned());
    }
    let rows = hits.iter().map(|hit| {
        let name = tool_name(&hit.source.name());
        match hit.line {
            0 => format!("{}  {name}, {} lines\n", hit.id, hit.lines),
            line => {
                format!("{}  {name}, line {line} of {}\n    {}\n", hit.id, hit.lines, one_line(hit.text.trim()))
            }
        }
    });
    Answer::text(listed(rows, "hits"))
}
