//! How large is each item of a body, as it arrived? For reports that people read.
//!
//! Taken while a body is compacted, so that nothing is counted twice; decides nothing.

use liveset_engine::{
    tools::CallName,
    transcript::{Item, ItemIdx, ItemKind},
};
use liveset_tokens::{CountCache, Tokens};

use crate::{compact::Liveset, compaction::Compaction, error::Result, reading::Reading};

/// The sizes of a body's items, as they arrived.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Sizes {
    /// Size of the tools and of the request itself.
    pub tools_tokens: Tokens,
    /// Every item in order.
    pub items: Vec<ItemSize>,
}

/// One item of a body and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ItemSize {
    /// What it is.
    pub kind: ItemKind,
    /// Of calls, results and their parts: the tool's name.
    pub tool: Option<String>,
    /// Of calls, results and their parts: the call's own words.
    pub label: String,
    /// Its size.
    pub tokens: Tokens,
}

impl Liveset {
    /// Compacts a request body and tells the size of each of its items, all counted once.
    ///
    /// ```
    /// use liveset::{Liveset, Policy};
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    /// let (compaction, sizes) = Liveset::new(Policy::default()).compact_with_sizes(body)?;
    /// let sum = sizes.tools_tokens.0 + sizes.items.iter().map(|item| item.tokens.0).sum::<u64>();
    /// assert_eq!(sum, compaction.report().tokens.before);
    /// # Ok::<(), liveset::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Liveset::compact`].
    pub fn compact_with_sizes<'b>(&self, body: &'b [u8]) -> Result<(Compaction<'b>, Sizes)> {
        let mut sizes = Sizes::default();
        let look = |reading: &Reading<'_, 'b>| sizes = Sizes::of(reading);
        let (compaction, _) = self.run(body, &mut CountCache::default(), look, |_| Default::default())?;
        Ok((compaction, sizes))
    }
}

impl Sizes {
    fn of(reading: &Reading<'_, '_>) -> Self {
        let items = reading.transcript.items.iter().enumerate().map(|(at, item)| {
            let name = name(reading, item);
            ItemSize {
                kind: item.kind,
                label: name.as_ref().map(|name| name.label.clone()).unwrap_or_default(),
                tool: name.map(|name| name.tool),
                tokens: reading.counts.item(ItemIdx(u32::try_from(at).unwrap_or(u32::MAX))),
            }
        });
        Self { tools_tokens: reading.counts.request(), items: items.collect() }
    }
}

/// Names the call that an item is, answers, or is a part of the answer to.
fn name(reading: &Reading<'_, '_>, item: &Item) -> Option<CallName> {
    let transcript = reading.transcript;
    let at = |idx: ItemIdx| transcript.items.get(idx.at());
    let result = item.within.and_then(at).unwrap_or(item);
    let answered = result.answer().and_then(|answer| answer.call).and_then(at);
    let call = item.call().or_else(|| answered.and_then(Item::call));
    (call.is_some() || result.kind == ItemKind::ToolResult).then(|| CallName::of(transcript, call))
}
