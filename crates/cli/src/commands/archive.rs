//! `liveset archive`: what is stored, is it whole, and what may leave.

use std::path::Path;

use liveset_archive::{Copied, Purge, Reach, SessionRow, SqliteArchive, session_shown, shown};
use liveset_engine::report::grouped;
use serde_json::json;

use crate::{
    args::{ArchiveCommand, ArchiveExport, ArchiveGc, ArchiveImport, ArchiveLs, ArchivePurge, ArchiveVerify},
    commands::recall::content_id,
    failure::{DEFECTS, Failure},
    output, setup,
};

/// Milliseconds of a minute and of a day.
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 1_440 * MINUTE_MS;

pub(crate) fn run(command: &ArchiveCommand) -> Result<u8, Failure> {
    match command {
        ArchiveCommand::Ls(args) => ls(args),
        ArchiveCommand::Gc(args) => gc(args),
        ArchiveCommand::Verify(args) => verify(args),
        ArchiveCommand::Purge(args) => purge(args),
        ArchiveCommand::Export(args) => export(args),
        ArchiveCommand::Import(args) => import(args),
    }
}

fn ls(args: &ArchiveLs) -> Result<u8, Failure> {
    let archive = setup::existing_archive(args.archive.archive.as_deref())?;
    let sessions = archive.sessions()?;
    if args.json {
        let rows: Vec<_> = sessions
            .iter()
            .map(|row| {
                json!({"session": row.session, "originals": row.originals, "bytes": row.bytes, "bodies": row.bodies,
                    "used_at": row.used_at})
            })
            .collect();
        output::text(&(serde_json::to_string_pretty(&rows).map_err(Failure::usage)? + "\n"))?;
        return Ok(0);
    }
    let mut out =
        format!("{:<32}  {:>9}  {:>14}  {:>6}  {}\n", "session", "originals", "bytes", "bodies", "last used (UTC)");
    out.extend(sessions.iter().map(line));
    output::text(&out)?;
    Ok(0)
}

fn line(row: &SessionRow) -> String {
    let session = session_shown(&row.session);
    let (originals, bytes, bodies) = (grouped(row.originals), grouped(row.bytes), grouped(row.bodies));
    format!("{session:<32}  {originals:>9}  {bytes:>14}  {bodies:>6}  {}\n", minute(row.used_at))
}

/// Writes a time as `2024-02-29 13:07`.
fn minute(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS) / MINUTE_MS);
    // Years that begin in March end with the leap day; 400 of them have a fixed number of days.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + era * 400 + i64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", rest / 60, rest % 60)
}

fn gc(args: &ArchiveGc) -> Result<u8, Failure> {
    let archive = setup::existing_archive(args.archive.archive.as_deref())?;
    let reach = if args.everything { Reach::Everything } else { Reach::Unused };
    let evicted = archive.evict(args.to, reach)?;
    let live = match evicted.live_originals {
        0 => String::new(),
        live => format!(", {} of them in use by living conversations", grouped(live)),
    };
    let left = archive.scan()?;
    output::text(&format!(
        "removed {} originals{live} and {} manifests; {} originals in {} bytes are left\n",
        grouped(evicted.originals),
        grouped(evicted.manifests),
        grouped(left.originals),
        grouped(left.bytes)
    ))?;
    Ok(0)
}

fn verify(args: &ArchiveVerify) -> Result<u8, Failure> {
    let archive = setup::existing_archive(args.archive.archive.as_deref())?;
    let scan = archive.scan()?;
    let mut out = String::new();
    for place in &scan.places {
        out.push_str(&format!("damaged: {place}\n"));
    }
    let unlisted = scan.damaged.saturating_sub(scan.places.len() as u64);
    if unlisted > 0 {
        out.push_str(&format!("damaged: {} more\n", grouped(unlisted)));
    }
    if !scan.is_structure_sound {
        out.push_str("damaged: the structure of the file\n");
    }
    let verdict = if scan.is_sound() { "all whole" } else { "not whole" };
    out.push_str(&format!(
        "{} originals and {} manifests in {} bytes, {verdict}\n",
        grouped(scan.originals),
        grouped(scan.manifests),
        grouped(scan.bytes)
    ));
    output::text(&out)?;
    Ok(if scan.is_sound() { 0 } else { DEFECTS })
}

fn purge(args: &ArchivePurge) -> Result<u8, Failure> {
    let archive = setup::existing_archive(args.archive.archive.as_deref())?;
    let what = match (&args.session, &args.id) {
        (Some(session), _) => Purge::Session(session.clone()),
        (None, Some(id)) => Purge::Id(content_id(id)?),
        // The parser asks for one of them.
        (None, None) => return Err(Failure::usage("nothing to purge is named")),
    };
    let purged = archive.purge(&what)?;
    if !purged.is_known {
        return Err(match &what {
            Purge::Id(id) => Failure::store(format_args!("no original `{id}` here, so nothing was purged"))
                .hint("`liveset search WORDS` finds originals and names their ids"),
            Purge::Session(name) => {
                Failure::store(format_args!("no session `{}` here, so nothing was purged", session_shown(name)))
                    .hint("`liveset archive ls` names the sessions; one that was purged is no longer among them")
            }
        });
    }
    output::text(&format!(
        "purged {} originals and {} manifests\n",
        grouped(purged.originals),
        grouped(purged.manifests)
    ))?;
    Ok(0)
}

fn export(args: &ArchiveExport) -> Result<u8, Failure> {
    let archive = setup::existing_archive(args.archive.archive.as_deref())?;
    if args.file.exists() {
        return Err(Failure::usage(format_args!("`{}` is there already", shown(&args.file)))
            .hint("name a new file; `archive import` adds to one that is there"));
    }
    let copy = setup::archive(&args.file)?;
    told(&archive.copy_to(&copy)?, &args.file)
}

fn import(args: &ArchiveImport) -> Result<u8, Failure> {
    let other = setup::existing_archive(Some(&args.file))?;
    let own = setup::archive_place(args.archive.archive.as_deref())?;
    output::apart(&[("FILE", Some(&args.file)), ("--archive", Some(&own))])?;
    let archive: &SqliteArchive = &*setup::archive(&own)?;
    told(&other.copy_to(archive)?, &own)
}

/// Damaged records stay behind: what came over is whole, and the exit code says that it is not all.
fn told(copied: &Copied, to: &Path) -> Result<u8, Failure> {
    let damaged = match copied.damaged {
        0 => String::new(),
        damaged => format!("; {} damaged records stayed behind", grouped(damaged)),
    };
    output::text(&format!(
        "{} sessions, {} originals, {} manifests and {} summaries to `{}`{damaged}\n",
        grouped(copied.sessions),
        grouped(copied.originals),
        grouped(copied.manifests),
        grouped(copied.summaries),
        shown(to)
    ))?;
    Ok(if copied.damaged == 0 { 0 } else { DEFECTS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_read_them() {
        let cases = [
            (0, "1970-01-01 00:00"),
            (-60_000, "1969-12-31 23:59"),
            (951_782_400_000, "2000-02-29 00:00"),
            (1_709_212_020_000, "2024-02-29 13:07"),
            (4_107_542_399_999, "2100-02-28 23:59"),
        ];
        for (ms, expected) in cases {
            assert_eq!(minute(ms), expected, "{ms}");
        }
    }
}
