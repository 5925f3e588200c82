//! Who may see the pages of the proxy's own, and what do they show right now?

use hyper::{Response, StatusCode, http::request::Parts};

use super::{Exchange, Ordering};
use crate::{
    pages::{self, Health, Page},
    upstream::Body,
};

impl Exchange {
    pub(super) async fn page(&self, page: Page, head: &Parts) -> Response<Body> {
        if self.config.listen.ip().is_loopback() && !pages::is_local(&head.headers, head.uri.authority()) {
            return pages::refused(StatusCode::FORBIDDEN, "only for this machine, and for no page of the web");
        }
        if page != Page::Health && !self.admits(&head.headers) {
            return pages::refused(StatusCode::UNAUTHORIZED, "the header `x-liveset-token` is missing or wrong");
        }
        match page {
            Page::Health => pages::health(&self.health().await),
            Page::Metrics => pages::metrics(self.metrics.text(self.compactor.conversations().size())),
            Page::Sessions => pages::sessions(&self.compactor.conversations().rows()),
            Page::Unknown => {
                pages::refused(StatusCode::NOT_FOUND, "there is `/liveset/metrics` and `/liveset/sessions`")
            }
        }
    }

    async fn health(&self) -> Health {
        let archive = match self.archive.clone() {
            None => None,
            // What a probe writes is small: it may pass where originals do not.
            Some(_) if self.is_archive_failing.load(Ordering::Relaxed) => {
                Some(Err("the newest originals could not be stored".to_owned()))
            }
            Some(archive) => {
                let probed = tokio::task::spawn_blocking(move || pages::probe(&archive)).await;
                Some(probed.unwrap_or_else(|_| Err("the look at the archive stopped".to_owned())))
            }
        };
        let fallback = *self.fallback.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Health {
            archive,
            is_draining: self.is_draining.load(Ordering::Relaxed),
            fallback: fallback.map(|(reason, at)| (reason, at.elapsed().as_secs())),
            in_flight: self.metrics.in_flight().get(),
        }
    }
}
