//! Use cases: reading the log of rulings, and proving that it is whole.

use std::num::NonZeroUsize;

use toolgate_catalog::{from_row_error, from_store_error};
use toolgate_domain::{ClientId, Fault, Moment, ToolId, UpstreamId, limits, ruling::Ruling};
use toolgate_records::{ChainHead, ChainedRuling, Key, Record, chain};
use toolgate_store::{KeyRange, Row, limits::SCAN_PAGE_ROWS};

use crate::{
    Governance,
    rows::{after, read, read_head},
};

/// Rows that one page looks at, at most: where few rulings are wanted, the answer does not wait for all of them.
const MAX_ROWS_A_PAGE: usize = 10_000;
/// About what a ruling takes on the wire beside its stored bytes, the same as fields, and its name.
const RULING_BYTES: usize = 400;

/// Which rulings. Empty members do not restrict.
#[derive(Debug, Clone)]
pub struct ListRulings {
    /// The tenant.
    pub client: ClientId,
    /// Only those after this position of the log.
    pub after: u64,
    /// At most so many, and no more than fit [`limits::PAGE_DEFINITION_BYTES`].
    pub size: NonZeroUsize,
    /// Which of those.
    pub filter: RulingFilter,
}

/// What restricts a list of rulings. Empty members do not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RulingFilter {
    /// Only about this tool.
    pub tool: Option<ToolId>,
    /// Only about this upstream and its tools.
    pub upstream: Option<UpstreamId>,
    /// Only those made at this time or later.
    pub start: Option<Moment>,
    /// Only those made before this time.
    pub end: Option<Moment>,
}

/// A row of the log, with what its hash covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRuling {
    /// What was ruled.
    pub ruling: Ruling,
    /// The bytes that `hash` covers, after the hash before it.
    pub stored: Vec<u8>,
    /// [`chain`] says of what.
    pub hash: [u8; 32],
}

/// A page of rulings.
#[derive(Debug, Clone)]
pub struct RulingPage {
    /// In the order of the log.
    pub rulings: Vec<LoggedRuling>,
    /// The last position that was looked at, where more follow.
    pub more_after: Option<u64>,
}

/// What the chain over a log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Rulings in the log, as its head says.
    pub count: u64,
    /// Hash of the last one, as its head says.
    pub head: [u8; 32],
    /// Where the log is not what it was.
    pub problem: Option<String>,
}

impl RulingFilter {
    fn admits(&self, ruling: &Ruling) -> bool {
        self.upstream.is_none_or(|upstream| ruling.upstream == Some(upstream))
            && self.start.is_none_or(|start| ruling.at >= start)
            && self.end.is_none_or(|end| ruling.at < end)
            && self.tool.is_none_or(|tool| ruling.tool() == Some(tool))
    }
}

impl Governance {
    /// Lists rulings, oldest first; of a client that was deleted, too.
    ///
    /// # Errors
    /// [`Fault::ClientNotFound`]; failures of the store.
    pub async fn list_rulings(&self, ask: &ListRulings) -> Result<RulingPage, Fault> {
        self.has_log(ask.client).await?;
        let mut page = RulingPage { rulings: Vec::new(), more_after: None };
        let (mut last, mut looked_at, mut bytes) = (ask.after, 0, 0);
        loop {
            let (rows, more) = self.log_after(ask.client, last).await?;
            for row in &rows {
                let ChainedRuling { ruling, hash } = chained(row)?;
                if ask.filter.admits(&ruling) {
                    let stored = chain::stored_bytes(&ruling);
                    bytes += 2 * stored.len() + ruling.tool_name.len() + RULING_BYTES;
                    let is_full =
                        page.rulings.len() >= ask.size.get() || bytes > limits::PAGE_DEFINITION_BYTES;
                    if is_full && !page.rulings.is_empty() {
                        return Ok(RulingPage { more_after: Some(last), ..page });
                    }
                    last = ruling.sequence;
                    page.rulings.push(LoggedRuling { ruling, stored, hash });
                } else {
                    last = ruling.sequence;
                }
            }
            looked_at += rows.len();
            if !more {
                return Ok(page);
            }
            if looked_at >= MAX_ROWS_A_PAGE {
                return Ok(RulingPage { more_after: Some(last), ..page });
            }
        }
    }

    /// Recomputes the chain over all rulings; of a client that was deleted, too. Those made meanwhile are left to the next time.
    ///
    /// # Errors
    /// [`Fault::ClientNotFound`]; failures of the store.
    pub async fn verify_rulings(&self, client: ClientId) -> Result<Verification, Fault> {
        self.has_log(client).await?;
        let (head, _) = read_head(self.store(), client).await?;
        let problem = self.follow(client, &head).await?.err();
        let problem = problem.map(|broken: chain::Broken| broken.to_string());
        Ok(Verification { count: head.sequence, head: head.hash, problem })
    }

    /// Refuses a client that never was. One that was deleted has its logs still.
    ///
    /// # Errors
    /// [`Fault::ClientNotFound`]; failures of the store.
    pub async fn has_log(&self, client: ClientId) -> Result<(), Fault> {
        match self.catalog.snapshot(client, None).await {
            Err(Fault::ClientNotFound) => {
                let (tombstone, _) = read(self.store(), &Key::DeletedClient(client)).await?;
                tombstone.map(drop).ok_or(Fault::ClientNotFound)
            }
            other => other.map(drop),
        }
    }

    async fn follow(&self, client: ClientId, head: &ChainHead) -> Result<Result<(), chain::Broken>, Fault> {
        let mut at = ChainHead::EMPTY;
        loop {
            let (rows, more) = self.log_after(client, at.sequence).await?;
            for row in &rows {
                if at.sequence == head.sequence {
                    break;
                }
                at = match chain::follow(&at, &chained(row)?) {
                    Ok(next) => next,
                    Err(broken) => return Ok(Err(broken)),
                };
            }
            if !more || at.sequence == head.sequence {
                let whole = at == *head;
                let broken = chain::Broken::End { last: at.sequence, head: head.sequence };
                return Ok(if whole { Ok(()) } else { Err(broken) });
            }
        }
    }

    /// Some rows of the log after a position, and whether there are more.
    async fn log_after(&self, client: ClientId, sequence: u64) -> Result<(Vec<Row>, bool), Fault> {
        let range: KeyRange = after(Key::rulings_of(client), &Key::Ruling(client, sequence));
        let page =
            self.store().scan(&range, SCAN_PAGE_ROWS).await.map_err(|error| from_store_error(&error))?;
        Ok((page.rows, page.next.is_some()))
    }
}

fn chained(row: &Row) -> Result<ChainedRuling, Fault> {
    match Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))? {
        Record::Ruling(_, chained) => Ok(chained),
        other => Err(Fault::Internal { cause: format!("{:?} among the rulings", other.key()) }),
    }
}
