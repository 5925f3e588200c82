//! What reaches an upstream through the proxy, what reaches the client, and what happens when either breaks?
//!
//! Both ends are written here on bare sockets, so that every byte is seen and every break can be made.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

mod wire;
mod upstream;
mod place;
mod bodies;
mod forwarding;
mod judging;
mod remembering;
mod growing;
mod failing;
mod crowding;
mod seeing;
mod versions;
mod installing;
mod model_server;
mod faults;
mod clients;
mod agents;
