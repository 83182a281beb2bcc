//! Use case: registering an upstream.

use std::{path::PathBuf, sync::Arc};

use toolgate_catalog::{
    Snapshot, from_commit_error,
    upstreams::{UpstreamDetail, UpstreamRef, get_upstream},
};
use toolgate_definition::names::Slug;
use toolgate_domain::{
    Caller, ClientId, Fault, Scope, Upstream, UpstreamId, Violation,
    free_text::display_name_violation,
    limits,
    upstream::{
        Auth, CallPolicy, FIRST_BINDING_EPOCH, NamePolicy, Protocol, Sealed, Transport, path_violations,
        unit_description_violation,
    },
};
use toolgate_records::{Key, Record};
use toolgate_sealing::SecretContext;
use toolgate_store::{Commit, CommitError, Condition, Revision};
use toolgate_upstream::{Endpoint, RESERVED_HEADERS, Secret};

use crate::Governance;

/// What to register.
#[derive(Debug, Clone)]
pub struct CreateUpstream {
    /// The tenant.
    pub client: ClientId,
    /// First part of its tools' names, unchecked.
    pub slug: String,
    /// Free text for people, unchecked.
    pub display_name: String,
    /// What it is for, unchecked; may be empty.
    pub description: String,
    /// The folders that it stands in, unchecked.
    pub path: Vec<String>,
    /// How it is reached, secrets in the clear, unchecked.
    pub transport: Transport<String>,
    /// How its tools get their names.
    pub name_policy: NamePolicy,
    /// Whose credential it is reached with; `None` to go by what `transport` holds.
    pub auth: Option<Auth>,
    /// How calls of its tools are made.
    pub calls: CallPolicy,
    /// What it speaks.
    pub protocol: Protocol,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// What was registered.
#[derive(Debug, Clone)]
pub struct CreatedUpstream {
    /// As it stands; with [`CreateUpstream::validate_only`], as it would.
    pub detail: UpstreamDetail,
    /// Where it was taken from.
    pub snapshot: Arc<Snapshot>,
}

impl Governance {
    /// Registers an upstream and begins its first sync.
    ///
    /// # Errors
    /// [`Fault::Invalid`] with every violation; [`Fault::ScopeMissing`] when a stdio or private upstream is wanted by a
    /// caller without [`Scope::Admin`]; [`Fault::SlugTaken`]; [`Fault::LimitExceeded`]; failures of the store.
    pub async fn create_upstream(
        &self,
        caller: &Caller,
        wanted: CreateUpstream,
    ) -> Result<CreatedUpstream, Fault> {
        if wanted.transport.is_privileged() {
            caller.require(Scope::Admin)?;
        }
        let slug = self.checked(&wanted)?;
        let snapshot = self.catalog.snapshot(wanted.client, None).await?;
        if snapshot.upstream_by_slug(slug.as_str()).is_some() {
            return Err(Fault::SlugTaken { slug: slug.to_string() });
        }
        if snapshot.upstream_count() >= limits::MAX_UPSTREAMS_PER_CLIENT {
            let value = limits::MAX_UPSTREAMS_PER_CLIENT as u64;
            let remedy = "register further ones with another client";
            return Err(Fault::LimitExceeded { limit: "MAX_UPSTREAMS_PER_CLIENT", value, remedy });
        }
        let dry = wanted.validate_only;
        let upstream = self.sealed(wanted, slug)?;
        if dry { Ok(would_be(upstream, snapshot)) } else { self.register(upstream).await }
    }

    fn checked(&self, wanted: &CreateUpstream) -> Result<Slug, Fault> {
        let mut violations = wanted.transport.violations();
        if let Transport::Http { headers, .. } = &wanted.transport {
            violations.extend(reserved_headers(headers));
        }
        violations.extend(wanted.protocol.violation(&wanted.transport));
        violations.extend(wanted.auth.and_then(|auth| auth.violation(&wanted.transport)));
        let slug: Result<Slug, _> = wanted.slug.parse();
        if let Err(error) = &slug {
            violations.insert(0, Violation::new("slug", error.to_string()));
        }
        violations.extend(display_name_violation(&wanted.display_name));
        violations.extend(unit_description_violation(&wanted.description));
        violations.extend(path_violations(&wanted.path));
        match slug {
            Ok(slug) if violations.is_empty() => {
                self.admit(&wanted.transport)?;
                Ok(slug)
            }
            _ => Err(Fault::Invalid(violations)),
        }
    }

    /// Refuses what policy does not let be reached at all.
    pub(crate) fn admit(&self, transport: &Transport<String>) -> Result<(), Fault> {
        let (field, endpoint) = endpoint(transport);
        self.servers.admits(&endpoint).map_err(|error| Fault::invalid(field, format!("is {error}")))
    }

    fn sealed(&self, wanted: CreateUpstream, slug: Slug) -> Result<Upstream, Fault> {
        let created_at = self.clock.now();
        let is_per_user = wanted.auth == Some(Auth::PerUser);
        let id = UpstreamId::new(created_at, self.entropy.ten_bytes());
        let transport = wanted.transport.try_map(|field, plain| {
            let context = SecretContext { client: *wanted.client.bytes(), owner: *id.bytes(), field };
            Ok::<_, Fault>(Sealed(self.sealer.seal_secret(&context, plain.as_bytes())))
        })?;
        let CreateUpstream { client, display_name, description, path, name_policy, calls, protocol, .. } =
            wanted;
        Ok(Upstream {
            id,
            client,
            slug,
            display_name,
            description,
            path,
            transport,
            name_policy,
            is_per_user,
            protocol,
            calls,
            binding_epoch: FIRST_BINDING_EPOCH,
            created_at,
        })
    }

    async fn register(&self, upstream: Upstream) -> Result<CreatedUpstream, Fault> {
        let (client, id, slug) = (upstream.client, upstream.id, upstream.slug.clone());
        let claim = Record::SlugClaim(client, slug.folded(), id);
        let mut commit = Commit::new()
            .when(Condition::Present(Key::Client(client).encode()))
            .when(Condition::Absent(claim.key().encode()))
            .when(Condition::Absent(Key::Upstream(client, id).encode()));
        for record in [Record::Upstream(upstream), claim] {
            let (key, value) = record.encode();
            commit = commit.put(key, value);
        }
        let revision = self.catalog.store().commit(commit).await.map_err(|error| match error {
            CommitError::Conflict(0) => Fault::ClientNotFound,
            CommitError::Conflict(1) => Fault::SlugTaken { slug: slug.to_string() },
            error => from_commit_error(&error),
        })?;
        self.syncs.keep(client, id);
        let (detail, snapshot) =
            get_upstream(&self.catalog, client, &UpstreamRef::Id(id), Some(revision)).await?;
        Ok(CreatedUpstream { detail, snapshot })
    }
}

/// Headers that the connection sets itself.
pub(crate) fn reserved_headers(headers: &[(String, String)]) -> Vec<Violation> {
    let reserved = |name: &&String| RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str());
    let names = headers.iter().map(|(name, _)| name).filter(reserved);
    names
        .map(|name| {
            Violation::new(format!("http.headers[\"{name}\"]"), "is set by the connection; remove it")
        })
        .collect()
}

fn would_be(upstream: Upstream, snapshot: Arc<Snapshot>) -> CreatedUpstream {
    let entry =
        Arc::new(toolgate_catalog::UpstreamEntry { upstream, declared: Revision::ZERO, listing: None });
    CreatedUpstream { detail: UpstreamDetail { entry, status: Default::default() }, snapshot }
}

/// What policy is asked about, and the field that an answer is about.
fn endpoint(transport: &Transport<String>) -> (&'static str, Endpoint) {
    let secrets =
        |all: &[(String, String)]| all.iter().map(|(n, v)| (n.clone(), Secret::new(v.as_str()))).collect();
    match transport {
        Transport::Http { url, headers, allow_private } => {
            let endpoint =
                Endpoint::Http { url: url.clone(), headers: secrets(headers), allow_private: *allow_private };
            ("http.url", endpoint)
        }
        Transport::Stdio { command, args, env } => {
            let command = PathBuf::from(command);
            ("stdio.command", Endpoint::Stdio { command, args: args.clone(), env: secrets(env) })
        }
    }
}
