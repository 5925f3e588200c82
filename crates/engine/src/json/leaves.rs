//! Which texts do the arguments of a call hold?
//!
//! Gives the string leaves of a JSON object, decoded; numbers and words are no texts.

use super::node::NodeKind;
use super::outline::{NodeIdx, Outline};
use super::strings;

/// One text of a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Key of the innermost object member that holds it.
    pub key: String,
    /// What it says; an array of strings is one text, joined by spaces.
    pub text: String,
}

/// Gives the string leaves of a call's arguments, in order; `None` if `json` is no JSON object.
///
/// ```
/// use liveset_engine::json::string_leaves;
/// let leaves = string_leaves(br#"{"cmd":["ls","-l"],"n":3,"edit":{"old":"a\nb"}}"#).unwrap();
/// let seen: Vec<_> = leaves.iter().map(|leaf| (leaf.key.as_str(), leaf.text.as_str())).collect();
/// assert_eq!(seen, [("cmd", "ls -l"), ("old", "a\nb")]);
/// ```
#[must_use]
pub fn string_leaves(json: &[u8]) -> Option<Vec<Leaf>> {
    let outline = Outline::read_all(json).ok()?;
    if outline.node(outline.root()).kind != NodeKind::Object {
        return None;
    }
    let mut leaves = Vec::new();
    // A stack, not recursion, so that depth costs no call stack; reversed, so that the order stays that of the text.
    let mut waiting = vec![(outline.root(), String::new())];
    while let Some((idx, key)) = waiting.pop() {
        if let Some(text) = text_of(&outline, idx) {
            leaves.push(Leaf { key, text });
            continue;
        }
        let first = waiting.len();
        waiting
            .extend(outline.children(idx).map(|child| (child, key_of(&outline, child).unwrap_or_else(|| key.clone()))));
        if let Some(added) = waiting.get_mut(first..) {
            added.reverse();
        }
    }
    Some(leaves)
}

/// Gives the text of a string, or of an array that holds strings alone.
fn text_of(outline: &Outline<'_>, idx: NodeIdx) -> Option<String> {
    match outline.node(idx).kind {
        NodeKind::String => outline.string(idx).map(String::from),
        NodeKind::Array => {
            let texts: Option<Vec<_>> = outline.children(idx).map(|child| outline.string(child)).collect();
            texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join(" "))
        }
        NodeKind::Object | NodeKind::Number | NodeKind::True | NodeKind::False | NodeKind::Null => None,
    }
}

fn key_of(outline: &Outline<'_>, idx: NodeIdx) -> Option<String> {
    let literal = outline.node(idx).key?.of(outline.body());
    strings::decode(literal).ok().map(|decoded| decoded.into_text().into_owned())
}
