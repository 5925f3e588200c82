//! What does a request cost? Tokens read from a prompt cache, written to it and sent plain, at a model's price.
//!
//! Prices are dated data; a caller's own price comes before them.

use std::sync::LazyLock;

use liveset_tokens::{Price, model};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    dollars: f64,
}

#[derive(Deserialize)]
struct Table {
    date: String,
    price: Vec<Row>,
}

static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| toml::from_str(include_str!("../data/prices.toml")).ok());

/// Tokens of a million.
const MILLION: f64 = 1_000_000.0;

/// The prices of a model's input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prices {
    /// Dollars for a million plain tokens, where known.
    pub dollars: Option<f64>,
    /// The day of that price; none where the caller named it.
    pub date: Option<String>,
    /// What cached input costs, as a share of plain input.
    pub cache: Price,
}

impl Prices {
    /// Finds the prices of a model; a price of the caller's own stands before the table's.
    ///
    /// ```
    /// use liveset_eval::money::Prices;
    /// assert_eq!(Prices::of(Some("claude-sonnet-4-20250514"), None).dollars, Some(3.0));
    /// assert_eq!(Prices::of(Some("claude-sonnet-4"), Some(2.0)).dollars, Some(2.0));
    /// assert_eq!(Prices::of(None, None).dollars, None);
    /// ```
    #[must_use]
    pub fn of(name: Option<&str>, own: Option<f64>) -> Self {
        let cache = name.and_then(model).map_or(Price::DEFAULT, |row| row.price);
        let listed = name.and_then(listed).filter(|_| own.is_none());
        let date = listed.and_then(|_| TABLE.as_ref()).map(|table| table.date.clone());
        Self { dollars: own.or(listed), date, cache }
    }

    /// Gives what cached reads and writes cost, in tokens of plain input.
    ///
    /// ```
    /// use liveset_eval::money::Prices;
    /// assert_eq!(Prices::of(None, None).plain_tokens(1_000, 100), 225.0);
    /// ```
    #[must_use]
    pub fn plain_tokens(&self, read: u64, written: u64) -> f64 {
        let permille = |tokens: u64, share: u32| tokens as f64 * f64::from(share) / 1_000.0;
        permille(read, self.cache.read_permille) + permille(written, self.cache.write_permille)
    }

    /// Gives the dollars that so many tokens of plain input cost, where the price is known.
    #[must_use]
    pub fn in_dollars(&self, plain_tokens: f64) -> Option<f64> {
        self.dollars.map(|dollars| dollars * plain_tokens / MILLION)
    }
}

fn listed(name: &str) -> Option<f64> {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase().replace('.', "-");
    let rows = TABLE.as_ref().map_or(&[][..], |table| table.price.as_slice());
    let names = rows.iter().flat_map(|row| row.names.iter().map(|known| (known.replace('.', "-"), row.dollars)));
    names.filter(|(known, _)| name.starts_with(known.as_str())).max_by_key(|(known, _)| known.len()).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_reads_and_the_longest_name_wins() {
        assert!(TABLE.as_ref().is_some_and(|table| table.price.len() > 5));
        assert_eq!(listed("claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(listed("anthropic/claude-opus-4.1"), Some(15.0));
        assert_eq!(listed("somebody-else"), None);
    }
}
