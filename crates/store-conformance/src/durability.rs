//! What was acknowledged is there after the store was opened again.

use std::time::Duration;

use bytes::Bytes;
use toolgate_store::{Commit, CommitError, Condition, HoldName, KeyRange, Revision, WatchError, scan_all};

use crate::{
    Failed, Outcome, Subject,
    outcome::{promised, same},
    watches::told,
};

/// Rows, values, versions and what was deleted.
pub async fn everything_acknowledged_is_there_after_reopening(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    for number in 0..100_u32 {
        store.commit(Commit::new().put(format!("k/{number:03}"), number.to_string()).put("last", "")).await?;
    }
    store.commit(Commit::new().put("large", vec![7; 1_000_000])).await?;
    store.commit(Commit::new().delete("k/050").put("k/051", "again")).await?;
    let before = scan_all(&*store, &KeyRange::all()).await?;
    drop(store);
    subject.reopen().await?;
    let after = scan_all(&*subject.store(), &KeyRange::all()).await?;
    promised(before == after, "rows and revision are the same after reopening")
}

/// Not even when what they wrote is gone.
pub async fn revisions_do_not_repeat_after_reopening(subject: &mut dyn Subject) -> Outcome {
    let mut last = Revision::ZERO;
    for _ in 0..3 {
        let store = subject.store();
        same(store.revision().await?, last, "newest revision after reopening")?;
        let put = store.commit(Commit::new().put("a", "1")).await?;
        promised(put > last, format!("{put} comes after {last}"))?;
        last = store.commit(Commit::new().delete("a")).await?;
        drop(store);
        subject.reopen().await?;
    }
    Ok(())
}

/// From a revision of before, with the values of then.
pub async fn a_watch_resumes_across_reopening(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let start = store.commit(Commit::new().put("a", "1")).await?;
    let second = store.commit(Commit::new().put("a", "2")).await?;
    let third = store.commit(Commit::new().delete("a")).await?;
    drop(store);
    subject.reopen().await?;
    let store = subject.store();
    let mut watch = store.watch(KeyRange::all(), start).await?;
    let fourth = store.commit(Commit::new().put("a", "4")).await?;
    for (revision, value) in [(second, Some("2")), (third, None), (fourth, Some("4"))] {
        let events = told(&mut watch).await?;
        same(events.revision, revision, "revision told")?;
        let values: Vec<_> = events.changes.into_iter().map(|change| change.value).collect();
        same(values, vec![value.map(Bytes::from)], "value told")?;
    }
    Ok(())
}

/// A watch from before it is refused as it was.
pub async fn compacted_history_stays_compacted_after_reopening(subject: &mut dyn Subject) -> Outcome {
    let start = subject.store().commit(Commit::new().put("a", "1")).await?;
    subject.store().commit(Commit::new().put("a", "2")).await?;
    subject.forget_history().await?;
    subject.reopen().await?;
    match subject.store().watch(KeyRange::all(), start).await {
        Err(WatchError::Compacted { oldest }) => {
            promised(oldest > start, "the oldest kept is after the start")
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err(Failed("a compacted start was allowed after reopening".into()).into()),
    }
}

/// Where leases end with the store; where they outlive it, a fence goes on until its time is up.
pub async fn leases_of_before_cannot_write_after_reopening(subject: &mut dyn Subject) -> Outcome {
    let ttl = Duration::from_secs(2);
    let hold = subject.store().hold(&HoldName("sync".into()), ttl).await?;
    let hold = hold.ok_or_else(|| Failed("the lease was free and not given".into()))?;
    subject.reopen().await?;
    subject.let_pass(ttl * 2).await;
    subject.store().hold(&HoldName("sync".into()), ttl).await?;
    match subject.store().commit(Commit::new().when(Condition::Held(hold.fence)).put("a", "1")).await {
        Err(CommitError::Conflict(0)) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(Failed("a holder of before the restart could write".into()).into()),
    }
}
