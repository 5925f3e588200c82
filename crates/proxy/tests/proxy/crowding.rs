//! Many clients, odd clients and large bodies: the proxy stays alive and answers the others.

use crate::{
    place::Setup,
    upstream::{Upstream, fine},
    wire::Client,
};

#[test]
fn what_is_no_http_ends_its_own_connection_alone() {
    let upstream = Upstream::lenient(fine);
    let place = Setup::to(&upstream).start();
    let long_header = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(600_000));
    let chunked = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let pieces: [Vec<u8>; 7] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no tls is spoken here".to_vec(),
        b"GET\r\n\r\n and nothing that follows".to_vec(),
        long_header.into_bytes(),
        format!("{chunked}zz\r\nabc\r\n0\r\n\r\n").into_bytes(),
        format!("{chunked}5\r\nabcdefgh\r\n0\r\n\r\n").into_bytes(),
        format!("{chunked}ffffffffffffffffff\r\nabc").into_bytes(),
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"
            .to_vec(),
    ];
    for piece in pieces {
        let mut client = place.client();
        // It may hang up before it has read everything.
        let _ = client.write(&piece);
        let rest = client.rest();
        let is_refused = rest.is_empty() || rest.starts_with(b"HTTP/1.1 4") || rest.starts_with(b"HTTP/1.0 4");
        assert!(is_refused, "{}", String::from_utf8_lossy(&rest));
    }
    assert!(upstream.seen().is_empty(), "nothing of it went on");
    assert_eq!(place.client().get("/healthz").status(), 200);
}

#[test]
fn a_hundred_megabytes_pass_without_being_held() {
    let upstream = Upstream::lenient(fine);
    let place = Setup::to(&upstream).start();
    let body = vec![b'x'; 100 << 20];
    let answer = place.client().post("/v1/messages", "", &body);
    assert_eq!(answer.header("x-liveset-fallback"), Some("too_large"));
    assert!(upstream.newest().body == body);
}

#[test]
fn connections_beyond_the_limit_wait_and_are_served_in_the_end() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.config.connections = 4;
    let place = setup.start();
    let idle: Vec<Client> = (0..4).map(|_| place.client()).collect();
    let mut late = place.client();
    late.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    // All four are answered while the fifth is not: it waits for a place, not for its turn.
    let mut idle = idle;
    for client in &mut idle {
        assert_eq!(client.get("/healthz").status(), 200);
    }
    late.stream.get_ref().set_nonblocking(true).unwrap();
    let unanswered = std::io::Read::read(&mut late.stream, &mut [0]).unwrap_err();
    assert_eq!(unanswered.kind(), std::io::ErrorKind::WouldBlock);
    late.stream.get_ref().set_nonblocking(false).unwrap();
    drop(idle);
    assert_eq!(late.answer().unwrap().status(), 200);
}

#[test]
fn many_clients_at_once_each_get_their_own_answer() {
    let upstream = Upstream::new(|request| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let number = text.split("number ").nth(1).unwrap().split('"').next().unwrap().to_owned();
        vec![crate::upstream::json(200, &format!("{{\"number\":\"{number}\"}}"))]
    });
    let place = Setup::to(&upstream).start();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let place = &place;
            scope.spawn(move || {
                let mut client = place.client();
                for turn in 0..20 {
                    let number = thread * 1_000 + turn;
                    let body =
                        format!(r#"{{"model":"gpt-4.1","messages":[{{"role":"user","content":"number {number}"}}]}}"#);
                    let answer = client.post("/v1/chat/completions", "", body.as_bytes());
                    assert_eq!(answer.body, format!("{{\"number\":\"{number}\"}}").into_bytes());
                }
            });
        }
    });
    assert_eq!(upstream.seen().len(), 320);
    assert_eq!(place.metric("liveset_requests_in_flight"), 0);
}
