//! Rows of the catalogue and the status row beside it.

use toolgate_definition::{Effect, Fingerprint, locks::Locks, names::Slug};
use toolgate_domain::{
    ClientId, OxpVersion, OxpVersions, Upstream, UpstreamId,
    sync_issue::SyncIssue,
    sync_status::{Health, LastListing, SyncStatus},
    tool::{Approval, EarlierTexts, Observed, Ruled, SeenDefinition},
    upstream::{
        CallPolicy, FIRST_BINDING_EPOCH, Freshness, Isolation, NamePolicy, Protocol, Sealed, Tombstone,
        Transport,
    },
};

use super::{
    NameHolder,
    read::{Reader, moment},
};
use crate::{RowError, stored};

pub(super) fn upstream_row(upstream: &Upstream) -> stored::Upstream {
    let transport = match &upstream.transport {
        Transport::Http { url, headers, allow_private } => stored::Transport::Http(stored::Http {
            url: url.clone(),
            headers: secret_rows(headers),
            allow_private: *allow_private,
        }),
        Transport::Stdio { command, args, env } => stored::Transport::Stdio(stored::Stdio {
            command: command.clone(),
            args: args.clone(),
            env: secret_rows(env),
        }),
    };
    stored::Upstream {
        slug: upstream.slug.to_string(),
        display_name: upstream.display_name.clone(),
        description: upstream.description.clone(),
        path: upstream.path.clone(),
        transport: Some(transport),
        binding_epoch: upstream.binding_epoch,
        created_at_ms: upstream.created_at.unix_ms(),
        name_policy: match upstream.name_policy {
            NamePolicy::Strict => 0,
            NamePolicy::Repair => 1,
        },
        is_per_user: upstream.is_per_user,
        freshness: match upstream.calls.freshness {
            Freshness::Check => 0,
            Freshness::Serve => 1,
            Freshness::Refuse => 2,
        },
        protocol: match upstream.protocol {
            Protocol::Mcp => 0,
            Protocol::Oxp => 1,
        },
        isolation: match upstream.calls.isolation {
            Isolation::PerAgent => 0,
            Isolation::Shared => 1,
            Isolation::PerSession => 2,
        },
    }
}

pub(super) fn read_upstream(
    row: &Reader<'_>,
    client: ClientId,
    id: UpstreamId,
) -> Result<Upstream, RowError> {
    let payload: stored::Upstream = row.payload()?;
    let slug: Slug = payload.slug.parse().map_err(|error| row.wrong("slug", format!("{error}")))?;
    let transport = match payload.transport.ok_or_else(|| row.wrong("transport", "is absent"))? {
        stored::Transport::Http(http) => Transport::Http {
            url: http.url,
            headers: secrets(http.headers),
            allow_private: http.allow_private,
        },
        stored::Transport::Stdio(stdio) => {
            Transport::Stdio { command: stdio.command, args: stdio.args, env: secrets(stdio.env) }
        }
    };
    let name_policy = match payload.name_policy {
        0 => NamePolicy::Strict,
        1 => NamePolicy::Repair,
        other => return Err(row.wrong("name_policy", format!("{other} is not known to this version"))),
    };
    let freshness = match payload.freshness {
        0 => Freshness::Check,
        1 => Freshness::Serve,
        2 => Freshness::Refuse,
        other => return Err(row.wrong("freshness", format!("{other} is not known to this version"))),
    };
    let isolation = match payload.isolation {
        0 => Isolation::PerAgent,
        1 => Isolation::Shared,
        2 => Isolation::PerSession,
        other => return Err(row.wrong("isolation", format!("{other} is not known to this version"))),
    };
    let protocol = match payload.protocol {
        0 => Protocol::Mcp,
        1 => Protocol::Oxp,
        other => return Err(row.wrong("protocol", format!("{other} is not known to this version"))),
    };
    Ok(Upstream {
        id,
        protocol,
        name_policy,
        calls: CallPolicy { freshness, isolation },
        client,
        slug,
        display_name: payload.display_name,
        description: payload.description,
        path: payload.path,
        transport,
        is_per_user: payload.is_per_user,
        binding_epoch: payload.binding_epoch,
        created_at: moment(payload.created_at_ms),
    })
}

fn secret_rows(secrets: &[(String, Sealed)]) -> Vec<stored::NamedSecret> {
    let row = |(name, sealed): &(String, Sealed)| stored::NamedSecret {
        name: name.clone(),
        sealed: sealed.0.clone(),
    };
    secrets.iter().map(row).collect()
}

fn secrets(rows: Vec<stored::NamedSecret>) -> Vec<(String, Sealed)> {
    rows.into_iter().map(|row| (row.name, Sealed(row.sealed))).collect()
}

pub(super) fn tombstone_row(tombstone: &Tombstone) -> stored::Tombstone {
    stored::Tombstone {
        slug: tombstone.slug.to_string(),
        deleted_at_ms: tombstone.deleted_at.unix_ms(),
        subject: tombstone.subject.clone(),
        tool_count: tombstone.tool_count,
    }
}

pub(super) fn read_tombstone(row: &Reader<'_>) -> Result<Tombstone, RowError> {
    let payload: stored::Tombstone = row.payload()?;
    Ok(Tombstone {
        slug: payload.slug.parse().map_err(|error| row.wrong("slug", format!("{error}")))?,
        deleted_at: moment(payload.deleted_at_ms),
        subject: payload.subject,
        tool_count: payload.tool_count,
    })
}

pub(super) fn slug_claim_row(upstream: UpstreamId) -> stored::Claim {
    stored::Claim { upstream: upstream.bytes().to_vec(), tool_name: String::new() }
}

pub(super) fn read_slug_claim(row: &Reader<'_>) -> Result<UpstreamId, RowError> {
    let payload: stored::Claim = row.payload()?;
    Ok(UpstreamId::from_bytes(row.fixed("upstream", &payload.upstream)?))
}

pub(super) fn name_claim_row(holder: Option<&NameHolder>) -> stored::Claim {
    holder.map_or_else(stored::Claim::default, |holder| stored::Claim {
        upstream: holder.upstream.bytes().to_vec(),
        tool_name: holder.tool_name.clone(),
    })
}

pub(super) fn read_name_claim(row: &Reader<'_>) -> Result<Option<NameHolder>, RowError> {
    let payload: stored::Claim = row.payload()?;
    if payload.upstream.is_empty() {
        return Ok(None);
    }
    let upstream = UpstreamId::from_bytes(row.fixed("upstream", &payload.upstream)?);
    Ok(Some(NameHolder { upstream, tool_name: payload.tool_name }))
}

pub(super) fn listing_row(listing: &LastListing) -> stored::Listing {
    let issue = |issue: &SyncIssue| stored::Issue {
        code: issue.code.clone(),
        tool_name: issue.tool_name.clone(),
        position: issue.position,
        path: issue.path.clone(),
        message: issue.message.clone(),
        entries: issue.entries,
    };
    stored::Listing {
        entries_read: listing.entries_read,
        protocol_version: listing.protocol_version.clone(),
        issues: listing.issues.iter().map(issue).collect(),
    }
}

pub(super) fn read_listing(row: &Reader<'_>) -> Result<LastListing, RowError> {
    let payload: stored::Listing = row.payload()?;
    let issue = |issue: stored::Issue| SyncIssue {
        code: issue.code,
        tool_name: issue.tool_name,
        position: issue.position,
        path: issue.path,
        message: issue.message,
        entries: issue.entries,
    };
    Ok(LastListing {
        entries_read: payload.entries_read,
        protocol_version: payload.protocol_version,
        issues: payload.issues.into_iter().map(issue).collect(),
    })
}

pub(super) fn observed_row(observed: &Observed) -> stored::Observed {
    stored::Observed {
        fingerprint: observed.fingerprint.as_bytes().to_vec(),
        first_seen_at_ms: observed.first_seen_at.unix_ms(),
        changed_at_ms: observed.changed_at.unix_ms(),
        removed_at_ms: observed.removed_at.map(|at| at.unix_ms()),
        conflicted: observed.conflicted,
        canonical_name: observed.canonical_name.clone(),
        binding_epoch: observed.binding_epoch,
        earlier: earlier_row(observed.earlier),
    }
}

fn earlier_row(earlier: EarlierTexts) -> Option<stored::EarlierTexts> {
    let EarlierTexts { kept, kept_bytes, dropped } = earlier;
    (earlier != EarlierTexts::default()).then_some(stored::EarlierTexts { kept, kept_bytes, dropped })
}

pub(super) fn read_observed(row: &Reader<'_>) -> Result<Observed, RowError> {
    let payload: stored::Observed = row.payload()?;
    Ok(Observed {
        fingerprint: row.fingerprint("fingerprint", &payload.fingerprint)?,
        first_seen_at: moment(payload.first_seen_at_ms),
        changed_at: moment(payload.changed_at_ms),
        removed_at: payload.removed_at_ms.map(moment),
        conflicted: payload.conflicted,
        canonical_name: payload.canonical_name,
        binding_epoch: payload.binding_epoch.max(FIRST_BINDING_EPOCH),
        earlier: payload.earlier.map(read_earlier).unwrap_or_default(),
    })
}

fn read_earlier(payload: stored::EarlierTexts) -> EarlierTexts {
    let stored::EarlierTexts { kept, kept_bytes, dropped } = payload;
    EarlierTexts { kept, kept_bytes, dropped }
}

pub(super) fn definition_row(seen: &SeenDefinition) -> stored::Definition {
    stored::Definition {
        text: seen.text.clone().unwrap_or_default(),
        first_seen_at_ms: seen.first_seen_at.map(|at| at.unix_ms()),
        returned_at_ms: seen.returned_at.map(|at| at.unix_ms()),
    }
}

pub(super) fn read_definition(row: &Reader<'_>) -> Result<SeenDefinition, RowError> {
    let payload: stored::Definition = row.payload()?;
    Ok(SeenDefinition {
        text: Some(payload.text).filter(|text| !text.is_empty()),
        first_seen_at: payload.first_seen_at_ms.map(moment),
        returned_at: payload.returned_at_ms.map(moment),
    })
}

pub(super) fn approval_row(approval: &Approval) -> stored::Approval {
    stored::Approval {
        fingerprint: approval.fingerprint.as_bytes().to_vec(),
        binding_epoch: approval.binding_epoch,
    }
}

pub(super) fn read_approval(row: &Reader<'_>, payload: &stored::Approval) -> Result<Approval, RowError> {
    let fingerprint = row.fingerprint("approval.fingerprint", &payload.fingerprint)?;
    Ok(Approval { fingerprint, binding_epoch: payload.binding_epoch })
}

pub(super) fn ruled_row(ruled: &Ruled) -> stored::Ruled {
    stored::Ruled {
        approval: ruled.approval.as_ref().map(approval_row),
        disabled: ruled.disabled,
        changed_at_ms: ruled.changed_at.map(|at| at.unix_ms()),
        effect: ruled.effect.map(effect_row),
        description: ruled.description.clone(),
        served_name: ruled.served_name.clone(),
        locks: locks_text(&ruled.locks),
        versions: ruled.versions.iter().map(version_row).collect(),
    }
}

fn version_row((fingerprint, version): (Fingerprint, OxpVersion)) -> stored::GivenVersion {
    stored::GivenVersion { fingerprint: fingerprint.as_bytes().to_vec(), major: version.major }
}

pub(super) fn read_ruled(row: &Reader<'_>) -> Result<Ruled, RowError> {
    let payload: stored::Ruled = row.payload()?;
    let approval = payload.approval.as_ref().map(|approval| read_approval(row, approval)).transpose()?;
    Ok(Ruled {
        approval,
        disabled: payload.disabled,
        changed_at: payload.changed_at_ms.map(moment),
        effect: payload.effect.map(read_effect),
        description: payload.description,
        served_name: payload.served_name,
        locks: read_locks(row, &payload.locks)?,
        versions: read_versions(row, &payload.versions, approval)?,
    })
}

/// Of a row that has none, what is approved has the first.
fn read_versions(
    row: &Reader<'_>,
    given: &[stored::GivenVersion],
    approval: Option<Approval>,
) -> Result<OxpVersions, RowError> {
    if given.is_empty() {
        return Ok(approval.map(|approval| OxpVersions::first(approval.fingerprint)).unwrap_or_default());
    }
    let read = |given: &stored::GivenVersion| {
        let fingerprint = row.fingerprint("versions.fingerprint", &given.fingerprint)?;
        Ok((fingerprint, OxpVersion { major: given.major }))
    };
    given.iter().map(read).collect::<Result<_, _>>().map(OxpVersions::from_given)
}

pub(super) fn effect_row(effect: Effect) -> stored::Effect {
    stored::Effect { changes: effect == Effect::Changes }
}

pub(super) fn read_effect(payload: stored::Effect) -> Effect {
    if payload.changes { Effect::Changes } else { Effect::Reads }
}

pub(super) fn locks_text(locks: &Locks) -> String {
    if locks.is_empty() { String::new() } else { locks.to_json() }
}

pub(super) fn read_locks(row: &Reader<'_>, text: &str) -> Result<Locks, RowError> {
    if text.is_empty() {
        return Ok(Locks::default());
    }
    Locks::parse(text).map_err(|error| row.wrong("locks", error.to_string()))
}

pub(super) fn status_row(status: &SyncStatus) -> stored::Status {
    let health = match status.health {
        Health::Unknown => 0,
        Health::Ok => 1,
        Health::Incomplete => 2,
        Health::Unavailable => 3,
    };
    stored::Status {
        health,
        last_complete_at_ms: status.last_complete_at.map(|at| at.unix_ms()),
        last_attempt_at_ms: status.last_attempt_at.map(|at| at.unix_ms()),
        last_error: status.last_error.clone(),
        earlier_text_bytes: status.earlier_text_bytes,
    }
}

pub(super) fn read_status(row: &Reader<'_>) -> Result<SyncStatus, RowError> {
    let payload: stored::Status = row.payload()?;
    let health = match payload.health {
        0 => Health::Unknown,
        1 => Health::Ok,
        2 => Health::Incomplete,
        3 => Health::Unavailable,
        other => return Err(row.wrong("health", format!("{other} is not known to this version"))),
    };
    Ok(SyncStatus {
        health,
        last_complete_at: payload.last_complete_at_ms.map(moment),
        last_attempt_at: payload.last_attempt_at_ms.map(moment),
        last_error: payload.last_error,
        earlier_text_bytes: payload.earlier_text_bytes,
    })
}
