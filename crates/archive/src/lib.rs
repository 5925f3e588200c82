//! Where are the originals? A durable store of what was cut.
//!
//! Compaction may take text out of a request body only because the text can be had back. An [`Archive`] keeps each
//! cut original under its content id, and the manifest of each released body under the hash of that body. A `put`
//! that returned has survived a power cut; only then may the body be handed out.
//!
//! - [`SqliteArchive`]: one SQLite file with full-text search, safe between threads and processes.
//! - [`MemoryArchive`]: the same behaviour without durability, for tests.
//!
//! This crate reads what it stores only to find words in it, never changes a stored text, removes one only when it is
//! full or asked to, and decides nothing about what is cut. It is the only crate that can lose data, so it does little
//! else than not to.
//!
//! ```
//! use liveset_archive::{Archive, MemoryArchive, Release};
//!
//! let archive = MemoryArchive::new();
//! let id = "0f".repeat(16);
//! let release = Release::new(b"the shorter body", b"manifest".to_vec(), vec![(id.clone(), b"a long log".to_vec())]);
//! archive.put(&release)?;
//! assert_eq!(archive.original(&id)?.as_deref(), Some(&b"a long log"[..]));
//! assert_eq!(archive.manifest(&release.output)?.as_deref(), Some(&b"manifest"[..]));
//! # Ok::<(), liveset_archive::Error>(())
//! ```

mod shown;
mod clock;
mod error;
mod scope;
mod session_name;
mod release;
mod lookup;
mod archive;
mod records;
mod memory;
mod packed;
mod folder;
mod sqlite;
mod spill;

pub use archive::Archive;
pub use clock::Clock;
pub use error::{Error, Result};
pub use lookup::{DEFAULT_HITS, Found, Gone, Hit, Kept, Lookup, MAX_HITS, NotSearched, Query, Removal};
pub use memory::MemoryArchive;
pub use records::{ID_DIGITS, MAX_RECORD_BYTES, MAX_RELEASE_RECORDS, read_id};
pub use release::{Release, Source, output_hash};
pub use scope::{Scope, Sessions};
pub use session_name::{read_session, session_shown};
pub use shown::{one_line, shown};
pub use spill::{Spill, Spilling};
pub use sqlite::{
    ContentRow, Copied, DEFAULT_CAPACITY_BYTES, DEFAULT_LIVE_MS, Event, Evicted, MAX_ARGUMENT_BYTES, MAX_EVENT_BYTES,
    MAX_LISTED_DAMAGE, MAX_SUMMARY_BYTES, Options, Purge, Purged, Reach, Scan, SessionMark, SessionPage, SessionRow,
    SqliteArchive,
};
