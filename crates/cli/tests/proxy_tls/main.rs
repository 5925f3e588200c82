//! Does the proxy reach upstreams over TLS, trusting whom the machine trusts, and speak the version that they choose?
//!
//! The upstream has a certificate that only this test's file of authorities vouches for.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::{
    convert::Infallible,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response, body::Bytes, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};

/// An upstream that answers with the version it was asked in and the body it was sent.
struct Upstream {
    _runtime: Runtime,
    port: u16,
    authorities: tempfile::NamedTempFile,
}

impl Upstream {
    fn speaking(protocols: &[&[u8]]) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let mut authorities = tempfile::NamedTempFile::new().unwrap();
        authorities.write_all(made.cert.pem().as_bytes()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let mut config = builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let builder = auto::Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(stream), service_fn(echo)).await;
                });
            }
        });
        Self { _runtime: runtime, port, authorities }
    }
}

async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let version = format!("{:?}", request.version());
    let body = request.into_body().collect().await.unwrap().to_bytes();
    Ok(Response::builder().header("x-version", version).body(Full::new(body)).unwrap())
}

struct Proxy {
    child: Child,
    address: String,
}

impl Proxy {
    fn start(upstream: &Upstream, authorities: &std::path::Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_liveset"));
        command.args(["proxy", "--listen", "127.0.0.1:0", "--no-archive", "--upstream"]);
        command.arg(format!("openai-chat=https://localhost:{}", upstream.port));
        command.env("SSL_CERT_FILE", authorities).env_remove("SSL_CERT_DIR");
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("liveset: proxy at http://").unwrap().to_owned();
        Self { child, address }
    }

    fn post(&self, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const BODY: &str = r#"{"model":"gpt-4.1", "messages":[{"role":"user","content":"a"}]}"#;

#[test]
fn an_upstream_over_tls_is_spoken_to_in_the_version_it_chooses() {
    for (protocols, version) in
        [(&[&b"h2"[..], b"http/1.1"][..], "HTTP/2.0"), (&[b"http/1.1"], "HTTP/1.1"), (&[], "HTTP/1.1")]
    {
        let upstream = Upstream::speaking(protocols);
        let proxy = Proxy::start(&upstream, upstream.authorities.path());
        for _ in 0..2 {
            let answer = proxy.post(BODY);
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(answer.contains(&format!("x-version: {version}\r\n")), "{answer}");
            assert!(answer.ends_with(BODY), "{answer}");
        }
    }
}

#[test]
fn an_upstream_that_nobody_vouches_for_is_not_spoken_to() {
    let (upstream, other) = (Upstream::speaking(&[b"h2"]), Upstream::speaking(&[b"h2"]));
    let proxy = Proxy::start(&upstream, other.authorities.path());
    let answer = proxy.post(BODY);
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
}
