//! Reading the log.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    num::NonZeroUsize,
    sync::Arc,
};

use toolgate_domain::{AgentId, ClientId, Fault, Moment, ToolId, limits::PAGE_DEFINITION_BYTES};

use crate::{
    CallLog,
    entry::{Entry, LoggedEntry},
    folder::{Segment, kind, path},
    frame::{Broken, read_frame},
    limits::MAX_PAGE_SCAN_BYTES,
    log::Shared,
};

/// About what an entry takes on the wire beside its stored bytes, the same as fields.
const ENTRY_BYTES: usize = 400;

/// A place in the log of this replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    /// Number of the segment.
    pub segment: u64,
    /// Bytes into it.
    pub offset: u64,
}

/// Which entries.
#[derive(Debug, Clone, Copy)]
pub struct ListCalls {
    /// The tenant.
    pub client: ClientId,
    /// From here on.
    pub from: Position,
    /// At most so many, and no more than fit [`PAGE_DEFINITION_BYTES`].
    pub size: NonZeroUsize,
    /// Which of those.
    pub filter: CallFilter,
}

/// What restricts a list of calls. Empty members do not. Where calls are missing is told whatever they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallFilter {
    /// Only calls of this tool.
    pub tool: Option<ToolId>,
    /// Only calls by this agent.
    pub agent: Option<AgentId>,
    /// Only what came at this time or later.
    pub start: Option<Moment>,
    /// Only what came before this time.
    pub end: Option<Moment>,
}

/// A page of the log.
#[derive(Debug, Clone, Default)]
pub struct CallPage {
    /// In the order in which they ended.
    pub entries: Vec<LoggedEntry>,
    /// Where the next page begins, where there is one.
    pub more_from: Option<Position>,
}

impl CallFilter {
    fn admits(&self, entry: &Entry) -> bool {
        let at = entry.at();
        let in_time = self.start.is_none_or(|start| at >= start) && self.end.is_none_or(|end| at < end);
        in_time
            && match entry {
                Entry::Gap(_) => true,
                Entry::Call { record, .. } => {
                    self.tool.is_none_or(|tool| record.tool.is_some_and(|called| called.id == tool))
                        && self.agent.is_none_or(|agent| record.agent == Some(agent))
                }
            }
    }
}

impl CallLog {
    /// Lists what one client's chain holds on this replica, oldest first.
    ///
    /// # Errors
    /// [`Fault::Internal`] where the segments cannot be read.
    pub async fn list(&self, ask: ListCalls) -> Result<CallPage, Fault> {
        self.flush().await;
        let shared = Arc::clone(&self.shared);
        let reading = tokio::task::spawn_blocking(move || page(&shared, &ask));
        let page = reading.await.map_err(|error| Fault::Internal { cause: error.to_string() })?;
        page.map_err(|error| Fault::Internal { cause: format!("the log of calls: {error}") })
    }
}

fn page(shared: &Shared, ask: &ListCalls) -> Result<CallPage, Broken> {
    let segments: Vec<Segment> = shared.segments().clone();
    let mut filling = Filling { ask, page: CallPage::default(), bytes: 0, scanned: 0 };
    for segment in segments.iter().filter(|segment| segment.number >= ask.from.segment) {
        match read_segment(shared, segment, &mut filling) {
            Ok(Some(more_from)) => return Ok(CallPage { more_from: Some(more_from), ..filling.page }),
            Ok(None) => {}
            // It went because the log is full.
            Err(Broken::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(Broken::Io(error)) => return Err(error.into()),
            Err(broken) => {
                tracing::error!(segment = segment.number, %broken, "a segment of the log of calls: {broken}");
            }
        }
    }
    Ok(filling.page)
}

/// A page that is being filled.
struct Filling<'a> {
    ask: &'a ListCalls,
    page: CallPage,
    bytes: usize,
    scanned: u64,
}

/// Fills the page from one segment; where the next page begins, if it is full before the end.
fn read_segment(
    shared: &Shared,
    segment: &Segment,
    filling: &mut Filling<'_>,
) -> Result<Option<Position>, Broken> {
    let from = filling.ask.from;
    let mut offset = if segment.number == from.segment { from.offset } else { 0 };
    let mut file = File::open(path(&shared.folder, segment.number))?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = BufReader::new(file.take(segment.len_bytes.saturating_sub(offset)));
    loop {
        let here = Position { segment: segment.number, offset };
        if filling.scanned >= MAX_PAGE_SCAN_BYTES {
            return Ok(Some(here));
        }
        let Some(frame) = read_frame(&mut bytes)? else { return Ok(None) };
        let len = frame.len_bytes();
        if !filling.take(frame.payload, frame.hash) {
            return Ok(Some(here));
        }
        offset += len;
        filling.scanned += len;
    }
}

impl Filling<'_> {
    /// Whether there was room for what this payload holds, if it is asked for.
    fn take(&mut self, stored: Vec<u8>, hash: [u8; 32]) -> bool {
        let Some((sequence, entry)) = kind(&stored).and_then(Entry::of) else { return true };
        if entry.client() != self.ask.client || !self.ask.filter.admits(&entry) {
            return true;
        }
        self.bytes += 2 * stored.len() + ENTRY_BYTES;
        let is_full = self.page.entries.len() >= self.ask.size.get() || self.bytes > PAGE_DEFINITION_BYTES;
        if is_full && !self.page.entries.is_empty() {
            return false;
        }
        self.page.entries.push(LoggedEntry { sequence, entry, stored, hash });
        true
    }
}
