//! What did LangChain send? Messages as it writes them down: one list of serialised objects, with Anthropic's blocks.
//!
//! Replies whose calls stand in LangChain's own field and not in blocks are not read: that field is a copy.

use std::sync::Arc;

use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::history::Piece;
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::records::LineStarts;
use crate::sample::{Fit, Layout, Sample};
use crate::source::Source;
use crate::turns::{Block, BlockForm, Link, Origin, Turns};
use crate::warning::Warning;
use crate::wire::Wire;

/// Says whether a file looks like a list of serialised messages.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let (Layout::Single, [value]) = (sample.layout, sample.values.as_slice()) else { return Fit::No };
    let is_message = |raw: &&str| {
        Object::read(raw).is_some_and(|object| object.get("lc").is_some() && object.object("kwargs").is_some())
    };
    let is_list = json::list(value).is_some_and(|messages| messages.first().is_some_and(is_message));
    if is_list { Fit::Strong("`lc` and `kwargs`") } else { Fit::No }
}

/// Reads the conversation.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let malformed = Error::Malformed { line: 1, byte: 0, expected: "a JSON list of messages" };
    let messages = json::value(source.text()).and_then(json::list).ok_or(malformed)?;
    let starts = LineStarts::of(&source);
    let mut reader = Reader {
        source: &source,
        turns: Turns::default(),
        system: None,
        unknown: Unknown::default(),
        warnings: Vec::new(),
    };
    for raw in messages {
        reader.message(raw, starts.line_of(&source, raw));
    }
    let mut warnings = reader.warnings;
    let histories = vec![reader.turns.finish(&mut warnings)];
    warnings.extend(reader.unknown.left_out());
    let frame = Frame { system: reader.system.map(|system| source.range_of(system)), ..Frame::default() };
    let draft = Draft {
        agent: "main".to_owned(),
        id: None,
        wire: Wire::Anthropic,
        fidelity: Fidelity::ModelVisible,
        frame,
        histories,
        warnings,
    };
    let conversation = Conversation::new(Arc::clone(&source), draft);
    match conversation.request_points() {
        0 => Err(Error::NoConversation { expected: "messages of a person, a model or a tool" }),
        _ => Ok(vec![conversation]),
    }
}

struct Reader<'s> {
    source: &'s Source,
    turns: Turns<'s>,
    system: Option<&'s str>,
    unknown: Unknown,
    warnings: Vec<Warning>,
}

impl<'s> Reader<'s> {
    fn message(&mut self, raw: &'s str, line: usize) {
        let fields = Object::read(raw).and_then(|message| message.object("kwargs"));
        let found = fields.as_ref().and_then(|fields| Some((fields, fields.get("content")?)));
        let Some((fields, content)) = found else {
            self.warnings.push(Warning::UnreadableMessage { line });
            return;
        };
        let model = fields.object("response_metadata");
        let model = model.and_then(|data| data.literal("model_name").or(data.literal("model")));
        let model = model.map(|model| self.source.range_of(model));
        let origin = Origin { line, reply: None, model: model.as_ref() };
        match fields.text("type") {
            Some("system") => self.system = Some(content),
            Some("human") => self.turns.user(origin, self.blocks(content), &mut self.warnings),
            Some("ai") => self.turns.assistant(origin, self.blocks(content), &mut self.warnings),
            Some("tool") => {
                let id = fields.literal("tool_call_id").and_then(|id| Some((id, json::inside(id)?)));
                let Some((literal, id)) = id else {
                    self.warnings.push(Warning::UnreadableMessage { line });
                    return;
                };
                let text = vec![
                    Piece::Fixed("{\"type\":\"tool_result\",\"tool_use_id\":"),
                    Piece::Source(self.source.range_of(literal)),
                    Piece::Fixed(",\"content\":"),
                    Piece::Source(self.source.range_of(content)),
                    Piece::Fixed("}"),
                ];
                let block = Block { text, form: BlockForm::Object, link: Link::Answer(id), is_blank: false };
                self.turns.user(origin, vec![block], &mut self.warnings);
            }
            other => self.unknown.note(other, raw),
        }
    }

    fn blocks(&self, content: &'s str) -> Vec<Block<'s>> {
        let block = |raw: &'s str, form: BlockForm, link: Link<'s>, is_blank: bool| Block {
            text: vec![Piece::Source(self.source.range_of(raw))],
            form,
            link,
            is_blank,
        };
        if json::inside(content).is_some() {
            return vec![block(content, BlockForm::Literal, Link::None, json::is_blank(content))];
        }
        let blocks = json::list(content).unwrap_or_default().into_iter().map(|raw| {
            let object = Object::read(raw);
            let kind = object.as_ref().and_then(|object| object.text("type"));
            let call = object.as_ref().and_then(|object| object.text("id")).filter(|_| kind == Some("tool_use"));
            let text = object.as_ref().and_then(|object| object.get("text"));
            let is_blank = kind == Some("text") && text.is_some_and(json::is_blank);
            block(raw, BlockForm::Object, call.map_or(Link::None, Link::Call), is_blank)
        });
        blocks.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Detection, TraceFormat, detect, trace::Trace};

    #[test]
    fn blocks_stay_and_tool_messages_become_results() {
        let file = r#"[{"lc":1,"id":["x"],"kwargs":{"type":"human","content":"go"}},{"lc":1,"id":["x"],"kwargs":{"type":"ai","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}},{"lc":1,"id":["x"],"kwargs":{"type":"tool","tool_call_id":"t","content":"ok"}}]"#;
        assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::Langchain));
        let trace = Trace::read(TraceFormat::Langchain, file.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(trace.agent("main").unwrap().body().unwrap()).unwrap(),
            r#"{"max_tokens":8192,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}]}"#
        );
    }
}
