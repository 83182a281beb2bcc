//! A way to a server over which many calls are answered at once, each by its id: the pipes of a process, or the stream of an
//! HTTP+SSE server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolgate_upstream::{CallAnswer, CallBounds, ListingError, ToolCall};

use crate::call::{Told, of_call};
use crate::conversation::{Failure, check_leave};
use crate::envelope::Envelope;
use crate::limits::MAX_WAITING_LINES;
use crate::meter::over;
use crate::rpc::{self, Delivery, Inbox, Request};

/// A server at the other end, its handshake done. Cheap to clone; it ends with the last clone.
#[derive(Debug, Clone)]
pub(crate) struct Channel(Arc<Running>);

/// A wire whose handshake is done, and which goes on as a channel.
pub(crate) trait IntoChannel {
    /// `envelope` is what its requests go in.
    fn into_channel(self, envelope: Envelope) -> Channel;
}

/// What a server sends.
pub(crate) trait Incoming: Send + 'static {
    /// The next message; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Option<String>> + Send;
}

/// What is sent to a server.
pub(crate) trait Outgoing: Send + 'static {
    /// Sends a whole message: one that is given up half sent would garble the next one. `false` where nothing can be sent
    /// any more.
    fn send(&mut self, message: String) -> impl Future<Output = bool> + Send;
}

#[derive(Debug)]
struct Running {
    envelope: Envelope,
    last_id: AtomicU64,
    lines: mpsc::Sender<String>,
    asked: Arc<Asked>,
    reading: JoinHandle<()>,
    writing: JoinHandle<()>,
}

/// The calls that wait for something of the server.
#[derive(Debug, Default)]
struct Asked {
    /// `None` once the other end is gone.
    waiting: Mutex<Option<HashMap<u64, mpsc::UnboundedSender<String>>>>,
}

/// Ids of the handshake and before are smaller.
const FIRST_ID: u64 = 1000;

impl Channel {
    /// Between these two; `envelope` is what requests go in.
    pub(crate) fn between(incoming: impl Incoming, outgoing: impl Outgoing, envelope: Envelope) -> Self {
        let asked = Arc::new(Asked { waiting: Mutex::new(Some(HashMap::new())) });
        let (lines, to_write) = mpsc::channel(MAX_WAITING_LINES);
        let writing = tokio::spawn(write(outgoing, to_write));
        let reading = tokio::spawn(read(incoming, Arc::clone(&asked), lines.downgrade()));
        let last_id = AtomicU64::new(FIRST_ID);
        Self(Arc::new(Running { envelope, last_id, lines, asked, reading, writing }))
    }

    /// Whether it still answers.
    pub(crate) fn is_alive(&self) -> bool {
        self.0.asked.lock().is_some()
    }

    /// Calls a tool. Dropping the future tells the server that the call was given up.
    pub(crate) async fn call(
        &self,
        call: &ToolCall<'_>,
        bounds: &CallBounds,
        told: Told<'_>,
    ) -> Result<CallAnswer, Failure> {
        check_leave(call)?;
        let id = self.0.last_id.fetch_add(1, Ordering::Relaxed);
        let request = Request::call(id, call, self.0.envelope);
        let mut waiting = self.wait_for(id)?;
        self.0.lines.send(request.text.clone()).await.map_err(|_| ended())?;
        let mut inbox = Inbox::new(&request);
        let mut bytes = 0;
        while let Some(line) = waiting.lines.recv().await {
            bytes += line.len();
            if bytes > bounds.max_answer_bytes {
                return Err(over(bounds.max_answer_bytes, "bytes in one answer").into());
            }
            let Delivery { answer, notices, .. } = inbox.deliver(&line)?;
            notices.into_iter().filter_map(|notice| of_call(notice, call.log_level)).for_each(told);
            if let Some(answer) = answer {
                waiting.is_answered = true;
                return Ok(self.0.envelope.checked_call(answer?)?);
            }
        }
        Err(ended().into())
    }

    fn wait_for(&self, id: u64) -> Result<Waiting<'_>, ListingError> {
        let (sender, lines) = mpsc::unbounded_channel();
        self.0.asked.lock().as_mut().ok_or_else(ended)?.insert(id, sender);
        Ok(Waiting { running: &self.0, id, lines, is_answered: false })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.reading.abort();
        self.writing.abort();
    }
}

impl Asked {
    /// The one call that waits: whose an entry of the log is cannot be told where there are more.
    fn only(&self) -> Option<mpsc::UnboundedSender<String>> {
        let waiting = self.lock();
        let mut calls = waiting.as_ref()?.values();
        calls.next().filter(|_| calls.next().is_none()).cloned()
    }

    /// The map is whole even where a holder of the lock panicked.
    fn lock(&self) -> MutexGuard<'_, Option<HashMap<u64, mpsc::UnboundedSender<String>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that waits.
struct Waiting<'a> {
    running: &'a Running,
    id: u64,
    lines: mpsc::UnboundedReceiver<String>,
    is_answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.running.asked.lock().as_mut() {
            waiting.remove(&self.id);
        }
        if !self.is_answered {
            // Where the server does not read, it does not hear this either.
            let _ = self.running.lines.try_send(rpc::cancelled(self.id));
        }
    }
}

async fn write(mut outgoing: impl Outgoing, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if !outgoing.send(line).await {
            return;
        }
    }
}

/// Hands each line to the call that it belongs to, to the end of the other end, which comes with this task's.
async fn read(mut incoming: impl Incoming, asked: Arc<Asked>, replies: mpsc::WeakSender<String>) {
    while let Some(line) = incoming.next().await {
        if !line.trim_ascii_start().starts_with('{') {
            continue;
        }
        if let Some(id) = rpc::addressee(&line) {
            let sender = asked.lock().as_ref().and_then(|waiting| waiting.get(&id).cloned());
            // It may have been given up meanwhile.
            let _ = sender.map(|sender| sender.send(line));
        } else if let Some(only) = rpc::is_log(&line).then(|| asked.only()).flatten() {
            let _ = only.send(line);
        } else if let Ok(Delivery { replies: ours, .. }) = Inbox::of_server().deliver(&line)
            && let Some(lines) = replies.upgrade()
        {
            ours.into_iter().for_each(|reply| drop(lines.try_send(reply)));
        }
    }
    asked.lock().take();
}

fn ended() -> ListingError {
    ListingError::Protocol("the server's end of the connection was closed before it answered".into())
}
