use std::sync::Arc;

use futures::stream;
use tokio::sync::watch;
use toolgate_store::{CommitEvents, KeyRange, Revision, StoreError, Watch, WatchError};

use crate::Shared;

/// A watcher: a place in the history, and a bell that rings after each commit.
struct Tail {
    shared: Arc<Shared>,
    range: KeyRange,
    seen: Revision,
    changed: watch::Receiver<()>,
    ended: bool,
}

pub(crate) fn follow(shared: Arc<Shared>, range: KeyRange, after: Revision) -> Watch {
    let changed = shared.changed.subscribe();
    let tail = Tail { shared, range, seen: after, changed, ended: false };
    Box::pin(stream::unfold(tail, |mut tail| async move {
        if tail.ended {
            return None;
        }
        let item = tail.next().await;
        tail.ended = item.is_err();
        Some((item, tail))
    }))
}

impl Tail {
    async fn next(&mut self) -> Result<CommitEvents, WatchError> {
        loop {
            self.changed.mark_unchanged();
            if let Some(events) = self.advance()? {
                return Ok(events);
            }
            // The sender lives in what `shared` holds, so this ends by a change alone.
            self.changed.changed().await.map_err(|_| StoreError::Closed)?;
        }
    }

    /// The next commit that touches the range, if it has happened.
    fn advance(&mut self) -> Result<Option<CommitEvents>, WatchError> {
        let state = self.shared.state();
        if state.closed {
            return Err(StoreError::Closed.into());
        }
        if self.seen < state.oldest {
            return Err(WatchError::Lagged);
        }
        let found = state.history_after(self.seen).find_map(|events| events.within(&self.range));
        let seen = found.as_ref().map_or(state.revision, |events| events.revision);
        self.seen = self.seen.max(seen);
        Ok(found)
    }
}
