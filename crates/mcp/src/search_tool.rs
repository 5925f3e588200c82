//! What does an agent get for words? Ids of originals that hold them, with the call and the line of each.

use liveset_archive::{Hit, MAX_HITS, Query, SqliteArchive};

use crate::{
    arguments::SearchArguments,
    listing::{Answer, listed},
};

/// Answers a call of `search`.
pub(crate) fn answer(archive: &SqliteArchive, arguments: SearchArguments) -> Answer {
    let mut query = Query::new(arguments.query);
    query.session = arguments.session;
    query.limit = arguments.limit.unwrap_or(query.limit).clamp(1, MAX_HITS);
    let found = match archive.search_and_index(&query) {
        Ok(found) => found,
        Err(error) => return Answer::error(error.to_string()),
    };
    let left_out = found.not_searched.told().map(|told| format!("[{told}]\n")).unwrap_or_default();
    if found.hits.is_empty() {
        return Answer::text(match left_out.is_empty() {
            true => "nothing that was pruned holds all of these words".to_owned(),
            false => format!("nothing that was searched holds all of these words\n{left_out}"),
        });
    }
    Answer::text(listed(found.hits.iter().map(Hit::told), "hits") + &left_out)
}
