//! Use case: deleting an upstream.

use std::sync::Arc;

use toolgate_catalog::{
    Snapshot,
    upstreams::{UpstreamDetail, UpstreamRef, get_upstream},
};
use toolgate_domain::{
    Caller, ClientId, Fault, Moment, Scope, Upstream, UpstreamId, ruling::Act, upstream::Tombstone,
};
use toolgate_records::{Key, Record};
use toolgate_store::{Condition, Revision, Store, Write};

use crate::{
    Governance,
    matter::{Judged, Matter, Outcome, put, ruling},
    rows::read,
    sweep::Deleted,
};

/// Which upstream to delete.
#[derive(Debug, Clone, Copy)]
pub struct DeleteUpstream {
    /// The tenant.
    pub client: ClientId,
    /// The upstream.
    pub upstream: UpstreamId,
    /// The commit that declared it as the caller knows it ([`toolgate_catalog::UpstreamEntry::declared`]); any other
    /// refuses the act.
    pub based_on: Option<Revision>,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// What was deleted.
#[derive(Debug, Clone)]
pub struct DeletedUpstream {
    /// As it was.
    pub detail: UpstreamDetail,
    /// How many tools went with it, in every state.
    pub tool_count: usize,
    /// How many of those had an approval that counted.
    pub approved_count: usize,
    /// Without it; with [`DeleteUpstream::validate_only`], the present one.
    pub snapshot: Arc<Snapshot>,
}

/// A deletion on its way to the log.
#[derive(Debug)]
pub(crate) struct Deletion {
    pub(crate) client: ClientId,
    pub(crate) validate_only: bool,
    id: UpstreamId,
    caller: Caller,
    based_on: Option<Revision>,
    tool_count: u32,
}

impl Governance {
    /// Deletes an upstream: its tools and the approvals of them are gone in one commit, and so are its claims on names.
    /// What is left of them in the store is swept after that; the texts of definitions and the log of rulings stay.
    ///
    /// # Errors
    /// [`Fault::UpstreamNotFound`]; [`Fault::ScopeMissing`] for a stdio or private upstream without [`Scope::Admin`];
    /// [`Fault::EtagMismatch`] with an empty `current` (the adapter fills in its token); failures of the store.
    pub async fn delete_upstream(
        &self,
        caller: &Caller,
        wanted: DeleteUpstream,
    ) -> Result<DeletedUpstream, Fault> {
        let DeleteUpstream { client, upstream: id, based_on, validate_only } = wanted;
        // An etag of another replica may be ahead of this one.
        let (detail, snapshot) = get_upstream(&self.catalog, client, &UpstreamRef::Id(id), based_on).await?;
        let (tool_count, approved_count) = counts(&snapshot, id);
        let deletion = Deletion {
            client,
            validate_only,
            id,
            caller: caller.clone(),
            based_on,
            tool_count: u32::try_from(tool_count).unwrap_or(u32::MAX),
        };
        // What follows the commit is done even when the caller stops waiting.
        let governance = self.clone();
        let done = tokio::spawn(async move { governance.delete(deletion).await }).await;
        let at = done.map_err(|error| Fault::Internal { cause: error.to_string() })??;
        let snapshot = self.catalog.snapshot(client, Some(at)).await?;
        Ok(DeletedUpstream { detail, tool_count, approved_count, snapshot })
    }

    async fn delete(&self, deletion: Deletion) -> Result<Revision, Fault> {
        let (client, id, dry) = (deletion.client, deletion.id, deletion.validate_only);
        let verdict = self.sequencers.submit(Matter::Deletion(deletion)).await?;
        if !dry {
            self.syncs.end(id);
            self.begin_sweep(Deleted::Upstream(client, id));
        }
        Ok(verdict.revision)
    }
}

fn counts(snapshot: &Snapshot, id: UpstreamId) -> (usize, usize) {
    snapshot.tools_of(id).fold((0, 0), |(all, approved), entry| {
        (all + 1, approved + usize::from(entry.tool.approved().is_some()))
    })
}

impl Deletion {
    pub(crate) async fn judge(&self, store: &dyn Store, now: Moment) -> Result<Judged, Fault> {
        let key = Key::Upstream(self.client, self.id);
        let (Some(Record::Upstream(upstream)), version) = read(store, &key).await? else {
            return Err(Fault::UpstreamNotFound);
        };
        if upstream.transport.is_privileged() {
            self.caller.require(Scope::Admin)?;
        }
        if self.based_on.is_some_and(|based_on| based_on != version) {
            return Err(Fault::EtagMismatch { current: String::new() });
        }
        let act = Act::DeleteUpstream { slug: upstream.slug.to_string(), tool_count: self.tool_count };
        Ok(Judged {
            ruling: Some(ruling(now, &self.caller.subject, Some(self.id), String::new(), act)),
            conditions: vec![Condition::Equals(key.encode(), version)],
            writes: self.writes(&upstream, now),
            newest: version,
            outcome: Outcome::Deleted,
        })
    }

    /// The claims on names end with the upstream's row, however many there are; [`crate::sweep`] clears them away.
    fn writes(&self, upstream: &Upstream, now: Moment) -> Vec<Write> {
        let tombstone = Tombstone {
            slug: upstream.slug.clone(),
            deleted_at: now,
            subject: self.caller.subject.clone(),
            tool_count: self.tool_count,
        };
        let gone = [
            Key::Upstream(self.client, self.id),
            Key::SlugClaim(self.client, upstream.slug.folded()),
            Key::Listing(self.client, self.id),
            Key::Status(self.client, self.id),
        ];
        let mut writes = vec![put(&Record::UpstreamTombstone(self.client, self.id, tombstone))];
        writes.extend(gone.iter().map(|key| Write::Delete(key.encode())));
        writes
    }
}
