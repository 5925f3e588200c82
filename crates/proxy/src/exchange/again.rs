//! What if an upstream said "too long"? One more try by the window that it leaves.
//!
//! The client hears the first answer wherever the second try comes to nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::{Response, body::Bytes};
use liveset::WireFormat;

use super::{
    Exchange, Outgoing, Whole,
    recorder::Recorder,
    refused,
    sending::{Answered, whole_request},
};
use crate::{answer::Use, config::Effect, judgement::Judgement, retry::TooLong, routes::Route, upstream::Body};

/// A first try that an upstream refused.
pub(super) struct Refused {
    pub(super) answered: Response<Body>,
    pub(super) recorder: Recorder,
    /// What was sent in place of the original.
    pub(super) edited: Option<Bytes>,
}

/// A body that was made smaller for a second try.
struct Shorter {
    judgement: Judgement,
    body: Bytes,
    waited: Duration,
}

impl Exchange {
    /// Says whether a body that is too long may be made smaller.
    pub(super) fn may_shorten(&self, outgoing: &Outgoing) -> bool {
        let chain = &outgoing.judgement.chain;
        let is_judged = self.config.effect == Effect::Send && outgoing.judgement.report.is_some();
        is_judged && matches!(outgoing.route, Route::Ask(_)) && !self.compactor.conversations().was_in_vain(chain)
    }

    /// Looks at why a request was refused, and sends a smaller one where that may help.
    pub(super) async fn send_shorter(
        self: Arc<Self>,
        mut outgoing: Outgoing,
        whole: &Whole,
        first: Refused,
    ) -> Answered {
        let (answered, too_long) = refused::read(first.answered).await;
        let shorter = match (too_long, &whole.plain, outgoing.route) {
            (Some(too_long), Some(plain), Route::Ask(format)) => {
                self.shortened(&outgoing, format, plain, too_long).await
            }
            _ => None,
        };
        let Some(shorter) = shorter.filter(|shorter| Some(&shorter.body) != first.edited.as_ref()) else {
            return self.hand_on(&outgoing, Ok(answered), first.recorder);
        };
        let body = shorter.body;
        let was = outgoing.judged((shorter.judgement, shorter.waited, Use::Sent));
        if self.decided(&outgoing).is_some() {
            // The upstream's own words tell the client more than a refusal of ours.
            outgoing.judged(was);
            return self.hand_on(&outgoing, Ok(answered), first.recorder);
        }
        self.leaves(outgoing.route, &outgoing.judgement, Some(&body));
        outgoing.attempt += 1;
        let second = Recorder::new(self.clone(), &outgoing, Some(whole.bodies(Some(&body))));
        let sent = self.sender.send(whole_request(&outgoing, &whole.received, Some(&body))).await;
        let status = sent.as_ref().ok().map(Response::status);
        self.tried(&outgoing, status).await;
        match sent {
            Ok(sent) => {
                first.recorder.was_too_long(answered).await;
                self.hand_on(&outgoing, Ok(sent), second)
            }
            Err(_) => {
                // The vendor's own word on the first request says more than our silence on the second.
                second.broke_off();
                outgoing.judged(was);
                self.hand_on(&outgoing, Ok(answered), first.recorder)
            }
        }
    }

    /// Judges a body again by the window that its upstream leaves.
    async fn shortened(
        &self,
        outgoing: &Outgoing,
        format: WireFormat,
        plain: &Bytes,
        too_long: TooLong,
    ) -> Option<Shorter> {
        let tokens = &outgoing.judgement.report.as_ref()?.tokens;
        self.metrics.was_too_long();
        let window = too_long.window(tokens.after, tokens.window);
        let asked = Instant::now();
        let chain = outgoing.judgement.chain.clone();
        let judgement = self.compactor.judge_shorter(format, plain.clone(), chain, window).await;
        let waited = asked.elapsed();
        let body = self.edited(&judgement, Some(plain))?.clone();
        Some(Shorter { judgement, body, waited })
    }
}

impl Outgoing {
    /// Takes another judgement, how long it took and what becomes of it, and gives those that held.
    fn judged(&mut self, (judgement, waited, of): (Judgement, Duration, Use)) -> (Judgement, Duration, Use) {
        (
            std::mem::replace(&mut self.judgement, judgement),
            std::mem::replace(&mut self.waited, waited),
            std::mem::replace(&mut self.of, of),
        )
    }
}
