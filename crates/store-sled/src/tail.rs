use std::{collections::VecDeque, sync::Arc};

use futures::stream;
use tokio::{sync::broadcast, task};
use toolgate_store::{Change, CommitEvents, KeyRange, Revision, StoreError, Watch, WatchError};

use crate::{
    cell::{self, Head, Source},
    drain::changes_of,
    error::{damaged_key, engine, guarded},
    layout::{self, Place},
    limits::{CATCH_UP_BYTES, CATCH_UP_COMMITS},
    meta::Meta,
    record::Logged,
    shared::{Shared, Told},
};

/// A watcher: it reads the change log up to what it has been told of, and then follows the news.
struct Tail {
    shared: Arc<Shared>,
    range: KeyRange,
    /// Everything up to here has been told, or stands in `ready`.
    seen: Revision,
    /// The change log is to be read up to here.
    upto: Revision,
    ready: VecDeque<CommitEvents>,
    live: broadcast::Receiver<Told>,
    ended: bool,
}

/// Starts a watch; the caller has checked that `after` is not compacted.
pub(crate) fn follow(
    shared: Arc<Shared>,
    live: broadcast::Receiver<Told>,
    range: KeyRange,
    after: Revision,
) -> Watch {
    // Subscribed before the revision is read, so that no commit falls between the two.
    let upto = shared.revision();
    let tail = Tail { shared, range, seen: after, upto, ready: VecDeque::new(), live, ended: false };
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
            if let Some(events) = self.ready.pop_front() {
                return Ok(events);
            }
            if self.seen < self.upto {
                self.catch_up().await?;
            } else {
                self.listen().await?;
            }
        }
    }

    async fn listen(&mut self) -> Result<(), WatchError> {
        match self.live.recv().await {
            Ok(Told::Whole(events)) if events.revision > self.seen => {
                self.seen = events.revision;
                self.ready.extend(events.within(&self.range));
            }
            Ok(Told::Whole(_)) => {}
            Ok(Told::Logged(revision)) => self.upto = self.upto.max(revision),
            Err(broadcast::error::RecvError::Lagged(_)) => self.upto = self.upto.max(self.shared.revision()),
            Err(broadcast::error::RecvError::Closed) => {
                let why = self.shared.running().err().unwrap_or(StoreError::Closed);
                return Err(why.into());
            }
        }
        Ok(())
    }

    async fn catch_up(&mut self) -> Result<(), WatchError> {
        let (shared, range) = (self.shared.clone(), self.range.clone());
        let (seen, upto) = (self.seen, self.upto);
        let reading = move || {
            let db = shared.running()?.db;
            guarded(|| history(&db, &range, seen, upto))
        };
        let page = task::spawn_blocking(reading).await.map_err(engine)??;
        let (ready, seen) = page.ok_or(WatchError::Lagged)?;
        self.ready = ready;
        self.seen = seen;
        Ok(())
    }
}

type Page = (VecDeque<CommitEvents>, Revision);

/// The commits in `range` after `seen`, as far as a page goes and at most up to `upto`; `None` when they were compacted.
fn history(
    db: &sled::Db,
    range: &KeyRange,
    seen: Revision,
    upto: Revision,
) -> Result<Option<Page>, StoreError> {
    let (mut ready, mut bytes) = (VecDeque::new(), 0);
    let mut at = seen;
    while at < upto && bytes < CATCH_UP_BYTES && at.0 - seen.0 < CATCH_UP_COMMITS as u64 {
        at.0 += 1;
        let Some(events) = commit_of(db, range, at)? else {
            return if compacted(db, at)? {
                Ok(None)
            } else {
                Err(damaged_key(&layout::log(at), "it is missing"))
            };
        };
        bytes += events
            .changes
            .iter()
            .map(|change| change.value.as_ref().map_or(0, |value| value.len()))
            .sum::<usize>();
        ready.extend((!events.changes.is_empty()).then_some(events));
    }
    Ok(Some((ready, at)))
}

fn compacted(db: &sled::Db, revision: Revision) -> Result<bool, StoreError> {
    Ok(Meta::load(db)?.is_some_and(|meta| meta.oldest >= revision))
}

/// The part of a commit in `range`, with the values of then; `None` when a part of it is not kept any more.
fn commit_of(
    db: &sled::Db,
    range: &KeyRange,
    revision: Revision,
) -> Result<Option<CommitEvents>, StoreError> {
    let Some(logged) = changes_of(db, revision)? else { return Ok(None) };
    let mut changes = Vec::new();
    for Logged { index, put, key } in logged.into_iter().filter(|change| range.contains(&change.key)) {
        let place = Place { revision, index };
        let value = if put { value_at(db, place, &key)? } else { None };
        if put && value.is_none() {
            return Ok(None);
        }
        changes.push(Change { key, value });
    }
    Ok(Some(CommitEvents { revision, changes }))
}

/// The value that was put at `place`: it stands in the row, or in the former row once that was overwritten.
fn value_at(db: &sled::Db, place: Place, key: &[u8]) -> Result<Option<bytes::Bytes>, StoreError> {
    let row = db.raw(&layout::row(key))?;
    let current = row.map(|raw| Head::read(key, &raw).map(|head| (head, raw))).transpose()?;
    let raw = match current {
        Some((head, raw)) if head.place == place => Some(raw),
        _ => db.raw(&layout::former(place))?,
    };
    raw.map_or(Ok(None), |raw| cell::content(db, key, &raw))
}
