//! Use case: one sync of one upstream.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use toolgate_domain::{
    ClientId, Clock, Fault, Moment, Upstream, UpstreamId, limits,
    sync_status::{Health, LastListing, SyncStatus},
    tool::Observed,
};
use toolgate_records::{Key, Record};
use toolgate_sealing::Sealer;
use toolgate_store::{Commit, CommitError, Revision, SharedStore, scan_all};
use toolgate_upstream::{Endpoint, Incomplete, Listing, ListingEnd, ListingError, ToolServers};

use super::{
    SyncLimits, SyncTally,
    history::History,
    limits::{DECLARED_ATTEMPTS, PLAN_ATTEMPTS, STATUS_EVERY_MS},
    naming::name_all,
    plan::{self, Plan},
    reading::{Reading, read},
    turns::{Turn, Turns},
    write::{self, Before, Declared},
};
use crate::{
    endpoint::endpoint,
    from_commit_error, from_row_error, from_store_error,
    server_tools::Slots,
    upstreams::{status, statuses},
};

const UNREADABLE: &str =
    "its secrets cannot be opened: they were sealed under another master key, or are damaged";
const UNSYNCED: &str =
    "it is not synced: each user has a credential of their own; set headers of its own to have it synced";

/// How many tools a sync found to be what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// New, or listed again.
    pub added: usize,
    /// Listed with another definition.
    pub changed: usize,
    /// Lacking in a complete listing.
    pub removed: usize,
    /// Listed as before.
    pub unchanged: usize,
}

/// How a sync went. That the upstream could not be listed is no fault of the sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What was found; all zero when nothing could be read.
    pub summary: Summary,
    /// How the listing went.
    pub health: Health,
    /// The last commit to the catalogue; `None` when nothing new was found.
    pub revision: Option<Revision>,
    /// How long the server takes its list for fresh, if it said so.
    pub ttl: Option<Duration>,
}

impl Report {
    fn without_listing(health: Health) -> Self {
        Self { summary: Summary::default(), health, revision: None, ttl: None }
    }
}

/// What every sync works with.
#[derive(Debug)]
pub(crate) struct Syncer {
    pub(super) store: SharedStore,
    pub(crate) servers: Arc<dyn ToolServers>,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: SyncLimits,
    /// What servers told outside of syncs.
    pub(crate) slots: Slots,
    pub(super) turns: Turns,
    pub(super) tally: Arc<SyncTally>,
}

/// What a sync wrote of what was listed.
struct Written {
    summary: Summary,
    revision: Option<Revision>,
    history: History,
}

/// A listing whose entries were judged.
struct Listed {
    reading: Reading,
    end: ListingEnd,
    protocol_version: String,
    ttl: Option<Duration>,
}

/// On a thread of its own: a listing of many megabytes would keep everybody else's work waiting (law 8).
async fn judged(listing: Listing) -> Result<Listed, Fault> {
    let Listing { entries, end, protocol_version, ttl, binds_headers, .. } = listing;
    let reading = tokio::task::spawn_blocking(move || read(&entries, binds_headers)).await;
    let reading = reading.map_err(|error| Fault::Internal { cause: error.to_string() })?;
    Ok(Listed { reading, end, protocol_version, ttl })
}

impl Syncer {
    /// Lists the upstream and writes what is new.
    #[tracing::instrument(name = "sync", skip_all, fields(client.id = %client, upstream.id = %id))]
    pub(super) async fn sync(&self, client: ClientId, id: UpstreamId) -> Result<Report, Fault> {
        for _ in 1..DECLARED_ATTEMPTS {
            let declared = self.declared(client, id).await?;
            match self.sync_as(&declared).await {
                // What was listed is not what is declared by now, and was not written.
                Err(_) if self.declared(client, id).await?.version != declared.version => {}
                result => return result,
            }
        }
        self.sync_as(&self.declared(client, id).await?).await
    }

    async fn sync_as(&self, declared: &Declared) -> Result<Report, Fault> {
        let upstream = &declared.upstream;
        if !upstream.is_synced() {
            self.note(declared, Health::Unknown, UNSYNCED.into(), None).await?;
            return Ok(Report::without_listing(Health::Unknown));
        }
        let endpoint = match endpoint(upstream, &self.sealer) {
            Ok(endpoint) => endpoint,
            Err(fault) => {
                self.note(declared, Health::Unavailable, UNREADABLE.into(), None).await?;
                return Err(fault);
            }
        };
        let (turn, listed) = match self.list(&endpoint).await {
            Ok(listing) => (self.turns.work().await, judged(listing).await?),
            Err(error) => {
                self.note(declared, Health::Unavailable, told(&error), None).await?;
                return Ok(Report::without_listing(Health::Unavailable));
            }
        };
        let (_turn, mut listed, unconfirmed) = self.confirmed(upstream, &endpoint, turn, listed).await?;
        let (health, error) = judge(&listed.end, unconfirmed);
        let ttl = listed.ttl;
        let Written { summary, revision, history } =
            self.write(declared, &mut listed.reading, health == Health::Ok).await?;
        listed.reading.issues.extend(history.issue());
        let last = self.write_listing(declared, listed).await?;
        self.note(declared, health, error, Some(history.own_bytes())).await?;
        Ok(Report { summary, health, revision: last.or(revision), ttl })
    }

    async fn list(&self, endpoint: &Endpoint) -> Result<Listing, ListingError> {
        self.turns.listing(self.servers.list_tools(endpoint, &self.limits.listing)).await
    }

    /// An upstream as it is declared now, with the way to it.
    pub(super) async fn way_to(
        &self,
        client: ClientId,
        id: UpstreamId,
    ) -> Result<(Upstream, Endpoint), Fault> {
        let upstream = self.declared(client, id).await?.upstream;
        let endpoint = endpoint(&upstream, &self.sealer)?;
        Ok((upstream, endpoint))
    }

    pub(super) async fn declared(&self, client: ClientId, id: UpstreamId) -> Result<Declared, Fault> {
        if self.record(&Key::Client(client)).await?.is_none() {
            return Err(Fault::ClientNotFound);
        }
        match self.record(&Key::Upstream(client, id)).await? {
            Some((Record::Upstream(upstream), version)) => Ok(Declared { upstream, version }),
            _ => Err(Fault::UpstreamNotFound),
        }
    }

    async fn record(&self, key: &Key) -> Result<Option<(Record, Revision)>, Fault> {
        let row = self.store.get(&key.encode()).await.map_err(|error| from_store_error(&error))?;
        let Some(row) = row else { return Ok(None) };
        let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
        Ok(Some((record, row.version)))
    }

    /// A listing that would leave an upstream without any tool is read a second time: the second one counts if it is
    /// complete; otherwise the first one does, as an incomplete one, and the flag tells so. Nobody waits for the server
    /// meanwhile.
    async fn confirmed<'t>(
        &'t self,
        upstream: &Upstream,
        endpoint: &Endpoint,
        turn: Turn<'t>,
        first: Listed,
    ) -> Result<(Turn<'t>, Listed, bool), Fault> {
        if first.end != ListingEnd::Complete {
            return Ok((turn, first, false));
        }
        let before = plain(&self.observed(upstream).await?);
        let now = self.clock.now();
        let plan = plan::plan(&before, &first.reading, true, upstream.binding_epoch, now);
        if !plan::empties(&plan, &before) {
            return Ok((turn, first, false));
        }
        drop(turn);
        let second = self.list(endpoint).await;
        let turn = self.turns.work().await;
        match second {
            Ok(second) if second.end == ListingEnd::Complete => Ok((turn, judged(second).await?, false)),
            Ok(_) | Err(_) => Ok((turn, first, true)),
        }
    }

    async fn observed(&self, upstream: &Upstream) -> Result<Before, Fault> {
        let range = Key::observed_of(upstream.client, upstream.id);
        let (rows, _) =
            scan_all(self.store.as_ref(), &range).await.map_err(|error| from_store_error(&error))?;
        let mut before = Before::new();
        for row in rows {
            let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
            if let Record::Observed(_, _, name, observed) = record {
                before.insert(Arc::from(name), (observed, row.version));
            }
        }
        Ok(before)
    }

    /// Plans and commits; from the start again when another writer came between.
    async fn write(
        &self,
        declared: &Declared,
        reading: &mut Reading,
        complete: bool,
    ) -> Result<Written, Fault> {
        let upstream = &declared.upstream;
        let mut first = None;
        let mut attempt = 1;
        loop {
            let before = self.observed(upstream).await?;
            let named = name_all(&self.store, upstream, &before, reading).await;
            named.map_err(|error| from_store_error(&error))?;
            let observed = plain(&before);
            let (epoch, now) = (upstream.binding_epoch, self.clock.now());
            let plan = plan::plan(&observed, reading, complete, epoch, now);
            let summary = *first.get_or_insert_with(|| summary(&plan));
            let others_bytes =
                if plan::replaces(&plan, &observed) { self.others_bytes(upstream).await? } else { 0 };
            let mut history = History::of(&before, self.limits.history, others_bytes);
            match write::commit_all(&self.store, declared, &before, &plan, &mut history).await {
                Ok(revision) => return Ok(Written { summary, revision, history }),
                Err(CommitError::Conflict(_)) if attempt < PLAN_ATTEMPTS => attempt += 1,
                Err(error) => return Err(from_commit_error(&error)),
            }
        }
    }

    /// Bytes that the history of the client's other upstreams takes.
    async fn others_bytes(&self, upstream: &Upstream) -> Result<u64, Fault> {
        let statuses = statuses(self.store.as_ref(), upstream.client).await?;
        let others = statuses.iter().filter(|(id, _)| **id != upstream.id);
        Ok(others.map(|(_, status)| status.earlier_text_bytes).sum())
    }

    async fn write_listing(&self, declared: &Declared, listed: Listed) -> Result<Option<Revision>, Fault> {
        let now = LastListing {
            entries_read: listed.reading.entries_read,
            protocol_version: listed.protocol_version,
            issues: listed.reading.issues,
        };
        let record = Record::Listing(declared.upstream.client, declared.upstream.id, now);
        if self.record(&record.key()).await?.is_some_and(|(before, _)| before == record) {
            return Ok(None);
        }
        let (key, value) = record.encode();
        let commit = write::while_declared(declared, Commit::new().put(key, value));
        self.store.commit(commit).await.map(Some).map_err(|error| from_commit_error(&error))
    }

    /// Writes the status where it says something new, and at most once a minute where it does not.
    async fn note(
        &self,
        declared: &Declared,
        health: Health,
        mut error: String,
        earlier_text_bytes: Option<u64>,
    ) -> Result<(), Fault> {
        truncate(&mut error);
        let upstream = &declared.upstream;
        let now = self.clock.now();
        let before = status(self.store.as_ref(), upstream.client, upstream.id).await?;
        let earlier_text_bytes = earlier_text_bytes.unwrap_or(before.earlier_text_bytes);
        let news = before.health != health
            || before.last_error != error
            || before.earlier_text_bytes != earlier_text_bytes;
        let is_attempt = health != Health::Unknown;
        let is_recent = |at| (0..STATUS_EVERY_MS).contains(&ms_between(at, now));
        if !news && (!is_attempt || before.last_attempt_at.is_some_and(is_recent)) {
            return Ok(());
        }
        let last_complete_at = if health == Health::Ok { Some(now) } else { before.last_complete_at };
        let (last_attempt_at, last_error) =
            (if is_attempt { Some(now) } else { before.last_attempt_at }, error);
        let status = SyncStatus { health, last_complete_at, last_attempt_at, last_error, earlier_text_bytes };
        let (key, value) = Record::Status(upstream.client, upstream.id, status).encode();
        let commit = write::while_declared(declared, Commit::new().put(key, value));
        self.store.commit(commit).await.map(|_| ()).map_err(|error| from_commit_error(&error))
    }
}

fn judge(end: &ListingEnd, unconfirmed: bool) -> (Health, String) {
    match end {
        ListingEnd::Complete if unconfirmed => {
            let text = "the server listed none of its tools, and a second listing did not confirm it";
            (Health::Incomplete, text.into())
        }
        ListingEnd::Complete => (Health::Ok, String::new()),
        ListingEnd::Incomplete(
            why @ (Incomplete::RepeatedCursor | Incomplete::Bound(_) | Incomplete::Page { .. }),
        ) => (Health::Incomplete, why.to_string()),
    }
}

/// What an operator reads of a failed listing: the error and, where a credential is wanted, what the server said of it.
fn told(error: &ListingError) -> String {
    match error {
        ListingError::Unauthorized { challenge: Some(challenge), .. } => {
            format!("{error}; it asks for: {}", challenge.escape_debug())
        }
        other => other.to_string(),
    }
}

fn plain(before: &Before) -> BTreeMap<Arc<str>, Observed> {
    before.iter().map(|(name, (observed, _))| (Arc::clone(name), observed.clone())).collect()
}

fn summary(plan: &Plan) -> Summary {
    Summary {
        added: plan.added_count,
        changed: plan.changed_count,
        removed: plan.removed.len(),
        unchanged: plan.unchanged_count,
    }
}

/// Signed: a clock that was set back must not silence the status.
fn ms_between(earlier: Moment, later: Moment) -> i64 {
    later.unix_ms() - earlier.unix_ms()
}

fn truncate(text: &mut String) {
    if text.len() > limits::MAX_SYNC_ERROR_BYTES {
        text.truncate(text.floor_char_boundary(limits::MAX_SYNC_ERROR_BYTES));
    }
}
