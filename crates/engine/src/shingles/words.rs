//! Which words does a text hold, line by line? A word is a run of letters, digits and `_`, or one other character that is not white space.
//!
//! Never copies text. Sixty-four bytes are classified at a time, so that plain ASCII costs no branch per character; everything else takes the slow turns.

use super::letters::is_word;
use super::prefix::{Marks, prefix_len};

/// Offsets are 32 bits wide, so of a longer text only this many bytes are read. A request body is far shorter.
const MAX_TEXT_BYTES: usize = u32::MAX as usize;

/// Bytes classified at once: one bit each in a `u64`.
const BLOCK: usize = 64;

/// One word of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Byte offset of its first character.
    pub(crate) start: usize,
    /// Byte offset after its last character.
    pub(crate) end: usize,
    /// Whether it is made of letters, digits and `_`.
    pub(crate) is_plain: bool,
}

/// Takes the words of a text in order, and the ends of its lines.
pub(crate) trait Sink {
    /// Takes one word of `bytes`, which are the whole text.
    fn word(&mut self, bytes: &[u8], word: Word);
    /// Hears that a line ends before byte `end`; its `\n`, if it has one, included.
    fn line(&mut self, end: usize);
}

/// Hands the words of `text` to `sink`, without the prefixes of its lines.
pub(crate) fn walk(text: &str, sink: &mut impl Sink) {
    let text = clip(text);
    let bytes = text.as_bytes();
    let marks = Marks::of(text);
    let mut block = Block::of(bytes, 0);
    let mut at = 0;
    while at < bytes.len() {
        at += prefix_len(text, at, marks);
        at = walk_line(text, at, &mut block, sink);
        sink.line(at);
    }
}

/// Walks from byte `at` to the end of its line and gives the offset after the `\n`.
#[inline]
fn walk_line(text: &str, mut at: usize, block: &mut Block, sink: &mut impl Sink) -> usize {
    let bytes = text.as_bytes();
    loop {
        if at - block.base >= BLOCK {
            *block = Block::of(bytes, at / BLOCK * BLOCK);
        }
        let ahead = block.solid >> (at - block.base);
        if ahead == 0 {
            at = block.base + BLOCK;
            if at >= bytes.len() {
                return bytes.len();
            }
            continue;
        }
        at += ahead.trailing_zeros() as usize;
        let offset = at - block.base;
        let run = (block.plain >> offset).trailing_ones() as usize;
        let behind = offset + run;
        if run == 0 && block.is_special(offset) {
            if bytes.get(at) == Some(&b'\n') {
                return at + 1;
            }
            at = beyond_ascii(text, at, sink);
            continue;
        }
        let mut end = at + run.max(1);
        if run > 0 && (behind >= BLOCK || block.is_special(behind)) {
            end = run_end(text, end);
        }
        sink.word(bytes, Word { start: at, end, is_plain: run > 0 });
        at = end;
    }
}

/// Takes the character beyond ASCII at byte `at`, with the run it may begin, and gives the offset after it.
#[cold]
fn beyond_ascii(text: &str, at: usize, sink: &mut impl Sink) -> usize {
    let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
        return at + 1;
    };
    let next = at + c.len_utf8();
    if c.is_whitespace() {
        return next;
    }
    let is_plain = is_word(c);
    let end = if is_plain { run_end(text, next) } else { next };
    sink.word(text.as_bytes(), Word { start: at, end, is_plain });
    end
}

/// Gives the end of the run of word characters that goes on at byte `at`.
fn run_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.find(|c| !is_word(c)).unwrap_or(rest.len())
}

/// Cuts `text` to what 32-bit offsets can name, on a character border.
fn clip(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// What stands at each of sixty-four bytes: bit k is byte `base + k`. Past the text's end there is white space.
struct Block {
    base: usize,
    /// ASCII letters, digits and `_`.
    plain: u64,
    /// Everything but white space; a line feed counts as solid, since the walk stops there.
    solid: u64,
    /// Line feeds and bytes beyond ASCII.
    special: u64,
}

impl Block {
    fn of(bytes: &[u8], base: usize) -> Self {
        let rest = bytes.get(base..).unwrap_or_default();
        let mut window = [b' '; BLOCK];
        match rest.first_chunk::<BLOCK>() {
            Some(full) => window = *full,
            None => window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from),
        }
        Self {
            base,
            plain: mask(&window, |byte| byte.is_ascii_alphanumeric() | (byte == b'_')),
            solid: mask(&window, |byte| (byte != b' ') & (!(b'\t'..=b'\r').contains(&byte) | (byte == b'\n'))),
            special: mask(&window, |byte| (byte >= 0x80) | (byte == b'\n')),
        }
    }

    fn is_special(&self, offset: usize) -> bool {
        self.special >> offset & 1 == 1
    }
}

/// Gives one bit for each byte of which `holds` is true. Written in two steps that compilers turn into vector code.
#[inline]
fn mask(window: &[u8; BLOCK], holds: impl Fn(u8) -> bool) -> u64 {
    /// Gathers the lowest bit of each of eight bytes into the top byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let flags = window.map(|byte| u8::from(holds(byte)));
    let (octets, _) = flags.as_chunks::<8>();
    octets.iter().rev().fold(0, |bits, octet| bits << 8 | u64::from_le_bytes(*octet).wrapping_mul(GATHER) >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl Sink for Seen {
        fn word(&mut self, bytes: &[u8], word: Word) {
            let text = std::str::from_utf8(&bytes[word.start..word.end]).unwrap();
            self.0.push(if word.is_plain { text.to_owned() } else { format!("<{text}>") });
        }
        fn line(&mut self, end: usize) {
            self.0.push(format!("@{end}"));
        }
    }

    fn check(text: &str, expected: &str) {
        let mut seen = Seen::default();
        walk(text, &mut seen);
        assert_eq!(seen.0.join(" "), expected, "{text:?}");
    }

    #[test]
    fn words_are_runs_or_single_characters() {
        check("", "");
        check("fn a_1(x)", "fn a_1 <(> x <)> @9");
        check("naïve 日本語。\u{a0}x", "naïve 日本語 <。> x @22");
        check("a\r\n\n b", "a @3 @4 b @6");
        check("e\u{301}!", "e <\u{301}> <!> @4");
        check("12:x\n13:y\n", "x @5 y @10");
    }

    #[test]
    fn a_word_over_a_block_border_stays_one_word() {
        for lead in 50..80 {
            let text = format!("{}{}é{} z", " ".repeat(lead), "a".repeat(70), "b".repeat(70));
            check(&text, &format!("{}é{} z @{}", "a".repeat(70), "b".repeat(70), text.len()));
        }
    }
}
