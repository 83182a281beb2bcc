//! What the port allows is taken; what it forbids is refused, whole.

use bytes::Bytes;
use futures::future::try_join_all;
use toolgate_store::{Commit, CommitError, Condition, KeyRange, Revision, Store, limits, scan_all};

use crate::{
    Failed, Outcome, Subject,
    outcome::{promised, same},
};

async fn refused(store: &dyn Store, commit: Commit, what: &str) -> Outcome {
    match store.commit(commit).await {
        Err(CommitError::Refused(_)) => {
            same(store.revision().await?, Revision::ZERO, "revision after a refusal")
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err(Failed(format!("{what} was not refused")).into()),
    }
}

fn writes(count: usize) -> Commit {
    (0..count).fold(Commit::new(), |commit, number| commit.put(format!("k/{number:04}"), "v"))
}

/// Bytes that no engine can compress away or confuse with its own.
fn noise(len: usize, seed: u64) -> Bytes {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

/// One value that fills it, and several that share it.
pub async fn a_commit_as_large_as_allowed_is_taken(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let whole = noise(limits::COMMIT_BYTES - 1, 1);
    store.commit(Commit::new().put("a", whole.clone())).await?;
    same(store.get(b"a").await?.map(|row| row.value == whole), Some(true), "value of 1 MiB kept")?;
    let share = noise(limits::COMMIT_BYTES / 8 - 1, 2);
    let commit = (0..8).fold(Commit::new(), |commit, number| commit.put(number.to_string(), share.clone()));
    store.commit(commit).await?;
    for number in 0..8 {
        let value = store.get(number.to_string().as_bytes()).await?.map(|row| row.value);
        same(value.as_ref() == Some(&share), true, "value of 128 KiB kept")?;
    }
    Ok(())
}

/// Counted apart.
pub async fn as_many_conditions_and_writes_as_allowed_are_taken(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let absent =
        |commit: Commit, number: usize| commit.when(Condition::Absent(format!("k/{number:04}").into()));
    store.commit((0..limits::COMMIT_CONDITIONS).fold(writes(limits::COMMIT_WRITES), absent)).await?;
    let (rows, _) = scan_all(&*store, &KeyRange::all()).await?;
    same(rows.len(), limits::COMMIT_WRITES, "rows")
}

/// In number of writes, of conditions, in bytes, in the length of a key.
pub async fn a_commit_beyond_a_limit_is_refused_and_changes_nothing(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    refused(&*store, writes(limits::COMMIT_WRITES + 1), "one write too many").await?;
    let condition = |commit: Commit, _| commit.when(Condition::Absent("a".into()));
    let conditions = (0..=limits::COMMIT_CONDITIONS).fold(writes(1), condition);
    refused(&*store, conditions, "one condition too many").await?;
    let bytes = Commit::new().put("a", vec![0; limits::COMMIT_BYTES]);
    refused(&*store, bytes, "one byte too many").await?;
    let halves =
        Commit::new().put("a", vec![0; limits::COMMIT_BYTES / 2]).put("b", vec![0; limits::COMMIT_BYTES / 2]);
    refused(&*store, halves, "two values that are too large together").await?;
    refused(&*store, Commit::new().put(vec![b'k'; limits::KEY_BYTES + 1], ""), "a key that is too long")
        .await?;
    refused(&*store, Commit::new().put("", ""), "an empty key").await?;
    promised(scan_all(&*store, &KeyRange::all()).await?.0.is_empty(), "refused commits leave no rows")
}

/// Though its conditions hold.
pub async fn an_empty_commit_is_refused(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    refused(&*store, Commit::new(), "an empty commit").await?;
    refused(&*store, Commit::new().when(Condition::Absent("a".into())), "a commit of conditions alone").await
}

/// In one commit.
pub async fn a_key_may_be_written_once(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    refused(&*store, Commit::new().put("a", "1").put("b", "").put("a", "2"), "a key put twice").await?;
    refused(&*store, Commit::new().put("a", "1").delete("a"), "a key put and deleted").await
}

/// Many of them, that differ in the last byte alone.
pub async fn a_key_as_long_as_allowed_is_taken(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let key = |number: u8| [noise(limits::KEY_BYTES - 1, u64::from(number % 4)).as_ref(), &[number]].concat();
    for number in 0..120 {
        store.commit(Commit::new().put(key(number), vec![number])).await?;
    }
    for number in 0..120 {
        let value = store.get(&key(number)).await?.map(|row| row.value);
        same(value, Some(vec![number].into()), "value under a long key")?;
    }
    Ok(())
}

/// Waiting for each other or not.
pub async fn the_largest_commits_of_many_writers_are_kept(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let value = |number: u64| noise(limits::COMMIT_BYTES - 2, number);
    let tasks = (0..20_u64).map(|number| {
        let store = store.clone();
        tokio::spawn(
            async move { store.commit(Commit::new().put(format!("{number:02}"), value(number))).await },
        )
    });
    for committed in try_join_all(tasks).await? {
        committed?;
    }
    for number in 0..20_u64 {
        let kept = store.get(format!("{number:02}").as_bytes()).await?.map(|row| row.value);
        same(kept == Some(value(number)), true, "value of 1 MiB kept")?;
    }
    Ok(())
}

/// Overwritten too.
pub async fn many_large_values_side_by_side_are_kept(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let value = |number: u64| noise(200_000 + usize::try_from(number).unwrap_or(0), number);
    for number in 0..60_u64 {
        store.commit(Commit::new().put(format!("large/{:02}", number % 40), value(number))).await?;
    }
    let (rows, _) = scan_all(&*store, &KeyRange::prefix("large/")).await?;
    same(rows.len(), 40, "rows")?;
    for (number, row) in (0..).zip(rows) {
        let newest = if number < 20 { number + 40 } else { number };
        same(row.value == value(newest), true, "large value kept")?;
    }
    Ok(())
}
