//! Which histories do the lines make? One, and one more from each compaction by the client.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{Kind, Line, Preserved};
use crate::error::Error;
use crate::history::{Carried, History, Piece};
use crate::json::{self, Object};
use crate::source::Source;
use crate::turns::{Block, BlockForm, Link, Origin, Turns};
use crate::warning::Warning;

/// Builds one history, and one more from each compaction by the client.
pub(super) fn histories(
    source: &Source,
    lines: &[&Line<'_>],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<History>, Error> {
    let places: BTreeMap<&str, usize> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((line.uuid?, at))).collect();
    let mut carried = Carried::default();
    let mut built = Vec::new();
    let mut current = Draft::default();
    let mut attachments = 0;
    for (at, line) in lines.iter().enumerate() {
        match line.kind {
            Kind::User | Kind::Assistant => {
                // Older clients compact without a boundary line.
                if line.is_summary && !current.after_boundary {
                    built.push(std::mem::take(&mut current).turns.finish(warnings));
                }
                current.message(source, line, warnings);
            }
            Kind::Boundary => {
                built.push(std::mem::take(&mut current).turns.finish(warnings));
                let preserved = preserved(lines, &places, at, &line.preserved);
                carried.add(preserved.len())?;
                current = Draft { after_boundary: true, preserved, ..Draft::default() };
            }
            Kind::Microcompact => warnings.push(Warning::ResultsCleared { line: line.number }),
            Kind::Attachment => attachments += 1,
            Kind::Other => {}
        }
    }
    built.push(current.turns.finish(warnings));
    if attachments > 0 {
        warnings.push(Warning::AttachmentsLeftOut { lines: attachments });
    }
    Ok(built)
}

/// Finds the earlier lines that a compaction left as they were.
fn preserved<'l, 'a>(
    lines: &[&'l Line<'a>],
    places: &BTreeMap<&str, usize>,
    boundary: usize,
    preserved: &Preserved<'_>,
) -> Vec<&'l Line<'a>> {
    let place = |uuid: &str| places.get(uuid).copied().filter(|at| *at < boundary);
    let found: Vec<&'l Line<'a>> = match preserved {
        Preserved::Nothing => Vec::new(),
        Preserved::Named(uuids) => {
            let places: BTreeSet<usize> = uuids.iter().filter_map(|uuid| place(uuid)).collect();
            places.into_iter().filter_map(|at| lines.get(at).copied()).collect()
        }
        Preserved::Between(head, tail) => match (place(head), place(tail)) {
            (Some(from), Some(to)) if from <= to => lines.get(from..=to).unwrap_or_default().to_vec(),
            _ => Vec::new(),
        },
    };
    found.into_iter().filter(|line| line.is_message()).collect()
}

/// A history on its way, and what a compaction left for it.
#[derive(Default)]
struct Draft<'l, 'a> {
    turns: Turns<'a>,
    after_boundary: bool,
    preserved: Vec<&'l Line<'a>>,
}

impl<'l, 'a> Draft<'l, 'a> {
    /// Adds a message line; with the first after a compaction, what the compaction kept: behind the summary, else before.
    fn message(&mut self, source: &Source, line: &Line<'a>, warnings: &mut Vec<Warning>) {
        let kept = std::mem::take(&mut self.preserved);
        let opens = std::mem::take(&mut self.after_boundary);
        let (first, rest): (Vec<&Line<'a>>, Vec<&Line<'a>>) = match (opens, line.is_summary) {
            (true, true) => (std::iter::once(line).chain(kept).collect(), Vec::new()),
            _ => (kept, vec![line]),
        };
        for line in first {
            self.add(source, line, warnings);
        }
        if opens {
            self.turns.carried_to_here();
        }
        for line in rest {
            self.add(source, line, warnings);
        }
    }

    fn add(&mut self, source: &Source, line: &Line<'a>, warnings: &mut Vec<Warning>) {
        let Some(blocks) = line.content.and_then(blocks_of) else {
            warnings.push(Warning::UnreadableMessage { line: line.number });
            return;
        };
        let blocks = blocks.into_iter().map(|(raw, form)| Block {
            text: vec![Piece::Source(source.range_of(raw))],
            form,
            link: link_of(raw, line.kind),
            is_blank: is_blank_text(raw, form),
        });
        let model = line.model.map(|model| source.range_of(model));
        let origin = Origin { line: line.number, reply: line.message_id, model: model.as_ref() };
        match line.kind {
            Kind::Assistant => self.turns.assistant(origin, blocks.collect(), warnings),
            Kind::User => self.turns.user(origin, blocks.collect(), warnings),
            Kind::Boundary | Kind::Microcompact | Kind::Attachment | Kind::Other => {}
        }
    }
}

/// Gives the blocks of a content; a string is one block that stands for a text.
fn blocks_of(content: &str) -> Option<Vec<(&str, BlockForm)>> {
    if json::inside(content).is_some() {
        return Some(vec![(content, BlockForm::Literal)]);
    }
    Some(json::list(content)?.into_iter().map(|raw| (raw, BlockForm::Object)).collect())
}

fn link_of(raw: &str, kind: Kind) -> Link<'_> {
    let Some(object) = Object::read(raw) else { return Link::None };
    let id = |wanted: &str, key: &str| object.text(key).filter(|_| object.text("type") == Some(wanted));
    match kind {
        Kind::Assistant => id("tool_use", "id").map_or(Link::None, Link::Call),
        _ => id("tool_result", "tool_use_id").map_or(Link::None, Link::Answer),
    }
}

fn is_blank_text(raw: &str, form: BlockForm) -> bool {
    if form == BlockForm::Literal {
        return json::is_blank(raw);
    }
    Object::read(raw)
        .is_some_and(|object| object.text("type") == Some("text") && object.get("text").is_some_and(json::is_blank))
}
