//! Which body goes out? Compacts on a thread of its own, within a time; any doubt gives the original.
//!
//! Has no rule of its own: what is cut is the library's doing, and is handed out only once its originals are stored.

mod marks;
mod judge;
mod turn;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::body::Bytes;
use liveset::WireFormat;
use tokio::sync::Semaphore;

use crate::{
    chain::Chain,
    conversation::Left,
    conversations::Conversations,
    judgement::{Doubted, Judgement, Outcome},
    rules::Rules,
};
use judge::Judge;

/// What a body is judged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A model will read it.
    Ask,
    /// Its tokens are counted: nothing is remembered as sent.
    Count,
}

/// Compacts bodies, some at a time.
pub(crate) struct Compactor {
    judge: Arc<Judge>,
    threads: Arc<Semaphore>,
    time_limit: Duration,
}

impl Compactor {
    /// Makes a compactor; `threads` 0 is one for each core.
    pub(crate) fn new(rules: Rules, threads: usize, time_limit: Duration, cache_bytes: usize) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = Arc::new(Semaphore::new(if threads == 0 { cores() } else { threads }));
        let judge = Arc::new(Judge::new(rules, cache_bytes));
        Self { judge, threads, time_limit }
    }

    /// What is kept of conversations.
    pub(crate) fn conversations(&self) -> &Conversations {
        self.judge.conversations()
    }

    /// Judges a body. A client that goes away leaves its thread to its end: what it counted is of use later.
    pub(crate) async fn judge(&self, format: WireFormat, purpose: Purpose, body: Bytes) -> Judgement {
        let (read, now) = (body.clone(), Instant::now());
        let judged = match self.judged_at_once(format, purpose, &body, now) {
            Some(judged) => judged,
            None => self.judged(move |judge| judge.judge(format, purpose, &read, now)).await,
        };
        if let (Purpose::Ask, Outcome::Doubted(Doubted::TimeLimit | Doubted::Stopped)) = (purpose, judged.outcome) {
            self.left_unread(move || Some((format, body)));
        }
        judged
    }

    /// Judges a body again that an upstream refused as too long, by a smaller window that is tried.
    pub(crate) async fn judge_shorter(&self, format: WireFormat, body: Bytes, chain: Chain, window: u64) -> Judgement {
        self.judged(move |judge| judge.judge_shorter(format, &body, &chain, window)).await
    }

    /// Hears how a body leaves that was judged.
    pub(crate) fn left(&self, judgement: &Judgement, left: Left) {
        if self.judge.left(&judgement.chain, left, Instant::now()) {
            let judge = self.judge.clone();
            // The body is on its way, and the mark is remembered already: only a restart needs it written down.
            drop(tokio::task::spawn_blocking(move || judge.enter_marks()));
        }
    }

    /// Hears that a body leaves as it came, and nobody judged it; it is read when a thread is free.
    pub(crate) fn left_unread(&self, body: impl FnOnce() -> Option<(WireFormat, Bytes)> + Send + 'static) {
        let (judge, threads) = (self.judge.clone(), self.threads.clone());
        tokio::spawn(async move {
            let Ok(permit) = threads.acquire_owned().await else { return };
            let read = move || {
                let _permit = permit;
                if let Some((format, body)) = body() {
                    judge.left_unread(format, &body, Instant::now());
                }
            };
            drop(tokio::task::spawn_blocking(read).await);
        });
    }

    /// Hears whether an upstream took a body by the smaller window that was tried.
    pub(crate) async fn was_tried(&self, chain: Chain, is_taken: bool) {
        let judge = self.judge.clone();
        drop(tokio::task::spawn_blocking(move || judge.was_tried(&chain, is_taken)).await);
    }

    /// Judges a body here and now, where that takes no longer than handing it to another thread.
    fn judged_at_once(&self, format: WireFormat, purpose: Purpose, body: &Bytes, now: Instant) -> Option<Judgement> {
        if purpose != Purpose::Ask || !self.judge.is_small(format, body) {
            return None;
        }
        let _permit = self.threads.try_acquire().ok()?;
        let judged = catch_unwind(AssertUnwindSafe(|| self.judge.judge(format, purpose, body, now)));
        Some(judged.unwrap_or_else(|_| Judgement::without_report(Outcome::Doubted(Doubted::Stopped))))
    }

    async fn judged(&self, work: impl FnOnce(&Judge) -> Judgement + Send + 'static) -> Judgement {
        let judge = self.judge.clone();
        let judged = self.within_time(move || work(&judge)).await;
        judged.unwrap_or_else(|why| Judgement::without_report(Outcome::Doubted(why)))
    }

    /// Does what takes its time on one of the threads, within the time limit.
    pub(crate) async fn within_time<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Doubted> {
        let threads = self.threads.clone();
        let worked = tokio::time::timeout(self.time_limit, async move {
            let permit = threads.acquire_owned().await.ok()?;
            let thread = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                catch_unwind(AssertUnwindSafe(work)).ok()
            });
            thread.await.ok().flatten()
        });
        match worked.await {
            Ok(Some(done)) => Ok(done),
            Ok(None) => Err(Doubted::Stopped),
            Err(_) => Err(Doubted::TimeLimit),
        }
    }
}

#[cfg(test)]
mod tests {
    use liveset::{Policy, SqliteArchive};

    use super::*;
    use crate::{chain::Reading, judgement::Prefix};

    /// About two thousand tokens of results, all processed.
    fn body(rounds: usize) -> Bytes {
        let round = |at: usize| {
            let output: String =
                (0..60).map(|line| format!("part {at} line {line}: {}\\n", line * 7_919 + at)).collect();
            format!(
                r#",{{"role":"assistant","content":[{{"type":"tool_use","id":"t{at}","name":"Bash","input":{{"command":"run {at}"}}}}]}},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{at}","content":"{output}"}}]}}"#
            )
        };
        let rounds: String = (0..rounds).map(round).collect();
        format!(r#"{{"model":"claude-sonnet-4-5","messages":[{{"role":"user","content":"t"}}{rounds}]}}"#).into()
    }

    #[test]
    fn what_left_whole_for_want_of_time_is_declared_when_it_is_cut() {
        let mut policy = Policy::default();
        (policy.window, policy.reserve) = (Some(6_000), Some(500));
        let mut compactor = Compactor::new(Rules::new(policy), 1, Duration::from_secs(60), 1 << 20);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let judge = async |compactor: &Compactor, rounds| {
                compactor.judge(WireFormat::Anthropic, Purpose::Ask, body(rounds)).await
            };
            let first = judge(&compactor, 12).await;
            assert!(first.edited.is_some());
            compactor.left(&first, Left::AsJudged);
            compactor.time_limit = Duration::ZERO;
            // All threads are taken.
            let taken = compactor.threads.clone().acquire_owned().await.unwrap();
            let late = judge(&compactor, 13).await;
            drop(taken);
            assert_eq!(late.outcome, Outcome::Doubted(Doubted::TimeLimit));
            let whole = Reading::of(WireFormat::Anthropic, &body(13)).unwrap().chain;
            while compactor.conversations().left_whole(&whole) == 0 {
                tokio::task::yield_now().await;
            }
            compactor.time_limit = Duration::from_secs(60);
            let next = judge(&compactor, 14).await;
            assert_eq!(next.report.unwrap().rebase.unwrap().cause, "fallback");
        });
    }

    /// A window that a conversation of some rounds fills to between target and trigger.
    fn half_full() -> (Policy, usize) {
        let mut policy = Policy::default();
        (policy.window, policy.reserve) = (Some(20_000), Some(500));
        let judge = Judge::new(Rules::new(policy.clone()), 1 << 20);
        let is_over_target = |rounds: &usize| {
            let judged = judge.judge(WireFormat::Anthropic, Purpose::Ask, &body(*rounds), Instant::now());
            let tokens = judged.report.unwrap().tokens;
            (tokens.target..tokens.trigger).contains(&tokens.before)
        };
        let rounds = (1..40).find(is_over_target).unwrap();
        (policy, rounds)
    }

    fn ask(judge: &Judge, rounds: usize, now: Instant) -> Judgement {
        let judged = judge.judge(WireFormat::Anthropic, Purpose::Ask, &body(rounds), now);
        judge.left(&judged.chain, Left::AsJudged, now);
        judge.conversations().answered(&judged.chain, now);
        judged
    }

    #[test]
    fn a_cache_that_ran_out_is_noted_once_and_used_for_a_sweep_that_a_restart_repeats() {
        let (policy, rounds) = half_full();
        let folder = tempfile::tempdir().unwrap();
        let start = || {
            let archive = Arc::new(SqliteArchive::open(folder.path().join("a.db")).unwrap());
            Judge::new(Rules::new(policy.clone()).with_archive(archive.clone(), archive), 1 << 20)
        };
        let judge = start();
        let mut now = Instant::now();
        let mut after = |pause: u64| {
            now += Duration::from_secs(pause);
            now
        };
        assert!(ask(&judge, rounds - 1, after(0)).edited.is_none());
        let warm = ask(&judge, rounds, after(299));
        assert!(warm.edited.is_none(), "five minutes are not over");
        let cold = ask(&judge, rounds + 1, after(301));
        let swept = cold.report.as_ref().unwrap();
        assert_eq!((swept.sweeps.len(), cold.prefix), (1, Prefix::Declared));
        assert_eq!(cold.policy.unwrap().settings["events"].as_array().unwrap().len(), 1);
        let next = ask(&judge, rounds + 2, after(1));
        assert_eq!((next.prefix, next.policy.unwrap().settings["events"].as_array().unwrap().len()), (Prefix::Kept, 1));
        let again = ask(&start(), rounds + 2, after(1));
        assert!(next.edited.is_some() && again.edited == next.edited, "the same bytes from the ledger alone");
    }

    #[test]
    fn a_cache_lasts_as_long_as_the_marks_of_the_body_before_say() {
        let (policy, rounds) = half_full();
        let marked = |rounds: usize| {
            let text = String::from_utf8(body(rounds).to_vec()).unwrap();
            Bytes::from(text.replacen('{', r#"{"cache_control":{"type":"ephemeral","ttl":"1h"},"#, 1))
        };
        for (is_marked_before, is_cold) in [(true, false), (false, true)] {
            let judge = Judge::new(Rules::new(policy.clone()), 1 << 20);
            let (plain, now) = (|rounds| body(rounds), Instant::now());
            let (before, after) = if is_marked_before {
                (marked(rounds), plain(rounds + 1))
            } else {
                (plain(rounds), marked(rounds + 1))
            };
            let judged = judge.judge(WireFormat::Anthropic, Purpose::Ask, &before, now);
            judge.left(&judged.chain, Left::AsJudged, now);
            let later = now + Duration::from_secs(600);
            let swept = judge.judge(WireFormat::Anthropic, Purpose::Ask, &after, later).edited.is_some();
            assert_eq!(swept, is_cold, "marked before: {is_marked_before}");
        }
    }

    #[test]
    fn a_pause_in_which_others_may_have_asked_says_nothing_of_a_cache() {
        let (policy, rounds) = half_full();
        let judge = Judge::new(Rules::new(policy), 1 << 20);
        let now = Instant::now();
        ask(&judge, rounds - 2, now);
        assert!(ask(&judge, rounds, now + Duration::from_secs(3_600)).edited.is_none(), "a turn went another way");
    }
}
