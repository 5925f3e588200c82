//! What does an agent get for words? Ids of originals that hold them, with the call and the line of each.

use liveset_archive::{Hit, MAX_HITS, Query, SqliteArchive, read_session};

use crate::{
    arguments::SearchArguments,
    listing::{Answer, listed},
};

/// Answers a call of `search`.
pub(crate) fn answer(archive: &SqliteArchive, arguments: SearchArguments) -> Answer {
    let mut query = Query::new(arguments.query);
    query.session = arguments.session.as_deref().map(read_session);
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

#[cfg(test)]
mod tests {
    use liveset_archive::{Archive as _, Release};

    use super::*;

    #[test]
    fn the_session_without_a_name_is_asked_for_as_lists_name_it() {
        let folder = tempfile::tempdir().unwrap();
        let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
        for (number, session) in [("0f", ""), ("1f", "s")] {
            let text = b"a needle".to_vec();
            let mut release = Release::new(session.as_bytes(), vec![1], vec![(number.repeat(16), text)]);
            release.session = session.to_owned();
            archive.put(&release).unwrap();
        }
        let found = |session: &str| {
            let asked = format!("{{\"query\":\"needle\",\"session\":\"{session}\"}}");
            answer(&archive, serde_json::from_str(&asked).unwrap()).text
        };
        for (session, number) in [("-", "0f"), ("", "0f"), ("s", "1f")] {
            let text = found(session);
            assert!(text.starts_with(&number.repeat(16)) && text.matches("needle").count() == 1, "{session}: {text}");
        }
    }
}
