//! Use case: declaring an upstream differently.

use std::sync::Arc;

use toolgate_catalog::{
    Snapshot,
    upstreams::{UpstreamDetail, UpstreamRef, get_upstream},
};
use toolgate_domain::{
    Caller, ClientId, Fault, Moment, Scope, Upstream, UpstreamId,
    free_text::display_name_violation,
    ruling::{Act, Ruling},
    upstream::{
        ChangedUpstream, Sealed, TransportChange, UpstreamChange, path_violations, unit_description_violation,
    },
};
use toolgate_records::{Key, Record};
use toolgate_sealing::SecretContext;
use toolgate_store::{Condition, Revision, Store, Write};

use crate::{
    Governance,
    create_upstream::reserved_headers,
    matter::{Judged, Matter, Outcome, put, ruling},
    rows::read,
};

/// What to declare differently.
#[derive(Clone)]
pub struct UpdateUpstream {
    /// The tenant.
    pub client: ClientId,
    /// The upstream.
    pub upstream: UpstreamId,
    /// What is to change, unchecked, secrets in the clear.
    pub change: UpstreamChange<String>,
    /// Approvals that were given for the present endpoint shall count for the next one.
    pub keep_approvals: bool,
    /// The commit that declared it as the caller knows it ([`toolgate_catalog::UpstreamEntry::declared`]); any other
    /// refuses the act.
    pub based_on: Option<Revision>,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// The upstream after an update.
#[derive(Debug, Clone)]
pub struct UpdatedUpstream {
    /// As it stands; with [`UpdateUpstream::validate_only`], as it would.
    pub detail: UpstreamDetail,
    /// Where it was taken from.
    pub snapshot: Arc<Snapshot>,
}

/// An update on its way to the store, and to the log where the endpoint is another one.
pub(crate) struct Update {
    pub(crate) client: ClientId,
    pub(crate) validate_only: bool,
    id: UpstreamId,
    caller: Caller,
    change: UpstreamChange<Sealed>,
    keep_approvals: bool,
    based_on: Option<Revision>,
}

impl Governance {
    /// Declares an upstream differently. What is wished and so already changes nothing. A sync that is under way is
    /// abandoned and begun anew.
    ///
    /// A change of the endpoint returns all its tools to unapproved, unless approvals are kept; the log has both. A change
    /// of the name policy takes effect at once where names are no longer repaired, and with the next sync where they are
    /// from now on: a tool that lists a name of its own is then given one, and keeps it.
    ///
    /// # Errors
    /// [`Fault::Invalid`] with every violation; [`Fault::UpstreamNotFound`]; [`Fault::ScopeMissing`] when it is, or shall be,
    /// stdio or private, or approvals shall be kept, without [`Scope::Admin`]; [`Fault::EtagMismatch`] with an empty
    /// `current` (the adapter fills in its token); failures of the store.
    pub async fn update_upstream(
        &self,
        caller: &Caller,
        wanted: UpdateUpstream,
    ) -> Result<UpdatedUpstream, Fault> {
        let (client, id, dry) = (wanted.client, wanted.upstream, wanted.validate_only);
        let name = UpstreamRef::Id(id);
        // An etag of another replica may be ahead of this one.
        let (detail, _) = get_upstream(&self.catalog, client, &name, wanted.based_on).await?;
        let update = self.checked_update(caller, &detail.entry.upstream, wanted)?;
        // What follows the commit is done even when the caller stops waiting.
        let governance = self.clone();
        let done = tokio::spawn(async move { governance.update(update).await }).await;
        let (at, upstream) = done.map_err(|error| Fault::Internal { cause: error.to_string() })??;
        let (mut detail, snapshot) = get_upstream(&self.catalog, client, &name, Some(at)).await?;
        if dry {
            Arc::make_mut(&mut detail.entry).upstream = upstream;
        }
        Ok(UpdatedUpstream { detail, snapshot })
    }

    /// What can be said without the row; the rest is judged on it.
    fn checked_update(
        &self,
        caller: &Caller,
        before: &Upstream,
        wanted: UpdateUpstream,
    ) -> Result<Update, Fault> {
        let UpdateUpstream { client, upstream: id, change, keep_approvals, based_on, validate_only } = wanted;
        let mut violations: Vec<_> =
            change.display_name.iter().filter_map(|name| display_name_violation(name)).collect();
        violations.extend(change.description.iter().filter_map(|text| unit_description_violation(text)));
        violations.extend(change.path.iter().flat_map(|path| path_violations(path)));
        violations.extend(change.transport.iter().flat_map(TransportChange::violations));
        if let Some(TransportChange::Http { headers: Some(headers), .. }) = &change.transport {
            violations.extend(reserved_headers(headers));
        }
        if !violations.is_empty() {
            return Err(Fault::Invalid(violations));
        }
        let seal = |field: &str, plain: String| {
            let context = SecretContext { client: *client.bytes(), owner: *id.bytes(), field };
            Ok::<_, Fault>(Sealed(self.sealer.seal_secret(&context, plain.as_bytes())))
        };
        let change = change.try_map(seal)?;
        let caller = caller.clone();
        let update = Update { client, validate_only, id, caller, change, keep_approvals, based_on };
        let after = update.judged(before)?.upstream;
        if after.transport != before.transport {
            self.admit(&after.transport.try_map(|_, _| Ok::<_, Fault>(String::new()))?)?;
        }
        Ok(update)
    }

    async fn update(&self, update: Update) -> Result<(Revision, Upstream), Fault> {
        let (client, id, dry) = (update.client, update.id, update.validate_only);
        let verdict = self.sequencers.submit(Matter::Update(Box::new(update))).await?;
        if !dry {
            self.syncs.begin_anew(client, id);
        }
        match verdict.outcome {
            Outcome::Upstream(upstream) => Ok((verdict.revision, *upstream)),
            other => Err(Fault::Internal { cause: format!("{other:?} where an upstream belongs") }),
        }
    }
}

impl Update {
    /// What it makes of the upstream, if the caller may do that.
    fn judged(&self, before: &Upstream) -> Result<ChangedUpstream, Fault> {
        let changed = before.changed(self.change.clone(), self.keep_approvals);
        let changed = changed.map_err(|violation| Fault::Invalid(vec![violation]))?;
        let privileged = [&before.transport, &changed.upstream.transport];
        if self.keep_approvals || privileged.iter().any(|transport| transport.is_privileged()) {
            self.caller.require(Scope::Admin)?;
        }
        Ok(changed)
    }

    pub(crate) async fn judge(&self, store: &dyn Store, now: Moment) -> Result<Judged, Fault> {
        let key = Key::Upstream(self.client, self.id);
        let (Some(Record::Upstream(before)), version) = read(store, &key).await? else {
            return Err(Fault::UpstreamNotFound);
        };
        if self.based_on.is_some_and(|based_on| based_on != version) {
            return Err(Fault::EtagMismatch { current: String::new() });
        }
        let changed = self.judged(&before)?;
        let ruling = changed.is_moved.then(|| self.ruling(&before, &changed.upstream, now));
        let mut writes = Vec::new();
        if changed.upstream != before {
            writes.push(put(&Record::Upstream(changed.upstream.clone())));
        }
        if changed.is_moved {
            // How the listings of another server went says nothing of this one.
            writes.push(Write::Delete(Key::Status(self.client, self.id).encode()));
        }
        Ok(Judged {
            ruling,
            conditions: vec![Condition::Equals(key.encode(), version)],
            writes,
            newest: version,
            outcome: Outcome::Upstream(Box::new(changed.upstream)),
        })
    }

    fn ruling(&self, before: &Upstream, after: &Upstream, now: Moment) -> Ruling {
        let act = Act::ChangeEndpoint {
            before: before.transport.endpoint_text(),
            after: after.transport.endpoint_text(),
            keeps_approvals: self.keep_approvals,
        };
        ruling(now, &self.caller.subject, Some(self.id), String::new(), act)
    }
}
