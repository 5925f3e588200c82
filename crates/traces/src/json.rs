//! Where do the values of a JSON object or list stand? One level at a time, as raw text.
//!
//! Never decodes, copies or re-serialises a value: what is handed out are slices of the file.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of one JSON object, values as raw text.
pub(crate) struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members).map(|members| Self { members })
    }
}

impl<'a> Object<'a> {
    /// Reads the members of an object; `None` if `raw` is anything else.
    pub(crate) fn read(raw: &'a str) -> Option<Self> {
        serde_json::from_str(raw).ok()
    }

    /// Gives a member's raw value. Of duplicate keys the last counts, as in JavaScript; `null` counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        let found = self.members.iter().rev().find(|(name, _)| name == key)?;
        Some(found.1.get()).filter(|raw| *raw != "null")
    }

    /// Gives a member's raw value, `null` included.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a str> {
        self.members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }

    /// Gives a member that is a string, as the literal that it is.
    pub(crate) fn literal(&self, key: &str) -> Option<&'a str> {
        self.get(key).filter(|raw| inside(raw).is_some())
    }

    /// Gives the elements of a member that is a list.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<&'a str>> {
        self.get(key).and_then(list)
    }

    /// Gives the inside of a member that is a string, escapes as they are.
    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(inside)
    }

    /// Gives the values of all members, in order.
    pub(crate) fn values(&self) -> Vec<&'a str> {
        self.members.iter().map(|(_, value)| value.get()).collect()
    }

    /// Says whether a member is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some("true")
    }

    /// Reads a member that is an object.
    pub(crate) fn object(&self, key: &str) -> Option<Object<'a>> {
        self.get(key).and_then(Object::read)
    }

    /// Gives a slice of the file that no other object holds at this place: its first value.
    pub(crate) fn mark(&self) -> &'a str {
        self.members.first().map_or("", |(_, value)| value.get())
    }

    /// Makes an object of one of the members.
    pub(crate) fn only(&self, key: &str) -> Self {
        let members = self.members.iter().filter(|(name, _)| name == key);
        Self { members: members.map(|(name, value)| (name.clone(), *value)).collect() }
    }

    /// Says whether every key is one of these.
    pub(crate) fn has_only(&self, keys: &[&str]) -> bool {
        self.members.iter().all(|(name, _)| keys.contains(&name.as_ref()))
    }
}

/// Reads the elements of a list as raw text; `None` if `raw` is anything else.
pub(crate) fn list(raw: &str) -> Option<Vec<&str>> {
    if !raw.trim_start().starts_with('[') {
        return None;
    }
    let elements: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Says whether the text is one whole JSON value, and gives it without the space around it.
pub(crate) fn value(text: &str) -> Option<&str> {
    serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
}

/// Gives what stands between the quotes of a string literal, escapes as they are.
pub(crate) fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// Says whether a string literal shows nothing but white space.
///
/// A literal that cannot be decoded (lone surrogates) shows something.
pub(crate) fn is_blank(literal: &str) -> bool {
    serde_json::from_str::<Cow<'_, str>>(literal).is_ok_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_duplicate_keys_counts_and_null_is_absent() {
        let object = Object::read(r#"{"a":1,"a":2,"b":null,"c":"x\"y"}"#).unwrap();
        assert_eq!(object.get("a"), Some("2"));
        assert_eq!(object.get("b"), None);
        assert_eq!(object.text("c"), Some(r#"x\"y"#));
    }

    #[test]
    fn values_keep_number_text_escapes_and_lone_surrogates() {
        let object = Object::read(r#"{"n": 1e2 ,"s":"\ud800"}"#).unwrap();
        assert_eq!((object.get("n"), object.get("s")), (Some("1e2"), Some(r#""\ud800""#)));
        assert!(!is_blank(r#""\ud800""#));
        assert!(is_blank(r#"" \n\u0020""#));
    }

    #[test]
    fn deep_nesting_is_skipped_without_recursion() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500_000), "]".repeat(500_000));
        assert!(Object::read(&deep).unwrap().get("a").is_some());
    }
}
