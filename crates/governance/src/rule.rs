//! Use case: a ruling about a tool.

use std::sync::Arc;

use toolgate_catalog::{Snapshot, ToolEntry};
use toolgate_definition::{
    Effect, Fingerprint,
    locks::{self, LockIssue, Locks},
    names::{BUILT_IN_TOOL, is_valid_served_name},
};
use toolgate_domain::{
    ClientId, Fault, Moment, ToolId, Violation,
    free_text::description_violation,
    ruling::Act,
    tool::{Approval, Observed, Ruled as Standing},
};
use toolgate_store::Revision;

use crate::{
    Governance,
    facts::Facts,
    matter::{Matter, Outcome},
};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// That this definition, which was reviewed, is approved.
    Approve(Fingerprint),
    /// That there is no approval.
    Revoke,
    /// That the tool is off.
    Disable,
    /// That the tool is on.
    Enable,
    /// That it does this, whatever its definition claims; `None` to go by the definition.
    SetEffect(Option<Effect>),
    /// That agents read this instead of its description; `None` for the upstream's own.
    SetDescription(Option<String>),
    /// That agents call it this; `None` to go by the upstream's name policy.
    Rename(Option<String>),
    /// That these inputs are locked, and those are not.
    UpdateLocks {
        /// To lock, or to give another value.
        set: Locks,
        /// To unlock; each is locked.
        remove: Vec<String>,
    },
}

impl Wish {
    /// What is wrong with it, whatever the tool is.
    fn check(&self) -> Result<(), Fault> {
        match self {
            Self::SetDescription(Some(text)) => match description_violation(text) {
                Some(violation) => Err(Fault::Invalid(vec![violation])),
                None => Ok(()),
            },
            Self::Rename(Some(name)) if name == BUILT_IN_TOOL => {
                Err(Fault::invalid("served_name", "is the name of the gateway's own tool; choose another"))
            }
            Self::Rename(Some(name)) if !is_valid_served_name(name) => {
                Err(Fault::invalid("served_name", "must be 1 to 64 characters of A-Z a-z 0-9 _ -"))
            }
            Self::Rename(Some(name)) if !name.contains(|c: char| c.is_ascii_alphanumeric()) => {
                Err(Fault::invalid("served_name", "has neither letter nor digit; add one"))
            }
            // Where a tool may be named or identified, this would be taken for an id.
            Self::Rename(Some(name)) if name.parse::<ToolId>().is_ok() => {
                Err(Fault::invalid("served_name", "has the form of a UUID; choose a name"))
            }
            Self::UpdateLocks { set, remove } => match remove.iter().position(|name| set.contains(name)) {
                Some(at) => {
                    Err(Fault::invalid(format!("remove[{at}]"), "is locked by set_json; name it once"))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
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
    /// [`Fault::EtagMismatch`] with an empty `current` (the adapter fills in its token); [`Fault::ToolRemoved`],
    /// [`Fault::ToolNotListedYet`] and [`Fault::ToolConflicted`] for an approval in those states; failures of the store.
    pub async fn rule(&self, rule: Rule) -> Result<Ruled, Fault> {
        rule.wish.check()?;
        let (client, tool, dry) = (rule.client, rule.tool, rule.validate_only);
        // An etag of another replica may be ahead of this one.
        let before = self.catalog.snapshot(client, rule.based_on).await?;
        let entry = Arc::clone(before.tool(tool).ok_or(Fault::ToolNotFound)?);
        let verdict = self.sequencers.submit(Matter::Tool(rule, entry)).await?;
        // Not `before`: what made the wish void may have been ruled since.
        let snapshot = self.catalog.snapshot(client, Some(verdict.revision)).await?;
        let mut entry = Arc::clone(snapshot.tool(tool).ok_or(Fault::ToolNotFound)?);
        if dry && let Outcome::Tool(standing) = verdict.outcome {
            let tool = &mut Arc::make_mut(&mut entry).tool;
            tool.lock_issues = locks::check(&tool.definition, &standing.locks);
            tool.ruled = standing;
        }
        Ok(Ruled { entry, snapshot })
    }
}

/// Locked inputs that a refusal names.
const MAX_NAMES_SHOWN: usize = 16;
/// Characters of each.
const MAX_NAME_CHARS_SHOWN: usize = 64;

/// What a wish comes to: the act for the log and how the tool stands after it, or nothing to do. Pure.
pub(crate) fn judge(facts: &Facts, wish: &Wish, now: Moment) -> Result<Option<(Act, Standing)>, Fault> {
    let Facts { observed, standing, binding_epoch, .. } = facts;
    let mut after = standing.clone();
    let act = match wish {
        Wish::Approve(reviewed) => {
            let approval = admissible(observed, *reviewed, *binding_epoch)?;
            after.approval = Some(approval);
            after.versions.give(*reviewed);
            Act::Approve { fingerprint: *reviewed, binding_epoch: *binding_epoch }
        }
        Wish::Revoke => {
            after.approval = None;
            Act::RevokeApproval
        }
        Wish::Disable => {
            after.disabled = true;
            Act::Disable
        }
        Wish::Enable => {
            after.disabled = false;
            Act::Enable
        }
        Wish::SetEffect(effect) => {
            after.effect = *effect;
            Act::SetEffect(*effect)
        }
        Wish::SetDescription(text) => {
            after.description.clone_from(text);
            Act::SetDescription(text.clone())
        }
        Wish::Rename(Some(name)) if !facts.name_is_free => {
            return Err(Fault::NameTaken { name: name.clone() });
        }
        Wish::Rename(name) => {
            after.served_name.clone_from(name);
            Act::Rename(name.clone())
        }
        Wish::UpdateLocks { set, remove } => {
            after.locks = locked(facts, set, remove)?;
            Act::SetLocks(after.locks.clone())
        }
    };
    if after == *standing {
        return Ok(None);
    }
    after.changed_at = Some(now);
    Ok(Some((act, after)))
}

/// All locks after an update. A lock that does not fit today is refused; one that stopped fitting may stay.
fn locked(facts: &Facts, set: &Locks, remove: &[String]) -> Result<Locks, Fault> {
    let misfits = locks::check(&facts.definition, set);
    if !misfits.is_empty() {
        let violation = |issue: LockIssue| {
            Violation::new(format!("set_json[{:?}]", issue.name), issue.problem.to_string())
        };
        return Err(Fault::Invalid(misfits.into_iter().map(violation).collect()));
    }
    let locks = &facts.standing.locks;
    if let Some(at) = remove.iter().position(|name| !locks.contains(name)) {
        return Err(Fault::invalid(format!("remove[{at}]"), not_locked(locks)));
    }
    let merged = locks.clone().merge(set.clone(), remove);
    merged.map_err(|error| Fault::invalid("set_json", error.to_string()))
}

/// What can be unlocked in place of what cannot. An upstream chose the names: they are cut off where they get long.
fn not_locked(locks: &Locks) -> String {
    if locks.is_empty() {
        return "is not locked; no input of this tool is".into();
    }
    let names: Vec<_> = locks.iter().take(MAX_NAMES_SHOWN).map(|(name, _)| shown(name)).collect();
    let more = if locks.len() > names.len() { " and others" } else { "" };
    format!("is not locked; locked are {}{more}", names.join(", "))
}

fn shown(name: &str) -> String {
    name.escape_debug().take(MAX_NAME_CHARS_SHOWN).collect()
}

/// An approval binds to what the reviewer saw, or it is none (law 3).
fn admissible(observed: &Observed, reviewed: Fingerprint, binding_epoch: u64) -> Result<Approval, Fault> {
    if observed.removed_at.is_some() {
        return Err(Fault::ToolRemoved);
    }
    if observed.binding_epoch != binding_epoch {
        return Err(Fault::ToolNotListedYet);
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
    use toolgate_definition::Definition;

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
            canonical_name: None,
            binding_epoch: 4,
            earlier: Default::default(),
        };
        let text =
            r#"{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"s":{}}}}"#;
        let definition = Arc::new(Definition::parse(text).unwrap());
        Facts { observed, definition, standing: Standing::default(), binding_epoch: 4, name_is_free: true }
    }

    fn now() -> Moment {
        Moment::from_unix_ms(9)
    }

    #[test]
    fn law_03_only_the_definition_that_was_reviewed_is_approved() {
        let (act, standing) = judge(&facts(), &Wish::Approve(print(1)), now()).unwrap().unwrap();
        assert_eq!(act, Act::Approve { fingerprint: print(1), binding_epoch: 4 });
        assert_eq!(standing.approval, Some(Approval { fingerprint: print(1), binding_epoch: 4 }));
        let stale = judge(&facts(), &Wish::Approve(print(2)), now());
        assert_eq!(stale, Err(Fault::DefinitionChanged { reviewed: print(2), current: print(1) }));
    }

    #[test]
    fn a_tool_that_is_gone_or_listed_twice_cannot_be_approved_but_switched() {
        let mut gone = facts();
        gone.observed.removed_at = Some(now());
        assert_eq!(judge(&gone, &Wish::Approve(print(1)), now()), Err(Fault::ToolRemoved));
        assert!(judge(&gone, &Wish::Disable, now()).unwrap().is_some());
        let mut elsewhere = facts();
        elsewhere.observed.binding_epoch = 3;
        assert_eq!(judge(&elsewhere, &Wish::Approve(print(1)), now()), Err(Fault::ToolNotListedYet));
        let mut twice = facts();
        twice.observed.conflicted = true;
        assert_eq!(judge(&twice, &Wish::Approve(print(1)), now()), Err(Fault::ToolConflicted));
        assert!(judge(&twice, &Wish::Disable, now()).unwrap().is_some());
    }

    #[test]
    fn a_wish_that_is_fulfilled_already_is_nothing_to_do() {
        let mut facts = facts();
        for wish in [Wish::Revoke, Wish::Enable] {
            assert_eq!(judge(&facts, &wish, now()), Ok(None));
        }
        for wish in [Wish::Approve(print(1)), Wish::Disable] {
            facts.standing = judge(&facts, &wish, now()).unwrap().unwrap().1;
            assert_eq!(judge(&facts, &wish, now()), Ok(None));
        }
    }

    #[test]
    fn an_approval_for_an_earlier_endpoint_is_given_anew() {
        let mut facts = facts();
        facts.standing.approval = Some(Approval { fingerprint: print(1), binding_epoch: 3 });
        assert!(judge(&facts, &Wish::Approve(print(1)), now()).unwrap().is_some());
    }

    #[test]
    fn the_oxp_version_of_an_approval_stays_with_its_definition() {
        let mut facts = facts();
        let major = |facts: &Facts| facts.standing.versions.of(facts.observed.fingerprint).unwrap().major;
        for (fingerprint, version) in [(1, 1), (2, 2), (1, 1), (3, 3), (2, 2)] {
            facts.observed.fingerprint = print(fingerprint);
            facts.standing = judge(&facts, &Wish::Approve(print(fingerprint)), now()).unwrap().unwrap().1;
            assert_eq!(major(&facts), version);
            facts.standing = judge(&facts, &Wish::Revoke, now()).unwrap().unwrap().1;
            assert_eq!(major(&facts), version, "revoking takes no version back");
        }
    }

    #[test]
    fn no_ruling_disturbs_what_another_one_said() {
        let mut facts = facts();
        facts.standing = judge(&facts, &Wish::Approve(print(1)), now()).unwrap().unwrap().1;
        let disabled = judge(&facts, &Wish::Disable, now()).unwrap().unwrap().1;
        assert_eq!(disabled.approval, facts.standing.approval);
        facts.standing = disabled;
        let revoked = judge(&facts, &Wish::Revoke, now()).unwrap().unwrap().1;
        assert!(revoked.disabled && revoked.approval.is_none());
    }

    #[test]
    fn law_06_a_lock_that_does_not_fit_today_is_refused_by_its_name() {
        let wish = |set: &str| Wish::UpdateLocks { set: Locks::parse(set).unwrap(), remove: Vec::new() };
        for (set, name) in [(r#"{"n":"x"}"#, "n"), (r#"{"gone":1}"#, "gone")] {
            let Err(Fault::Invalid(found)) = judge(&facts(), &wish(set), now()) else {
                panic!("{set} was taken")
            };
            assert_eq!(found[0].field, format!("set_json[{name:?}]"));
        }
        assert!(judge(&facts(), &wish(r#"{"n":1,"s":null}"#), now()).unwrap().is_some());
    }

    #[test]
    fn locks_are_merged_and_unlocking_what_is_not_locked_is_told_with_what_is() {
        let mut facts = facts();
        let wish = |set: &str, remove: &[&str]| Wish::UpdateLocks {
            set: Locks::parse(set).unwrap(),
            remove: remove.iter().map(|name| (*name).to_owned()).collect(),
        };
        for (set, remove, after) in [
            (r#"{"n":1}"#, &[][..], r#"{"n":1}"#),
            (r#"{"s":"x"}"#, &[][..], r#"{"n":1,"s":"x"}"#),
            (r#"{"n":2}"#, &["s"][..], r#"{"n":2}"#),
        ] {
            facts.standing = judge(&facts, &wish(set, remove), now()).unwrap().unwrap().1;
            assert_eq!(facts.standing.locks.to_json(), after);
        }
        let told = Fault::invalid("remove[1]", "is not locked; locked are n");
        assert_eq!(judge(&facts, &wish("{}", &["n", "s"]), now()), Err(told));
        facts.standing = judge(&facts, &wish("{}", &["n"]), now()).unwrap().unwrap().1;
        let told = Fault::invalid("remove[0]", "is not locked; no input of this tool is");
        assert_eq!(judge(&facts, &wish("{}", &["n"]), now()), Err(told));
    }

    #[test]
    fn a_name_that_another_tool_holds_is_refused() {
        let taken = Facts { name_is_free: false, ..facts() };
        let wish = Wish::Rename(Some("a".into()));
        assert_eq!(judge(&taken, &wish, now()), Err(Fault::NameTaken { name: "a".into() }));
        assert!(judge(&facts(), &wish, now()).unwrap().is_some());
    }

    #[test]
    fn a_wish_that_no_tool_could_fulfil_is_refused_by_its_field() {
        let locks = Wish::UpdateLocks { set: Locks::parse(r#"{"n":1}"#).unwrap(), remove: vec!["n".into()] };
        for (wish, field) in [
            (Wish::SetDescription(Some(" \n".into())), "description"),
            (Wish::SetDescription(Some("Reads.\u{202e}".into())), "description"),
            (Wish::Rename(Some("a.b".into())), "served_name"),
            (Wish::Rename(Some(String::new())), "served_name"),
            (Wish::Rename(Some("tool_list".into())), "served_name"),
            (Wish::Rename(Some("_-_".into())), "served_name"),
            (Wish::Rename(Some("0190c0de-0000-7000-8000-000000000001".into())), "served_name"),
            (locks, "remove[0]"),
        ] {
            let Err(Fault::Invalid(found)) = wish.check() else { panic!("{wish:?} was taken") };
            assert_eq!(found[0].field, field);
        }
    }
}
