//! Any program as a strategy: the body on its standard input, the body that leaves on its standard output.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::{Error, Sent, Strategy};

/// A command line, run by the shell for each request.
#[derive(Debug)]
pub(super) struct Piped {
    line: String,
}

impl Piped {
    pub(super) fn new(line: &str) -> Self {
        Self { line: line.to_owned() }
    }
}

impl Strategy for Piped {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        let mut command = Command::new("sh");
        command.args(["-c", &self.line]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(Error::Command)?;
        let input = child.stdin.take();
        let output = std::thread::scope(|scope| {
            // Written beside the reading: a body may be larger than a pipe. One that is not read to its end is no failure.
            scope.spawn(move || input.map(|mut input| input.write_all(body)));
            child.wait_with_output()
        });
        let output = output.map_err(Error::Command)?;
        match output.status.success() {
            true => Ok(Sent::plain(output.stdout)),
            false => Err(Error::Ended(output.status)),
        }
    }
}
