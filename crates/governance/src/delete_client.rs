//! Use case: deleting a client. What an operator alone may do.
//!
//! One commit puts a tombstone in place of the client, releases its name and ends its log. From then on the client does not
//! exist: each other writer's commit is on the condition that the client's row is there. Its rows are swept afterwards
//! ([`crate::sweep`]); its log and the texts of its definitions stay.

use toolgate_catalog::Snapshot;
use toolgate_domain::{Caller, ClientId, Fault, Moment, UpstreamId, ruling::Act};
use toolgate_records::{DeletedClient, Key, Record};
use toolgate_store::{Condition, Revision, Store, Write};

use crate::{
    Client, DEFAULT_CLIENT, Governance,
    matter::{Judged, Matter, Outcome, put, ruling},
    rows::read,
    sweep::Deleted,
};

/// A client that was deleted, and what went with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientDeletion {
    /// As it was.
    pub client: Client,
    /// Upstreams that it had.
    pub upstream_count: usize,
    /// Tools of those, in every state.
    pub tool_count: usize,
    /// API keys that were in force.
    pub api_key_count: usize,
}

/// The last row of a log, on its way there.
#[derive(Debug)]
pub(crate) struct EndOfClient {
    pub(crate) client: ClientId,
    subject: String,
}

impl Governance {
    /// Deletes a client with all that it owns. With `validate_only`, tells what would go.
    ///
    /// # Errors
    /// [`Fault::OperatorRequired`]; [`Fault::ClientNotFound`]; [`Fault::DefaultClient`]; failures of the store.
    pub async fn delete_client(
        &self,
        caller: &Caller,
        id: ClientId,
        validate_only: bool,
    ) -> Result<ClientDeletion, Fault> {
        caller.require_operator()?;
        let snapshot = self.catalog.snapshot(id, None).await?;
        let (client, _) = deletable(self.store(), id).await?;
        let deletion = self.deletion(client, &snapshot).await?;
        if validate_only {
            return Ok(deletion);
        }
        let end = EndOfClient { client: id, subject: caller.subject.clone() };
        let upstreams = snapshot.upstreams().map(|entry| entry.upstream.id).collect();
        // What follows the commit is done even when the caller stops waiting.
        let governance = self.clone();
        let done = tokio::spawn(async move { governance.end(end, upstreams).await }).await;
        let at = done.map_err(|error| Fault::Internal { cause: error.to_string() })??;
        // The deletion is done; that this replica is slow to see it is no failure of it.
        let _ = self.catalog.snapshot(id, Some(at)).await;
        Ok(deletion)
    }

    async fn deletion(&self, client: Client, snapshot: &Snapshot) -> Result<ClientDeletion, Fault> {
        let api_key_count = self.count_api_keys(client.id).await?;
        let (upstream_count, tool_count) = (snapshot.upstream_count(), snapshot.tool_count());
        Ok(ClientDeletion { client, upstream_count, tool_count, api_key_count })
    }

    async fn end(&self, end: EndOfClient, upstreams: Vec<UpstreamId>) -> Result<Revision, Fault> {
        let client = end.client;
        let verdict = self.sequencers.submit(Matter::EndOfClient(end)).await;
        if matches!(verdict, Ok(_) | Err(Fault::StoreUnavailable { outcome_unknown: true, .. })) {
            upstreams.into_iter().for_each(|upstream| self.syncs.end(upstream));
            self.sequencers.forget(client);
            self.begin_sweep(Deleted::Client(client));
        }
        verdict.map(|verdict| verdict.revision)
    }
}

/// A client that may be deleted, with the version of its row.
async fn deletable(store: &dyn Store, id: ClientId) -> Result<(Client, Revision), Fault> {
    match read(store, &Key::Client(id)).await? {
        (Some(Record::Client(_, name, _)), _) if name == DEFAULT_CLIENT => Err(Fault::DefaultClient),
        (Some(Record::Client(id, name, created_at)), version) => {
            Ok((Client { id, name, created_at }, version))
        }
        _ => Err(Fault::ClientNotFound),
    }
}

impl EndOfClient {
    pub(crate) async fn judge(&self, store: &dyn Store, now: Moment) -> Result<Judged, Fault> {
        let (Client { id, name, created_at }, version) = deletable(store, self.client).await?;
        let key = Key::Client(id).encode();
        let tombstone = DeletedClient { name: name.clone(), created_at, deleted_at: now, is_swept: false };
        Ok(Judged {
            ruling: Some(ruling(now, &self.subject, None, String::new(), Act::DeleteClient)),
            conditions: vec![Condition::Equals(key.clone(), version)],
            writes: vec![
                Write::Delete(key),
                Write::Delete(Key::ClientName(name).encode()),
                put(&Record::DeletedClient(id, tombstone)),
            ],
            newest: version,
            outcome: Outcome::Deleted,
        })
    }
}
