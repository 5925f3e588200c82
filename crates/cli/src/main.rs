//! The command line of Liveset.
fn main() {}
