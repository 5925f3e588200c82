//! Which edits does a body need? From items, counts and policy to a list of edits.

pub mod passages;
pub mod score;
