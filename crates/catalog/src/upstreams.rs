//! Use cases: the upstreams of a client, with the state of their syncs.

use std::{collections::HashMap, num::NonZeroUsize, sync::Arc};

use toolgate_domain::{
    ClientId, Fault, UpstreamId, limits, sync_issue::SyncIssue, sync_status::SyncStatus, upstream::Transport,
};
use toolgate_records::{Key, Record};
use toolgate_store::{Revision, Store, scan_all};

use crate::{Catalog, Snapshot, UpstreamEntry, from_row_error, from_store_error, snapshot::ENTRY_BYTES};

/// An upstream with how its last sync went.
#[derive(Debug, Clone)]
pub struct UpstreamDetail {
    /// As declared, with its last listing.
    pub entry: Arc<UpstreamEntry>,
    /// How its last attempts went.
    pub status: SyncStatus,
}

/// Which upstreams.
#[derive(Debug, Clone)]
pub struct ListUpstreams {
    /// The tenant.
    pub client: ClientId,
    /// Only those created after this one.
    pub after: Option<UpstreamId>,
    /// At most so many, and no more than fit [`limits::PAGE_DEFINITION_BYTES`].
    pub size: NonZeroUsize,
    /// What the answer must have reached.
    pub min_revision: Option<Revision>,
}

/// A page of upstreams.
#[derive(Debug, Clone)]
pub struct UpstreamPage {
    /// In order of creation.
    pub upstreams: Vec<UpstreamDetail>,
    /// The last of the page, where more follow.
    pub more_after: Option<UpstreamId>,
    /// Where it was taken from.
    pub snapshot: Arc<Snapshot>,
}

/// Lists upstreams.
///
/// # Errors
/// Those of [`Catalog::snapshot`].
pub async fn list_upstreams(catalog: &Catalog, ask: &ListUpstreams) -> Result<UpstreamPage, Fault> {
    let snapshot = catalog.snapshot(ask.client, ask.min_revision).await?;
    let mut statuses = statuses(catalog.store().as_ref(), ask.client).await?;
    let (entries, more_after) = page(&snapshot, ask);
    let detail = |entry: Arc<UpstreamEntry>| {
        let status = statuses.remove(&entry.upstream.id).unwrap_or_default();
        UpstreamDetail { entry, status }
    };
    Ok(UpstreamPage { upstreams: entries.into_iter().map(detail).collect(), more_after, snapshot })
}

fn page(snapshot: &Snapshot, ask: &ListUpstreams) -> (Vec<Arc<UpstreamEntry>>, Option<UpstreamId>) {
    let after = |entry: &&Arc<UpstreamEntry>| ask.after.is_none_or(|after| entry.upstream.id > after);
    let (mut entries, mut bytes) = (Vec::<Arc<UpstreamEntry>>::new(), 0);
    for entry in snapshot.upstreams().filter(after) {
        bytes += weight_bytes(entry);
        let is_full = entries.len() >= ask.size.get() || bytes > limits::PAGE_DEFINITION_BYTES;
        if let Some(last) = entries.last().filter(|_| is_full) {
            let more_after = last.upstream.id;
            return (entries, Some(more_after));
        }
        entries.push(Arc::clone(entry));
    }
    (entries, None)
}

/// About what an upstream takes on the wire, and seldom more.
fn weight_bytes(entry: &UpstreamEntry) -> usize {
    let names = |secrets: &[(String, _)]| secrets.iter().map(|(name, _)| name.len() + 2).sum::<usize>();
    let transport = match &entry.upstream.transport {
        Transport::Http { url, headers, .. } => url.len() + names(headers),
        Transport::Stdio { command, args, env } => {
            command.len() + args.iter().map(|arg| arg.len() + 4).sum::<usize>() + names(env)
        }
    };
    let issue = |issue: &SyncIssue| {
        let name = issue.tool_name.as_ref().map_or(0, String::len);
        issue.code.len() + name + issue.path.len() + issue.message.len() + ISSUE_BYTES
    };
    let issues: usize = entry.listing.iter().flat_map(|listing| &listing.issues).map(issue).sum();
    let words =
        entry.upstream.description.len() + entry.upstream.path.iter().map(|f| f.len() + 4).sum::<usize>();
    ENTRY_BYTES + words + limits::MAX_DISPLAY_NAME_BYTES + limits::MAX_SYNC_ERROR_BYTES + transport + issues
}

/// What an issue takes on the wire beside its texts.
const ISSUE_BYTES: usize = 32;

/// How a request names an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamRef {
    /// By its id.
    Id(UpstreamId),
    /// By its slug, `-` and `_` counting as the same.
    Slug(String),
}

impl UpstreamRef {
    /// Anything that is not a UUID is taken as a slug.
    pub fn parse(text: &str) -> Self {
        text.parse().map(Self::Id).unwrap_or_else(|_| Self::Slug(text.to_owned()))
    }
}

/// Reads one upstream.
///
/// # Errors
/// [`Fault::UpstreamNotFound`]; those of [`Catalog::snapshot`].
pub async fn get_upstream(
    catalog: &Catalog,
    client: ClientId,
    name: &UpstreamRef,
    min_revision: Option<Revision>,
) -> Result<(UpstreamDetail, Arc<Snapshot>), Fault> {
    let snapshot = catalog.snapshot(client, min_revision).await?;
    let entry = Arc::clone(find_upstream(&snapshot, name)?);
    let status = status(catalog.store().as_ref(), client, entry.upstream.id).await?;
    Ok((UpstreamDetail { entry, status }, snapshot))
}

/// The upstream of this id or slug in `snapshot`.
///
/// # Errors
/// [`Fault::UpstreamNotFound`].
pub fn find_upstream<'s>(
    snapshot: &'s Snapshot,
    name: &UpstreamRef,
) -> Result<&'s Arc<UpstreamEntry>, Fault> {
    let entry = match name {
        // A slug may look like a UUID.
        UpstreamRef::Id(id) => snapshot.upstream(*id).or_else(|| snapshot.upstream_by_slug(&id.to_string())),
        UpstreamRef::Slug(slug) => snapshot.upstream_by_slug(slug),
    };
    entry.ok_or(Fault::UpstreamNotFound)
}

/// How the last attempts to list `upstream` went.
pub(crate) async fn status(
    store: &dyn Store,
    client: ClientId,
    upstream: UpstreamId,
) -> Result<SyncStatus, Fault> {
    let key = Key::Status(client, upstream).encode();
    let Some(row) = store.get(&key).await.map_err(|error| from_store_error(&error))? else {
        return Ok(SyncStatus::default());
    };
    match Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))? {
        Record::Status(_, _, status) => Ok(status),
        other => Err(Fault::Internal { cause: format!("{:?} where a status belongs", other.key()) }),
    }
}

/// The same of all upstreams of a client.
pub(crate) async fn statuses(
    store: &dyn Store,
    client: ClientId,
) -> Result<HashMap<UpstreamId, SyncStatus>, Fault> {
    let range = Key::statuses_of(client);
    let (rows, _) = scan_all(store, &range).await.map_err(|error| from_store_error(&error))?;
    let mut statuses = HashMap::with_capacity(rows.len());
    for row in rows {
        if let Record::Status(_, upstream, status) =
            Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?
        {
            statuses.insert(upstream, status);
        }
    }
    Ok(statuses)
}
