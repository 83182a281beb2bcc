use std::time::Duration;

use tokio::time::timeout;
use toolgate_catalog::Revision;
use toolgate_catalog::sync::{Listed, Report};
use toolgate_domain::{Fault, Upstream, limits, sync_status::Health, upstream::Freshness};

use crate::Gateway;

const UNLISTED: &str =
    "it cannot be listed, and what it lists may have changed since its tools were approved";

/// What the catalogue must have reached before a call to `upstream` is decided: by its policy, where its list may be
/// another by now. `None` where any will do.
///
/// # Errors
/// [`Fault::ListingStale`]; [`Fault::UpstreamFailed`] where a sync was to settle the doubt, and has not.
pub(crate) async fn settled(gateway: &Gateway, upstream: &Upstream) -> Result<Option<Revision>, Fault> {
    let failed_lately = match gateway.syncs.listed(upstream.id) {
        Listed::Current { revision } => return Ok(revision),
        Listed::Doubtful { failed_lately } => failed_lately,
    };
    match upstream.calls.freshness {
        Freshness::Serve => Ok(None),
        Freshness::Refuse => Err(Fault::ListingStale),
        Freshness::Check if failed_lately => Err(unlisted()),
        Freshness::Check => check(gateway, upstream).await,
    }
}

async fn check(gateway: &Gateway, upstream: &Upstream) -> Result<Option<Revision>, Fault> {
    let patience = Duration::from_millis(limits::CALL_CHECK_TIMEOUT_MS);
    match timeout(patience, gateway.syncs.sync(upstream.client, upstream.id)).await {
        Ok(Ok(Report { health: Health::Ok | Health::Incomplete, revision, .. })) => Ok(revision),
        Ok(Ok(_)) | Err(_) => Err(unlisted()),
        // Deleted a moment ago.
        Ok(Err(Fault::UpstreamNotFound | Fault::ClientNotFound)) => Err(Fault::ToolNotFound),
        Ok(Err(fault)) => Err(fault),
    }
}

fn unlisted() -> Fault {
    Fault::UpstreamFailed { problem: UNLISTED.to_owned(), may_have_run: false }
}
