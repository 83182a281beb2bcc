//! A closed store says so.

use std::{num::NonZeroUsize, time::Duration};

use futures::StreamExt;
use toolgate_store::{Commit, CommitError, HoldName, KeyRange, Revision, StoreError, WatchError};

use crate::{
    Failed, Outcome, Subject,
    outcome::{promised, same},
    watches::told,
};

fn closed<T>(answer: Result<T, StoreError>, call: &str) -> Outcome {
    promised(matches!(answer, Err(StoreError::Closed)), format!("{call} after closing fails as closed"))
}

/// Every one, with [`StoreError::Closed`].
pub async fn calls_after_closing_fail(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let name = HoldName("sync".into());
    let ttl = Duration::from_secs(600);
    let hold =
        store.hold(&name, ttl).await?.ok_or_else(|| Failed("the lease was free and not given".into()))?;
    store.commit(Commit::new().put("a", "1")).await?;
    store.close().await?;
    closed(store.get(b"a").await, "get")?;
    closed(store.scan(&KeyRange::all(), NonZeroUsize::MIN).await, "scan")?;
    closed(store.revision().await, "revision")?;
    closed(store.renew(&hold, ttl).await, "renew")?;
    closed(store.hold(&name, ttl).await, "hold")?;
    closed(store.release(hold).await, "release")?;
    let commit = store.commit(Commit::new().put("a", "2")).await;
    promised(
        matches!(commit, Err(CommitError::Failed(StoreError::Closed))),
        "commit after closing fails as closed",
    )?;
    let watch = store.watch(KeyRange::all(), Revision::ZERO).await;
    promised(
        matches!(watch, Err(WatchError::Store(StoreError::Closed))),
        "watch after closing fails as closed",
    )
}

/// Idle ones too.
pub async fn closing_ends_watches(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let mut idle = store.watch(KeyRange::prefix("elsewhere"), Revision::ZERO).await?;
    let mut busy = store.watch(KeyRange::all(), Revision::ZERO).await?;
    let revision = store.commit(Commit::new().put("a", "1")).await?;
    same(told(&mut busy).await?.revision, revision, "commit told before closing")?;
    let waiting = tokio::spawn(async move { (idle.next().await, idle.next().await) });
    store.close().await?;
    let (end, after) = waiting.await?;
    promised(
        matches!(end, Some(Err(WatchError::Store(StoreError::Closed)))),
        "an idle watch fails as closed",
    )?;
    promised(after.is_none(), "an idle watch ends after its error")?;
    let end = busy.next().await;
    promised(matches!(end, Some(Err(WatchError::Store(StoreError::Closed)))), "a busy watch fails as closed")
}

/// Nor does it wait for ever.
pub async fn closing_twice_is_no_error(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    store.close().await?;
    store.close().await?;
    Ok(())
}
