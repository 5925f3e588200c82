//! Does the outline of a JSON text agree with serde_json, and do its strings say what serde_json reads in them?

#![expect(clippy::unwrap_used, reason = "a reading that fails here fails the test")]

use liveset_engine::Error;
use liveset_engine::json::{self, NodeIdx, NodeKind, Outline, RawCursor};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The inside of a string literal. Lone surrogates are left out where `is_whole`, since serde_json does not decode them.
fn inside(is_whole: bool) -> impl Strategy<Value = String> {
    let plain = prop_oneof!["[ -!#-\\[\\]-~]{0,70}", Just("é→😀".to_owned()), Just("\u{7f}".to_owned())];
    let escapes =
        [r"\n", r"\t", r#"\""#, r"\\", r"\/", r"\b\f\r", r"\u0041", r"\u00e9", r"\u2192", r"\uD83D\uDE00", r"\u0000"];
    let lone = [r"\ud83d", r"\uDE00", r"\ud83d\ud83d\ude00", r"\ud83d\n", r"\ude00\ud83d"];
    let escape = prop::sample::select(escapes.to_vec()).prop_map(str::to_owned);
    let run = (1..70_usize).prop_map(|count| r"\\".repeat(count));
    let odd = prop::sample::select(lone.to_vec())
        .prop_map(move |lone| if is_whole { String::new() } else { lone.to_owned() });
    prop::collection::vec(prop_oneof![4 => plain, 4 => escape, 1 => run, 1 => odd], 0..8)
        .prop_map(|pieces| pieces.concat())
}

fn literal(is_whole: bool) -> impl Strategy<Value = String> {
    inside(is_whole).prop_map(|inside| format!("\"{inside}\""))
}

fn key() -> impl Strategy<Value = String> {
    let known = ["messages", "input", "content", "system", "output", "tools", "cont\\u0065nt", "a"];
    prop_oneof![prop::sample::select(known.to_vec()).prop_map(|key| format!("\"{key}\"")), literal(true)]
}

/// A JSON text, with spaces, number forms and duplicate keys that no writer would make.
fn text() -> impl Strategy<Value = String> {
    let space = || prop::sample::select(vec!["", "", "", " ", "\n", "\t\r ", "          "]);
    let numbers = ["0", "-0", "1", "-12", "0.1000", "1e2", "1E+20", "-1.5e-3", "123456789012345678901234567890"];
    let leaf = prop_oneof![
        literal(true),
        prop::sample::select(numbers.to_vec()).prop_map(str::to_owned),
        prop::sample::select(vec!["true", "false", "null"]).prop_map(str::to_owned),
    ];
    let value = leaf.prop_recursive(6, 120, 8, move |value| {
        let spaced = (space(), value, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"));
        let member = (space(), key(), space(), spaced.clone())
            .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        let list = |items: Vec<String>, open: &str, close: &str| format!("{open}{}{close}", items.join(","));
        prop_oneof![
            prop::collection::vec(spaced, 0..8).prop_map(move |items| list(items, "[", "]")),
            prop::collection::vec(member, 0..8).prop_map(move |items| list(items, "{", "}")),
        ]
    });
    (space(), value, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

fn value_at(outline: &Outline<'_>, idx: NodeIdx) -> Value {
    serde_json::from_slice(outline.bytes(idx)).unwrap()
}

fn key_at(outline: &Outline<'_>, idx: NodeIdx) -> String {
    serde_json::from_slice(outline.node(idx).key.unwrap().of(outline.body())).unwrap()
}

/// Compares a value and all inside it with serde_json's reading of the same bytes.
fn assert_says(outline: &Outline<'_>, idx: NodeIdx, expected: &Value) {
    assert_eq!(&value_at(outline, idx), expected);
    let children: Vec<_> = outline.children(idx).collect();
    match expected {
        Value::Object(members) => {
            assert_eq!(outline.node(idx).kind, NodeKind::Object);
            for (key, value) in members {
                assert_says(outline, outline.get(idx, key).unwrap(), value);
            }
            assert!(children.iter().all(|child| members.contains_key(&key_at(outline, *child))));
        }
        Value::Array(items) => {
            assert_eq!((outline.node(idx).kind, children.len()), (NodeKind::Array, items.len()));
            for (child, item) in children.iter().zip(items) {
                assert_eq!(outline.node(*child).key, None);
                assert_says(outline, *child, item);
            }
        }
        Value::String(text) => assert_eq!(outline.string(idx).as_deref(), Some(text.as_str())),
        Value::Number(_) => assert_eq!(outline.node(idx).kind, NodeKind::Number),
        Value::Bool(true) => assert_eq!(outline.node(idx).kind, NodeKind::True),
        Value::Bool(false) => assert_eq!(outline.node(idx).kind, NodeKind::False),
        Value::Null => assert_eq!(outline.node(idx).kind, NodeKind::Null),
    }
    assert!(children.is_empty() || outline.is_entered(idx));
}

/// Compares a value and all inside it with the same value in an outline that enters everything.
fn assert_same_where_entered(some: &Outline<'_>, idx: NodeIdx, all: &Outline<'_>, idx_in_all: NodeIdx) {
    let place = |outline: &Outline<'_>, idx| {
        let node = outline.node(idx);
        (node.span, node.key, node.kind)
    };
    assert_eq!(place(some, idx), place(all, idx_in_all));
    let (few, many): (Vec<_>, Vec<_>) = (some.children(idx).collect(), all.children(idx_in_all).collect());
    assert_eq!(few.len(), if some.is_entered(idx) { many.len() } else { 0 });
    for (child, child_in_all) in few.into_iter().zip(many) {
        assert_same_where_entered(some, child, all, child_in_all);
    }
}

fn accepts(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

proptest! {
    #[test]
    fn spans_parse_to_the_values_serde_json_reads(text in text()) {
        let outline = Outline::read_all(text.as_bytes()).unwrap();
        assert_says(&outline, outline.root(), &serde_json::from_str(&text).unwrap());
    }

    #[test]
    fn what_is_entered_has_all_its_values_and_nothing_else_has_any(text in text()) {
        let some = Outline::read(text.as_bytes()).unwrap();
        let all = Outline::read_all(text.as_bytes()).unwrap();
        assert_same_where_entered(&some, some.root(), &all, all.root());
    }

    #[test]
    fn what_is_damaged_is_refused_where_serde_json_refuses_it(
        text in text(), at: prop::sample::Index, byte in prop::sample::select(b"\"\\{}[]:,0-.eE+tn u\n\x01".to_vec()), change in 0..3,
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match change {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => { bytes.remove(at); }
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                prop_assert_eq!(Outline::read_all(&bytes).is_ok(), accepts(text));
                prop_assert_eq!(Outline::read(&bytes).err(), Outline::read_all(&bytes).err());
            }
            Err(error) => {
                let offset = error.valid_up_to();
                prop_assert_eq!(Outline::read(&bytes).err(), Some(Error::Utf8 { offset }));
            }
        }
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes: Vec<u8>) {
        let _ = Outline::read(&bytes);
        let _ = json::decode(&bytes);
        let _ = json::string_leaves(&bytes);
        let mut cursor = RawCursor::new(&bytes);
        for offset in [0, 1, 5, 2, 100, usize::MAX] {
            prop_assert!(cursor.raw_at(offset) <= bytes.len());
        }
    }

    #[test]
    fn nearly_json_causes_no_panic(bytes in prop::collection::vec(prop::sample::select(b"\"\\{}[]:,01-.eEtrufalsn \n".to_vec()), 0..60)) {
        let accepted = accepts(std::str::from_utf8(&bytes).unwrap());
        prop_assert_eq!(Outline::read(&bytes).is_ok(), accepted);
        prop_assert_eq!(Outline::read_all(&bytes).is_ok(), accepted);
        let _ = json::decode(&bytes);
    }

    #[test]
    fn strings_say_what_serde_json_reads(literal in literal(true)) {
        let expected: String = serde_json::from_str(&literal).unwrap();
        let decoded = json::decode(literal.as_bytes()).unwrap();
        prop_assert_eq!(decoded.text(), &expected);
        prop_assert_eq!(&*decoded.wtf8(), expected.as_bytes());
        prop_assert!(!decoded.has_lone_surrogate());
    }

    #[test]
    fn lone_surrogates_keep_their_three_bytes(literal in literal(false)) {
        let decoded = json::decode(literal.as_bytes()).unwrap();
        let wtf8 = decoded.wtf8();
        let replaced = without_surrogates(&wtf8);
        prop_assert_eq!(replaced.as_slice(), decoded.text().as_bytes());
        prop_assert_eq!(wtf8.len(), decoded.text().len());
        prop_assert_eq!(decoded.has_lone_surrogate(), std::str::from_utf8(&wtf8).is_err());
        prop_assert_eq!(wtf8.as_ref(), naive_wtf8(&literal));
    }

    #[test]
    fn what_is_written_is_what_serde_json_writes_and_is_read_back(text in "(?s).{0,200}|[\"\\\\\n\t\r\u{8}\u{c}\u{1}a]{0,200}") {
        let literal = json::encode(&text);
        prop_assert_eq!(&literal, &serde_json::to_string(&text).unwrap());
        prop_assert_eq!(format!("\"{}\"", json::encode_inner(&text)), literal.as_str());
        let decoded = json::decode(literal.as_bytes()).unwrap();
        prop_assert_eq!(decoded.text(), text);
    }

    #[test]
    fn the_cursor_gives_what_a_map_of_all_places_gives(literal in literal(false), steps in prop::collection::vec(0..90_usize, 0..20)) {
        let map = naive_map(&literal);
        let mut every = RawCursor::new(literal.as_bytes());
        for (decoded, raw) in &map {
            prop_assert_eq!(every.raw_at(*decoded), *raw);
        }
        let mut some = RawCursor::new(literal.as_bytes());
        let mut place = 0;
        for step in steps {
            place = (place + step).min(map.len() - 1);
            prop_assert_eq!(some.raw_at(map[place].0), map[place].1);
            prop_assert_eq!(some.raw_at(map[place].0), map[place].1);
        }
    }
}

/// Reads a literal character by character into UTF-16, where lone surrogates are nothing special, and pairs them up.
fn units(literal: &str) -> Vec<(usize, u16)> {
    let mut units = Vec::new();
    let mut rest = literal.char_indices().skip(1).peekable();
    while let Some((at, char)) = rest.next() {
        if rest.peek().is_none() {
            units.push((at, 0));
        } else if char != '\\' {
            units.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| (at, *unit)));
        } else {
            let unit = match rest.next().unwrap().1 {
                'u' => {
                    u16::from_str_radix(&rest.by_ref().take(4).map(|(_, digit)| digit).collect::<String>(), 16).unwrap()
                }
                short => serde_json::from_str::<char>(&format!("\"\\{short}\"")).unwrap() as u16,
            };
            units.push((at, unit));
        }
    }
    units
}

/// Pairs of decoded and raw offset of each character, the end last.
fn naive_map(literal: &str) -> Vec<(usize, usize)> {
    let units = units(literal);
    let mut map = Vec::new();
    let (mut decoded, mut place) = (0, 0);
    for char in char::decode_utf16(units.iter().map(|(_, unit)| *unit)) {
        map.push((decoded, units[place].0));
        decoded += char.as_ref().map_or(3, |char| char.len_utf8());
        place += char.map_or(1, char::len_utf16);
    }
    map
}

fn naive_wtf8(literal: &str) -> Vec<u8> {
    let units = units(literal);
    let mut bytes = Vec::new();
    for char in char::decode_utf16(units[..units.len() - 1].iter().map(|(_, unit)| *unit)) {
        match char {
            Ok(char) => bytes.extend(char.to_string().bytes()),
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                bytes.extend([0xed, 0x80 | (unit >> 6 & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8]);
            }
        }
    }
    bytes
}

/// Puts U+FFFD in the place of each surrogate.
fn without_surrogates(wtf8: &[u8]) -> Vec<u8> {
    let mut bytes = wtf8.to_vec();
    for at in 0..bytes.len() {
        if bytes[at] == 0xed && bytes[at + 1] >= 0xa0 {
            bytes[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    bytes
}

/// Gives the dotted keys of all entered containers but the root, elements of arrays as their places.
fn entered(body: &str) -> Vec<String> {
    fn walk(outline: &Outline<'_>, idx: NodeIdx, path: &str, found: &mut Vec<String>) {
        for (place, child) in outline.children(idx).enumerate() {
            let name = outline.node(child).key.map_or_else(|| place.to_string(), |_| key_at(outline, child));
            let path = format!("{path}{name}");
            if outline.is_entered(child) {
                found.push(path.clone());
            }
            walk(outline, child, &format!("{path}."), found);
        }
    }
    let outline = Outline::read(body.as_bytes()).unwrap();
    let mut found = Vec::new();
    walk(&outline, outline.root(), "", &mut found);
    found
}

#[test]
fn messages_and_their_parts_are_entered_and_nothing_else() {
    let body = r#"{"tools":[{"name":"a"}],"content":[1],"system":[{"cache_control":{"type":"b"},"citations":[{}]}],
        "messages":[{"role":"user","content":[{"type":"tool_use","input":{"content":["c"]}},
        {"type":"tool_result","content":[{"source":{"data":"d"}}]}],"tool_calls":[{"function":{"name":"e"}}]}]}"#;
    let expected = [
        "system",
        "system.0",
        "system.0.cache_control",
        "messages",
        "messages.0",
        "messages.0.content",
        "messages.0.content.0",
        "messages.0.content.1",
        "messages.0.content.1.content",
        "messages.0.content.1.content.0",
        "messages.0.content.1.content.0.source",
        "messages.0.tool_calls",
        "messages.0.tool_calls.0",
        "messages.0.tool_calls.0.function",
    ];
    assert_eq!(entered(body), expected);
}

#[test]
fn a_bare_list_is_entered_as_the_value_of_messages_is() {
    let list = r#"[{"role":"user","messages":[{}],"content":[{"type":"text"}]}]"#;
    assert_eq!(entered(list), ["0", "0.content", "0.content.0"]);
    let bare: Vec<_> = entered(list).iter().map(|path| format!("messages.{path}")).collect();
    assert_eq!(entered(&format!(r#"{{"messages":{list}}}"#))[1..], bare);
}

#[test]
fn a_key_that_is_written_with_escapes_is_the_same_key() {
    assert_eq!(entered(r#"{"\u006dessages":[{}]}"#), ["messages", "messages.0"]);
    let outline = Outline::read(br#"{"a":1,"\u0061":2,"a\\":3}"#).unwrap();
    assert_eq!(outline.get(outline.root(), "a").map(|idx| outline.bytes(idx)), Some(&b"2"[..]));
    assert_eq!(outline.get(outline.root(), "a\\").map(|idx| outline.bytes(idx)), Some(&b"3"[..]));
    assert_eq!(outline.get(outline.root(), "b"), None);
    assert_eq!(outline.children(outline.root()).count(), 3);
}

#[test]
fn errors_name_the_byte() {
    let cases: [(&[u8], usize); 16] = [
        (b"", 0),
        (b"  ", 2),
        (b"\xef\xbb\xbf{}", 0),
        (b"{} x", 3),
        (b"{\"a\":tru}", 5),
        (b"[1,]", 3),
        (b"{,}", 1),
        (b"{\"a\" 1}", 5),
        (b"[01]", 2),
        (b"[1.]", 3),
        (b"[\"ab\ncd\"]", 4),
        (b"[\"ab\\xcd\"]", 4),
        (b"[\"abc", 5),
        (b"[\"a\\u12\"]", 3),
        (b"[1}", 2),
        (b"[\"\\\"", 4),
    ];
    for (body, expected) in cases {
        match Outline::read(body) {
            Err(Error::Json { offset, .. }) => assert_eq!(offset, expected, "{}", body.escape_ascii()),
            other => panic!("{}: {other:?}", body.escape_ascii()),
        }
    }
    assert_eq!(Outline::read(b"[\"ab\xff\"]").err(), Some(Error::Utf8 { offset: 4 }));
    assert_eq!(json::decode(b"\"a\xff\"").err(), Some(Error::Utf8 { offset: 2 }));
    let offsets = [&b"a"[..], b"\"a", b"\"a\"b", br#""\q""#].map(|literal| match json::decode(literal) {
        Err(Error::Json { offset, .. }) => offset,
        other => panic!("{other:?}"),
    });
    assert_eq!(offsets, [0, 2, 3, 1]);
}

#[test]
fn limits_are_where_they_are_said_to_be() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
    assert!(Outline::read(&nested(json::MAX_DEPTH)).is_ok());
    let what = "depth of nesting";
    let expected = Error::Limit { what, offset: json::MAX_DEPTH, limit: json::MAX_DEPTH };
    assert_eq!(Outline::read(&nested(json::MAX_DEPTH + 1)).err(), Some(expected));

    // Zeros cost no memory until they are read, and they never are.
    let long = vec![0; json::MAX_BODY_BYTES + 1];
    assert!(matches!(Outline::read(&long), Err(Error::Limit { limit: json::MAX_BODY_BYTES, .. })));

    let items = |count: usize| format!("[{}0]", "0,".repeat(count - 1)).into_bytes();
    assert!(Outline::read(&items(json::MAX_NODES - 1)).is_ok());
    assert!(matches!(Outline::read(&items(json::MAX_NODES)), Err(Error::Limit { limit: json::MAX_NODES, .. })));
}

#[test]
fn a_string_without_escapes_is_borrowed() {
    let body = br#"["plain","e\n"]"#;
    let outline = Outline::read(body).unwrap();
    let borrowed: Vec<_> = outline
        .children(outline.root())
        .map(|idx| matches!(outline.string(idx), Some(std::borrow::Cow::Borrowed(_))))
        .collect();
    assert_eq!(borrowed, [true, false]);
    assert_eq!(outline.string(outline.root()), None);
}

#[test]
fn arguments_give_their_string_leaves() {
    let leaves = |json: &str| {
        json::string_leaves(json.as_bytes())
            .map(|leaves| leaves.into_iter().map(|leaf| format!("{}={}", leaf.key, leaf.text)).collect::<Vec<_>>())
    };
    assert_eq!(
        leaves(r#"{"a":"b","c":{"d":["e","f\n"],"g":1},"h":[{"i":"j"},"k",null]}"#).unwrap(),
        ["a=b", "d=e f\n", "i=j", "h=k"]
    );
    assert_eq!(leaves("{}").unwrap(), Vec::<String>::new());
    assert_eq!(leaves(r#"{"a":[],"b":[["c","d"],["e"]]}"#).unwrap(), ["b=c d", "b=e"]);
    assert_eq!(leaves(r#"["a"]"#), None);
    assert_eq!(leaves("plain text"), None);
    assert_eq!(leaves(r#"{"a":"b""#), None);
}
