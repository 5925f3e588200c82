//! What may a client's connection do? Speak soon, take what it is sent, and be gone when it is gone.
//!
//! Knows bytes alone; what they say is HTTP's business.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep},
};

/// How long a client may take for its first bytes, by which its version of HTTP is told.
const FIRST_BYTES_TIME: Duration = Duration::from_secs(20);
/// Bytes by which the version is told.
const FIRST_BYTES: usize = 24;
/// How long a client may take nothing of what it is sent. Agents pause while they run tools, but go on reading.
const STALL_TIME: Duration = Duration::from_secs(300);
/// How often a silent connection is probed.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// A client's connection, with limits on its silence.
#[derive(Debug)]
pub(crate) struct Guarded {
    stream: TcpStream,
    read: usize,
    deadline: Pin<Box<Sleep>>,
    is_stalled: bool,
}

impl Guarded {
    /// Watches over a connection.
    pub(crate) fn new(stream: TcpStream) -> Self {
        // What the system does not grant here costs speed, or time until a loss is noticed.
        let _ = stream.set_nodelay(true);
        let probing = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&probing);
        Self { stream, read: 0, deadline: Box::pin(sleep(FIRST_BYTES_TIME)), is_stalled: false }
    }

    /// Fails a write that has been waiting for too long.
    fn write_in_time<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.is_stalled = false;
            return polled;
        }
        if !self.is_stalled {
            self.is_stalled = true;
            self.deadline.as_mut().reset(Instant::now() + STALL_TIME);
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.read = self.read.saturating_add(buffer.filled().len().saturating_sub(before));
        if polled.is_ready() || self.read >= FIRST_BYTES {
            return polled;
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.write_in_time(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.write_in_time(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    async fn pair() -> (TcpStream, Guarded) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        (client, Guarded::new(server))
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_nothing_is_let_go() {
        let (_client, mut server) = pair().await;
        let error = server.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_let_go() {
        let (_client, mut server) = pair().await;
        let piece = vec![0; 1 << 20];
        let error = loop {
            if let Err(error) = server.write_all(&piece).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
