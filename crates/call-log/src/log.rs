//! The log as calls and readers see it.

use std::{
    collections::HashMap,
    fmt, fs, io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
};

use async_trait::async_trait;
use tokio::sync::oneshot;
use toolgate_definition::arguments::Arguments;
use toolgate_domain::{CallRecord, ClientId, Clock};
use toolgate_gateway::{CallRecords, CannotRecord};
use toolgate_sealing::Sealer;

use crate::{
    folder::{self, Ending, Segment},
    limits::{MAX_WAITING_BYTES, MAX_WAITING_CALLS},
    writer::Writer,
};

/// What is kept of the arguments of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentsKept {
    /// Nothing but their size.
    Nothing,
    /// A hash under a key of this installation and the client.
    Hash,
    /// Their exact text.
    Text,
}

/// How a log is kept.
#[derive(Debug, Clone)]
pub struct CallLogOptions {
    /// Where its segments are.
    pub folder: PathBuf,
    /// Bytes of all segments; the oldest go.
    pub max_bytes: u64,
    /// What is kept of arguments.
    pub arguments: ArgumentsKept,
    /// Whether calls of effect `changes` are on disk before they are sent.
    pub is_durable: bool,
}

/// The log of the calls that this process took. It ends in order when it is dropped.
pub struct CallLog {
    pub(crate) shared: Arc<Shared>,
    is_durable: bool,
    queue: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<()>>,
}

/// What the writer, the callers and the readers share.
pub(crate) struct Shared {
    pub(crate) folder: PathBuf,
    segments: Mutex<Vec<Segment>>,
    /// Calls that are missing, until the log says so.
    missing: Mutex<HashMap<ClientId, u64>>,
    /// Bytes of the arguments that wait.
    waiting_bytes: AtomicUsize,
}

pub(crate) enum Message {
    Call(Box<CallRecord>, Arguments),
    /// To be answered with the number of its row once it is on disk.
    First(Box<CallRecord>, Arguments, oneshot::Sender<u64>),
    /// To be answered when everything before it can be read.
    Flush(oneshot::Sender<()>),
}

impl CallLog {
    /// Opens the log, or begins one. Where the process that wrote it last did not end in order, that is noted in the chain
    /// of every client.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn open(options: CallLogOptions, sealer: Arc<Sealer>, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let CallLogOptions { folder, max_bytes, arguments, is_durable } = options;
        folder::make(&folder)?;
        let (segments, before) = last_ending(&folder)?;
        let shared = Arc::new(Shared {
            folder,
            segments: Mutex::new(segments),
            missing: Mutex::default(),
            waiting_bytes: AtomicUsize::new(0),
        });
        let mut writer = Writer::begin(Arc::clone(&shared), before, max_bytes, arguments, sealer, clock)?;
        let (queue, messages) = sync_channel(MAX_WAITING_CALLS);
        let thread = thread::Builder::new().name("call-log".into()).spawn(move || writer.run(&messages))?;
        Ok(Self { shared, is_durable, queue: Some(queue), writer: Some(thread) })
    }

    /// Waits until everything that was recorded before can be read.
    pub(crate) async fn flush(&self) {
        let (written, is_written) = oneshot::channel();
        let asked = self.queue.as_ref().is_some_and(|queue| queue.try_send(Message::Flush(written)).is_ok());
        if asked {
            self.wake();
            // It fails only where the writer has ended; then nothing more will be there.
            let _ = is_written.await;
        }
    }

    /// The writer no longer waits for more.
    fn wake(&self) {
        if let Some(writer) = &self.writer {
            writer.thread().unpark();
        }
    }
}

#[async_trait]
impl CallRecords for CallLog {
    fn are_first(&self) -> bool {
        self.is_durable
    }

    async fn record_first(&self, record: CallRecord, arguments: Arguments) -> Result<u64, CannotRecord> {
        let (written, is_written) = oneshot::channel();
        let bytes = arguments.text().len();
        self.shared.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let message = Message::First(Box::new(record), arguments, written);
        let sent = self.queue.as_ref().is_some_and(|queue| queue.try_send(message).is_ok());
        if !sent {
            self.shared.no_longer_wait(bytes);
            return Err(CannotRecord);
        }
        self.wake();
        is_written.await.map_err(|_| CannotRecord)
    }

    fn record(&self, record: CallRecord, arguments: Arguments) {
        let (client, bytes) = (record.client, arguments.text().len());
        let waiting = self.shared.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let fits = waiting + bytes <= MAX_WAITING_BYTES;
        let message = Message::Call(Box::new(record), arguments);
        let sent = match &self.queue {
            Some(queue) if fits => queue.try_send(message),
            _ => Err(TrySendError::Full(message)),
        };
        if sent.is_err() {
            self.shared.no_longer_wait(bytes);
            self.shared.note_missing(client, 1);
        }
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        self.queue = None;
        self.wake();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the log of calls did not end well: what waited is missing in it");
        }
    }
}

impl fmt::Debug for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallLog").field("folder", &self.shared.folder).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn segments(&self) -> MutexGuard<'_, Vec<Segment>> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn no_longer_wait(&self, bytes: usize) {
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn note_missing(&self, client: ClientId, calls: u64) {
        *self.missing().entry(client).or_default() += calls;
    }

    pub(crate) fn take_missing(&self) -> HashMap<ClientId, u64> {
        std::mem::take(&mut *self.missing())
    }

    fn missing(&self) -> MutexGuard<'_, HashMap<ClientId, u64>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The segments that are there, and how the last one ends once a torn tail is cut off.
fn last_ending(folder: &std::path::Path) -> io::Result<(Vec<Segment>, Option<Ending>)> {
    let mut segments = folder::segments(folder)?;
    while let Some(last) = segments.last_mut() {
        let ending = folder::ending(folder, last.number)?;
        if ending.whole_bytes == 0 {
            // It was not begun: nothing is in it.
            fs::remove_file(folder::path(folder, last.number))?;
            segments.pop();
            continue;
        }
        if ending.is_torn {
            let file = fs::OpenOptions::new().write(true).open(folder::path(folder, last.number))?;
            file.set_len(ending.whole_bytes)?;
            file.sync_all()?;
            last.len_bytes = ending.whole_bytes;
        }
        return Ok((segments, Some(ending)));
    }
    Ok((segments, None))
}
