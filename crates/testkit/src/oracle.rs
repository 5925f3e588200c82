//! How do the law checks read a body? Plain and slow, with code of their own.

pub(crate) mod decode;
pub(crate) mod raw;
pub(crate) mod view;
mod view_chat;
mod view_messages;
mod view_responses;
