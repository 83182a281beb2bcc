//! A commit happens whole, or not at all, under its conditions.

use bytes::Bytes;
use futures::future::try_join_all;
use toolgate_store::{Commit, CommitError, Condition, KeyRange, Revision, SharedStore, Store, scan_all};

use crate::{
    Failed, Outcome, Subject,
    outcome::{promised, same},
};

/// Fails unless the commit is answered by a conflict at `index`.
async fn conflicts(store: &dyn Store, commit: Commit, index: usize) -> Outcome {
    match store.commit(commit).await {
        Err(CommitError::Conflict(found)) => same(found, index, "index of the failed condition"),
        Err(error) => Err(error.into()),
        Ok(revision) => Err(Failed(format!("expected a conflict, was committed at {revision}")).into()),
    }
}

fn when(condition: Condition) -> Commit {
    Commit::new().when(condition).put("written", "")
}

/// By at least one.
pub async fn revisions_grow_with_each_commit(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let mut last = store.revision().await?;
    for _ in 0..20 {
        let next = store.commit(Commit::new().put("a", "the same")).await?;
        promised(next > last, format!("{next} comes after {last}"))?;
        same(store.revision().await?, next, "newest revision")?;
        last = next;
    }
    Ok(())
}

/// [`Condition::Absent`].
pub async fn absent_holds_for_an_absent_key_alone(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    store.commit(when(Condition::Absent("a".into())).put("a", "1")).await?;
    conflicts(&*store, when(Condition::Absent("a".into())), 0).await
}

/// [`Condition::Present`].
pub async fn present_holds_for_a_present_key_alone(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    conflicts(&*store, when(Condition::Present("a".into())), 0).await?;
    store.commit(Commit::new().put("a", "")).await?;
    store.commit(when(Condition::Present("a".into()))).await?;
    Ok(())
}

/// [`Condition::Equals`]: neither an older nor a later version will do, nor the same value written again.
pub async fn equals_holds_for_the_exact_version_alone(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let old = store.commit(Commit::new().put("a", "1")).await?;
    let new = store.commit(Commit::new().put("a", "1")).await?;
    conflicts(&*store, when(Condition::Equals("a".into(), old)), 0).await?;
    conflicts(&*store, when(Condition::Equals("a".into(), Revision(new.0 + 1))), 0).await?;
    conflicts(&*store, when(Condition::Equals("a".into(), Revision::ZERO)), 0).await?;
    store.commit(when(Condition::Equals("a".into(), new))).await?;
    Ok(())
}

/// The version of an absent key is 0, and of an absent key alone.
pub async fn equals_zero_means_absent(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    store.commit(when(Condition::Equals("a".into(), Revision::ZERO)).put("a", "1")).await?;
    conflicts(&*store, when(Condition::Equals("a".into(), Revision::ZERO)), 0).await?;
    conflicts(&*store, when(Condition::Equals("b".into(), Revision(1))), 0).await
}

/// With a version of its own.
pub async fn a_deleted_key_is_absent_and_may_come_back(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let first = store.commit(Commit::new().put("a", "1")).await?;
    store.commit(Commit::new().when(Condition::Present("a".into())).delete("a")).await?;
    same(store.get(b"a").await?, None, "deleted row")?;
    let again = store.commit(Commit::new().when(Condition::Absent("a".into())).put("a", "2")).await?;
    promised(again > first, "a key that came back has a new version")?;
    conflicts(&*store, when(Condition::Equals("a".into(), first)), 0).await
}

/// Counted from 0 in the order given.
pub async fn a_conflict_names_the_first_condition_that_failed(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let version = store.commit(Commit::new().put("a", "1")).await?;
    let commit = Commit::new()
        .when(Condition::Equals("a".into(), version))
        .when(Condition::Absent("b".into()))
        .when(Condition::Present("b".into()))
        .when(Condition::Absent("a".into()))
        .put("c", "");
    conflicts(&*store, commit, 2).await
}

/// Neither rows nor the revision.
pub async fn a_failed_condition_changes_nothing(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let revision = store.commit(Commit::new().put("a", "1").put("b", "1")).await?;
    let before = scan_all(&*store, &KeyRange::all()).await?;
    let commit = Commit::new().put("a", "2").delete("b").put("c", "2").when(Condition::Present("c".into()));
    conflicts(&*store, commit, 0).await?;
    same(scan_all(&*store, &KeyRange::all()).await?, before, "rows after a conflict")?;
    same(store.revision().await?, revision, "revision after a conflict")
}

/// Beside other writes, and alone.
pub async fn deleting_an_absent_key_is_no_error(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    store.commit(Commit::new().delete("a")).await?;
    store.commit(Commit::new().delete("a").put("b", "1")).await?;
    same(scan_all(&*store, &KeyRange::all()).await?.0.len(), 1, "rows")
}

/// Adds one to the number at `key`, trying again after each conflict.
async fn increment(store: &SharedStore, key: &'static str) -> Outcome {
    loop {
        let row = store.get(key.as_bytes()).await?;
        let count = row.as_ref().and_then(|row| std::str::from_utf8(&row.value).ok()?.parse::<u64>().ok());
        let version = row.map_or(Revision::ZERO, |row| row.version);
        let next = (count.unwrap_or(0) + 1).to_string();
        let commit = Commit::new().when(Condition::Equals(key.into(), version)).put(key, next);
        match store.commit(commit).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Conflict(0)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Read, compare, write, from many tasks at once.
pub async fn concurrent_increments_lose_nothing(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let tasks = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..15 {
                increment(&store, "count").await?;
            }
            Outcome::Ok(())
        })
    });
    try_join_all(tasks).await?.into_iter().collect::<Outcome>()?;
    let count = store.get(b"count").await?.map(|row| row.value);
    same(count, Some(Bytes::from_static(b"120")), "count")
}

/// Of tasks that create one key together.
pub async fn one_of_many_creators_wins(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let tasks = (0..16).map(|number: u32| {
        let store = store.clone();
        tokio::spawn(async move {
            store
                .commit(Commit::new().when(Condition::Absent("name".into())).put("name", number.to_string()))
                .await
        })
    });
    let answers = try_join_all(tasks).await?;
    same(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "winners")?;
    let lost = answers.iter().filter(|answer| matches!(answer, Err(CommitError::Conflict(0)))).count();
    same(lost, 15, "losers")?;
    let winner = answers.iter().position(Result::is_ok).map(|number| Bytes::from(number.to_string()));
    same(store.get(b"name").await?.map(|row| row.value), winner, "value")
}

/// Two rows always written together are never seen apart: the one read first is never newer than the one read after.
pub async fn nobody_sees_half_a_commit(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let writer = store.clone();
    let writes = tokio::spawn(async move {
        for number in 0..100_u8 {
            writer.commit(Commit::new().put("a", vec![number]).put("b", vec![number])).await?;
        }
        Outcome::Ok(())
    });
    while !writes.is_finished() {
        let first = store.get(b"b").await?.map(|row| row.version);
        let second = store.get(b"a").await?.map(|row| row.version);
        promised(first <= second, format!("b at {first:?} was read before a at {second:?}"))?;
        tokio::task::yield_now().await;
    }
    writes.await?
}
