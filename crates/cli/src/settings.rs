//! What settings are there, what may each be, and what are its words?
//!
//! Read from the published schema and the defaults, so that a new setting or preset needs no line here.

use std::{fmt, sync::LazyLock};

use liveset::{Policy, Preset};
use serde::{
    Deserialize,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

/// Names that are this far from a known one are taken for typing errors, as the engine does.
const MAX_TYPING_ERRORS: usize = 3;

/// One setting of the policy.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) key: String,
    /// What it does, in a sentence.
    pub(crate) about: String,
    pub(crate) default: Value,
    pub(crate) sort: Sort,
}

/// What a setting may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// One of a few names.
    OneOf(Vec<Choice>),
    /// Anything that these words describe.
    Described(String),
}

/// One name that a setting may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) about: String,
}

/// Every setting of policy files, in the order of the policy.
pub(crate) fn all() -> &'static [Setting] {
    static ALL: LazyLock<Vec<Setting>> = LazyLock::new(|| {
        let schema = serde_json::from_str(&Policy::json_schema()).unwrap_or_default();
        values(&Policy::default()).into_iter().map(|(key, default)| setting(&schema, key, default)).collect()
    });
    &ALL
}

/// The setting of this name.
pub(crate) fn named(key: &str) -> Option<&'static Setting> {
    all().iter().find(|setting| setting.key == key)
}

/// The values of a policy, in its order.
pub(crate) fn values(policy: &Policy) -> Vec<(String, Value)> {
    // Through text, since a map of values would sort its keys.
    let text = serde_json::to_string(policy).unwrap_or_default();
    serde_json::from_str::<InOrder>(&text).map(|fields| fields.0).unwrap_or_default()
}

/// The name among `known` that was probably meant.
pub(crate) fn nearest<'k>(wrong: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let nearest = known.map(|name| (strsim::damerau_levenshtein(name, wrong), name)).min()?;
    // Of a short name three letters are all.
    (nearest.0 <= MAX_TYPING_ERRORS && nearest.0 < nearest.1.chars().count()).then_some(nearest.1)
}

/// The presets.
pub(crate) fn presets() -> &'static [Choice] {
    match named("preset").map(|setting| &setting.sort) {
        Some(Sort::OneOf(choices)) => choices,
        Some(Sort::Described(_)) | None => &[],
    }
}

/// The preset of this name.
pub(crate) fn preset_named(name: &str) -> Option<Preset> {
    serde_json::from_value(Value::from(name)).ok()
}

/// An object's fields as they stand.
struct InOrder(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = InOrder;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(InOrder(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

fn setting(schema: &Value, key: String, default: Value) -> Setting {
    let property = &schema["properties"][key.as_str()];
    let about = text(&property["description"]);
    Setting { about, sort: sort(schema, property), default, key }
}

fn text(value: &Value) -> String {
    // A doc comment's first paragraph; later ones are examples.
    let text = value.as_str().unwrap_or_default();
    text.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

/// Follows a reference to where the schema defines it, also of a value that may be left out.
fn resolved<'s>(schema: &'s Value, property: &'s Value) -> &'s Value {
    let mut variants = property["anyOf"].as_array().into_iter().flatten();
    let property = variants.find(|variant| variant["$ref"].is_string()).unwrap_or(property);
    let target = property["$ref"].as_str().and_then(|path| schema.pointer(path.strip_prefix('#')?));
    target.unwrap_or(property)
}

fn sort(schema: &Value, property: &Value) -> Sort {
    let property = resolved(schema, property);
    let choices = choices(property);
    if choices.is_empty() { Sort::Described(described(schema, property)) } else { Sort::OneOf(choices) }
}

/// The keys of a setting that is a table, each with what it does and the names it may be; none of any other.
pub(crate) fn keys_of(setting: &str) -> Vec<Choice> {
    let schema: Value = serde_json::from_str(&Policy::json_schema()).unwrap_or_default();
    let table = resolved(&schema, &schema["properties"][setting]);
    let keys = table["properties"].as_object().into_iter().flatten();
    keys.map(|(key, property)| {
        let mut about = text(&property["description"]);
        if let Sort::OneOf(choices) = sort(&schema, property) {
            about.push_str(&format!(" One of {}.", names(&choices).join(", ")));
        }
        Choice { name: key.clone(), about }
    })
    .collect()
}

/// Names with a text of their own stand under `oneOf`, others together under `enum`.
fn choices(property: &Value) -> Vec<Choice> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let alone = [property.clone()].into_iter().chain(list(&property["oneOf"]));
    let mut found = Vec::new();
    for choice in alone {
        let names = list(&choice["enum"]).into_iter().chain([choice["const"].clone()]);
        let names = names.filter_map(|name| Some(name.as_str()?.to_owned()));
        let about = if choice["const"].is_string() { text(&choice["description"]) } else { String::new() };
        found.extend(names.map(|name| Choice { name, about: about.clone() }));
        // A value that names something has the pattern as its rule and its shape as its title.
        if let (true, Some(name)) = (choice["pattern"].is_string(), choice["title"].as_str()) {
            found.push(Choice { name: name.to_owned(), about: text(&choice["description"]) });
        }
    }
    found
}

/// Says in words what a value may be.
fn described(schema: &Value, property: &Value) -> String {
    let types: Vec<&str> = match &property["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let words = types.iter().map(|name| match *name {
        "integer" => "a whole number, 0 or more".to_owned(),
        "number" => "a number".to_owned(),
        "string" => "a text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => match sort(schema, &property["items"]) {
            Sort::Described(each) => format!("a list, each {each}"),
            Sort::OneOf(choices) => format!("a list of {}", names(&choices).join(", ")),
        },
        "object" => "a table".to_owned(),
        "null" => "not set".to_owned(),
        other => other.to_owned(),
    });
    words.collect::<Vec<_>>().join(", or ")
}

/// The names alone.
pub(crate) fn names(choices: &[Choice]) -> Vec<&str> {
    choices.iter().map(|choice| choice.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_sentence_and_a_sort() {
        assert!(all().len() > 10);
        for setting in all() {
            assert!(setting.about.ends_with('.') && setting.about.len() > 10, "{setting:?}");
            if let Sort::Described(words) = &setting.sort {
                assert!(!words.is_empty(), "{setting:?}");
            }
        }
        assert_eq!(all()[0].key, "preset", "in the order of the policy");
    }

    #[test]
    fn every_preset_is_named_and_described() {
        assert!(presets().iter().any(|preset| preset.name == "balanced"));
        for preset in presets() {
            assert!(preset_named(&preset.name).is_some() && !preset.about.is_empty(), "{preset:?}");
        }
        assert_eq!(preset_named("best"), None);
    }

    #[test]
    fn a_value_that_names_something_is_a_choice_by_its_shape() {
        let Some(Sort::OneOf(routes)) = named("recall_route").map(|setting| &setting.sort) else {
            panic!("no choices")
        };
        assert_eq!(names(routes), ["none", "tool", "mcp", "shell", "spill:RELATIVE"]);
        assert!(routes.iter().all(|route| !route.about.is_empty()));
    }

    #[test]
    fn a_table_names_its_keys_and_what_they_may_be() {
        let keys = keys_of("intake");
        assert_eq!(names(&keys), ["files", "max_chars", "max_lines", "strategy", "tools"]);
        assert!(keys[3].about.ends_with("One of keep, layered, by_type, outline, head_summary, summary."), "{keys:?}");
        assert!(keys_of("window").is_empty());
    }

    #[test]
    fn typing_errors_are_near_and_other_words_are_not() {
        let keys = || all().iter().map(|setting| setting.key.as_str());
        assert_eq!(nearest("triger", keys()), Some("trigger"));
        assert_eq!(nearest("colour_of_the_moon", keys()), None);
        assert_eq!(nearest("xyz", ["abc"].into_iter()), None);
    }
}
