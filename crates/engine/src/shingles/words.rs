//! Which words does a text hold, line by line? A word is a run of letters, digits and `_`, or one other character that is not white space.
//!
//! Never copies text. Sixty-four bytes are classified at a time, and words are read off the bits, so that no branch depends on a single character.

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
    /// Takes some words of one line of `bytes`, which are the whole text.
    fn words(&mut self, bytes: &[u8], words: Words);
    /// Hears that a line ends before byte `end`; its `\n`, if it has one, included.
    fn line(&mut self, end: usize);
}

/// Hands the words of `text` to `sink`, without the prefixes of its lines.
pub(crate) fn walk(text: &str, sink: &mut impl Sink) {
    let text = clip(text);
    let bytes = text.as_bytes();
    if text.is_empty() {
        return;
    }
    let marks = Marks::of(text);
    let mut carry = Carry::default();
    let mut open = None;
    // Words start here or later: what stands before in its line is a prefix.
    let mut from = prefix_len(text, 0, marks);
    // One block past the end, if the text fills its last: it closes the last word.
    for base in (0..=bytes.len()).step_by(BLOCK) {
        let mut block = Block::of(text, base, &mut carry);
        block.skip_to(from);
        while block.feeds != 0 {
            let feed = block.feeds.trailing_zeros();
            let line = block.take_through(feed, &mut open);
            sink.words(bytes, line);
            block.feeds &= block.feeds - 1;
            let end = base + feed as usize + 1;
            sink.line(end);
            from = end + prefix_len(text, end, marks);
            block.skip_to(from);
        }
        sink.words(bytes, block.take_through(u64::BITS - 1, &mut open));
    }
    if bytes.last() != Some(&b'\n') {
        sink.line(bytes.len());
    }
}

/// Cuts `text` to what 32-bit offsets can name, on a character border.
fn clip(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// A word whose end is not reached yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: usize,
    is_plain: bool,
}

/// Words of one line and one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    base: usize,
    /// A word begun in an earlier block; it ends first.
    open: Option<Open>,
    starts: u64,
    ends: u64,
    plain: u64,
}

impl Words {
    /// Counts the words without looking at them.
    #[inline]
    pub(crate) fn count_words(self) -> u32 {
        self.ends.count_ones()
    }

    /// Calls `f` with each word. A loop over bits, whose steps do not wait for each other.
    #[inline(always)]
    pub(crate) fn each(self, mut f: impl FnMut(Word)) {
        let Self { base, open, mut starts, mut ends, plain } = self;
        let mut take_start = || {
            let place = starts.trailing_zeros();
            starts &= starts.wrapping_sub(1);
            Open { start: base + place as usize, is_plain: plain >> (place % u64::BITS) & 1 == 1 }
        };
        let mut word = open.unwrap_or_else(&mut take_start);
        while ends != 0 {
            let end = base + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            f(Word { start: word.start, end, is_plain: word.is_plain });
            word = take_start();
        }
    }
}

/// What the bytes before a block say about it.
#[derive(Clone, Copy, Debug, Default)]
struct Carry {
    /// Bytes at its front that belong to a word character begun before it.
    plain: u64,
    /// Where in it characters end that are words of their own.
    ends: u64,
    /// 1 if the byte before it belongs to a word character.
    was_plain: u64,
}

/// Where words and lines begin and end in sixty-four bytes: bit k is byte `base + k`. Past the text's end there is white space.
#[derive(Clone, Copy, Debug)]
struct Block {
    base: usize,
    /// Bytes of letters, digits and `_`.
    plain: u64,
    /// First bytes of words.
    starts: u64,
    /// Bytes before which a word ends.
    ends: u64,
    /// Line feeds.
    feeds: u64,
}

impl Block {
    fn of(text: &str, base: usize, carry: &mut Carry) -> Self {
        let rest = text.as_bytes().get(base..).unwrap_or_default();
        let mut padded = [b' '; BLOCK];
        let window = rest.first_chunk::<BLOCK>().unwrap_or_else(|| {
            padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            &padded
        });
        let plain = mask(window, |byte| byte.is_ascii_alphanumeric() | (byte == b'_'));
        let blank = mask(window, |byte| (byte == b' ') | (b'\t'..=b'\r').contains(&byte));
        let feeds = mask(window, |byte| byte == b'\n');
        let beyond = if window.is_ascii() { 0 } else { mask(window, |byte| byte >= 0x80) };
        let mut wide = Wide { plain: u128::from(plain | carry.plain), ..Wide::default() };
        if beyond != 0 {
            wide.add_beyond_ascii(text, base, mask(window, |byte| byte >= 0xc0));
        }
        let single = u128::from(!(plain | blank | beyond));
        wide.starts |= single;
        wide.ends |= single << 1 | u128::from(carry.ends);
        let [plain, starts, ends] = [wide.plain, wide.starts, wide.ends].map(|bits| bits as u64);
        let after_plain = plain << 1 | carry.was_plain;
        *carry =
            Carry { plain: (wide.plain >> BLOCK) as u64, ends: (wide.ends >> BLOCK) as u64, was_plain: plain >> 63 };
        Self { base, plain, starts: starts | plain & !after_plain, ends: ends | after_plain & !plain, feeds }
    }

    /// Forgets the words before byte `from`. None goes on over it: prefixes end with a separator or white space.
    #[inline]
    fn skip_to(&mut self, from: usize) {
        if let Some(skipped) = from.checked_sub(self.base) {
            let kept = u64::MAX.checked_shl(skipped as u32).unwrap_or(0);
            self.starts &= kept;
            self.ends &= kept << 1;
        }
    }

    /// Takes the words that end at or before byte `last` of the block. One that starts but does not end becomes `open`.
    #[inline]
    fn take_through(&mut self, last: u32, open: &mut Option<Open>) -> Words {
        let through = u64::MAX >> (u64::BITS - 1 - last);
        let words = Words {
            base: self.base,
            open: *open,
            starts: self.starts & through,
            ends: self.ends & through,
            plain: self.plain,
        };
        self.starts &= !through;
        self.ends &= !through;
        let begun = words.starts.count_ones() + u32::from(open.is_some());
        if begun > words.ends.count_ones() {
            if words.starts != 0 {
                let place = u64::BITS - 1 - words.starts.leading_zeros();
                *open = Some(Open { start: self.base + place as usize, is_plain: words.plain >> place & 1 == 1 });
            }
        } else {
            *open = None;
        }
        words
    }
}

/// Bits of a block and of the one behind it, into which its last character may reach.
#[derive(Clone, Copy, Debug, Default)]
struct Wide {
    plain: u128,
    starts: u128,
    ends: u128,
}

impl Wide {
    /// Adds the characters beyond ASCII whose first bytes are the bits of `leads`.
    #[cold]
    fn add_beyond_ascii(&mut self, text: &str, base: usize, mut leads: u64) {
        while leads != 0 {
            let place = leads.trailing_zeros();
            leads &= leads - 1;
            let Some(c) = text.get(base + place as usize..).and_then(|rest| rest.chars().next()) else { continue };
            let len = c.len_utf8() as u32;
            if is_word(c) {
                self.plain |= ((1 << len) - 1) << place;
            } else if !c.is_whitespace() {
                self.starts |= 1 << place;
                self.ends |= 1 << (place + len);
            }
        }
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
        fn words(&mut self, bytes: &[u8], words: Words) {
            let before = self.0.len();
            words.each(|word| {
                let text = std::str::from_utf8(&bytes[word.start..word.end]).unwrap();
                self.0.push(if word.is_plain { text.to_owned() } else { format!("<{text}>") });
            });
            assert_eq!(words.count_words() as usize, self.0.len() - before);
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
        for lead in 0..200 {
            let text = format!("{}{}é{} z", " ".repeat(lead), "a".repeat(70), "b".repeat(70));
            check(&text, &format!("{}é{} z @{}", "a".repeat(70), "b".repeat(70), text.len()));
        }
    }

    #[test]
    fn a_line_or_prefix_over_a_block_border_is_still_one() {
        for lead in 0..200 {
            let text = format!("{}\n   12\t34 →5\nx/y.rs:7:8\n€", ".".repeat(lead));
            let dots = "<.> ".repeat(lead);
            let ends = [lead + 1, lead + 15, lead + 26, lead + 29];
            check(&text, &format!("{dots}@{} 34 <→> 5 @{} 8 @{} <€> @{}", ends[0], ends[1], ends[2], ends[3]));
        }
    }
}
