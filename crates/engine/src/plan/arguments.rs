//! Where in a call's arguments does a text stand, and how is another put in its place?
//!
//! Reads the arguments of all three wire formats alike; decides nothing. Arguments stay a JSON object, and every byte
//! outside the replaced texts stays what it was: a text is replaced between its quotation marks.

use std::{borrow::Cow, ops::Range};

use crate::{
    error::Result,
    json::{self, NodeKind, Outline, RawCursor},
    transcript::{ArgumentsForm, Call, Transcript},
};

/// How the object of a call's arguments stands in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// As an object (Anthropic `input`): its texts are escaped once.
    Object,
    /// Inside a string (OpenAI `arguments`): its texts are escaped twice.
    InString,
}

/// The arguments of one call, read as a JSON object.
pub(crate) struct Arguments<'a> {
    /// The value as it stands in the body.
    raw: &'a [u8],
    /// The object.
    object: Cow<'a, str>,
    nesting: Nesting,
}

/// One text of the arguments: the value of a key of the object itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// Bytes of the object between the text's quotation marks.
    inner: Range<usize>,
}

/// A replacement, by place in the arguments' value as it stands in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    /// First byte that goes, from the value's first.
    pub(crate) from: usize,
    /// After the last.
    pub(crate) to: usize,
    /// What stands there instead, escaped as deep as the place demands.
    pub(crate) with: String,
}

impl<'a> Arguments<'a> {
    /// Reads a call's arguments; `None` if they are no JSON object, or one that cannot be edited to the byte.
    ///
    /// # Errors
    ///
    /// The string that holds them cannot be decoded.
    pub(crate) fn of(transcript: &Transcript<'a>, call: &Call) -> Result<Option<Self>> {
        let Some(raw) = call.arguments.map(|span| span.of(transcript.body)) else { return Ok(None) };
        // Some clients of OpenAI's formats send the object itself, so the bytes decide.
        let (object, nesting) = match (call.form, raw.first()) {
            (ArgumentsForm::Text, _) => return Ok(None),
            (ArgumentsForm::JsonString, Some(b'"')) => {
                let decoded = json::decode(raw)?;
                // Half a character outside of any escape of the object is in no text that could be written back.
                if decoded.has_lone_surrogate() {
                    return Ok(None);
                }
                (decoded.into_text(), Nesting::InString)
            }
            (ArgumentsForm::Object | ArgumentsForm::JsonString, _) => match std::str::from_utf8(raw) {
                Ok(object) => (Cow::Borrowed(object), Nesting::Object),
                Err(_) => return Ok(None),
            },
        };
        let is_object = Outline::read_all(object.as_bytes())
            .is_ok_and(|outline| outline.node(outline.root()).kind == NodeKind::Object);
        Ok(is_object.then_some(Self { raw, object, nesting }))
    }

    pub(crate) fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// Gives the object's JSON: what the arguments' size is counted of.
    pub(crate) fn object(&self) -> &str {
        &self.object
    }

    /// Finds the texts of these keys, in the order of the object. Of several equal keys the last counts, as JSON
    /// readers have it.
    pub(crate) fn texts(&self, keys: &[&str]) -> Vec<Text> {
        let Ok(outline) = Outline::read_all(self.object.as_bytes()) else { return Vec::new() };
        let found = keys.iter().filter_map(|key| outline.get(outline.root(), key));
        let strings = found.map(|idx| outline.node(idx)).filter(|node| node.kind == NodeKind::String);
        let mut texts: Vec<Text> =
            strings.map(|node| Text { inner: node.span.start() + 1..node.span.end().saturating_sub(1) }).collect();
        texts.sort_by_key(|text| text.inner.start);
        texts
    }

    /// Gives what a text says.
    ///
    /// # Errors
    ///
    /// It cannot be decoded.
    pub(crate) fn decoded(&self, text: &Text) -> Result<json::Decoded<'_>> {
        let literal = self.object.as_bytes().get(text.inner.start.saturating_sub(1)..text.inner.end + 1);
        json::decode(literal.unwrap_or_default())
    }

    /// Writes the object with `with` in place of each text.
    pub(crate) fn object_with(&self, texts: &[Text], with: &str) -> String {
        let with = json::encode_inner(with);
        let mut out = String::new();
        let mut at = 0;
        for text in texts {
            out.push_str(self.object.get(at..text.inner.start).unwrap_or_default());
            out.push_str(&with);
            at = text.inner.end;
        }
        out.push_str(self.object.get(at..).unwrap_or_default());
        out
    }

    /// Gives the replacements that put `with` in place of each text. Texts are in order.
    pub(crate) fn splices(&self, texts: &[Text], with: &str) -> Vec<Splice> {
        let once = json::encode_inner(with);
        match self.nesting {
            Nesting::Object => texts
                .iter()
                .map(|text| Splice { from: text.inner.start, to: text.inner.end, with: once.clone() })
                .collect(),
            Nesting::InString => {
                let twice = json::encode_inner(&once);
                let mut cursor = RawCursor::new(self.raw);
                let mut place = |text: &Text| (cursor.raw_at(text.inner.start), cursor.raw_at(text.inner.end));
                texts
                    .iter()
                    .map(|text| {
                        // A border between two characters of the object is one between two escapes of the string too.
                        let (from, to) = place(text);
                        Splice { from, to, with: twice.clone() }
                    })
                    .collect()
            }
        }
    }

    /// Gives the bytes of the value between two places.
    pub(crate) fn raw(&self, from: usize, to: usize) -> &'a [u8] {
        self.raw.get(from..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{span::Span, transcript::WireFormat};

    /// Puts `with` in place of the values of `keys`; gives the value that comes out, or `None` if it is no object.
    fn replaced(value: &str, form: ArgumentsForm, keys: &[&str], with: &str) -> Option<String> {
        let transcript = Transcript {
            body: value.as_bytes(),
            format: WireFormat::OpenaiChat,
            model: None,
            tools: None,
            items: Vec::new(),
            units: Vec::new(),
            messages: Vec::new(),
            server_state: None,
            digests: Vec::new(),
        };
        let call = Call { id: None, name: None, arguments: Some(Span::new(0, value.len())), form, result: None };
        let arguments = Arguments::of(&transcript, &call).unwrap()?;
        let texts = arguments.texts(keys);
        let mut out = value.to_owned();
        for splice in arguments.splices(&texts, with).iter().rev() {
            out.replace_range(splice.from..splice.to, &splice.with);
        }
        let object = match arguments.nesting() {
            Nesting::Object => out.clone(),
            Nesting::InString => json::decode(out.as_bytes()).unwrap().text().to_owned(),
        };
        assert_eq!(object, arguments.object_with(&texts, with), "what is counted is what is written");
        Some(out)
    }

    #[test]
    fn an_objects_text_goes_and_every_other_byte_stays() {
        let value = r#"{ "content" :"a\nb" , "n":1e2,"path":"x\u002fy"}"#;
        assert_eq!(
            replaced(value, ArgumentsForm::Object, &["content"], "[cut]").unwrap(),
            r#"{ "content" :"[cut]" , "n":1e2,"path":"x\u002fy"}"#
        );
    }

    #[test]
    fn a_text_in_a_string_goes_however_it_is_escaped() {
        let value = r#""{\"content\":\"a\\nb \\\"q\\\" \u00e9 \\ud83d\",\u0022path\u0022:\u0022p\u0022}""#;
        assert_eq!(
            replaced(value, ArgumentsForm::JsonString, &["content"], "say \"x\"").unwrap(),
            r#""{\"content\":\"say \\\"x\\\"\",\u0022path\u0022:\u0022p\u0022}""#
        );
        assert_eq!(
            replaced(value, ArgumentsForm::JsonString, &["path", "content"], "-").unwrap(),
            r#""{\"content\":\"-\",\u0022path\u0022:\u0022-\u0022}""#
        );
    }

    #[test]
    fn what_is_no_object_or_no_text_is_left_alone() {
        assert_eq!(replaced(r#""[1]""#, ArgumentsForm::JsonString, &["content"], "-"), None);
        assert_eq!(replaced(r#""{\"content\":""#, ArgumentsForm::JsonString, &["content"], "-"), None);
        assert_eq!(replaced(r#""{\"content\":\"\ud83d\"}""#, ArgumentsForm::JsonString, &["content"], "-"), None);
        assert_eq!(replaced(r#""free text""#, ArgumentsForm::Text, &["content"], "-"), None);
        for value in [r#"{"content":7}"#, r#"{"deeper":{"content":"x"}}"#, "{}"] {
            assert_eq!(replaced(value, ArgumentsForm::Object, &["content"], "-").unwrap(), value);
        }
    }

    #[test]
    fn of_equal_keys_the_last_is_replaced() {
        let value = r#"{"content":"a","content":"b"}"#;
        assert_eq!(
            replaced(value, ArgumentsForm::Object, &["content"], "-").unwrap(),
            r#"{"content":"a","content":"-"}"#
        );
    }

    proptest! {
        #[test]
        fn any_text_is_replaced_in_any_spelling(content: String, path: String, with: String, spelled: bool) {
            let object = serde_json::json!({ "path": path, "content": content, "n": 1 }).to_string();
            let value = serde_json::Value::String(object).to_string();
            // The same string, with every quotation mark spelled in digits.
            let value = if spelled { value.replace("\\\"", "\\u0022") } else { value };
            let out = replaced(&value, ArgumentsForm::JsonString, &["content"], &with).unwrap();
            let object: String = serde_json::from_str(&out).unwrap();
            let expected = serde_json::json!({ "path": path, "content": with, "n": 1 });
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&object).unwrap(), expected);
        }
    }
}
