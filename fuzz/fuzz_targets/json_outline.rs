//! Does any text make the outline panic, point outside the text, or disagree with serde_json?

#![no_main]

use libfuzzer_sys::fuzz_target;
use liveset_engine::Error;
use liveset_engine::json::{self, NodeIdx, NodeKind, Outline, RawCursor};
use serde::de::IgnoredAny;

fuzz_target!(|body: &[u8]| {
    let all = Outline::read_all(body);
    // Depth is the one limit that a short text can pass, and serde_json skips values at any depth.
    let is_over_limit = matches!(all, Err(Error::Limit { .. }));
    let is_json = std::str::from_utf8(body).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    assert!(is_over_limit || all.is_ok() == is_json);
    assert_eq!(Outline::read(body).err(), all.as_ref().err().cloned());
    if let Ok(outline) = &all {
        visit(outline, outline.root());
    }
    let _ = json::decode(body);
    let _ = json::string_leaves(body);
    RawCursor::new(body).raw_at(body.len());
});

/// Checks a value and all inside it.
fn visit(outline: &Outline<'_>, idx: NodeIdx) {
    let node = outline.node(idx);
    assert!(node.span.end() <= outline.body().len() && !node.span.is_empty());
    if let Some(key) = node.key {
        string(key.of(outline.body()));
    }
    if node.kind == NodeKind::String {
        string(outline.bytes(idx));
    }
    for child in outline.children(idx) {
        assert!(node.span.contains(outline.node(child).span));
        visit(outline, child);
    }
}

/// Checks that a literal is decoded as serde_json does, and that the cursor ends where it ends.
fn string(literal: &[u8]) {
    let decoded = json::decode(literal).expect("the outline has checked it");
    assert_eq!(RawCursor::new(literal).raw_at(decoded.text().len()), literal.len() - 1);
    match serde_json::from_slice::<String>(literal) {
        Ok(text) => assert!(text == decoded.text() && !decoded.has_lone_surrogate()),
        Err(_) => assert!(decoded.has_lone_surrogate()),
    }
    let again = json::encode(decoded.text());
    assert_eq!(json::decode(again.as_bytes()).expect("it was just written").text(), decoded.text());
}
