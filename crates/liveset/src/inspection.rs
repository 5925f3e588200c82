//! What does a body hold? Its items with their sizes, before anything is decided.
//!
//! Cuts nothing, stores nothing.

use liveset_engine::{
    budget::Budget,
    counts::Counts,
    json::Outline,
    plan::{self, Inputs, SurveyItem},
    report::TokenReport,
    summary::SummaryAnswers,
    transcript::WireFormat,
    wire,
};
use liveset_tokens::{CountCache, Exactness, Price, Tokens};

use crate::{
    compact::{Liveset, model_name, token_report},
    error::Result,
};

/// What a body holds, before anything is decided.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// Its dialect.
    pub format: WireFormat,
    /// The model it names, or that was named for it.
    pub model: Option<String>,
    /// Size and limits.
    pub tokens: TokenReport,
    /// How far the sizes may be trusted.
    pub exactness: Exactness,
    /// Size of the tools and of the request itself.
    pub tools_tokens: Tokens,
    /// Every item in order.
    pub items: Vec<SurveyItem>,
}

impl Liveset {
    /// Looks at a body without cutting: sizes, and each result's passages with their scores at the end of the body.
    ///
    /// ```
    /// use liveset::{Liveset, Policy};
    /// let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    /// let inspection = Liveset::new(Policy::default()).inspect(body)?;
    /// assert_eq!(inspection.items.len(), 1);
    /// # Ok::<(), liveset::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Liveset::compact`], apart from the archive.
    pub fn inspect(&self, body: &[u8]) -> Result<Inspection> {
        let outline = Outline::read(body)?;
        let format = self.format.map_or_else(|| wire::detect(&outline), Ok)?;
        let transcript = wire::read(format, &outline)?;
        let name = self.model.clone().or_else(|| model_name(&transcript));
        let (model, counter) = self.model_of(name.as_deref());
        let counts = Counts::of(&transcript, counter, &mut CountCache::default())?.with_overhead(self.overhead);
        // Looking needs no window: an unknown model is measured against what it holds.
        let mut policy = self.policy.clone();
        if model.is_none() && policy.window.is_none() && policy.default_window.is_none() {
            policy.default_window = Some(counts.total().0.max(1) * 2);
        }
        let (budget, _) = Budget::of(&policy, model)?;
        let price = model.map_or(Price::DEFAULT, |model| model.price);
        let inputs = Inputs {
            transcript: &transcript,
            counts: &counts,
            budget: &budget,
            events: &[],
            policy: &policy,
            counter,
            price,
            answers: &SummaryAnswers::default(),
        };
        let items = plan::survey(&inputs)?;
        Ok(Inspection {
            format,
            model: name,
            tokens: token_report(&counts, &budget, counter),
            exactness: counter.exactness(),
            tools_tokens: counts.request(),
            items,
        })
    }
}
