//! `proxy`: what it takes of the machine's memory, told by the system, when nothing is asked and when much is.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use crate::{
    program::Place,
    proxying::{HEAD, Proxy, Upstream, first_event},
};

/// What it may take while nobody asks (PERFORMANCE P10).
const MAX_IDLE_KIB: u64 = 40 << 10;
/// What it may have taken once a body went through that is too large to be looked at: some frames of it.
const MAX_STREAMING_KIB: u64 = 64 << 10;
/// The same of one whose length is not told: it is held up to the limit of what is looked at, 64 MiB, in memory that grows
/// by doubling.
const MAX_UNTOLD_KIB: u64 = 256 << 10;
/// What an upstream may write for a client that takes next to nothing: buffers of sockets, and some frames.
const MAX_UNTAKEN_BYTES: usize = 32 << 20;
const LARGE_BYTES: usize = 100 << 20;
const PIECE_BYTES: usize = 64 << 10;

/// A figure that the system tells of a process, in KiB.
fn told(proxy: &Proxy, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", proxy.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse().unwrap()
}

#[test]
fn idle_it_takes_little() {
    let place = Place::new();
    let upstream = Upstream::new();
    let proxy = Proxy::start(&place, &upstream.flags());
    assert!(proxy.get("/healthz").starts_with("HTTP/1.1 200"));
    let taken = told(&proxy, "VmRSS");
    assert!(taken < MAX_IDLE_KIB, "{taken} KiB");
}

/// Sends 100 MB through, piece by piece, and gives the most that was taken meanwhile.
fn most_taken_by_a_large_body(head: &str, piece: impl Fn(&[u8]) -> Vec<u8> + Sync, end: &[u8]) -> u64 {
    let place = Place::new();
    let upstream = Upstream::new();
    let proxy = Proxy::start(&place, &upstream.flags());
    let mut client = proxy.connect();
    let received = std::thread::scope(|scope| {
        scope.spawn(|| {
            client.write_all(head.as_bytes()).unwrap();
            let plain = vec![b'x'; PIECE_BYTES];
            for _ in 0..LARGE_BYTES / PIECE_BYTES {
                client.write_all(&piece(&plain)).unwrap();
            }
            client.write_all(end).unwrap();
        });
        upstream.count(b'x', LARGE_BYTES)
    });
    assert_eq!(received, LARGE_BYTES);
    told(&proxy, "VmHWM")
}

#[test]
fn a_hundred_megabytes_pass_without_being_held() {
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {LARGE_BYTES}\r\n\r\n"
    );
    let taken = most_taken_by_a_large_body(&head, <[u8]>::to_vec, b"");
    assert!(taken < MAX_STREAMING_KIB, "{taken} KiB");
}

#[test]
fn a_hundred_megabytes_of_no_told_length_are_held_up_to_the_limit_alone() {
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = |plain: &[u8]| [format!("{:x}\r\n", plain.len()).as_bytes(), plain, b"\r\n"].concat();
    let taken = most_taken_by_a_large_body(head, chunk, b"0\r\n\r\n");
    assert!(taken < MAX_UNTOLD_KIB, "{taken} KiB");
}

#[test]
fn a_client_that_takes_a_byte_at_a_time_holds_up_its_upstream_and_no_memory() {
    let place = Place::new();
    let upstream = Upstream::new();
    let proxy = Proxy::start(&place, &upstream.flags());
    let mut client: TcpStream = proxy.post(br#"{"model":"gpt-4.1","messages":[{"role":"user","content":"go"}]}"#);
    let (_, mut answering) = upstream.next();
    answering.write_all(HEAD).unwrap();
    first_event(&mut client);
    answering.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let chunk = [format!("{PIECE_BYTES:x}\r\n").into_bytes(), vec![b'x'; PIECE_BYTES], b"\r\n".to_vec()].concat();
    let mut written = 0;
    // Nobody takes what was written last for a whole second: it is held up.
    let stopped = loop {
        match answering.write_all(&chunk) {
            Ok(()) => written += PIECE_BYTES,
            Err(error) => break error,
        }
        assert!(written < MAX_UNTAKEN_BYTES, "{written} bytes were taken off an upstream whose client takes few");
        client.read_exact(&mut [0]).unwrap();
    };
    assert!(matches!(stopped.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{stopped}");
    let taken = told(&proxy, "VmRSS");
    assert!(taken < MAX_STREAMING_KIB, "{taken} KiB");
}
