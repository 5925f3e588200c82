//! How does a body leave, and who hears of it? Figures and memory of what left, told when it is known.

use hyper::{Response, StatusCode, body::Bytes};

use super::{Exchange, Outgoing};
use crate::{
    answer::Use,
    conversation::Left,
    judgement::{Judgement, Outcome},
    request::Encoding,
    retry,
    routes::Route,
    upstream::Body,
};

impl Exchange {
    /// Counts what was decided of a request, and refuses it where that was asked for; of each try anew.
    pub(super) fn decided(&self, outgoing: &Outgoing) -> Option<Response<Body>> {
        self.metrics.judged(outgoing.route, &outgoing.judgement, outgoing.waited);
        self.refused(outgoing)
    }

    /// Tells that a request leaves, with its edited body or without.
    pub(super) fn leaves(&self, route: Route, judgement: &Judgement, edited: Option<&Bytes>) {
        // What only counts tokens is read by no model.
        let Route::Ask(format) = route else { return };
        let left = match (self.use_of(), judgement.outcome) {
            (_, Outcome::Passed | Outcome::Doubted(_)) => Left::Original,
            (Use::NoGain, _) => Left::Original,
            (Use::Reported, _) => Left::Reported,
            (Use::Sent, _) if judgement.edited.is_some() && edited.is_none() => Left::Original,
            (Use::Sent, _) => Left::AsJudged,
        };
        self.metrics.left(format, judgement, left);
        self.compactor.left(judgement, left);
    }

    /// Tells that a request passes as it was asked to.
    pub(super) fn passes(&self, route: Route, encoding: Option<Encoding>, received: &Bytes) {
        let (Route::Ask(format), Some(encoding)) = (route, encoding) else { return };
        let (received, most) = (received.clone(), self.config.max_body_bytes);
        self.compactor.left_unread(move || Some((format, encoding.decoded(&received, most)?)));
    }

    /// Tells whether an upstream took the body that was made smaller, by the status of its answer if there is one.
    pub(super) async fn tried(&self, outgoing: &Outgoing, status: Option<StatusCode>) {
        let is_taken = match status {
            Some(status) if status.is_success() => true,
            Some(status) if retry::may_be(status) => false,
            // It says nothing of the size, so nothing is known.
            Some(_) | None => return,
        };
        self.compactor.was_tried(outgoing.judgement.chain.clone(), is_taken).await;
    }
}
