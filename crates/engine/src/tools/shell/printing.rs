//! Does a `sed` script only print lines? Reads addresses followed by `p`, `=` or `q`.
//!
//! Knows no other command: `w` writes files, `e` runs programs.

use std::{iter::Peekable, str::Chars};

use super::line::Word;

/// Flags that change how lines are matched or counted and nothing else.
const HARMLESS: [&str; 4] = ["-E", "-r", "-s", "-u"];

/// Says whether the words after `sed -n` print lines and do no more.
pub(super) fn only_prints(words: &[Word]) -> bool {
    let mut rest = words.iter().peekable();
    while rest.next_if(|word| HARMLESS.contains(&word.text.as_str())).is_some() {}
    let has_script = rest.next().is_some_and(|script| !script.expands && is_printing(&script.text));
    // A flag behind the script counts too, and `-i` among them writes.
    has_script && rest.all(|word| !word.text.starts_with('-') && !word.expands)
}

fn is_printing(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    loop {
        while chars.next_if(|&c| c == ';' || c.is_whitespace()).is_some() {}
        if chars.peek().is_none() {
            return true;
        }
        if !takes_command(&mut chars) {
            return false;
        }
    }
}

fn takes_command(chars: &mut Peekable<Chars<'_>>) -> bool {
    if !takes_address(chars) {
        return false;
    }
    if chars.next_if_eq(&',').is_some() {
        chars.next_if(|&c| c == '+' || c == '~');
        if !takes_address(chars) {
            return false;
        }
    }
    while chars.next_if(|&c| c == ' ' || c == '!').is_some() {}
    if chars.next_if(|&c| matches!(c, 'p' | '=' | 'q')).is_none() {
        return false;
    }
    while chars.next_if_eq(&' ').is_some() {}
    chars.peek().is_none_or(|&c| c == ';' || c == '\n')
}

/// A line number, `$`, a step or `/expression/`; nothing is an address too.
fn takes_address(chars: &mut Peekable<Chars<'_>>) -> bool {
    if chars.next_if_eq(&'/').is_none() {
        while chars.next_if(|&c| c.is_ascii_digit() || c == '$' || c == '~').is_some() {}
        return true;
    }
    loop {
        match chars.next() {
            Some('\\') => {
                chars.next();
            }
            Some('/') => {
                chars.next_if_eq(&'I');
                return true;
            }
            Some(_) => {}
            None => return false,
        }
    }
}
