//! What is spoken of? A task or a resource, by a short name; also names of other worlds, which notes may hold.

use std::{fmt, str::FromStr};

/// A name like `T03` (a task), `R2` (a resource), or of another world `Z41` and `Q1`.
///
/// Invariant: the letter is one of those four.
///
/// ```
/// use liveset_eval::irbench::Entity;
/// assert_eq!("T03".parse::<Entity>(), Ok(Entity::task(3)));
/// assert_eq!(Entity::resource(2).to_string(), "R2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entity {
    letter: u8,
    number: u8,
}

/// Letter of tasks of the world.
const TASK: u8 = b'T';
/// Letter of resources of the world.
const RESOURCE: u8 = b'R';
/// Letter of tasks of no world.
const STRANGE_TASK: u8 = b'Z';
/// Letter of resources of no world.
const STRANGE_RESOURCE: u8 = b'Q';

impl Entity {
    /// Names a task of the world, from 1.
    #[must_use]
    pub const fn task(number: u8) -> Self {
        Self { letter: TASK, number }
    }

    /// Names a resource of the world, from 1.
    #[must_use]
    pub const fn resource(number: u8) -> Self {
        Self { letter: RESOURCE, number }
    }

    /// Names what has the same kind and stands in no world.
    #[must_use]
    pub const fn estranged(self) -> Self {
        match self.letter {
            RESOURCE | STRANGE_RESOURCE => Self { letter: STRANGE_RESOURCE, number: self.number },
            _ => Self { letter: STRANGE_TASK, number: self.number % 50 + 40 },
        }
    }

    /// Gives its number, from 1.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.number
    }

    /// Says whether it is a task, of whatever world.
    #[must_use]
    pub const fn is_task(self) -> bool {
        matches!(self.letter, TASK | STRANGE_TASK)
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = char::from(self.letter);
        if self.is_task() { write!(f, "{letter}{:02}", self.number) } else { write!(f, "{letter}{}", self.number) }
    }
}

impl FromStr for Entity {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "a name is a letter (T, R, Z, Q) and a number";
        let (&letter, digits) = name.as_bytes().split_first().ok_or(WRONG)?;
        let is_known = matches!(letter, TASK | RESOURCE | STRANGE_TASK | STRANGE_RESOURCE);
        let is_number = (1..=2).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        if !is_known || !is_number {
            return Err(WRONG);
        }
        let number = digits.iter().fold(0_u8, |sum, digit| sum * 10 + (digit - b'0'));
        let entity = Self { letter, number };
        // Each thing has one name.
        if entity.to_string() == name { Ok(entity) } else { Err(WRONG) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_one_name() {
        for name in ["T01", "T10", "R4", "Z41", "Q1"] {
            assert_eq!(name.parse::<Entity>().unwrap().to_string(), name);
        }
        for wrong in ["", "T", "T1", "R02", "X01", "T001", "T0a", "t01"] {
            assert!(wrong.parse::<Entity>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_estranged_keeps_its_kind_and_leaves_the_world() {
        assert_eq!(Entity::task(1).estranged().to_string(), "Z41");
        assert_eq!(Entity::resource(2).estranged().to_string(), "Q2");
    }
}
