//! A lease has one holder, and only the holder writes under its fence.

use std::time::Duration;

use toolgate_store::{Commit, CommitError, Condition, Hold, HoldName, Store};

use crate::{
    Failed, Outcome, Subject,
    outcome::{promised, same},
};

/// Long enough to outlast a slow machine, short enough to wait for where the engine's clock is the world's.
const TTL: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(600);

fn name(name: &str) -> HoldName {
    HoldName(name.into())
}

async fn taken(store: &dyn Store, of: &str, ttl: Duration) -> Outcome<Hold> {
    store
        .hold(&name(of), ttl)
        .await?
        .ok_or_else(|| Failed(format!("the lease {of} was free and not given")).into())
}

async fn is_free(store: &dyn Store, of: &str) -> Outcome<bool> {
    Ok(store.hold(&name(of), LONG).await?.is_some())
}

/// A second taker gets nothing.
pub async fn a_lease_has_one_holder(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let hold = taken(&*store, "sync", LONG).await?;
    same(hold.name, name("sync"), "name of the lease")?;
    promised(!is_free(&*store, "sync").await?, "a held lease is not given again")
}

/// After its time, without anyone's doing.
pub async fn a_lease_runs_out(subject: &mut dyn Subject) -> Outcome {
    taken(&*subject.store(), "sync", TTL).await?;
    subject.let_pass(TTL * 2).await;
    promised(is_free(&*subject.store(), "sync").await?, "a lease that ran out is free")
}

/// As long as it is renewed in time.
pub async fn a_renewed_lease_goes_on(subject: &mut dyn Subject) -> Outcome {
    let hold = taken(&*subject.store(), "sync", TTL).await?;
    promised(subject.store().renew(&hold, LONG).await?, "a held lease is renewed")?;
    subject.let_pass(TTL * 2).await;
    promised(!is_free(&*subject.store(), "sync").await?, "a renewed lease is still held")?;
    subject.store().commit(Commit::new().when(Condition::Held(hold.fence)).put("a", "1")).await?;
    Ok(())
}

/// At once.
pub async fn a_released_lease_is_free(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let hold = taken(&*store, "sync", LONG).await?;
    store.release(hold).await?;
    promised(is_free(&*store, "sync").await?, "a released lease is free")
}

/// Whether it ran out, was released, or has another holder by now.
pub async fn a_lost_lease_cannot_be_renewed(subject: &mut dyn Subject) -> Outcome {
    let hold = taken(&*subject.store(), "sync", TTL).await?;
    subject.let_pass(TTL * 2).await;
    promised(!subject.store().renew(&hold, LONG).await?, "a lease that ran out is not renewed")?;
    let next = taken(&*subject.store(), "sync", LONG).await?;
    promised(!subject.store().renew(&hold, LONG).await?, "another's lease is not renewed")?;
    subject.store().release(next.clone()).await?;
    promised(!subject.store().renew(&next, LONG).await?, "a released lease is not renewed")
}

/// Nor is it an error.
pub async fn releasing_a_lost_lease_harms_nobody(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let first = taken(&*store, "sync", LONG).await?;
    store.release(first.clone()).await?;
    let second = taken(&*store, "sync", LONG).await?;
    store.release(first).await?;
    promised(!is_free(&*store, "sync").await?, "the new holder keeps the lease")?;
    promised(store.renew(&second, LONG).await?, "the new holder may renew")
}

/// Under the fence, as often as it likes.
pub async fn the_holder_may_write(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let hold = taken(&*store, "sync", LONG).await?;
    for _ in 0..3 {
        store.commit(Commit::new().when(Condition::Held(hold.fence.clone())).put("a", "1")).await?;
    }
    Ok(())
}

async fn fenced_off(store: &dyn Store, hold: &Hold) -> Outcome {
    let commit = Commit::new()
        .when(Condition::Absent("absent".into()))
        .when(Condition::Held(hold.fence.clone()))
        .put("a", "by a former holder");
    match store.commit(commit).await {
        Err(CommitError::Conflict(index)) => same(index, 1, "index of the failed condition")?,
        Err(error) => return Err(error.into()),
        Ok(_) => return Err(Failed("a former holder could write".into()).into()),
    }
    same(store.get(b"a").await?, None, "row of a former holder")
}

/// After it ran out, while another has it, and after that one let go.
pub async fn a_former_holder_may_not_write(subject: &mut dyn Subject) -> Outcome {
    let former = taken(&*subject.store(), "sync", TTL).await?;
    subject.let_pass(TTL * 2).await;
    fenced_off(&*subject.store(), &former).await?;
    let holder = taken(&*subject.store(), "sync", LONG).await?;
    fenced_off(&*subject.store(), &former).await?;
    subject.store().release(holder.clone()).await?;
    fenced_off(&*subject.store(), &former).await?;
    fenced_off(&*subject.store(), &holder).await
}

/// One does not block or fence the other.
pub async fn leases_of_different_names_are_apart(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let first = taken(&*store, "sync/1", LONG).await?;
    let second = taken(&*store, "sync/10", LONG).await?;
    store.release(first.clone()).await?;
    store.commit(Commit::new().when(Condition::Held(second.fence)).put("b", "1")).await?;
    fenced_off(&*store, &first).await
}
