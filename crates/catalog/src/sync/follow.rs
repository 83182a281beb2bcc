//! Hearing from an upstream itself that its list changed.

use std::{pin::pin, time::Duration};

use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use toolgate_domain::{ClientId, Upstream, UpstreamId};
use toolgate_upstream::{Endpoint, FollowEnd, ListingError};

use super::{pace::pause, run::Syncer, supervisor::Signals};

/// Follows an upstream for as long as this is polled, and passes on what it hears. `synced` tells after each
/// sync whether it went well: a server that cannot be listed is asked for nothing more.
pub(super) async fn follow(
    syncer: &Syncer,
    client: ClientId,
    id: UpstreamId,
    mut synced: watch::Receiver<bool>,
    signals: &Signals,
) {
    let mut failures = 0;
    loop {
        if synced.wait_for(|fine| *fine).await.is_err() {
            return std::future::pending().await;
        }
        let Ok((upstream, endpoint)) = syncer.way_to(client, id).await else {
            // The next sync says why.
            synced.mark_unchanged();
            let _ = synced.changed().await;
            continue;
        };
        let began = Instant::now();
        let ended = {
            let mut moved = pin!(moved(syncer, &upstream, &mut synced));
            tokio::select! {
                () = &mut moved => continue,
                ended = heard(syncer, id, &endpoint, signals) => match ended {
                    Ok(FollowEnd::NotOffered) => {
                        moved.await;
                        continue;
                    }
                    ended => ended,
                },
            }
        };
        failures = if began.elapsed() > syncer.limits.interval { 1 } else { failures + 1 };
        let next = pause(syncer.limits.interval, id, failures, None);
        log(&upstream, &ended, next);
        sleep(next).await;
    }
}

async fn heard(
    syncer: &Syncer,
    id: UpstreamId,
    endpoint: &Endpoint,
    signals: &Signals,
) -> Result<FollowEnd, ListingError> {
    let changed = || {
        syncer.slots.forget(id);
        signals.notice();
    };
    syncer.servers.follow(endpoint, &syncer.limits.listing, &changed).await
}

/// Ends when the upstream is declared to be elsewhere; looks after each sync.
async fn moved(syncer: &Syncer, before: &Upstream, synced: &mut watch::Receiver<bool>) {
    loop {
        if synced.changed().await.is_err() {
            return std::future::pending().await;
        }
        let now = syncer.declared(before.client, before.id).await;
        if now.is_ok_and(|now| now.upstream.transport != before.transport) {
            return;
        }
    }
}

fn log(upstream: &Upstream, ended: &Result<FollowEnd, ListingError>, next: Duration) {
    let why = match ended {
        Ok(_) => "the server ended it".to_owned(),
        Err(error) => error.to_string(),
    };
    tracing::debug!(
        client.id = %upstream.client,
        upstream.id = %upstream.id,
        next_ms = next.as_millis() as u64,
        "upstream {} is not followed: {why}", upstream.id
    );
}
