//! How is an answer written? Text with a sign whether it is an error, and lists that say what they leave out.

use crate::page::MAX_ANSWER_BYTES;

/// What a tool answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Answer {
    pub(crate) fn text(text: String) -> Self {
        Self { text, is_error: false }
    }

    pub(crate) fn error(text: String) -> Self {
        Self { text, is_error: true }
    }
}

/// Joins rows, as many as an answer holds, and counts the rest.
pub(crate) fn listed(rows: impl Iterator<Item = String>, what: &str) -> String {
    let mut out = String::new();
    let mut left_out = 0_usize;
    for row in rows {
        if left_out > 0 || out.len() + row.len() > MAX_ANSWER_BYTES {
            left_out += 1;
        } else {
            out.push_str(&row);
        }
    }
    if left_out > 0 {
        out.push_str(&format!("[{left_out} more {what}]\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_bounded_and_counts_what_it_leaves_out() {
        let row = "x".repeat(MAX_ANSWER_BYTES / 3);
        assert_eq!(listed(std::iter::repeat_n(row.clone(), 2), "hits"), row.repeat(2));
        let more = listed(std::iter::repeat_n(row.clone(), 5), "hits");
        assert_eq!(more, row.repeat(3) + "[2 more hits]\n");
    }
}
