//! The one thread that writes.

use std::{
    fs::{self, File},
    io::{self, Write},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::Instant,
};

use prost::Message as _;
use tokio::sync::oneshot;
use toolgate_definition::arguments::Arguments;
use toolgate_domain::{CallRecord, ClientId, Clock};
use toolgate_sealing::Sealer;

use crate::{
    entry::{Entry, Gap, GapReason, KeptArguments},
    folder::{self, Ending, Head, Heads, Segment},
    frame::{NOTHING_BEFORE, write_frame},
    limits::{GROUP_EVERY, MAX_GROUP_CALLS, SEGMENT_BYTES, SYNC_EVERY},
    log::{ArgumentsKept, Message, Shared},
    stored::{self, Kind},
};

pub(crate) struct Writer {
    shared: Arc<Shared>,
    sealer: Arc<Sealer>,
    clock: Arc<dyn Clock>,
    arguments: ArgumentsKept,
    max_bytes: u64,
    file: File,
    segment: Segment,
    heads: Heads,
    synced: Instant,
    is_dirty: bool,
    is_failing: bool,
}

impl Writer {
    /// Begins a new segment after the one that ends so.
    pub(crate) fn begin(
        shared: Arc<Shared>,
        before: Option<Ending>,
        max_bytes: u64,
        arguments: ArgumentsKept,
        sealer: Arc<Sealer>,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Self> {
        let number = shared.segments().last().map_or(1, |last| last.number + 1);
        let after_crash = before.as_ref().is_some_and(|before| !before.is_closed);
        let heads = before.map(|before| before.heads).unwrap_or_default();
        let (file, segment) = new_segment(&shared, number, &heads, &*clock)?;
        let synced = Instant::now();
        let (is_dirty, is_failing) = (false, false);
        let mut writer = Self {
            shared,
            sealer,
            clock,
            arguments,
            max_bytes,
            file,
            segment,
            heads,
            synced,
            is_dirty,
            is_failing,
        };
        if after_crash {
            writer.note_crash()?;
        }
        Ok(writer)
    }

    fn note_crash(&mut self) -> io::Result<()> {
        let at = self.clock.now();
        let gap = |client| Entry::Gap(Gap { client, at, reason: GapReason::Crash, calls: 0 });
        let gaps: Vec<_> = self.heads.keys().copied().map(gap).collect();
        self.append(&gaps)?;
        self.sync()
    }

    /// Works until nobody can record any more, and ends the log in order.
    pub(crate) fn run(&mut self, messages: &Receiver<Message>) {
        loop {
            match messages.recv_timeout(SYNC_EVERY) {
                Ok(first) => {
                    let is_waited_for = self.write_group(first, messages);
                    if !is_waited_for {
                        // What comes meanwhile wakes nobody and is written together.
                        thread::park_timeout(GROUP_EVERY);
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.write(Vec::new()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.sync_in_time();
        }
        self.end();
    }

    /// Writes what waits; whether somebody waited for that.
    fn write_group(&mut self, first: Message, messages: &Receiver<Message>) -> bool {
        let (mut entries, mut firsts): (Vec<Entry>, Vec<(Entry, oneshot::Sender<u64>)>) = Default::default();
        let mut waiting: Vec<oneshot::Sender<()>> = Vec::new();
        for message in std::iter::once(first).chain(messages.try_iter()).take(MAX_GROUP_CALLS) {
            match message {
                Message::Call(record, arguments) => entries.push(self.entry(record, &arguments)),
                Message::First(record, arguments, written) => {
                    firsts.push((self.entry(record, &arguments), written));
                }
                Message::Flush(written) => waiting.push(written),
            }
        }
        self.write(entries);
        let is_waited_for = !(waiting.is_empty() && firsts.is_empty());
        self.write_firsts(firsts);
        for written in waiting {
            // Whoever asked may have gone.
            let _ = written.send(());
        }
        is_waited_for
    }

    /// Writes these and syncs once for all of them. Who is not answered knows that it is not on disk, and nothing of a row
    /// that could not be written is missing: its call is not sent.
    fn write_firsts(&mut self, firsts: Vec<(Entry, oneshot::Sender<u64>)>) {
        if firsts.is_empty() {
            return;
        }
        let (entries, told): (Vec<_>, Vec<_>) = firsts.into_iter().unzip();
        let rows = self.append(&entries).and_then(|rows| self.sync().map(|()| rows));
        let rows = rows.and_then(|rows| self.rotate().map(|()| rows));
        match rows {
            Ok(rows) => rows.into_iter().zip(told).for_each(|(row, told)| {
                // Whoever asked may have gone.
                let _ = told.send(row);
            }),
            Err(error) => tracing::error!(%error, "calls cannot be logged, and are not sent: {error}"),
        }
    }

    fn entry(&self, record: Box<CallRecord>, arguments: &Arguments) -> Entry {
        let text = arguments.text();
        self.shared.no_longer_wait(text.len());
        let kept = match self.arguments {
            ArgumentsKept::Nothing => KeptArguments::Nothing,
            ArgumentsKept::Hash => {
                KeptArguments::Hash(self.sealer.arguments_digest(record.client.bytes(), text))
            }
            ArgumentsKept::Text => KeptArguments::Text(text.to_owned()),
        };
        Entry::Call { record, arguments_bytes: text.len() as u64, arguments: kept }
    }

    /// Writes these, after the word that earlier ones are missing where they are; what cannot be written is missing.
    fn write(&mut self, entries: Vec<Entry>) {
        let at = self.clock.now();
        let gap = |(client, calls)| Entry::Gap(Gap { client, at, reason: GapReason::NotWritten, calls });
        let mut all: Vec<_> = self.shared.take_missing().into_iter().map(gap).collect();
        all.extend(entries);
        if all.is_empty() {
            return;
        }
        let appended = self.append(&all);
        if appended.is_err() {
            all.iter().for_each(|entry| self.shared.note_missing(entry.client(), missing_with(entry)));
        }
        let written = appended.and_then(|_| self.rotate());
        match (&written, self.is_failing) {
            (Err(error), false) => tracing::error!(%error, "calls cannot be logged: {error}"),
            (Ok(()), true) => tracing::info!("calls are logged again"),
            _ => {}
        }
        self.is_failing = written.is_err();
    }

    /// All of these, or none: what was not written whole is taken back. The numbers of their rows.
    fn append(&mut self, entries: &[Entry]) -> io::Result<Vec<u64>> {
        let (mut bytes, mut heads, mut rows) = (Vec::new(), Heads::new(), Vec::new());
        for entry in entries {
            let client = entry.client();
            let before =
                heads.get(&client).or_else(|| self.heads.get(&client)).copied().unwrap_or(Head::EMPTY);
            let sequence = before.sequence + 1;
            let hash = write_frame(&mut bytes, &before.hash, &entry.encode(sequence));
            heads.insert(client, Head { sequence, hash });
            rows.push(sequence);
        }
        self.append_bytes(&bytes)?;
        self.heads.extend(heads);
        self.publish();
        Ok(rows)
    }

    fn append_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let len = self.segment.len_bytes;
        if self.is_failing {
            // What the failed write left behind, where it could not be taken back then.
            self.file.set_len(len)?;
        }
        if let Err(error) = self.file.write_all(bytes) {
            // If this fails too, it is done before the next write.
            let _ = self.file.set_len(len);
            return Err(error);
        }
        self.segment.len_bytes = len + bytes.len() as u64;
        self.is_dirty = true;
        Ok(())
    }

    /// Lets readers see what is written.
    fn publish(&self) {
        if let Some(last) = self.shared.segments().last_mut() {
            *last = self.segment;
        }
    }

    /// Begins another segment where this one is full, and drops the oldest ones.
    fn rotate(&mut self) -> io::Result<()> {
        if self.segment.len_bytes < SEGMENT_BYTES.min(self.max_bytes / 4) {
            return Ok(());
        }
        self.sync()?;
        (self.file, self.segment) =
            new_segment(&self.shared, self.segment.number + 1, &self.heads, &*self.clock)?;
        loop {
            let oldest = {
                let mut segments = self.shared.segments();
                let total: u64 = segments.iter().map(|segment| segment.len_bytes).sum();
                if total <= self.max_bytes || segments.len() < 3 {
                    return Ok(());
                }
                segments.remove(0)
            };
            fs::remove_file(folder::path(&self.shared.folder, oldest.number))?;
        }
    }

    fn sync_in_time(&mut self) {
        if self.is_dirty
            && self.synced.elapsed() >= SYNC_EVERY
            && let Err(error) = self.sync()
        {
            tracing::error!(%error, "the log of calls cannot be synced: {error}");
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        (self.synced, self.is_dirty) = (Instant::now(), false);
        Ok(())
    }

    fn end(&mut self) {
        self.write(Vec::new());
        let end = Kind::End(stored::End { at_ms: self.clock.now().unix_ms() });
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &NOTHING_BEFORE, &stored::Payload { kind: Some(end) }.encode_to_vec());
        if let Err(error) = self.append_bytes(&bytes).and_then(|()| self.sync()) {
            tracing::error!(%error, "the log of calls cannot be ended: {error}");
        }
        self.publish();
    }
}

/// Calls that are missing where this is.
fn missing_with(entry: &Entry) -> u64 {
    match entry {
        Entry::Call { .. } => 1,
        Entry::Gap(gap) => gap.calls,
    }
}

fn new_segment(
    shared: &Shared,
    number: u64,
    heads: &Heads,
    clock: &dyn Clock,
) -> io::Result<(File, Segment)> {
    let begun = clock.now();
    let head = |(client, head): (&ClientId, &Head)| stored::Head {
        client: client.bytes().to_vec(),
        sequence: head.sequence,
        hash: head.hash.to_vec(),
    };
    let beginning = stored::Beginning { at_ms: begun.unix_ms(), heads: heads.iter().map(head).collect() };
    let payload = stored::Payload { kind: Some(Kind::Beginning(beginning)) }.encode_to_vec();
    let mut bytes = Vec::new();
    write_frame(&mut bytes, &NOTHING_BEFORE, &payload);
    let mut file = folder::create(&shared.folder, number)?;
    file.write_all(&bytes)?;
    file.sync_data()?;
    let segment = Segment { number, len_bytes: bytes.len() as u64, begun: Some(begun) };
    shared.segments().push(segment);
    Ok((file, segment))
}
