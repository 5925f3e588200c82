//! What is done with a request? A table of paths.
//!
//! Looks at method and path alone; where the request goes is `upstream`'s business.

use hyper::Method;
use liveset::WireFormat;

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A model is asked: the body is compacted.
    Ask(WireFormat),
    /// The tokens of a body are asked for: those of the compacted one are told.
    Count(WireFormat),
    /// Everything else goes through as it is.
    Pass,
}

/// How a row's last segments are told from other paths that end alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// Anything may stand before them.
    Anything,
    /// A version, or nothing: `/v1/threads/ID/messages` is another thing.
    Version,
}

/// Ends of paths, with what is done there.
const TABLE: [(&[&str], Before, Route); 5] = [
    (&["messages"], Before::Version, Route::Ask(WireFormat::Anthropic)),
    (&["messages", "count_tokens"], Before::Version, Route::Count(WireFormat::Anthropic)),
    (&["chat", "completions"], Before::Anything, Route::Ask(WireFormat::OpenaiChat)),
    (&["responses"], Before::Anything, Route::Ask(WireFormat::OpenaiResponses)),
    (&["responses", "input_tokens"], Before::Anything, Route::Count(WireFormat::OpenaiResponses)),
];

impl Route {
    /// Finds what is done with a request of this method and path.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        if method != Method::POST {
            return Self::Pass;
        }
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let fits = |(end, before, _): &&(&[&str], Before, Self)| {
            let Some(rest) = segments.strip_suffix(*end) else { return false };
            match before {
                Before::Anything => true,
                Before::Version => rest.last().is_none_or(|segment| is_version(segment)),
            }
        };
        TABLE.iter().find(fits).map_or(Self::Pass, |(_, _, route)| *route)
    }

    /// The dialect of the body, where it is looked at.
    pub(crate) fn format(self) -> Option<WireFormat> {
        match self {
            Self::Ask(format) | Self::Count(format) => Some(format),
            Self::Pass => None,
        }
    }

    /// The word that metrics and log use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ask(_) => "ask",
            Self::Count(_) => "count",
            Self::Pass => "pass",
        }
    }
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, route: Route) {
        assert_eq!(Route::of(&Method::POST, path), route, "{path}");
        assert_eq!(Route::of(&Method::GET, path), Route::Pass, "GET {path}");
    }

    #[test]
    fn paths_that_ask_a_model_are_known_behind_any_base() {
        check("/v1/messages", Route::Ask(WireFormat::Anthropic));
        check("/messages", Route::Ask(WireFormat::Anthropic));
        check("/v1/chat/completions", Route::Ask(WireFormat::OpenaiChat));
        check("/openai/deployments/x/chat/completions", Route::Ask(WireFormat::OpenaiChat));
        check("/v1/responses", Route::Ask(WireFormat::OpenaiResponses));
        check("/backend-api/codex/responses", Route::Ask(WireFormat::OpenaiResponses));
    }

    #[test]
    fn counting_is_told_from_asking() {
        check("/v1/messages/count_tokens", Route::Count(WireFormat::Anthropic));
        check("/v1/responses/input_tokens", Route::Count(WireFormat::OpenaiResponses));
    }

    #[test]
    fn everything_else_passes() {
        for path in ["/", "/v1/models", "/v1/threads/t_1/messages", "/v1/responses/r_1/cancel", "/v1/messages/batches"]
        {
            check(path, Route::Pass);
        }
    }
}
