//! Is a digest made of what the conversation holds? Word by word; the only words of its own are the template's.

use std::collections::BTreeSet;

use crate::oracle::decode;
use crate::oracle::raw::{Kind, Node};
use crate::oracle::view::View;

/// Words that digest templates may add.
const TEMPLATE_WORDS: &[&str] = &[
    "a",
    "again",
    "and",
    "answer",
    "archive",
    "call",
    "calls",
    "code",
    "context",
    "digest",
    "earlier",
    "error",
    "errors",
    "exit",
    "folded",
    "from",
    "full",
    "history",
    "in",
    "is",
    "it",
    "its",
    "left",
    "line",
    "lines",
    "may",
    "differ",
    "model",
    "more",
    "no",
    "of",
    "ok",
    "only",
    "out",
    "pruned",
    "recall",
    "repeating",
    "result",
    "results",
    "run",
    "safe",
    "search",
    "see",
    "summary",
    "the",
    "this",
    "to",
    "tokens",
    "token",
    "tool",
    "with",
    "if",
    "k",
    "by",
];

/// Says whether every word of the text stands in the input, in the template words, or is a number.
pub(crate) fn is_made_of(view: &View<'_>, text: &[u8]) -> bool {
    let mut known = BTreeSet::new();
    collect(view.body, &view.root, &mut known);
    words(text).iter().all(|word| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        is_number || known.contains(word) || TEMPLATE_WORDS.contains(&word.as_str())
    })
}

fn collect(body: &[u8], node: &Node, known: &mut BTreeSet<String>) {
    if let Kind::String = node.kind {
        // Arguments are JSON inside a string: escapes there hide words one level deeper.
        let text = decode::text(node.raw(body));
        known.extend(words(&text));
        if let Ok(inner) = crate::oracle::raw::parse(&text)
            && inner.is_object()
        {
            collect(&text, &inner, known);
        }
    }
    node.children().into_iter().for_each(|child| collect(body, child, known));
}

fn words(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text).into_owned();
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
