//! Keys and lengths of JSON, columns and rows of tables.

use liveset_engine::{
    content::{
        delimited::{MAX_HEADING_CHARS, MIN_ROWS, SEPARATORS, cells},
        table::is_rule,
    },
    json::{self, NodeIdx, NodeKind, Outline},
};

use super::Entry;

/// Levels of JSON that are shown.
const MAX_DEPTH: usize = 4;

/// Keys of one object, or elements of one list, that are looked into.
const MAX_CHILDREN: usize = 60;

pub(super) fn json(text: &str, _: &[&str]) -> Option<Vec<Entry>> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let outline = Outline::read_all(text.as_bytes()).ok()?;
    let mut entries = Vec::new();
    describe(&outline, outline.root(), "", 0, &mut entries);
    Some(entries)
}

fn describe(outline: &Outline<'_>, at: NodeIdx, path: &str, depth: usize, entries: &mut Vec<Entry>) {
    let node = outline.node(at);
    let name = if path.is_empty() { "." } else { path };
    let children: Vec<NodeIdx> = outline.children(at).collect();
    let told = match node.kind {
        NodeKind::Object => format!("{name}: object of {} keys", children.len()),
        NodeKind::Array => format!("{name}: list of {}", children.len()),
        NodeKind::String => {
            let text = outline.string(at).unwrap_or_default();
            format!("{name}: text of {} characters", text.chars().count())
        }
        NodeKind::Number | NodeKind::True | NodeKind::False | NodeKind::Null => {
            format!("{name}: {}", String::from_utf8_lossy(outline.bytes(at)))
        }
    };
    entries.push(Entry::at(0, depth, told));
    if depth >= MAX_DEPTH {
        return;
    }
    match node.kind {
        NodeKind::Object => {
            for child in children.into_iter().take(MAX_CHILDREN) {
                describe(outline, child, &format!("{path}.{}", key(outline, child)), depth + 1, entries);
            }
        }
        // The elements of a list are mostly alike: the first tells what they are.
        NodeKind::Array => {
            if let Some(first) = children.first() {
                describe(outline, *first, &format!("{path}[0]"), depth + 1, entries);
            }
        }
        NodeKind::String | NodeKind::Number | NodeKind::True | NodeKind::False | NodeKind::Null => {}
    }
}

/// A key as one would write it in a path.
fn key(outline: &Outline<'_>, at: NodeIdx) -> String {
    let literal = outline.node(at).key.map(|key| key.of(outline.body()));
    let decoded = literal.and_then(|literal| json::decode(literal).ok());
    decoded.map(|key| key.into_text().replace(char::is_control, " ")).unwrap_or_default()
}

pub(super) fn json_lines(_: &str, lines: &[&str]) -> Option<Vec<Entry>> {
    let filled: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    if filled.len() < 2 || !filled.iter().all(|line| line.trim_start().starts_with('{')) {
        return None;
    }
    let first = Outline::read_all(filled.first()?.as_bytes()).ok()?;
    let mut entries = vec![Entry::at(0, 0, format!("{} lines, each a value; the first:", filled.len()))];
    describe(&first, first.root(), "", 1, &mut entries);
    Some(entries)
}

pub(super) fn table(_: &str, lines: &[&str]) -> Option<Vec<Entry>> {
    let filled: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    if filled.len() < MIN_ROWS {
        return None;
    }
    let (separator, columns) = SEPARATORS.into_iter().find_map(|separator| {
        let columns = cells(filled.first()?, separator);
        let same = filled.iter().filter(|line| cells(line, separator).len() == columns.len()).count();
        // A comma in a cell may make a row look longer.
        (columns.len() > 1 && same * 10 >= filled.len() * 9).then_some((separator, columns))
    })?;
    // Sentences have commas too; the cells of a heading are short.
    if columns.iter().any(|cell| cell.chars().count() > MAX_HEADING_CHARS) {
        return None;
    }
    let rows = filled.iter().skip(1).filter(|line| !is_rule(line)).count();
    let mut entries = vec![Entry::at(0, 0, format!("{} columns, {rows} rows under the first line", columns.len()))];
    for (at, column) in columns.iter().enumerate() {
        let example = filled.iter().skip(1).find(|line| !is_rule(line)).map(|line| cells(line, separator));
        let example = example.and_then(|cells| cells.get(at).copied()).unwrap_or_default();
        entries.push(Entry::at(0, 1, format!("{column}: {example}")));
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::super::of;

    #[test]
    fn json_is_keys_and_lengths() {
        let text = r#"{"name": "pump", "ids": [{"a": 1, "b": null}, {"a": 2}], "ok": true}"#;
        let outline = of(text);
        assert_eq!(outline.kind, "JSON");
        assert_eq!(
            outline.text,
            ".: object of 3 keys\n.name: text of 4 characters\n.ids: list of 2\n.ids[0]: object of 2 keys\n.ids[0].a: 1\n.ids[0].b: null\n.ok: true\n"
        );
        let lines = "{\"t\": 1}\n{\"t\": 2}\n";
        assert_eq!(of(lines).text, "2 lines, each a value; the first:\n.: object of 1 keys\n.t: 1\n");
    }

    #[test]
    fn a_table_is_columns_and_rows() {
        let text = "name,size,when\na,1,mon\nb,2,tue\nc,3,wed\n";
        let outline = of(text);
        assert_eq!(outline.kind, "a table");
        assert_eq!(outline.text, "3 columns, 3 rows under the first line\nname: a\nsize: 1\nwhen: mon\n");
        let ruled = "| id | state |\n|----|-------|\n| 1 | on |\n| 2 | off |\n";
        assert_eq!(of(ruled).text, "2 columns, 2 rows under the first line\nid: 1\nstate: on\n");
        let prose = "Well, this is long, and it goes on and on without any end in sight at all.\n".repeat(5);
        assert_eq!(of(&prose).kind, "text");
    }
}
