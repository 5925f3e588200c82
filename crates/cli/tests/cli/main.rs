//! What does a user of the binary see? Each test runs it as a process, in a folder of its own.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod program;
mod bodies;
mod help;
mod bad_usage;
mod bad_input;
mod compacting;
mod cannot_fit;
mod writing;
mod restoring;
mod recalling;
mod replaying;
mod serving;
mod proxying;
#[cfg(target_os = "linux")]
mod proxy_memory;
mod shaping;
mod archive_faults;
#[cfg(target_os = "linux")]
mod nth_write;
mod archives;
mod looking;
mod checking;
mod diffing;
mod policies;
mod doctoring;
mod evaluating;
mod installing;
mod traces;
mod trace_formats;
