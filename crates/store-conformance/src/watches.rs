//! A watch tells every commit of its range, once, in order.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, future::try_join_all};
use toolgate_store::{
    Change, Commit, CommitEvents, Condition, KeyRange, Revision, SharedStore, Watch, WatchError, scan_all,
};

use crate::{
    Failed, Outcome, Subject,
    outcome::{promised, same},
};

/// Longer than any store takes to tell of a commit.
const PATIENCE: Duration = Duration::from_secs(60);

/// The next commit that the watch tells; fails when it ends or stays silent.
pub(crate) async fn told(watch: &mut Watch) -> Outcome<CommitEvents> {
    match tokio::time::timeout(PATIENCE, watch.next()).await {
        Ok(Some(events)) => Ok(events?),
        Ok(None) => Err(Failed("the watch ended without an error".into()).into()),
        Err(_) => Err(Failed(format!("the watch told nothing within {PATIENCE:?}")).into()),
    }
}

fn put(key: &'static str, value: impl Into<Bytes>) -> Change {
    Change { key: key.into(), value: Some(value.into()) }
}

fn delete(key: &'static str) -> Change {
    Change { key: key.into(), value: None }
}

fn events(revision: Revision, changes: impl Into<Vec<Change>>) -> CommitEvents {
    CommitEvents { revision, changes: changes.into() }
}

/// Commits made before it was opened, and after.
pub async fn a_watch_delivers_commits_in_order_without_a_gap(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let mut expected = Vec::new();
    let mut commit = async |number: u8| -> Outcome {
        expected.push(events(
            store.commit(Commit::new().put("a", vec![number])).await?,
            [put("a", vec![number])],
        ));
        Ok(())
    };
    for number in 0..20 {
        commit(number).await?;
    }
    let mut watch = store.watch(KeyRange::all(), Revision::ZERO).await?;
    for number in 20..40 {
        commit(number).await?;
    }
    for events in expected {
        same(told(&mut watch).await?, events, "commit told")?;
    }
    Ok(())
}

/// Of the history: what is told first is the next one.
pub async fn a_watch_resumes_after_any_revision(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let mut revisions = vec![Revision::ZERO];
    for number in 0..12_u8 {
        revisions.push(store.commit(Commit::new().put("a", vec![number])).await?);
    }
    for pair in revisions.windows(2) {
        let mut watch = store.watch(KeyRange::all(), pair[0]).await?;
        same(told(&mut watch).await?.revision, pair[1], "first commit told")?;
    }
    Ok(())
}

/// Small values and large ones, overwritten or deleted since.
pub async fn a_watch_delivers_the_value_of_each_commit_though_it_was_overwritten(
    subject: &mut dyn Subject,
) -> Outcome {
    let store = subject.store();
    let large = |byte: u8| Bytes::from(vec![byte; 300_000]);
    let values = [large(1), "small".into(), large(2), large(3), Bytes::new()];
    let mut expected = Vec::new();
    for value in values {
        let revision = store.commit(Commit::new().put("a", value.clone())).await?;
        expected.push(events(revision, [put("a", value)]));
    }
    let revision = store.commit(Commit::new().delete("a")).await?;
    expected.push(events(revision, [delete("a")]));
    let mut watch = store.watch(KeyRange::all(), Revision::ZERO).await?;
    for events in expected {
        promised(told(&mut watch).await? == events, format!("the value of {} is told", events.revision))?;
    }
    Ok(())
}

/// It waits, and does not tell commits up to there.
pub async fn a_watch_may_start_beyond_the_newest_revision(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let newest = store.commit(Commit::new().put("a", "1")).await?;
    let start = Revision(newest.0 + 3);
    let mut watch = store.watch(KeyRange::all(), start).await?;
    let mut first = Revision::ZERO;
    while first <= start {
        first = store.commit(Commit::new().put("a", "2")).await?;
    }
    same(told(&mut watch).await?.revision, first, "first commit told")
}

/// One item a commit.
pub async fn a_watch_groups_changes_by_commit_in_the_order_of_writes(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let mut watch = store.watch(KeyRange::all(), Revision::ZERO).await?;
    let first = store.commit(Commit::new().put("c", "1").put("a", "1").put("b", "1")).await?;
    let second = store.commit(Commit::new().put("a", "2").delete("c").put("d", "2")).await?;
    same(
        told(&mut watch).await?,
        events(first, [put("c", "1"), put("a", "1"), put("b", "1")]),
        "first commit",
    )?;
    same(
        told(&mut watch).await?,
        events(second, [put("a", "2"), delete("c"), put("d", "2")]),
        "second commit",
    )
}

/// Of a commit that reaches beyond it, its part; of a commit elsewhere, nothing.
pub async fn a_watch_of_a_range_sees_that_range_alone(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let live = store.watch(KeyRange::prefix("b/"), Revision::ZERO).await?;
    let first = store.commit(Commit::new().put("a/1", "").put("b/1", "").put("b0", "")).await?;
    store.commit(Commit::new().put("a/2", "").put("b", "").put("c", "")).await?;
    let last = store.commit(Commit::new().delete("b/1").delete("a/1")).await?;
    let past = store.watch(KeyRange::prefix("b/"), Revision::ZERO).await?;
    for mut watch in [live, past] {
        same(told(&mut watch).await?, events(first, [put("b/1", "")]), "first commit in the range")?;
        same(told(&mut watch).await?, events(last, [delete("b/1")]), "second commit in the range")?;
    }
    Ok(())
}

/// Deleting an absent key makes no event, alone or beside others.
pub async fn a_delete_is_told_and_deleting_nothing_is_not(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let mut watch = store.watch(KeyRange::all(), Revision::ZERO).await?;
    let first = store.commit(Commit::new().put("a", "1")).await?;
    store.commit(Commit::new().delete("b")).await?;
    let last = store.commit(Commit::new().delete("b").delete("a")).await?;
    same(told(&mut watch).await?, events(first, [put("a", "1")]), "put")?;
    same(told(&mut watch).await?, events(last, [delete("a")]), "delete")
}

/// Nor is a conflict.
pub async fn a_refused_commit_is_not_told(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let mut watch = store.watch(KeyRange::all(), Revision::ZERO).await?;
    let conflict = Commit::new().put("a", "1").when(Condition::Present("a".into()));
    promised(store.commit(conflict).await.is_err(), "the condition does not hold")?;
    promised(store.commit(Commit::new()).await.is_err(), "an empty commit is refused")?;
    let revision = store.commit(Commit::new().put("a", "2")).await?;
    same(told(&mut watch).await?, events(revision, [put("a", "2")]), "first commit told")
}

/// With a distinct error, and a watch after that revision works.
pub async fn a_start_that_was_compacted_is_refused_with_the_oldest(subject: &mut dyn Subject) -> Outcome {
    let start = subject.store().commit(Commit::new().put("a", "1")).await?;
    subject.store().commit(Commit::new().put("a", "2")).await?;
    subject.forget_history().await?;
    let store = subject.store();
    let oldest = match store.watch(KeyRange::all(), start).await {
        Err(WatchError::Compacted { oldest }) => oldest,
        Err(error) => return Err(error.into()),
        Ok(_) => return Err(Failed("a compacted start was allowed".into()).into()),
    };
    promised(oldest > start, "the oldest revision kept is after what was compacted")?;
    drop(store.watch(KeyRange::all(), oldest).await?);
    let mut watch = store.watch(KeyRange::all(), store.revision().await?).await?;
    let revision = store.commit(Commit::new().put("a", "3")).await?;
    same(told(&mut watch).await?, events(revision, [put("a", "3")]), "commit told after a compaction")
}

/// Writers that write as fast as they can, each its own key, now and then one of all.
async fn write_together(store: &SharedStore, writers: u8, commits: u8) -> Outcome {
    let tasks = (0..writers).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..commits {
                let own = Commit::new().put(format!("w/{writer}"), vec![number]);
                store
                    .commit(if number % 3 == 0 { own.put("w/shared", vec![writer, number]) } else { own })
                    .await?;
            }
            Outcome::Ok(())
        })
    });
    try_join_all(tasks).await?.into_iter().collect()
}

/// Everything up to and with the commit of `end`.
async fn told_until(mut watch: Watch, end: Revision) -> Outcome<Vec<CommitEvents>> {
    let mut history = Vec::new();
    while history.last().is_none_or(|events: &CommitEvents| events.revision < end) {
        history.push(told(&mut watch).await?);
    }
    Ok(history)
}

/// Opened before, among and after them, from one revision.
pub async fn watches_under_concurrent_writers_tell_the_same_history(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let before = store.watch(KeyRange::all(), Revision::ZERO).await?;
    let writers = tokio::spawn({
        let store = store.clone();
        async move { write_together(&store, 6, 30).await }
    });
    tokio::task::yield_now().await;
    let among = store.watch(KeyRange::all(), Revision::ZERO).await?;
    writers.await??;
    let end = store.commit(Commit::new().put("w/end", "")).await?;
    let after = store.watch(KeyRange::all(), Revision::ZERO).await?;

    let history = told_until(before, end).await?;
    same(history.len(), 6 * 30 + 1, "commits told")?;
    promised(history.windows(2).all(|pair| pair[0].revision < pair[1].revision), "revisions ascend")?;
    promised(told_until(among, end).await? == history, "a watch opened meanwhile tells the same")?;
    promised(told_until(after, end).await? == history, "a watch opened later tells the same")
}

/// Rows of pages of different moments, and then every commit after the first page's revision, give what is there.
pub async fn a_scan_then_a_watch_converges(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    write_together(&store, 2, 20).await?;
    let writers = tokio::spawn({
        let store = store.clone();
        async move { write_together(&store, 4, 30).await }
    });
    let (rows, start) = scan_all(&*store, &KeyRange::prefix("w/")).await?;
    let watch = store.watch(KeyRange::prefix("w/"), start).await?;
    writers.await??;
    let end = store.commit(Commit::new().put("w/end", "")).await?;

    let mut model: BTreeMap<Bytes, Bytes> = rows.into_iter().map(|row| (row.key, row.value)).collect();
    for change in told_until(watch, end).await?.into_iter().flat_map(|events| events.changes) {
        match change.value {
            Some(value) => model.insert(change.key, value),
            None => model.remove(&change.key),
        };
    }
    let (rows, _) = scan_all(&*store, &KeyRange::prefix("w/")).await?;
    same(model, rows.into_iter().map(|row| (row.key, row.value)).collect(), "rows by scan and watch")
}

/// One that does not read while the whole history passes by gets all of it, or [`WatchError::Lagged`], never a gap.
pub async fn a_slow_watcher_misses_nothing_or_is_told(subject: &mut dyn Subject) -> Outcome {
    let mut watch = subject.store().watch(KeyRange::all(), Revision::ZERO).await?;
    let first = subject.store().commit(Commit::new().put("a", "1")).await?;
    same(told(&mut watch).await?.revision, first, "first commit told")?;
    let second = subject.store().commit(Commit::new().put("a", "2")).await?;
    subject.forget_history().await?;
    match tokio::time::timeout(PATIENCE, watch.next()).await {
        Ok(Some(Ok(events))) => same(events.revision, second, "commit told after the first"),
        Ok(Some(Err(WatchError::Lagged))) => {
            promised(watch.next().await.is_none(), "the watch ends after it told that it fell behind")
        }
        other => Err(Failed(format!("expected the next commit or a lag, found {other:?}")).into()),
    }
}
