//! Do the marks for Anthropic's prompt cache keep their rules? `wire-formats.md`, section 1, "Prompt caching".
//!
//! Sees marks in render order (tools, system, messages); never says where one would pay.

use super::code::Code;
use super::defect::Findings;
use super::reading::{Reading, is_blank};
use crate::json::{NodeIdx, Outline};

/// "≤4 `cache_control` marks".
const MAX_MARKS: usize = 4;

#[derive(Default)]
pub(super) struct Marks {
    count: usize,
    seen: Seen,
}

/// Whether a mark of five minutes came before.
#[derive(Default, PartialEq, Eq)]
enum Seen {
    #[default]
    LongOnly,
    Short,
}

impl Marks {
    /// Looks at `tools`, which has no nodes of its own.
    pub(super) fn tools(&mut self, reading: Reading<'_, '_>, found: &mut Findings) {
        let Some(tools) = reading.field(reading.outline.root(), "tools") else { return };
        let start = reading.offset(tools);
        let Ok(tools) = Outline::read_all(reading.outline.bytes(tools)) else { return };
        let tools = Reading::new(&tools);
        for tool in tools.elements(tools.outline.root()) {
            if let Some(mark) = tools.field(tool, "cache_control") {
                self.mark(start, start + tools.offset(mark), tools.word(mark, "ttl").as_ref(), found);
            }
        }
    }

    /// Looks at a block.
    pub(super) fn block(&mut self, reading: Reading<'_, '_>, block: NodeIdx, found: &mut Findings) {
        let Some(mark) = reading.field(block, "cache_control") else { return };
        let offset = reading.offset(mark);
        self.mark(offset, offset, reading.word(mark, "ttl").as_ref(), found);
        match reading.word(block, "type").as_ref() {
            "thinking" | "redacted_thinking" => {
                reading.report(found, Code::MarkOnBadBlock, mark, "thinking carries no mark");
            }
            "text" if is_blank(&reading.word(block, "text")) => {
                reading.report(found, Code::MarkOnBadBlock, mark, "empty text carries no mark");
            }
            _ => {}
        }
    }

    /// Looks at the request's own mark, which "auto-places on the last cacheable block".
    pub(super) fn request(&mut self, reading: Reading<'_, '_>, found: &mut Findings) {
        if !reading.is_request() {
            return;
        }
        let Some(mark) = reading.field(reading.outline.root(), "cache_control") else { return };
        // Without nodes, its `ttl` is read apart.
        let ttl = Outline::read_all(reading.outline.bytes(mark))
            .map(|inner| Reading::new(&inner).word(inner.root(), "ttl").into_owned());
        let offset = reading.offset(mark);
        self.mark(offset, offset, &ttl.unwrap_or_default(), found);
    }

    /// Takes a mark at `offset` inside the value at `holder`, which has the path.
    fn mark(&mut self, holder: usize, offset: usize, ttl: &str, found: &mut Findings) {
        self.count += 1;
        if self.count == MAX_MARKS + 1 {
            found.add_inside(Code::TooManyMarks, holder, offset, "a fifth mark");
        }
        // "1 h marks must precede 5 m marks"; a mark without `ttl` lasts five minutes.
        if ttl != "1h" {
            self.seen = Seen::Short;
        } else if self.seen == Seen::Short {
            found.add_inside(Code::TtlOrder, holder, offset, "a mark of one hour after one of five minutes");
        }
    }
}
