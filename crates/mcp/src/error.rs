//! What can go wrong while a server starts or runs?

use std::{io, net::SocketAddr};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        why: io::Error,
    },
    /// The address can be reached from other machines, and whoever reaches the server reads the whole archive.
    #[error("{address} can be reached from other machines, and nothing here asks who is calling")]
    NotLocal {
        /// The address.
        address: SocketAddr,
    },
    /// The client did not open the conversation as the protocol says.
    #[error("the client did not begin as the protocol says: {why}")]
    Handshake {
        /// What came instead.
        why: String,
    },
    /// The system did not give what the server needs to run.
    #[error("the server cannot run: {why}")]
    Runtime {
        /// What the system says.
        why: io::Error,
    },
}
