//! Which words does a source file consist of? Drops comments and literals, so that only code is looked at.

/// Splits source text into identifiers, `::` and single other characters.
pub(crate) fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let at = |place: usize| chars.get(place).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < chars.len() {
        let (first, second) = (at(place), at(place + 1));
        if first.is_whitespace() {
            place += 1;
        } else if first == '/' && second == '/' {
            place = skip_to(&chars, place, |chars| chars.starts_with(&['\n']));
        } else if first == '/' && second == '*' {
            place = after_block_comment(&chars, place);
        } else if first == '"' {
            place = after_string(&chars, place);
        } else if first == '\'' {
            place = after_quote(&chars, place);
        } else if first.is_alphanumeric() || first == '_' {
            let end = skip_to(&chars, place, |chars| !chars.first().is_some_and(|&c| c.is_alphanumeric() || c == '_'));
            let word: String = chars[place..end].iter().collect();
            let is_raw = matches!(word.as_str(), "r" | "br" | "cr") && matches!(at(end), '"' | '#');
            place = if is_raw { after_raw_string(&chars, end) } else { end };
            if !is_raw {
                tokens.push(word);
            }
        } else if first == ':' && second == ':' {
            tokens.push("::".to_owned());
            place += 2;
        } else {
            tokens.push(first.to_string());
            place += 1;
        }
    }
    tokens
}

fn skip_to(chars: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len()).find(|&place| is_end(&chars[place..])).unwrap_or(chars.len())
}

fn after_block_comment(chars: &[char], mut place: usize) -> usize {
    let mut depth = 0;
    while place < chars.len() {
        if chars[place..].starts_with(&['/', '*']) {
            depth += 1;
            place += 2;
        } else if chars[place..].starts_with(&['*', '/']) {
            depth -= 1;
            place += 2;
            if depth == 0 {
                break;
            }
        } else {
            place += 1;
        }
    }
    place
}

fn after_string(chars: &[char], start: usize) -> usize {
    let mut place = start + 1;
    while place < chars.len() && chars[place] != '"' {
        place += if chars[place] == '\\' { 2 } else { 1 };
    }
    place + 1
}

/// Behind a character literal, or behind the tick of a lifetime.
fn after_quote(chars: &[char], start: usize) -> usize {
    match (chars.get(start + 1), chars.get(start + 2)) {
        (Some('\\'), _) => skip_to(chars, start + 3, |chars| chars.starts_with(&['\''])) + 1,
        (_, Some('\'')) => start + 3,
        _ => start + 1,
    }
}

/// Behind a raw string whose hashes and quote begin at `start`; a raw identifier is left to be read as a word.
fn after_raw_string(chars: &[char], start: usize) -> usize {
    let hashes = chars[start..].iter().take_while(|&&c| c == '#').count();
    if chars.get(start + hashes) != Some(&'"') {
        return start + hashes;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    skip_to(chars, start + hashes + 1, |chars| chars.starts_with(&close)) + close.len()
}
