//! HTTP/1.1 on bare sockets: requests as bytes, answers as bytes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// Longer than anything here takes; a test that waits for so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message of either direction, as it stood on the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// Request or status line.
    pub(crate) first: String,
    /// Names as they were written.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Sizes of the chunks, where it came in chunks.
    pub(crate) chunks: Vec<usize>,
    /// Whether the body came to its end.
    pub(crate) is_whole: bool,
}

impl Message {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn status(&self) -> u16 {
        self.first.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Reads a message; `None` where the other side closed before it began.
    pub(crate) fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut message = Self { first: line(reader)?, ..Self::default() };
        loop {
            let header = line(reader)?;
            let Some((name, value)) = header.split_once(':') else { break };
            message.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let is_chunked = message.header("transfer-encoding").is_some_and(|value| value.contains("chunked"));
        let length = message.header("content-length").map(|value| value.parse::<usize>().unwrap());
        message.is_whole = match (is_chunked, length) {
            (true, _) => message.read_chunks(reader),
            (false, Some(length)) => {
                message.body = vec![0; length];
                reader.read_exact(&mut message.body).is_ok()
            }
            (false, None) => true,
        };
        Some(message)
    }

    fn read_chunks(&mut self, reader: &mut impl BufRead) -> bool {
        while let Some(size) = line(reader).and_then(|line| usize::from_str_radix(line.trim(), 16).ok()) {
            let mut chunk = vec![0; size];
            let mut end = [0; 2];
            if reader.read_exact(&mut chunk).and_then(|()| reader.read_exact(&mut end)).is_err() {
                return false;
            }
            if size == 0 {
                return true;
            }
            self.chunks.push(size);
            self.body.extend(chunk);
        }
        false
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok().filter(|read| *read > 0)?;
    Some(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// A client's connection.
pub(crate) struct Client {
    pub(crate) stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Sends a body and gives the answer.
    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &[u8]) -> Message {
        self.send(path, headers, body);
        self.answer().unwrap()
    }

    pub(crate) fn send(&mut self, path: &str, headers: &str, body: &[u8]) {
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        self.write(&[head.as_bytes(), body].concat()).unwrap();
    }

    pub(crate) fn get(&mut self, path: &str) -> Message {
        self.write(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        self.answer().unwrap()
    }

    pub(crate) fn answer(&mut self) -> Option<Message> {
        Message::read(&mut self.stream)
    }

    /// Everything until the other side closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest);
        rest
    }
}
