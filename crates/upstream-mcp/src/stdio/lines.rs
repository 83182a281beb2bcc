//! A process that calls go on in: whole lines, either way.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use super::{Child, StdioWire};
use crate::channel::{Channel, Incoming, IntoChannel, Outgoing};
use crate::envelope::Envelope;
use crate::limits::MAX_CALL_LINE_BYTES;

impl IntoChannel for StdioWire<'_> {
    fn into_channel(self, envelope: Envelope) -> Channel {
        let Self { mut child, .. } = self;
        let stdin = child.stdin.take();
        Channel::between(Output(child), Input(stdin), envelope)
    }
}

/// What the process writes. It ends with this.
struct Output(Child);

impl Incoming for Output {
    async fn next(&mut self) -> Option<String> {
        next_line(&mut self.0.stdout).await
    }
}

/// What the process reads; `None` where its input is closed.
struct Input(Option<ChildStdin>);

impl Outgoing for Input {
    async fn send(&mut self, mut message: String) -> bool {
        message.push('\n');
        match &mut self.0 {
            Some(stdin) => stdin.write_all(message.as_bytes()).await.is_ok(),
            None => false,
        }
    }
}

/// `None` at the end, and where a line is no text or has no end.
async fn next_line(stdout: &mut BufReader<ChildStdout>) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let ready = stdout.fill_buf().await.ok().filter(|ready| !ready.is_empty())?;
        let end = ready.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(ready.len(), |end| end + 1);
        line.extend_from_slice(&ready[..end.unwrap_or(taken)]);
        stdout.consume(taken);
        if end.is_some() {
            return String::from_utf8(line).ok();
        }
        if line.len() > MAX_CALL_LINE_BYTES {
            return None;
        }
    }
}
