//! Where do two bodies differ? Walks both in parallel and sorts each difference into a lawful kind, or refuses it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::outcome::Outcome;
use super::removal;
use crate::format::Format;
use crate::oracle::decode;
use crate::oracle::raw::{Kind, Node};
use crate::oracle::view::{Item, ItemKind, View};

/// A lawful difference, with its places in input and output.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// The text of a result.
    Text { item: usize, before: Range<usize>, after: Range<usize> },
    /// A media block of a result became a text block.
    Media { item: usize, after: Range<usize> },
    /// A string in the arguments of a call.
    Argument { item: usize, before: Range<usize>, after: Range<usize> },
    /// A whole element of the history, or a reasoning block, is gone.
    Removed { before: Range<usize> },
}

/// What the report says may differ beyond result texts and media.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    pub(crate) arguments: bool,
    pub(crate) units: bool,
    pub(crate) reasoning: bool,
    pub(crate) marks: bool,
}

impl Allowed {
    pub(crate) fn by(outcome: &Outcome) -> Self {
        Self {
            arguments: outcome.has_kind(&["rule"]),
            units: outcome.has_kind(&["fold", "drop", "summary"]),
            reasoning: outcome.has_kind(&["reasoning"]),
            marks: outcome.has_kind(&["mark", "media", "fold", "drop", "summary", "reasoning"]),
        }
    }
}

/// The parallel walk.
pub(crate) struct Walk<'v, 'b> {
    pub(crate) input: &'v View<'b>,
    pub(crate) output: &'v View<'b>,
    pub(crate) allowed: Allowed,
    pub(crate) changes: Vec<Change>,
    texts: BTreeMap<usize, usize>,
    media: BTreeMap<usize, usize>,
    arguments: Vec<(Range<usize>, usize)>,
}

/// Finds all differences between an input and what came out.
pub(crate) fn changes(input: &View<'_>, outcome: &Outcome, format: Format) -> Result<Vec<Change>, String> {
    let output = View::read(format, &outcome.body).map_err(|error| format!("output: {error}"))?;
    let mut walk = Walk::new(input, &output, Allowed::by(outcome));
    walk.edges()?;
    walk.compare(&input.root, &output.root)?;
    Ok(walk.changes)
}

impl<'v, 'b> Walk<'v, 'b> {
    fn new(input: &'v View<'b>, output: &'v View<'b>, allowed: Allowed) -> Self {
        let of = |spans: fn(&Item) -> &[Range<usize>]| {
            let results = input.items.iter().enumerate().filter(|(_, item)| item.kind == ItemKind::Result);
            results.flat_map(|(place, item)| spans(item).iter().map(move |span| (span.start, place))).collect()
        };
        let arguments = input.items.iter().enumerate();
        let arguments =
            arguments.filter_map(|(place, item)| Some((item.arguments.as_ref()?.span.clone(), place))).collect();
        Self {
            input,
            output,
            allowed,
            changes: Vec::new(),
            texts: of(|item| &item.texts),
            media: of(|item| &item.media),
            arguments,
        }
    }

    /// Compares the white space around the whole body.
    fn edges(&self) -> Result<(), String> {
        let around = |view: &View<'b>| {
            let span = view.root.span.clone();
            [
                view.body.get(..span.start).unwrap_or_default().to_vec(),
                view.body.get(span.end..).unwrap_or_default().to_vec(),
            ]
        };
        if around(self.input) == around(self.output) {
            Ok(())
        } else {
            Err("white space around the body differs".to_owned())
        }
    }

    /// Compares two values that should be the same one.
    pub(crate) fn compare(&mut self, before: &Node, after: &Node) -> Result<(), String> {
        if before.raw(self.input.body) == after.raw(self.output.body) {
            return Ok(());
        }
        if let Some(&item) = self.media.get(&before.span.start).filter(|_| before.is_object()) {
            return self.media_block(item, after);
        }
        match (&before.kind, &after.kind) {
            (Kind::String, Kind::String) => self.literal(before, after),
            (Kind::Array(old), Kind::Array(new)) if old.len() != new.len() => removal::compare(self, before, after),
            (Kind::Array(_), Kind::Array(_)) => self.container(before, after),
            (Kind::Object(old), Kind::Object(new)) if old.len() == new.len() => self.container(before, after),
            (Kind::Object(old), Kind::Object(new)) if self.allowed.marks => self.members_without_marks(old, new),
            _ => Err(format!("value at byte {} changed its kind or its number of members", before.span.start)),
        }
    }

    fn literal(&mut self, before: &Node, after: &Node) -> Result<(), String> {
        let at = before.span.start;
        let (old, new) = (decode::text(before.raw(self.input.body)), decode::text(after.raw(self.output.body)));
        let (before, after) = (before.span.clone(), after.span.clone());
        let argument = self.arguments.iter().find(|(span, _)| span.start <= at && at < span.end);
        let change = match (self.texts.get(&at), argument) {
            (Some(&item), _) => Change::Text { item, before, after },
            (None, Some(&(_, item))) if self.allowed.arguments => Change::Argument { item, before, after },
            _ => return Err(format!("string at byte {at} differs, and is no text of a result")),
        };
        if old == new {
            return Err(format!("string at byte {at} is spelled anew without a change of its text"));
        }
        if decode::is_blank(&new) && !decode::is_blank(&old) {
            return Err(format!("text at byte {at} became blank"));
        }
        self.changes.push(change);
        Ok(())
    }

    fn media_block(&mut self, item: usize, after: &Node) -> Result<(), String> {
        let kind = after.member_text(self.output.body, "type").unwrap_or_default();
        let text = after.member(self.output.body, "text").filter(|text| text.is_string());
        match text {
            Some(text) if kind == b"text" || kind == b"input_text" => {
                self.changes.push(Change::Media { item, after: text.span.clone() });
                Ok(())
            }
            _ => {
                Err(format!("media became something else than a text block at byte {} of the output", after.span.start))
            }
        }
    }

    fn container(&mut self, before: &Node, after: &Node) -> Result<(), String> {
        let (old, new) = (before.children(), after.children());
        if gaps(self.input.body, before, &old) != gaps(self.output.body, after, &new) {
            return Err(format!("white space or punctuation differs in the value at byte {}", before.span.start));
        }
        old.into_iter().zip(new).try_for_each(|(old, new)| self.compare(old, new))
    }

    fn members_without_marks(&mut self, old: &[(Node, Node)], new: &[(Node, Node)]) -> Result<(), String> {
        let without = |body: &[u8], members: &[(Node, Node)]| -> Vec<(Node, Node)> {
            members.iter().filter(|(key, _)| decode::text(key.raw(body)) != b"cache_control").cloned().collect()
        };
        let (old, new) = (without(self.input.body, old), without(self.output.body, new));
        if old.len() != new.len() {
            return Err("an object lost or gained members that are no cache mark".to_owned());
        }
        old.iter().zip(&new).try_for_each(|((old_key, old), (new_key, new))| {
            self.compare(old_key, new_key)?;
            self.compare(old, new)
        })
    }
}

/// The bytes between the children of a value, in order.
fn gaps<'b>(body: &'b [u8], parent: &Node, children: &[&Node]) -> Vec<&'b [u8]> {
    let starts = children.iter().map(|child| child.span.start).chain([parent.span.end]);
    let ends = [parent.span.start].into_iter().chain(children.iter().map(|child| child.span.end));
    ends.zip(starts).map(|(end, start)| body.get(end..start).unwrap_or_default()).collect()
}
