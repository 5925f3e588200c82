//! How many lines of each sort does a text have? One pass over its beginning and end; every sort is asked about each.

use super::{
    ContentKind, blob::BlobLines, build::BuildLines, code::CodeLines, delimited::Columns, diff::DiffLines,
    frames::FrameLines, hits::HitLines, line, listing::ListingLines, log::LogLines, markdown::MarkdownLines,
    markup::MarkupLines, table::TableLines, terminal::TerminalLines, tests::TestLines,
};

/// Bytes looked at from the beginning: a kind shows itself in the first few hundred lines.
const HEAD_BYTES: usize = 48 << 10;
/// Bytes looked at from the end, where runs state their verdict.
const TAIL_BYTES: usize = 16 << 10;
/// Of a longer line only this much is looked at.
const MAX_LINE_BYTES: usize = 2_000;
/// Two sorts that each have one line in so many, and neither rules: the text is mixed.
const MIXED_ONE_IN: usize = 5;

/// What the lines of a text look like.
#[derive(Default)]
pub(super) struct Census {
    /// Lines that are not blank.
    pub(super) lines: usize,
    pub(super) blob: BlobLines,
    pub(super) build: BuildLines,
    pub(super) code: CodeLines,
    pub(super) delimited: Columns,
    pub(super) diff: DiffLines,
    pub(super) frames: FrameLines,
    pub(super) hits: HitLines,
    pub(super) listing: ListingLines,
    pub(super) log: LogLines,
    pub(super) markdown: MarkdownLines,
    pub(super) markup: MarkupLines,
    pub(super) table: TableLines,
    pub(super) terminal: TerminalLines,
    pub(super) tests: TestLines,
}

impl Census {
    /// Counts the lines of a text, or of its beginning and end.
    pub(super) fn of(text: &str) -> Self {
        let mut census = Self::default();
        let (head, tail) = sampled(text);
        for line in head.split('\n').chain(tail.split('\n')) {
            census.see(line.strip_suffix('\r').unwrap_or(line));
        }
        census
    }

    fn see(&mut self, raw: &str) {
        let raw = line::head(raw, MAX_LINE_BYTES);
        self.terminal.see(raw);
        self.blob.see(raw);
        if raw.trim().is_empty() {
            self.diff.see(raw);
            return;
        }
        self.lines += 1;
        let plain = line::without_colour(raw);
        let plain = plain.as_ref();
        self.hits.see(plain);
        let own = line::without_number(plain);
        self.diff.see(own);
        self.tests.see(own);
        self.frames.see(own);
        self.log.see(own);
        self.build.see(own);
        self.listing.see(own);
        self.table.see(own);
        self.delimited.see(own);
        self.markup.see(own);
        self.markdown.see(own);
        if !self.markdown.is_fenced() {
            self.code.see(own);
        }
    }

    /// Says whether the lines can be what the path's name promises.
    pub(super) fn bears_out(&self, hint: ContentKind) -> bool {
        match hint {
            ContentKind::Source(_) => self.code.is_likely(self.lines),
            ContentKind::Markdown => self.markdown.is_likely(),
            ContentKind::Delimited => self.delimited.is_likely(self.lines),
            ContentKind::Markup => self.markup.is_likely(self.lines),
            ContentKind::Log => self.log.is_likely(self.lines),
            ContentKind::Diff
            | ContentKind::StackTrace
            | ContentKind::Tests(_)
            | ContentKind::BuildLog
            | ContentKind::Json
            | ContentKind::JsonLines
            | ContentKind::Listing
            | ContentKind::Hits
            | ContentKind::Table
            | ContentKind::Blob
            | ContentKind::Terminal
            | ContentKind::Mixed
            | ContentKind::Plain => false,
        }
    }

    /// Says whether several sorts have a share each.
    pub(super) fn is_mixed(&self) -> bool {
        let shares = [
            self.diff.count(),
            self.tests.count(),
            self.frames.count(),
            self.hits.count(),
            self.log.count(),
            self.build.count(),
            self.listing.count(),
            self.code.sure(),
        ];
        shares.into_iter().filter(|count| count * MIXED_ONE_IN >= self.lines && *count > 1).count() > 1
    }
}

/// Gives whole lines from the beginning and the end; the end is empty where the beginning is all.
fn sampled(text: &str) -> (&str, &str) {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return (text, "");
    }
    let head = line::head(text, HEAD_BYTES);
    let head = head.rfind('\n').and_then(|end| head.get(..end)).unwrap_or(head);
    let tail = line::tail(text, TAIL_BYTES);
    let tail = tail.find('\n').and_then(|end| tail.get(end + 1..)).unwrap_or_default();
    (head, tail)
}
