//! How does a client spell its JSON? Writes a value with every lawful quirk, chosen by a seed.
//!
//! Each value's quirks depend on its path alone, never on its neighbours: an appended message or a moved cache mark
//! leaves the bytes of everything else as they were, as with a real client. Never reads JSON.

use crate::dice::{Dice, derive, of_name};

/// A JSON value to write.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// Text written as it stands: numbers, `true`, `null`, or anything else the caller spells out.
    Raw(String),
    /// A string. A character from U+10D800 to U+10DFFF stands for the lone surrogate 0x100000 below it.
    Text(String),
    /// A list.
    Array(Vec<Json>),
    /// Members in order; a key may come twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Makes a string value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Makes a value that is written as it stands.
    pub fn raw(text: impl Into<String>) -> Self {
        Self::Raw(text.into())
    }

    /// Makes an object of the members given.
    pub fn object<const N: usize>(members: [(&str, Json); N]) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Adds a member at the end, if this is an object.
    pub fn push(&mut self, key: &str, value: Json) {
        if let Self::Object(members) = self {
            members.push((key.to_owned(), value));
        }
    }
}

/// White space between tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// None at all.
    Compact,
    /// One blank after colons and commas.
    Spaced,
    /// One line per value.
    Pretty,
    /// Anything JSON allows, by chance.
    Odd,
}

/// How characters are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// Only what must be.
    Shortest,
    /// Everything beyond ASCII as `\u` escapes.
    Ascii,
    /// By chance: also `\/`, upper-case hex and needless escapes.
    Mixed,
}

/// Order of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    Given,
    Shuffled,
}

/// Everything that decides how a value is spelled.
#[derive(Clone, Debug)]
pub struct Style {
    /// White space.
    pub spacing: Spacing,
    /// Escapes.
    pub escapes: Escapes,
    pub(crate) key_order: KeyOrder,
    /// Decides every chance.
    pub seed: u64,
}

impl Style {
    /// The spelling most clients use.
    #[must_use]
    pub fn plain() -> Self {
        Self { spacing: Spacing::Compact, escapes: Escapes::Shortest, key_order: KeyOrder::Given, seed: 0 }
    }

    pub(crate) fn quirky(spacing: Spacing, escapes: Escapes, seed: u64) -> Self {
        let key_order = if seed.is_multiple_of(3) { KeyOrder::Shuffled } else { KeyOrder::Given };
        Self { spacing, escapes, key_order, seed }
    }

    /// Writes a value.
    ///
    /// ```
    /// use liveset_testkit::{Json, Style};
    /// let value = Json::object([("a", Json::raw("1e2")), ("b", Json::text("x\n"))]);
    /// assert_eq!(Style::plain().write(&value), r#"{"a":1e2,"b":"x\n"}"#);
    /// ```
    #[must_use]
    pub fn write(&self, value: &Json) -> String {
        let mut writer = Writer { style: self, out: String::new() };
        writer.value(value, self.seed, 0);
        writer.out
    }
}

struct Writer<'a> {
    style: &'a Style,
    out: String,
}

impl Writer<'_> {
    fn value(&mut self, value: &Json, salt: u64, depth: usize) {
        match value {
            Json::Raw(text) => self.out.push_str(text),
            Json::Text(text) => self.string(text, salt),
            Json::Array(values) => {
                self.out.push('[');
                for (place, element) in values.iter().enumerate() {
                    let salt = derive(salt, place as u64);
                    self.separator(place, salt, depth + 1);
                    self.value(element, salt, depth + 1);
                }
                self.close(!values.is_empty(), depth, salt);
                self.out.push(']');
            }
            Json::Object(members) => {
                self.out.push('{');
                for (place, (key, element)) in self.ordered(members, salt).into_iter().enumerate() {
                    let salt = derive(salt, of_name(key));
                    self.separator(place, salt, depth + 1);
                    self.string(key, derive(salt, 1));
                    self.colon(salt);
                    self.value(element, salt, depth + 1);
                }
                self.close(!members.is_empty(), depth, salt);
                self.out.push('}');
            }
        }
    }

    fn ordered<'m>(&self, members: &'m [(String, Json)], salt: u64) -> Vec<(&'m str, &'m Json)> {
        let mut order: Vec<_> = members.iter().map(|(key, value)| (key.as_str(), value)).collect();
        match self.style.key_order {
            KeyOrder::Given => {}
            KeyOrder::Shuffled => order.sort_by_key(|(key, _)| derive(salt, of_name(key))),
        }
        order
    }

    fn separator(&mut self, place: usize, salt: u64, depth: usize) {
        let mut dice = Dice::new(derive(salt, 2));
        let odd = |dice: &mut Dice| dice.pick(&["", "", " ", "\n", "\t", "\r\n", "  \n "]);
        if place > 0 {
            if self.style.spacing == Spacing::Odd {
                self.out.push_str(odd(&mut dice));
            }
            self.out.push(',');
        }
        match self.style.spacing {
            Spacing::Compact => {}
            Spacing::Spaced if place == 0 => {}
            Spacing::Spaced => self.out.push(' '),
            Spacing::Pretty => self.new_line(depth),
            Spacing::Odd => self.out.push_str(odd(&mut dice)),
        }
    }

    fn colon(&mut self, salt: u64) {
        let spaces = match self.style.spacing {
            Spacing::Compact => ":",
            Spacing::Spaced | Spacing::Pretty => ": ",
            Spacing::Odd => Dice::new(derive(salt, 3)).pick(&[":", ": ", " : ", "\n:", ":\t"]),
        };
        self.out.push_str(spaces);
    }

    fn close(&mut self, has_children: bool, depth: usize, salt: u64) {
        match self.style.spacing {
            Spacing::Compact | Spacing::Spaced => {}
            Spacing::Pretty if has_children => self.new_line(depth),
            Spacing::Pretty => {}
            Spacing::Odd => self.out.push_str(Dice::new(derive(salt, 4)).pick(&["", "", " ", "\n"])),
        }
    }

    fn new_line(&mut self, depth: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', depth * 2));
    }

    fn string(&mut self, text: &str, salt: u64) {
        let mut dice = Dice::new(derive(salt, 5));
        self.out.push('"');
        for character in text.chars() {
            let is_chance = self.style.escapes == Escapes::Mixed && dice.one_in(40);
            self.character(character, is_chance, dice.one_in(2));
        }
        self.out.push('"');
    }

    fn character(&mut self, character: char, is_chance: bool, upper: bool) {
        let upper = upper && self.style.escapes == Escapes::Mixed;
        match character {
            '\u{10D800}'..='\u{10DFFF}' => self.escape(character as u32 - 0x10_0000, upper),
            _ if is_chance && character != '/' => self.escape_character(character, upper),
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '\u{8}' => self.out.push_str("\\b"),
            '\u{c}' => self.out.push_str("\\f"),
            '/' if is_chance => self.out.push_str("\\/"),
            '\0'..='\u{1f}' => self.escape_character(character, upper),
            _ if !character.is_ascii() && self.style.escapes == Escapes::Ascii => {
                self.escape_character(character, upper)
            }
            _ => self.out.push(character),
        }
    }

    fn escape_character(&mut self, character: char, upper: bool) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            self.escape(u32::from(*unit), upper);
        }
    }

    fn escape(&mut self, unit: u32, upper: bool) {
        let digits = if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
        self.out.push_str(&digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_written_as_its_escape() {
        assert_eq!(Style::plain().write(&Json::text("a\u{10D83D}b")), r#""a\ud83db""#);
    }

    #[test]
    fn appending_leaves_earlier_bytes_alone() {
        for seed in 0..200 {
            let style = Style::quirky(Spacing::Odd, Escapes::Mixed, seed);
            let item = |n: usize| Json::object([("id", Json::text(format!("a/b\n{n}"))), ("x", Json::raw("1E+2"))]);
            let short = style.write(&Json::Array((0..3).map(item).collect()));
            let long = style.write(&Json::Array((0..4).map(item).collect()));
            let kept = short.trim_end_matches([']', ' ', '\n']);
            assert!(long.starts_with(kept), "{short} | {long}");
        }
    }

    #[test]
    fn every_style_spells_the_same_value() {
        let value = Json::object([("k/é", Json::Array(vec![Json::text("ü\u{2028}😀\\\"/\0"), Json::raw("-0.0")]))]);
        let plain: serde_json::Value = serde_json::from_str(&Style::plain().write(&value)).unwrap();
        for seed in 0..200 {
            for (spacing, escapes) in [(Spacing::Odd, Escapes::Mixed), (Spacing::Pretty, Escapes::Ascii)] {
                let text = Style::quirky(spacing, escapes, seed).write(&value);
                assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), plain, "{text}");
            }
        }
    }
}
