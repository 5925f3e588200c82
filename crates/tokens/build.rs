//! Lays out the public vocabularies and the character classes at build time, so that a counter is ready without loading.
//!
//! Takes the token bytes from `toktok-rs` and the classes from `regex-syntax`, whose tables `tiktoken` itself splits by.
//! The layouts are read by `src/vocabulary.rs` and `src/classes.rs`, which share `src/layout.rs` with this file.

#![expect(clippy::disallowed_methods, reason = "a build script is there to write files")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use regex_syntax::hir::{Class, HirKind};

#[path = "src/layout.rs"]
mod layout;

use layout::{
    EMPTY_SLOT, FILTER_BITS, MAX_SHORT_BYTES, NO_TOKEN, PAGE_CHARS, PLACE_BITS, filter_place, long_slot, short_hash,
    short_key, short_slot, short_value,
};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/layout.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    for (name, encoding) in [("o200k", "o200k_base"), ("cl100k", "cl100k_base")] {
        write_vocabulary(&out, name, encoding)?;
    }
    write_classes(&out)
}

/// Writes three tables: the ranks of all pairs of bytes, the short tokens by their bytes as a number, the long ones by hash.
fn write_vocabulary(out: &Path, name: &str, encoding: &str) -> Result<(), Box<dyn Error>> {
    let tokenizer = toktok::Tokenizer::builtin(encoding)?;
    let vocabulary = tokenizer.vocab();
    let bounds = vocabulary.tstart.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
    let tokens: Vec<(u32, &[u8])> = (0..).zip(bounds.map(|range| &vocabulary.all[range])).collect();
    let (short, long): (Vec<_>, Vec<_>) = tokens.iter().partition(|(_, bytes)| bytes.len() <= MAX_SHORT_BYTES);

    let mut pairs = vec![NO_TOKEN; 1 << 16];
    for (id, bytes) in &short {
        if let [first, second] = bytes {
            pairs[usize::from(u16::from_be_bytes([*first, *second]))] = *id;
        }
    }
    let slot_count = slot_count(short.len());
    let mut slots = vec![(0, EMPTY_SLOT); slot_count];
    let mut filter = vec![0_u8; FILTER_BITS / 8];
    for (id, bytes) in &short {
        let key = short_key(bytes);
        let hash = short_hash(key, bytes.len());
        let (byte, bit) = filter_place(hash);
        filter[byte] |= bit;
        let mut slot = short_slot(hash, slot_count);
        while slots[slot].1 != EMPTY_SLOT {
            slot = (slot + 1) % slot_count;
        }
        slots[slot] = (key, short_value(bytes.len(), *id));
    }
    fs::write(out.join(format!("{name}.pairs")), little_endian(&pairs))?;
    fs::write(out.join(format!("{name}.filter")), filter)?;
    let entries = slots.iter().flat_map(|(key, value)| key.to_le_bytes().into_iter().chain(value.to_le_bytes()));
    fs::write(out.join(format!("{name}.short")), entries.collect::<Vec<u8>>())?;
    write_long(out, name, &long)
}

fn write_long(out: &Path, name: &str, tokens: &[(u32, &[u8])]) -> Result<(), Box<dyn Error>> {
    let slot_count = slot_count(tokens.len());
    let mut slots = vec![EMPTY_SLOT; slot_count];
    let (mut all, mut entries) = (Vec::new(), Vec::new());
    for (at, (id, bytes)) in tokens.iter().enumerate() {
        let (mut slot, mark) = long_slot(bytes, slot_count);
        while slots[slot] != EMPTY_SLOT {
            slot = (slot + 1) % slot_count;
        }
        slots[slot] = mark << PLACE_BITS | u32::try_from(at)?;
        entries.extend([u32::try_from(all.len())?, *id]);
        all.extend_from_slice(bytes);
    }
    entries.extend([u32::try_from(all.len())?, NO_TOKEN]);
    fs::write(out.join(format!("{name}.bytes")), all)?;
    fs::write(out.join(format!("{name}.entries")), little_endian(&entries))?;
    fs::write(out.join(format!("{name}.slots")), little_endian(&slots))?;
    Ok(())
}

/// A power of two, at least a quarter of it empty, so that searches end soon.
fn slot_count(tokens: usize) -> usize {
    (tokens * 4 / 3).next_power_of_two()
}

fn little_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Writes the classes of all characters in two steps: the page of a character, and the classes on each page.
fn write_classes(out: &Path) -> Result<(), Box<dyn Error>> {
    let mut classes = vec![0_u8; 0x11_0000];
    for (pattern, class) in layout::CLASS_PATTERNS {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(ranges)) = hir.kind() else { return Err("a class is no class".into()) };
        for range in ranges.iter() {
            classes[range.start() as usize..=range.end() as usize].iter_mut().for_each(|at| *at |= class);
        }
    }
    let (mut pages, mut index): (Vec<&[u8]>, Vec<u8>) = (Vec::new(), Vec::new());
    for page in classes.chunks(PAGE_CHARS) {
        let at = pages.iter().position(|known| *known == page).unwrap_or_else(|| {
            pages.push(page);
            pages.len() - 1
        });
        index.push(u8::try_from(at)?);
    }
    fs::write(out.join("classes.index"), index)?;
    fs::write(out.join("classes.pages"), pages.concat())?;
    Ok(())
}
