//! Servers as child processes: one JSON-RPC message a line.

mod allow;
mod child;
mod confine;
mod lines;

use std::path::Path;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use toolgate_upstream::{ListingError, Secret};

use crate::conversation::{Failure, Wire};
use crate::meter::Meter;
use crate::rpc::{Delivery, Inbox, Request};

pub use allow::{StdioAllow, StdioAllowError};
use child::Child;

/// A server at the other end of two pipes.
#[derive(Debug)]
pub(crate) struct StdioWire<'a> {
    command: &'a Path,
    args: &'a [String],
    env: &'a [(String, Secret)],
    child: Child,
    /// It was asked something before `initialize`. Some servers give up on that, at once or after an answer.
    was_probed: bool,
}

impl<'a> StdioWire<'a> {
    pub(crate) fn start(
        command: &'a Path,
        args: &'a [String],
        env: &'a [(String, Secret)],
    ) -> Result<Self, ListingError> {
        Ok(Self { command, args, env, child: Child::start(command, args, env)?, was_probed: false })
    }

    async fn write(&mut self, mut line: String) -> Result<(), ListingError> {
        line.push('\n');
        let Some(stdin) = &mut self.child.stdin else { return Err(ended()) };
        stdin.write_all(line.as_bytes()).await.map_err(|_| ended())
    }

    /// The next line, metered while it is read, without its line end.
    async fn read_line(&mut self, meter: &mut Meter) -> Result<String, ListingError> {
        let mut line = Vec::new();
        loop {
            let ready = self.child.stdout.fill_buf().await.unwrap_or_default();
            if ready.is_empty() {
                return Err(ended());
            }
            let end = ready.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(ready.len(), |end| end + 1);
            meter.take(taken)?;
            line.extend_from_slice(&ready[..end.unwrap_or(taken)]);
            self.child.stdout.consume(taken);
            if end.is_some() {
                return String::from_utf8(line)
                    .map_err(|_| ListingError::Protocol("a line of the process is not UTF-8".into()));
            }
        }
    }

    async fn exchange(&mut self, request: &Request, meter: &mut Meter) -> Result<String, Failure> {
        self.write(request.text.clone()).await?;
        let mut inbox = Inbox::new(request);
        loop {
            let line = self.read_line(meter).await?;
            // Blank lines, and what a careless server prints beside its messages.
            if !line.trim_ascii_start().starts_with(['{', '[']) {
                continue;
            }
            let Delivery { answer, replies, .. } = inbox.deliver(&line)?;
            if let Some(answer) = answer {
                return Ok(answer?);
            }
            for reply in replies {
                self.write(reply).await?;
            }
        }
    }
}

impl Wire for StdioWire<'_> {
    const HAS_HEADERS: bool = false;

    async fn ask(&mut self, request: &Request, meter: &mut Meter) -> Result<String, Failure> {
        let is_handshake = request.method == "initialize";
        let may_start_again = std::mem::replace(&mut self.was_probed, !is_handshake) && is_handshake;
        match self.exchange(request, meter).await {
            Err(Failure::Listing(error)) if may_start_again && error == ended() => {
                self.child = Child::start(self.command, self.args, self.env)?;
                self.exchange(request, meter).await
            }
            answer => answer,
        }
    }

    async fn tell(&mut self, notification: String) -> Result<(), Failure> {
        Ok(self.write(notification).await?)
    }

    fn agreed_on(&mut self, _revision: &'static str) {}

    /// Closes the child's input and waits for its output to end. What is left of it is killed when the wire is dropped.
    async fn end(&mut self) {
        self.child.stdin = None;
        while let Ok(ready) = self.child.stdout.fill_buf().await {
            let ready = ready.len();
            if ready == 0 {
                break;
            }
            self.child.stdout.consume(ready);
        }
    }
}

fn ended() -> ListingError {
    ListingError::Protocol("the process ended before it answered".into())
}
