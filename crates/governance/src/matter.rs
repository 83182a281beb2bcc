//! What the sequencer is asked to rule, and what that comes to.

use std::sync::Arc;

use toolgate_catalog::ToolEntry;
use toolgate_domain::{
    ClientId, Fault, Moment, Upstream, UpstreamId,
    ruling::{Act, Ruling},
    tool::Ruled as Standing,
};
use toolgate_records::Record;
use toolgate_store::{Condition, Revision, Store, Write};

use crate::{
    delete_client::EndOfClient,
    delete_upstream::Deletion,
    facts::{Found, find},
    rule::{Rule, Wish, judge},
    update_upstream::Update,
};

/// What somebody wants to be ruled.
pub(crate) enum Matter {
    /// About one tool.
    Tool(Rule, Arc<ToolEntry>),
    /// That an upstream is deleted.
    Deletion(Deletion),
    /// That the client is deleted.
    EndOfClient(EndOfClient),
    /// That an upstream is declared differently.
    Update(Box<Update>),
}

/// What a matter comes to on the rows as they are.
pub(crate) struct Judged {
    /// For the log.
    pub(crate) ruling: Option<Ruling>,
    /// That everything it was judged on stays the same.
    pub(crate) conditions: Vec<Condition>,
    /// Everything but the log; nothing where all is as wanted already.
    pub(crate) writes: Vec<Write>,
    /// The last commit that touched what it was judged on.
    pub(crate) newest: Revision,
    pub(crate) outcome: Outcome,
}

/// What is ruled about, after the ruling.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// How the tool stands.
    Tool(Standing),
    /// The upstream is declared so.
    Upstream(Box<Upstream>),
    /// It is gone.
    Deleted,
}

impl Matter {
    pub(crate) fn client(&self) -> ClientId {
        match self {
            Self::Tool(rule, _) => rule.client,
            Self::Deletion(deletion) => deletion.client,
            Self::EndOfClient(end) => end.client,
            Self::Update(update) => update.client,
        }
    }

    pub(crate) fn validate_only(&self) -> bool {
        match self {
            Self::Tool(rule, _) => rule.validate_only,
            Self::Deletion(deletion) => deletion.validate_only,
            Self::EndOfClient(_) => false,
            Self::Update(update) => update.validate_only,
        }
    }

    pub(crate) fn is_rename(&self) -> bool {
        matches!(self, Self::Tool(Rule { wish: Wish::Rename(_), .. }, _))
    }

    pub(crate) async fn judge(&self, store: &dyn Store, now: Moment) -> Result<Judged, Fault> {
        match self {
            Self::Tool(rule, entry) => judge_tool(store, rule, entry, now).await,
            Self::Deletion(deletion) => deletion.judge(store, now).await,
            Self::EndOfClient(end) => end.judge(store, now).await,
            Self::Update(update) => update.judge(store, now).await,
        }
    }
}

async fn judge_tool(store: &dyn Store, rule: &Rule, entry: &ToolEntry, now: Moment) -> Result<Judged, Fault> {
    let Found { facts, newest, conditions, claims } = find(store, rule, entry).await?;
    let Some((act, standing)) = judge(&facts, &rule.wish, now)? else {
        let outcome = Outcome::Tool(facts.standing);
        return Ok(Judged { ruling: None, conditions, writes: Vec::new(), newest, outcome });
    };
    let tool = &entry.tool;
    let name = tool.name().to_owned();
    let row = Record::Ruled(tool.client, tool.upstream, name.clone(), standing.clone());
    let ruling = ruling(now, &rule.subject, Some(tool.upstream), name, act);
    let writes = std::iter::once(row).chain(claims).map(|record| put(&record)).collect();
    Ok(Judged { ruling: Some(ruling), conditions, writes, newest, outcome: Outcome::Tool(standing) })
}

/// A ruling that has yet to get its place in the log.
pub(crate) fn ruling(
    at: Moment,
    subject: &str,
    upstream: Option<UpstreamId>,
    tool_name: String,
    act: Act,
) -> Ruling {
    Ruling { sequence: 0, at, subject: subject.to_owned(), upstream, tool_name, act }
}

pub(crate) fn put(record: &Record) -> Write {
    let (key, value) = record.encode();
    Write::Put(key, value)
}
