//! Both versions of HTTP: clients speak what they like, upstreams over TLS what they choose.

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Version, body::Bytes};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};

use crate::{
    bodies::Conversation,
    place::Setup,
    upstream::{Upstream, chunk, fine, stream_end, stream_head},
};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

#[test]
fn a_client_of_http_2_is_served_and_its_streams_do_not_wait_for_each_other() {
    let upstream = Upstream::new(|request| match request.body.len() {
        0..5_000 => vec![stream_head(), crate::upstream::Step::Wait, chunk(b"data: late\n\n"), stream_end()],
        _ => fine(request),
    });
    let place = Setup::to(&upstream).start();
    let conversation = Conversation::of(liveset::WireFormat::Anthropic);
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .http2_only(true)
        .build_http::<Full<Bytes>>();
    let post = |rounds: usize| {
        let uri = format!("http://{}{}", place.address, conversation.path());
        client.request(Request::post(uri).body(Full::new(conversation.body(rounds).into())).unwrap())
    };
    runtime().block_on(async {
        // The first answer stays open while the second one comes and ends.
        let first = post(0).await.unwrap();
        assert_eq!(first.version(), Version::HTTP_2);
        let second = post(40).await.unwrap();
        assert_eq!(second.headers()["x-liveset-outcome"], "compacted");
        let told = second.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(told, r#"{"usage":{"input_tokens":7,"output_tokens":2}}"#);
        upstream.go_on();
        assert_eq!(first.into_body().collect().await.unwrap().to_bytes(), "data: late\n\n");
    });
    assert_eq!(upstream.newest().header("host"), Some(upstream.address.as_str()));
}
