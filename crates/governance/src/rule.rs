//! Use case: a ruling about a tool.

use std::sync::Arc;

use toolgate_catalog::{Snapshot, ToolEntry};
use toolgate_definition::Fingerprint;
use toolgate_domain::{
    ClientId, Fault, Moment, ToolId,
    ruling::Act,
    tool::{Approval, Observed, Ruled as Standing},
};
use toolgate_store::Revision;

use crate::Governance;

/// What somebody wants to rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The tenant.
    pub client: ClientId,
    /// The tool.
    pub tool: ToolId,
    /// Who wants it ([`toolgate_domain::Caller::subject`]).
    pub subject: String,
    /// What is wanted.
    pub wish: Wish,
    /// The tool's last change that the ruling is based on; anything newer refuses it.
    pub based_on: Option<Revision>,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// What can be wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// That this definition, which was reviewed, is approved.
    Approve(Fingerprint),
    /// That there is no approval.
    Revoke,
    /// That the tool is off.
    Disable,
    /// That the tool is on.
    Enable,
}

/// The tool after a ruling.
#[derive(Debug, Clone)]
pub struct Ruled {
    /// As it stands; with [`Rule::validate_only`], as it would.
    pub entry: Arc<ToolEntry>,
    /// Where it was taken from.
    pub snapshot: Arc<Snapshot>,
}

impl Governance {
    /// Rules. A wish that is fulfilled already changes nothing and is no fault.
    ///
    /// # Errors
    /// [`Fault::ToolNotFound`]; [`Fault::DefinitionChanged`] when the definition is not the reviewed one;
    /// [`Fault::EtagMismatch`] with an empty `current` (the adapter fills in its token); [`Fault::ToolRemoved`] and
    /// [`Fault::ToolConflicted`] for an approval in those states; failures of the store.
    pub async fn rule(&self, rule: Rule) -> Result<Ruled, Fault> {
        let (client, tool, dry) = (rule.client, rule.tool, rule.validate_only);
        // An etag of another replica may be ahead of this one.
        let before = self.catalog.snapshot(client, rule.based_on).await?;
        let entry = Arc::clone(before.tool(tool).ok_or(Fault::ToolNotFound)?);
        let verdict = self.sequencers.submit(rule, entry).await?;
        // Not `before`: what made the wish void may have been ruled since.
        let snapshot = self.catalog.snapshot(client, Some(verdict.revision)).await?;
        let mut entry = Arc::clone(snapshot.tool(tool).ok_or(Fault::ToolNotFound)?);
        if dry {
            Arc::make_mut(&mut entry).tool.ruled = verdict.standing;
        }
        Ok(Ruled { entry, snapshot })
    }
}

/// The rows that a ruling is judged on.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) observed: Observed,
    pub(crate) standing: Standing,
    pub(crate) binding_epoch: u64,
}

/// What a wish comes to: the act for the log and how the tool stands after it, or nothing to do. Pure.
pub(crate) fn judge(facts: &Facts, wish: Wish, now: Moment) -> Result<Option<(Act, Standing)>, Fault> {
    let Facts { observed, standing, binding_epoch } = facts;
    let changed_at = Some(now);
    match wish {
        Wish::Approve(reviewed) => {
            let approval = admissible(observed, reviewed, *binding_epoch)?;
            if standing.approval == Some(approval) {
                return Ok(None);
            }
            let act = Act::Approve { fingerprint: reviewed, binding_epoch: *binding_epoch };
            Ok(Some((act, Standing { approval: Some(approval), changed_at, ..standing.clone() })))
        }
        Wish::Revoke if standing.approval.is_none() => Ok(None),
        Wish::Revoke => {
            Ok(Some((Act::RevokeApproval, Standing { approval: None, changed_at, ..standing.clone() })))
        }
        Wish::Disable | Wish::Enable if standing.disabled == (wish == Wish::Disable) => Ok(None),
        Wish::Disable => {
            Ok(Some((Act::Disable, Standing { disabled: true, changed_at, ..standing.clone() })))
        }
        Wish::Enable => Ok(Some((Act::Enable, Standing { disabled: false, changed_at, ..standing.clone() }))),
    }
}

/// An approval binds to what the reviewer saw, or it is none (law 3).
fn admissible(observed: &Observed, reviewed: Fingerprint, binding_epoch: u64) -> Result<Approval, Fault> {
    if observed.removed_at.is_some() {
        return Err(Fault::ToolRemoved);
    }
    if observed.conflicted {
        return Err(Fault::ToolConflicted);
    }
    if observed.fingerprint != reviewed {
        return Err(Fault::DefinitionChanged { reviewed, current: observed.fingerprint });
    }
    Ok(Approval { fingerprint: reviewed, binding_epoch })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(byte: u8) -> Fingerprint {
        Fingerprint::from_bytes([byte; 32])
    }

    fn facts() -> Facts {
        let at = Moment::from_unix_ms(1);
        let observed = Observed {
            fingerprint: print(1),
            first_seen_at: at,
            changed_at: at,
            removed_at: None,
            conflicted: false,
        };
        Facts { observed, standing: Standing::default(), binding_epoch: 4 }
    }

    fn now() -> Moment {
        Moment::from_unix_ms(9)
    }

    #[test]
    fn law_03_only_the_definition_that_was_reviewed_is_approved() {
        let (act, standing) = judge(&facts(), Wish::Approve(print(1)), now()).unwrap().unwrap();
        assert_eq!(act, Act::Approve { fingerprint: print(1), binding_epoch: 4 });
        assert_eq!(standing.approval, Some(Approval { fingerprint: print(1), binding_epoch: 4 }));
        let stale = judge(&facts(), Wish::Approve(print(2)), now());
        assert_eq!(stale, Err(Fault::DefinitionChanged { reviewed: print(2), current: print(1) }));
    }

    #[test]
    fn a_tool_that_is_gone_or_listed_twice_cannot_be_approved_but_switched() {
        let mut gone = facts();
        gone.observed.removed_at = Some(now());
        assert_eq!(judge(&gone, Wish::Approve(print(1)), now()), Err(Fault::ToolRemoved));
        assert!(judge(&gone, Wish::Disable, now()).unwrap().is_some());
        let mut twice = facts();
        twice.observed.conflicted = true;
        assert_eq!(judge(&twice, Wish::Approve(print(1)), now()), Err(Fault::ToolConflicted));
        assert!(judge(&twice, Wish::Disable, now()).unwrap().is_some());
    }

    #[test]
    fn a_wish_that_is_fulfilled_already_is_nothing_to_do() {
        let mut facts = facts();
        for wish in [Wish::Revoke, Wish::Enable] {
            assert_eq!(judge(&facts, wish, now()), Ok(None));
        }
        for wish in [Wish::Approve(print(1)), Wish::Disable] {
            facts.standing = judge(&facts, wish, now()).unwrap().unwrap().1;
            assert_eq!(judge(&facts, wish, now()), Ok(None));
        }
    }

    #[test]
    fn an_approval_for_an_earlier_endpoint_is_given_anew() {
        let mut facts = facts();
        facts.standing.approval = Some(Approval { fingerprint: print(1), binding_epoch: 3 });
        assert!(judge(&facts, Wish::Approve(print(1)), now()).unwrap().is_some());
    }

    #[test]
    fn no_ruling_disturbs_what_another_one_said() {
        let mut facts = facts();
        facts.standing = judge(&facts, Wish::Approve(print(1)), now()).unwrap().unwrap().1;
        let disabled = judge(&facts, Wish::Disable, now()).unwrap().unwrap().1;
        assert_eq!(disabled.approval, facts.standing.approval);
        facts.standing = disabled;
        let revoked = judge(&facts, Wish::Revoke, now()).unwrap().unwrap().1;
        assert!(revoked.disabled && revoked.approval.is_none());
    }
}
