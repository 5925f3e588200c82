//! Does an answer say "too long"? Reads its start and puts it back, so that whoever gets it sees it as it came.
//!
//! Gives up nothing: what broke off breaks off again at the same place, and what takes its time goes on as it comes.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http_body_util::BodyExt as _;
use hyper::{
    Response,
    body::{Body as HttpBody, Bytes, Frame, SizeHint},
};

use crate::{
    request::Encoding,
    retry::{MAX_ERROR_BYTES, TooLong},
    upstream::{Body, BoxError},
};

/// How long an error may pause before it is handed on unread; vendors send theirs in one piece.
const PAUSE: Duration = Duration::from_secs(5);

type Came = Result<Frame<Bytes>, BoxError>;

/// Reads an answer as far as it takes to know, and gives it back whole.
pub(super) async fn read(answered: Response<Body>) -> (Response<Body>, Option<TooLong>) {
    let encoding = Encoding::of(answered.headers());
    let (parts, mut rest) = answered.into_parts();
    let (mut came, mut text) = (VecDeque::new(), Vec::new());
    let mut is_whole = false;
    while text.len() <= MAX_ERROR_BYTES {
        match tokio::time::timeout(PAUSE, rest.frame()).await {
            Ok(Some(Ok(frame))) => {
                text.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
                came.push_back(Ok(frame));
            }
            Ok(Some(Err(error))) => {
                came.push_back(Err(error));
                break;
            }
            Ok(None) => {
                is_whole = true;
                break;
            }
            Err(_) => break,
        }
    }
    let text = encoding.filter(|_| is_whole).and_then(|of| of.decoded(&text.into(), MAX_ERROR_BYTES));
    let too_long = text.and_then(|text| TooLong::of(&text));
    (Response::from_parts(parts, PutBack { came, rest }.boxed_unsync()), too_long)
}

/// A body whose first frames came already.
struct PutBack {
    came: VecDeque<Came>,
    rest: Body,
}

impl HttpBody for PutBack {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Came>> {
        match self.came.pop_front() {
            Some(came) => Poll::Ready(Some(came)),
            None => Pin::new(&mut self.rest).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.came.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let data = self.came.iter().flatten().filter_map(Frame::data_ref);
        let came = data.map(|data| data.len() as u64).sum::<u64>();
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(came));
        }
        hint.set_lower(rest.lower().saturating_add(came));
        hint
    }
}
