//! Which sessions are there, and what do they hold? As resources that a client can list and read.

use std::fmt::Write as _;

use liveset_archive::{ContentRow, SessionRow, SqliteArchive, one_line, session_shown};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::Resource;

use crate::listing::listed;

/// What every session's URI begins with.
const START: &str = "liveset://sessions/";
/// Sessions on one page of a list.
pub(crate) const PAGE: usize = 100;
/// Characters of a session's name that a list shows; its URI holds all.
const MAX_NAME_CHARS: usize = 100;
/// Calls of a session that are looked at: the newest ones.
const MAX_CALLS: usize = 2_000;

/// Gives the resource of a session.
pub(crate) fn resource(row: &SessionRow) -> Resource {
    let uri = format!("{START}{}", utf8_percent_encode(&row.session, NON_ALPHANUMERIC));
    let told = format!("{} originals of {} bytes, {} bodies", row.originals, row.bytes, row.bodies);
    let name: String = one_line(session_shown(&row.session)).chars().take(MAX_NAME_CHARS).collect();
    Resource::new(uri, name).with_description(told).with_mime_type("text/plain")
}

/// Reads the name of a session out of its URI.
pub(crate) fn name(uri: &str) -> Option<String> {
    let name = percent_decode_str(uri.strip_prefix(START)?).decode_utf8().ok()?;
    Some(name.into_owned())
}

/// Writes what a session holds: a line for each call, newest first. `None` where there is no such session.
pub(crate) fn text(archive: &SqliteArchive, session: &str) -> liveset_archive::Result<Option<String>> {
    let Some(row) = archive.session(session)? else { return Ok(None) };
    let calls = archive.contents(session, MAX_CALLS)?;
    let mut out =
        format!("{} originals of {} bytes, {} bodies. Ids are for `recall`.\n", row.originals, row.bytes, row.bodies);
    if calls.len() == MAX_CALLS {
        let _ = writeln!(out, "[the newest {MAX_CALLS} calls]");
    }
    // Newest first, so that a list that is too long leaves out what is oldest.
    out.push_str(&listed(calls.iter().rev().map(line), "calls before these"));
    Ok(Some(out))
}

fn line(call: &ContentRow) -> String {
    let gone = if call.is_removed { ", no longer here" } else { "" };
    format!("{}  {}, {} bytes{gone}\n", call.id, call.source.told(), call.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_survives_its_uri() {
        for session in ["", "0f3c", "a/b c%20", "ä€\n"] {
            let uri = format!("{START}{}", utf8_percent_encode(session, NON_ALPHANUMERIC));
            assert_eq!(name(&uri).as_deref(), Some(session));
        }
        assert_eq!(name("liveset://other/0f"), None);
        assert_eq!(name("liveset://sessions/%ff"), None);
    }
}
