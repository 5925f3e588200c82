//! Which body goes out? Compacts on a thread of its own, within a time; any doubt gives the original.
//!
//! Has no rule of its own: what is cut is the library's doing, and is handed out only once its originals are stored.

mod desk;
mod turn;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use hyper::body::Bytes;
use liveset::WireFormat;
use tokio::sync::Semaphore;

use crate::{
    conversation::{Chain, Conversations, Left},
    judgement::{Doubted, Judgement, Outcome},
    rules::Rules,
};
use desk::Desk;

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
    desk: Arc<Desk>,
    threads: Arc<Semaphore>,
    time_limit: Duration,
}

impl Compactor {
    /// Makes a compactor; `threads` 0 is one for each core.
    pub(crate) fn new(rules: Rules, threads: usize, time_limit: Duration, cache_bytes: usize) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = Arc::new(Semaphore::new(if threads == 0 { cores() } else { threads }));
        let desk = Arc::new(Desk::new(rules, cache_bytes));
        Self { desk, threads, time_limit }
    }

    /// What is kept of conversations.
    pub(crate) fn conversations(&self) -> &Conversations {
        self.desk.conversations()
    }

    /// Judges a body. A client that goes away leaves its thread to its end: what it counted is of use later.
    pub(crate) async fn judge(&self, format: WireFormat, purpose: Purpose, body: Bytes) -> Judgement {
        let read = body.clone();
        let judged = self.within_time(move |desk| desk.judge(format, purpose, &read)).await;
        if let (Purpose::Ask, Outcome::Doubted(Doubted::TimeLimit | Doubted::Stopped)) = (purpose, judged.outcome) {
            self.left_unread(move || Some((format, body)));
        }
        judged
    }

    /// Judges a body again that an upstream refused as too long, by a smaller window that is tried.
    pub(crate) async fn judge_shorter(&self, format: WireFormat, body: Bytes, chain: Chain, window: u64) -> Judgement {
        self.within_time(move |desk| desk.judge_shorter(format, &body, &chain, window)).await
    }

    /// Hears how a body leaves that was judged.
    pub(crate) fn left(&self, judgement: &Judgement, left: Left) {
        self.desk.conversations().left(&judgement.chain, left);
    }

    /// Hears that a body leaves as it came, and nobody judged it; it is read when a thread is free.
    pub(crate) fn left_unread(&self, body: impl FnOnce() -> Option<(WireFormat, Bytes)> + Send + 'static) {
        let (desk, threads) = (self.desk.clone(), self.threads.clone());
        tokio::spawn(async move {
            let Ok(permit) = threads.acquire_owned().await else { return };
            let read = move || {
                let _permit = permit;
                if let Some((format, body)) = body() {
                    desk.left_unread(format, &body);
                }
            };
            drop(tokio::task::spawn_blocking(read).await);
        });
    }

    /// Hears whether an upstream took a body by the smaller window that was tried.
    pub(crate) async fn was_tried(&self, chain: Chain, is_taken: bool) {
        let desk = self.desk.clone();
        drop(tokio::task::spawn_blocking(move || desk.was_tried(&chain, is_taken)).await);
    }

    async fn within_time(&self, work: impl FnOnce(&Desk) -> Judgement + Send + 'static) -> Judgement {
        let (desk, threads) = (self.desk.clone(), self.threads.clone());
        let worked = tokio::time::timeout(self.time_limit, async move {
            let permit = threads.acquire_owned().await.ok()?;
            let thread = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                catch_unwind(AssertUnwindSafe(|| work(&desk))).ok()
            });
            thread.await.ok().flatten()
        });
        let doubted = |why| Judgement::without_report(Outcome::Doubted(why));
        match worked.await {
            Ok(Some(judgement)) => judgement,
            Ok(None) => doubted(Doubted::Stopped),
            Err(_) => doubted(Doubted::TimeLimit),
        }
    }
}
