//! The words of `liveset recall`, `liveset search` and `liveset archive`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use liveset::recall::{DEFAULT_CONTEXT, line_range};
use liveset_archive::{DEFAULT_HITS, ID_DIGITS, MAX_HITS, Scope, SqliteArchive, read_id, read_session};

const RECALL_EXAMPLES: &str = "Examples:
  liveset recall 0f3c5e0d9a1b2c3d4e5f60718293a4b5
  liveset recall 0f3c5e0d9a1b2c3d4e5f60718293a4b5 --outline
  liveset recall 0f3c5e0d9a1b2c3d4e5f60718293a4b5 --lines 120-180
  liveset recall 0f3c5e0d9a1b2c3d4e5f60718293a4b5 --grep 'fn parse' --context 3

The whole original is written as it was, and what it is to standard error; a part says first which part it is.";

const SEARCH_EXAMPLES: &str = "Examples:
  liveset search parse_header
  liveset search connection reset --limit 3
  liveset search src/net/pool.rs --json | jq -r '.[].id'

Finds originals that hold all the words: as words, as parts of identifiers, or inside words.";

const LS_EXAMPLES: &str = "Examples:
  liveset archive ls
  liveset archive ls --json | jq '.[].session'";

const GC_EXAMPLES: &str = "Examples:
  liveset archive gc --to 2000000000     what no living conversation points at goes, longest unused first
  liveset archive gc --to 0              all of that
  liveset archive gc --to 0 --everything";

const VERIFY_EXAMPLES: &str = "Examples:
  liveset archive verify

Exits 1 when something is damaged.";

const PURGE_EXAMPLES: &str = "Examples:
  liveset archive purge --session 0f3c5e0d9a1b2c3d4e5f60718293a4b5
  liveset archive purge --id 0f3c5e0d9a1b2c3d4e5f60718293a4b5

What is purged is overwritten. Bodies that were made from it can no longer be restored.";

const EXPORT_EXAMPLES: &str = "Examples:
  liveset archive export backup.liveset";

const IMPORT_EXAMPLES: &str = "Examples:
  liveset archive import backup.liveset";

/// Which archive is meant.
#[derive(Args, Debug)]
pub(crate) struct ArchiveArgs {
    /// The archive [default: the one of this user, where `compact` stores]
    #[arg(long, value_name = "PATH")]
    pub(crate) archive: Option<PathBuf>,
}

/// Whose originals are looked at.
#[derive(Args, Debug)]
pub(crate) struct ScopeArgs {
    /// Only what this session stored; `archive ls` names them
    #[arg(long, value_name = "NAME", value_parser = session)]
    pub(crate) session: Option<String>,
    /// Sessions are a border: without the name of one nothing is answered, and what another stored is as if it never was
    #[arg(long, requires = "session")]
    pub(crate) strict_sessions: bool,
}

impl ScopeArgs {
    /// A handle that sees no more than was asked for.
    pub(crate) fn of(&self, archive: SqliteArchive) -> SqliteArchive {
        match &self.session {
            None => archive,
            Some(session) => archive.within(Scope::default().strictly(session)),
        }
    }
}

/// Reads a session as `archive ls` names it.
#[expect(clippy::unnecessary_wraps, reason = "a value parser may refuse")]
fn session(name: &str) -> Result<String, String> {
    Ok(read_session(name))
}

/// Reads an id as reports, tombstones and `search` name it.
pub(crate) fn content_id(text: &str) -> Result<String, String> {
    read_id(text).ok_or_else(|| format!("an id has {ID_DIGITS} hexadecimal digits"))
}

/// Arguments of `recall`.
#[derive(Args, Debug)]
#[command(after_help = RECALL_EXAMPLES)]
pub(crate) struct Recall {
    /// Id of the original: 32 digits, as reports, tombstones and `search` name it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Lines around each match of --grep
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_CONTEXT, requires = "grep")]
    pub(crate) context: usize,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}

/// Which part is asked for; nothing means all of it.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct ViewArgs {
    /// What it holds, coarse first: headings, signatures, keys, verdicts, levels, columns
    #[arg(long)]
    pub(crate) outline: bool,
    /// These lines, from 1
    #[arg(long, value_name = "FIRST-LAST", value_parser = lines)]
    pub(crate) lines: Option<(usize, usize)>,
    /// The lines in which this regular expression is found, with their numbers
    #[arg(long, value_name = "PATTERN")]
    pub(crate) grep: Option<String>,
    /// The first lines
    #[arg(long, value_name = "COUNT")]
    pub(crate) head: Option<usize>,
    /// The last lines
    #[arg(long, value_name = "COUNT")]
    pub(crate) tail: Option<usize>,
}

/// Reads `12-40`, `12-` or `12`.
fn lines(text: &str) -> Result<(usize, usize), String> {
    line_range(text).ok_or_else(|| "lines are FIRST-LAST, such as 12-40, 12- or 12".to_owned())
}

/// Arguments of `search`.
#[derive(Args, Debug)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct Search {
    /// Words that an original holds, all of them
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// The most hits
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_HITS, value_parser = limit)]
    pub(crate) limit: usize,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}

fn limit(text: &str) -> Result<usize, String> {
    let limit = text.parse().ok().filter(|limit| (1..=MAX_HITS).contains(limit));
    limit.ok_or_else(|| format!("a search gives 1 to {MAX_HITS} hits"))
}

/// What to do with an archive.
#[derive(Debug, Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Lists the sessions in the archive, newest first
    Ls(ArchiveLs),
    /// Makes room: removes what was used longest ago
    Gc(ArchiveGc),
    /// Reads everything and says what is damaged
    Verify(ArchiveVerify),
    /// Removes a session or an original for good
    Purge(ArchivePurge),
    /// Copies everything into a new archive
    Export(ArchiveExport),
    /// Copies everything from another archive into this one
    Import(ArchiveImport),
}

/// Arguments of `archive ls`.
#[derive(Args, Debug)]
#[command(after_help = LS_EXAMPLES)]
pub(crate) struct ArchiveLs {
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}

/// Arguments of `archive gc`.
#[derive(Args, Debug)]
#[command(after_help = GC_EXAMPLES)]
pub(crate) struct ArchiveGc {
    /// Stop when no more than this is in use
    #[arg(long, value_name = "BYTES")]
    pub(crate) to: u64,
    /// Take also what living conversations point at; they cannot be recalled or restored then
    #[arg(long)]
    pub(crate) everything: bool,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}

/// Arguments of `archive verify`.
#[derive(Args, Debug)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct ArchiveVerify {
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}

/// Arguments of `archive purge`.
#[derive(Args, Debug)]
#[command(after_help = PURGE_EXAMPLES)]
#[group(id = "what", required = true, multiple = false, args = ["session", "id"])]
pub(crate) struct ArchivePurge {
    /// A session with everything that no other session holds
    #[arg(long, value_name = "NAME", value_parser = session)]
    pub(crate) session: Option<String>,
    /// One original, and the manifests of every session that held it
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}

/// Arguments of `archive export`.
#[derive(Args, Debug)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ArchiveExport {
    /// The new archive
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}

/// Arguments of `archive import`.
#[derive(Args, Debug)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ArchiveImport {
    /// An archive that `export` or `compact` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) archive: ArchiveArgs,
}
