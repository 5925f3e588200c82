//! Who writes a summary, and what holds where nobody does? Answers to what a plan needs, from the archive or a model.
//!
//! Asks a model at the newest request point only, and whatever comes of it is stored: the same body gives the same bytes
//! from then on, whether or not the model would answer the same.

use liveset_archive::{Error as ArchiveError, output_hash};
use liveset_engine::{
    plan::{self, Inputs, Plan, State},
    policy::SummaryKind,
    report::Warning,
    summary::{NeedsSummary, SummaryAnswer, SummaryAnswers},
};

use crate::{compact::Liveset, error::Result};

/// Rounds of planning at most: each finds one answer, and what a body asks beyond gets extracts.
const MAX_ROUNDS: usize = 1_024;

/// Times that a model is asked for one body at most: a request waits for each.
pub(crate) const MAX_ASKED: usize = 2;

/// What opens a stored reason why there is no summary: none begins like that.
const NONE_STORED: char = '\n';

impl Liveset {
    /// Plans with every summary that is to be had.
    pub(crate) fn planned(&self, inputs: &Inputs<'_, '_>, state: State) -> Result<Plan> {
        if self.policy.summary.kind != SummaryKind::Model {
            return Ok(plan::resume(inputs, state)?);
        }
        let (mut answers, mut asked) = (SummaryAnswers::default(), 0);
        for _ in 0..MAX_ROUNDS {
            let plan = plan::resume(&Inputs { answers: &answers, ..*inputs }, state.clone())?;
            let Some(need) = &plan.needs else { return Ok(plan) };
            answers.insert(need.id, self.answer(need, &mut asked)?);
        }
        let mut plan = plan::resume(&Inputs { answers: &answers, ..*inputs }, state)?;
        plan.warnings
            .push(Warning::new("summary_fallback", "extracts stand where more summaries were meant to be looked for"));
        Ok(plan)
    }

    fn answer(&self, need: &NeedsSummary, asked: &mut usize) -> Result<SummaryAnswer> {
        let Some(archive) = &self.archive else { return Ok(extract("without an archive no answer could be kept")) };
        let key = key(need);
        match archive.summary(&key) {
            Ok(Some(stored)) => return Ok(taken(need, &stored)),
            Ok(None) => {}
            Err(ArchiveError::Unsupported { .. }) => return Ok(extract("the archive keeps no summaries")),
            Err(error) => return Err(error.into()),
        }
        let Some(summarizer) = &self.summarizer else { return Ok(extract("no model was named")) };
        let words = if !need.is_last {
            Err("an earlier request was made without one".to_owned())
        } else if *asked == MAX_ASKED {
            Err("too many were needed at once".to_owned())
        } else {
            *asked += 1;
            summarizer.summarize(&need.input, need.max_tokens).map_err(|error| error.to_string())
        };
        let usable = words.and_then(|words| need.answer(&words).map(|_| words).map_err(str::to_owned));
        let stored = match usable {
            Ok(words) => words.trim().to_owned(),
            Err(why) => format!("{NONE_STORED}{why}"),
        };
        // Of two that ask at once the first answer holds for both.
        Ok(taken(need, &archive.put_summary(&key, &stored)?))
    }
}

fn extract(why: &str) -> SummaryAnswer {
    SummaryAnswer::Extract { why: why.into() }
}

fn taken(need: &NeedsSummary, stored: &str) -> SummaryAnswer {
    match stored.strip_prefix(NONE_STORED) {
        Some(why) => extract(why),
        None => need.answer(stored).unwrap_or_else(extract),
    }
}

/// Names an input: whoever wrote its summary, and by which prompt, the first that was stored holds.
fn key(need: &NeedsSummary) -> String {
    output_hash(format!("summary 1\n{}\n{}", need.max_tokens, need.input).as_bytes())
}
