//! How do the formats differ, as far as a reader's course goes? And that course, which is one for all.
//!
//! Knows no field but the one that holds the conversation; the readers of the formats do.

use super::{
    anthropic_messages,
    builder::{Builder, Fields, list},
    openai_chat, openai_responses,
};
use crate::{
    error::Result,
    json::{NodeIdx, NodeKind, Outline},
    transcript::{Transcript, WireFormat},
};

/// How a format's bodies are read.
pub(super) struct Dialect {
    pub(super) format: WireFormat,
    /// The field that holds the conversation.
    pub(super) list: &'static str,
    /// Reads what stands before the conversation.
    pub(super) opening: fn(&mut Builder<'_, '_>, &Outline<'_>),
    /// Reads one element of the list.
    pub(super) message: fn(&mut Builder<'_, '_>, &Outline<'_>, NodeIdx),
    /// Reads a conversation that is no list; says whether it was one.
    pub(super) whole: fn(&mut Builder<'_, '_>, &Outline<'_>) -> bool,
    /// Reads the fields around it.
    pub(super) fields: fn(&Outline<'_>) -> Fields,
}

impl Dialect {
    pub(super) fn of(format: WireFormat) -> Self {
        match format {
            WireFormat::Anthropic => anthropic_messages::dialect(),
            WireFormat::OpenaiChat => openai_chat::dialect(),
            WireFormat::OpenaiResponses => openai_responses::dialect(),
        }
    }

    /// Reads a body.
    pub(super) fn read<'a>(&self, outline: &Outline<'a>) -> Result<Transcript<'a>> {
        let mut builder = self.opened(outline, outline.node_count());
        if !(self.whole)(&mut builder, outline) {
            let list = list(outline, self.list)?;
            self.read_messages(&mut builder, outline, list, 0);
        }
        Ok(builder.finish(self.format, (self.fields)(outline)))
    }

    /// Reads a body that begins with `common` bytes of one that was read before; `None` where that is of no help.
    pub(super) fn read_on<'a>(
        &self,
        before: Transcript<'_>,
        outline: &Outline<'a>,
        common: usize,
    ) -> Option<Transcript<'a>> {
        let list = outline.get(outline.root(), self.list)?;
        if outline.node(list).kind != NodeKind::Array || before.server_state.is_some() {
            return None;
        }
        // A number may go on where a text does, so the byte behind a message must be known, too.
        let kept = before.messages.partition_point(|message| message.end() < common);
        let spans = outline.children(list).map(|message| outline.node(message).span);
        if !spans.take(kept).eq(before.messages.iter().take(kept).copied()) {
            return None;
        }
        let mut builder = self.opened(outline, 0).go_on(before, kept)?;
        self.read_messages(&mut builder, outline, list, kept);
        Some(builder.finish(self.format, (self.fields)(outline)))
    }

    fn opened<'o, 'a>(&self, outline: &'o Outline<'a>, values: usize) -> Builder<'o, 'a> {
        let mut builder = Builder::new(outline, values);
        (self.opening)(&mut builder, outline);
        builder
    }

    fn read_messages(&self, builder: &mut Builder<'_, '_>, outline: &Outline<'_>, list: NodeIdx, from: usize) {
        for message in outline.children(list).skip(from) {
            builder.open_message(outline.node(message).span);
            (self.message)(builder, outline, message);
        }
    }
}
