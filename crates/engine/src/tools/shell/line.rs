//! Which commands does a shell line run? Words without their quotes, split where a shell splits.
//!
//! Gives up on all that writes or computes: redirections to files, substitutions, groups, here-documents.

use std::{iter::Peekable, str::Chars};

/// One word of a command, without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether the shell would put something else in its place.
    pub(super) expands: bool,
}

/// Gives the simple commands of a line, in order; `None` if it does what cannot be judged by its words.
pub(super) fn commands(line: &str) -> Option<Vec<Vec<Word>>> {
    let mut reading = Reading { chars: line.chars().peekable(), commands: vec![Vec::new()], word: None };
    while let Some(c) = reading.chars.next() {
        reading.take(c)?;
    }
    reading.end_command();
    reading.commands.retain(|words| !words.is_empty());
    Some(reading.commands)
}

struct Reading<'a> {
    chars: Peekable<Chars<'a>>,
    commands: Vec<Vec<Word>>,
    /// The word that is being read; `None` between words, so that `''` is a word.
    word: Option<Word>,
}

impl Reading<'_> {
    fn take(&mut self, c: char) -> Option<()> {
        match c {
            '\'' => self.single()?,
            '"' => self.double()?,
            '\\' => match self.chars.next()? {
                '\n' => {}
                escaped => self.push(escaped),
            },
            '$' => self.dollar()?,
            '`' | '(' | ')' => return None,
            '<' => {
                self.end_word();
                if matches!(self.chars.peek(), Some('<' | '(' | '&' | '>')) {
                    return None;
                }
            }
            '>' => self.redirect()?,
            '&' if self.chars.peek() == Some(&'>') => {
                self.chars.next();
                self.redirect()?;
            }
            '&' | '|' | ';' | '\n' => self.end_command(),
            '#' if self.word.is_none() => while self.chars.next_if(|&c| c != '\n').is_some() {},
            c if c.is_whitespace() => self.end_word(),
            // `{a,b}` becomes two words.
            '{' | '}' => {
                self.push(c);
                self.expand();
            }
            c => self.push(c),
        }
        Some(())
    }

    fn push(&mut self, c: char) {
        self.begin().text.push(c);
    }

    fn begin(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word { text: String::new(), expands: false })
    }

    fn expand(&mut self) {
        self.begin().expands = true;
    }

    fn end_word(&mut self) {
        if let (Some(word), Some(command)) = (self.word.take(), self.commands.last_mut()) {
            command.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.commands.push(Vec::new());
    }

    fn single(&mut self) -> Option<()> {
        self.begin();
        loop {
            match self.chars.next()? {
                '\'' => return Some(()),
                c => self.push(c),
            }
        }
    }

    fn double(&mut self) -> Option<()> {
        self.begin();
        loop {
            match self.chars.next()? {
                '"' => return Some(()),
                '`' => return None,
                '$' => self.dollar()?,
                '\\' => match self.chars.next()? {
                    '\n' => {}
                    escaped @ ('"' | '\\' | '$' | '`') => self.push(escaped),
                    other => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                c => self.push(c),
            }
        }
    }

    /// A variable is a word we do not know; `$(` and `$'` are not read at all.
    fn dollar(&mut self) -> Option<()> {
        match self.chars.peek() {
            Some('(' | '\'') => None,
            Some(&c) if c.is_alphanumeric() || matches!(c, '_' | '{' | '?' | '@' | '*' | '#' | '!' | '$' | '-') => {
                self.push('$');
                self.expand();
                Some(())
            }
            Some(_) | None => {
                self.push('$');
                Some(())
            }
        }
    }

    /// Lets pass what goes to another stream or nowhere: `2>&1`, `2>/dev/null`, `&>/dev/null`.
    fn redirect(&mut self) -> Option<()> {
        if self.word.as_ref().is_some_and(|word| word.text.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.chars.next_if_eq(&'>');
        if self.chars.next_if_eq(&'&').is_some() {
            return self.chars.next_if(|c| matches!(c, '1' | '2')).map(|_| ()).filter(|()| self.at_word_end());
        }
        while self.chars.next_if_eq(&' ').is_some() {}
        for expected in "/dev/null".chars() {
            self.chars.next_if_eq(&expected)?;
        }
        self.at_word_end().then_some(())
    }

    fn at_word_end(&mut self) -> bool {
        self.chars.peek().is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '|' | '&'))
    }
}
