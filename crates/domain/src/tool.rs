//! A tool: what its upstream lists, what people ruled, and what follows from both.

use std::sync::Arc;

use toolgate_definition::{
    Definition, Effect, Fingerprint, effect,
    locks::{LockIssue, Locks},
    names::{BUILT_IN_TOOL, Slug, is_valid_served_name, namespaced_name},
    served_definition,
};

use crate::{
    ClientId, Moment, OxpVersion, OxpVersions, ToolId, ToolState, UpstreamId,
    state::{Conditions, state},
    upstream::NamePolicy,
};

/// What a sync saw of a tool. Written by syncs alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Fingerprint of the definition as listed now, or last before it was removed.
    pub fingerprint: Fingerprint,
    /// When it was first listed.
    pub first_seen_at: Moment,
    /// When the definition last changed, or the tool last went or came back.
    pub changed_at: Moment,
    /// When a complete listing lacked it; `None` while it is listed.
    pub removed_at: Option<Moment>,
    /// The upstream lists two different definitions under this name; `fingerprint` is the smaller.
    pub conflicted: bool,
    /// The canonical name that it was given under [`NamePolicy::Repair`], for good.
    pub canonical_name: Option<String>,
    /// The upstream's binding epoch when it was listed last: which endpoint listed it.
    pub binding_epoch: u64,
    /// What is kept of its other definitions.
    pub earlier: EarlierTexts,
}

/// The texts of a tool's definitions other than the one listed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EarlierTexts {
    /// How many are kept.
    pub kept: u32,
    /// Bytes of those.
    pub kept_bytes: u64,
    /// How many are not, for want of room: of those the fingerprint and the times are kept.
    pub dropped: u32,
}

/// One definition of a tool, listed now or once. Written by syncs alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenDefinition {
    /// The exact text that was first seen; `None` for one past the bounds of the history.
    pub text: Option<String>,
    /// When it was first listed; `None` for one listed before such times were kept.
    pub first_seen_at: Option<Moment>,
    /// When it was listed again in place of another one; `None` if it never was.
    pub returned_at: Option<Moment>,
}

/// What people ruled about a tool, as it stands now. Written by governance alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ruled {
    /// The approval, if there is one.
    pub approval: Option<Approval>,
    /// Switched off by an owner.
    pub disabled: bool,
    /// What it does, whatever its definition claims.
    pub effect: Option<Effect>,
    /// What agents read instead of its description.
    pub description: Option<String>,
    /// What agents call it, whatever the upstream's name policy says.
    pub served_name: Option<String>,
    /// Inputs that always have a fixed value.
    pub locks: Locks,
    /// The OXP versions that came with approvals; with an approval, never without that of its fingerprint.
    pub versions: OxpVersions,
    /// When the last ruling was made.
    pub changed_at: Option<Moment>,
}

/// A person's word for one fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approval {
    /// What the reviewer saw.
    pub fingerprint: Fingerprint,
    /// The upstream's binding epoch at that moment.
    pub binding_epoch: u64,
}

/// Whether a tool has its name for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameClaim {
    /// Its own.
    Held,
    /// Another tool came first.
    TakenByAnother,
}

/// A tool with all that its derived values depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Identity.
    pub id: ToolId,
    /// The tenant that owns it.
    pub client: ClientId,
    /// The upstream that lists it.
    pub upstream: UpstreamId,
    /// That upstream's slug.
    pub slug: Slug,
    /// How that upstream's tools get their names.
    pub name_policy: NamePolicy,
    /// That upstream's binding epoch.
    pub binding_epoch: u64,
    /// As listed now.
    pub definition: Arc<Definition>,
    /// What syncs saw.
    pub observed: Observed,
    /// What people ruled.
    pub ruled: Ruled,
    /// Whether it has its name for itself.
    pub claim: NameClaim,
    /// Locks that do not fit the definition as listed now, by name ([`toolgate_definition::locks::check`]).
    pub lock_issues: Vec<LockIssue>,
}

impl Tool {
    /// The upstream's own name.
    pub fn name(&self) -> &str {
        self.definition.name()
    }

    /// What agents call it: the name that an owner gave it, else by the upstream's name policy.
    pub fn namespaced_name(&self) -> String {
        served_name(self.name_policy, &self.slug, self.name(), &self.observed, &self.ruled)
    }

    /// The approval, if it counts: one given before the endpoint changed does not.
    pub fn approved(&self) -> Option<Fingerprint> {
        self.ruled.approval.filter(|a| a.binding_epoch == self.binding_epoch).map(|a| a.fingerprint)
    }

    /// The OXP version of what is approved, if there is an approval that counts.
    pub fn oxp_version(&self) -> Option<OxpVersion> {
        self.approved().and_then(|fingerprint| self.ruled.versions.of(fingerprint))
    }

    /// The state in the documented order.
    pub fn state(&self) -> ToolState {
        let approved = self.approved();
        state(Conditions {
            removed: self.observed.removed_at.is_some(),
            disabled: self.ruled.disabled,
            conflicted: self.observed.conflicted,
            approved: approved.is_some(),
            approval_fits: approved == Some(self.observed.fingerprint),
            lock_mismatch: !self.lock_issues.is_empty(),
            name_unusable: self.claim == NameClaim::TakenByAnother
                || !is_valid_served_name(&self.namespaced_name()),
        })
    }

    /// What the gateway takes it to do.
    pub fn effect(&self) -> Effect {
        effect(self.ruled.effect, &self.definition)
    }

    /// The definition that an agent reads, under its namespaced name, with overrides applied and locked inputs removed;
    /// `None` unless the tool is served (law 4).
    pub fn served_definition(&self) -> Option<String> {
        (self.state() == ToolState::Served).then(|| self.definition_if_served())
    }

    /// What [`served_definition`](Self::served_definition) would be if the definition as listed now were served. Not for
    /// agents.
    pub fn definition_if_served(&self) -> String {
        let Ruled { effect, description, locks, .. } = &self.ruled;
        let name = self.namespaced_name();
        served_definition(&self.definition, Some(&name), description.as_deref(), *effect, locks)
    }

    /// When the definition or a ruling last changed.
    pub fn updated_at(&self) -> Moment {
        self.observed.changed_at.max(self.ruled.changed_at.unwrap_or_default())
    }

    /// What ends the present state, as a sentence; empty when served.
    pub fn remedy(&self) -> &'static str {
        match self.state() {
            ToolState::Served => "",
            ToolState::Removed => "Ends when the upstream lists the tool again.",
            ToolState::Disabled => "Enable the tool.",
            ToolState::Unapproved => "Review the definition and approve its fingerprint.",
            ToolState::Drifted => "Review what changed and approve the new fingerprint.",
            ToolState::LockMismatch => "Change the locks so that they fit the definition.",
            ToolState::BadName => self.bad_name_remedy(),
        }
    }

    fn bad_name_remedy(&self) -> &'static str {
        if self.observed.conflicted {
            "The upstream lists two definitions under this name; it has to list one."
        } else if self.claim == NameClaim::TakenByAnother {
            "Another tool has this name; rename one of the two."
        } else if self.namespaced_name() == BUILT_IN_TOOL {
            "The name is that of the gateway's own tool; rename the tool."
        } else {
            "The name must be 1 to 64 characters of A-Z a-z 0-9 _ - with its slug; rename the tool, or register \
             its upstream with the name policy repair."
        }
    }
}

/// What agents call a tool: the name that an owner gave it, else by the upstream's name policy.
pub fn served_name(
    policy: NamePolicy,
    slug: &Slug,
    name: &str,
    observed: &Observed,
    ruled: &Ruled,
) -> String {
    let given = match policy {
        NamePolicy::Strict => None,
        NamePolicy::Repair => observed.canonical_name.clone(),
    };
    ruled.served_name.clone().or(given).unwrap_or_else(|| namespaced_name(slug, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> Tool {
        let text = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        let definition = Definition::parse(&text).unwrap();
        let upstream = UpstreamId::from_bytes([3; 16]);
        Tool {
            id: ToolId::of(upstream, name),
            client: ClientId::from_bytes([1; 16]),
            upstream,
            slug: "files".parse().unwrap(),
            binding_epoch: 2,
            observed: Observed {
                fingerprint: definition.fingerprint(),
                first_seen_at: Moment::default(),
                changed_at: Moment::default(),
                removed_at: None,
                conflicted: false,
                canonical_name: None,
                binding_epoch: 2,
                earlier: EarlierTexts::default(),
            },
            name_policy: NamePolicy::Strict,
            lock_issues: Vec::new(),
            definition: Arc::new(definition),
            ruled: Ruled::default(),
            claim: NameClaim::Held,
        }
    }

    fn approve(tool: &mut Tool, binding_epoch: u64) {
        tool.ruled.approval = Some(Approval { fingerprint: tool.observed.fingerprint, binding_epoch });
    }

    #[test]
    fn an_approval_for_an_earlier_endpoint_does_not_count() {
        let mut tool = tool("read");
        approve(&mut tool, 1);
        assert_eq!((tool.state(), tool.approved()), (ToolState::Unapproved, None));
        approve(&mut tool, 2);
        assert_eq!(tool.state(), ToolState::Served);
    }

    #[test]
    fn a_name_that_agents_cannot_be_given_is_never_served() {
        for name in ["files.read", "s\u{f8}k", &"x".repeat(60)] {
            let mut tool = tool(name);
            approve(&mut tool, 2);
            assert_eq!(tool.state(), ToolState::BadName, "{name}");
            assert!(tool.remedy().contains("1 to 64"));
        }
    }

    #[test]
    fn a_tool_whose_name_another_tool_holds_is_not_served() {
        let mut tool = tool("read");
        approve(&mut tool, 2);
        tool.claim = NameClaim::TakenByAnother;
        assert_eq!(tool.state(), ToolState::BadName);
    }

    #[test]
    fn two_definitions_of_one_name_are_not_served_even_when_one_is_approved() {
        let mut tool = tool("read");
        approve(&mut tool, 2);
        tool.observed.conflicted = true;
        assert_eq!(tool.state(), ToolState::BadName);
        tool.ruled.approval = None;
        assert_eq!(tool.state(), ToolState::BadName, "judged before unapproved");
    }
}
