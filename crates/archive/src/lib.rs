//! Where are the originals? A durable store of what was cut.
//!
//! Compaction may take text out of a request body only because the text can be had back. An [`Archive`] keeps each
//! cut original under its content id, and the manifest of each released body under the hash of that body. A `put`
//! that returned has survived a power cut; only then may the body be handed out.
//!
//! - [`FileArchive`]: one append-only file, safe between threads and processes.
//! - [`MemoryArchive`]: the same behaviour without durability, for tests.
//!
//! This crate never reads what it stores, never changes or removes a stored record, and decides nothing about what
//! is cut. It is the only crate that can lose data, so it does little else than not to.
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
mod error;
mod release;
mod archive;
mod batch;
mod memory;
mod record;
mod index;
mod folder;
mod file;

pub use archive::Archive;
pub use batch::{MAX_RECORD_BYTES, MAX_RELEASE_RECORDS};
pub use error::{Error, Result};
pub use file::{FileArchive, MAX_LISTED_DAMAGE, Scan};
pub use index::{MAX_ARCHIVE_BYTES, MAX_RECORDS};
pub use memory::MemoryArchive;
pub use release::{Release, output_hash};
pub use shown::{one_line, shown};
