//! `liveset man`: manual pages, made from the same words as `--help`.

use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::{
    args::{Arguments, Man},
    failure::Failure,
    output,
};

pub(crate) fn run(args: &Man) -> Result<u8, Failure> {
    let mut root = Arguments::command();
    // Gives subcommands their full names and global flags.
    root.build();
    match &args.dir {
        Some(dir) => write_all(&root, dir)?,
        None => output::bytes(None, &page(find(&root, &args.of)?))?,
    }
    Ok(0)
}

/// The command that these words name.
fn find<'c>(root: &'c Command, words: &[String]) -> Result<&'c Command, Failure> {
    words.iter().try_fold(root, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = listed(command).map(Command::get_name).collect();
            let failure = Failure::usage(format_args!("`{}` has no command `{word}`", shown(command)));
            match known.is_empty() {
                true => failure.hint(format!("`liveset man {}` is its page", words[..words.len() - 1].join(" "))),
                false => failure.hint(format!("there are: {}", known.join(", "))),
            }
        })
    })
}

/// The commands below one, without the `help` that clap adds.
fn listed(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| command.get_name() != "help")
}

fn shown(command: &Command) -> &str {
    command.get_bin_name().unwrap_or(command.get_name())
}

fn page(command: &Command) -> Vec<u8> {
    let name = shown(command).replace(' ', "-");
    let version = concat!("liveset ", env!("CARGO_PKG_VERSION"));
    let command = command.clone().display_name(name.clone());
    // No date: the same version gives the same page on any day.
    let page = Page::new(command).title(name).date("").source(version).manual("liveset manual");
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = page.render(&mut text);
    text
}

fn write_all(command: &Command, dir: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(dir).map_err(|error| Failure::writing(dir, &error))?;
    let file = format!("{}.1", shown(command).replace(' ', "-"));
    output::bytes(Some(&dir.join(file)), &page(command))?;
    listed(command).try_for_each(|below| write_all(below, dir))
}
