//! Where do large bodies lie? In buffers that are used again.
//!
//! Memory that comes from the system is cleared page by page, which takes longer than to copy a body into it. Knows no
//! body and keeps no byte of one on purpose: what a buffer held is written over.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Bytes;

/// Shorter bodies lie in memory that the allocator has at hand.
const MIN_BYTES: usize = 64 << 10;
/// Bytes of buffers that nobody uses: a few long conversations' worth.
const MAX_IDLE_BYTES: usize = 16 << 20;
/// A buffer is used for what fills at least so great a part of it.
const MAX_ROOM: usize = 2;

/// Buffers of large bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers {
    idle: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// A body in a buffer that comes back.
struct Lent {
    buffer: Vec<u8>,
    home: Buffers,
}

impl Buffers {
    /// Gives an idle buffer for so many bytes, if there is one.
    pub(crate) fn take(&self, bytes: usize) -> Option<Vec<u8>> {
        if bytes < MIN_BYTES {
            return None;
        }
        let mut idle = self.lock();
        let fits = |buffer: &Vec<u8>| (bytes..=bytes.saturating_mul(MAX_ROOM)).contains(&buffer.capacity());
        let at = idle.iter().position(fits)?;
        Some(idle.swap_remove(at))
    }

    /// Gives what a buffer holds; the buffer comes back when nobody needs that any more.
    pub(crate) fn lend(&self, buffer: Vec<u8>) -> Bytes {
        if buffer.capacity() < MIN_BYTES {
            return buffer.into();
        }
        Bytes::from_owner(Lent { buffer, home: self.clone() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let mut idle = self.home.lock();
        let held: usize = idle.iter().map(Vec::capacity).sum();
        if held.saturating_add(buffer.capacity()) <= MAX_IDLE_BYTES {
            idle.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_once_nobody_needs_its_body() {
        let buffers = Buffers::default();
        let body = buffers.lend(vec![7; 100_000]);
        let part = body.slice(10..20);
        drop(body);
        assert!(buffers.take(100_000).is_none(), "a part of it is in use");
        drop(part);
        assert!(buffers.take(40_000).is_none() && buffers.take(49_999).is_none(), "too small for it");
        assert_eq!(buffers.take(70_000).map(|buffer| (buffer.len(), buffer.capacity())), Some((0, 100_000)));
        assert!(buffers.take(70_000).is_none(), "one has it at a time");
    }

    #[test]
    fn what_lies_idle_is_bounded() {
        let buffers = Buffers::default();
        let lent: Vec<Bytes> = (0..40).map(|_| buffers.lend(vec![0; 1 << 20])).collect();
        drop(lent);
        assert_eq!(buffers.lock().iter().map(Vec::capacity).sum::<usize>(), MAX_IDLE_BYTES);
    }
}
