//! `toolgate audit … --calls`

use sha2::{Digest, Sha256};
use toolgate_api_proto::v1::{ListCallsRequest, LoggedCall};

use super::{Known, broken, hex};
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::RULINGS_PER_PAGE;
use crate::render::{json, text};
use crate::{agent, tool};

pub(super) async fn list(
    tool: Option<String>,
    agent: Option<String>,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut request = request(connection);
    if let Some(name) = tool {
        request.tool_id = tool::id(&name, connection).await?;
    }
    if let Some(name) = agent {
        // The log outlives an agent, which is known by its id alone then.
        request.agent_id = match tool::is_id(&name) {
            true => name,
            false => agent::get(name, connection).await?.0.id,
        };
    }
    let mut pages = Pages { request, is_over: false };
    if json {
        let mut list = json::List::new("calls");
        while let Some(calls) = pages.next(connection).await? {
            calls.iter().try_for_each(|row| list.push(console, &json::LoggedCall::from(row)))?;
        }
        return list.end(console);
    }
    let mut table = text::calls();
    while let Some(calls) = pages.next(connection).await? {
        calls.iter().for_each(|row| table.push(text::call_row(row)));
    }
    table.lines().try_for_each(|line| console.say(&line))
}

/// The chain is recomputed here, from the oldest row that is kept: the server is not believed about its hashes.
pub(super) async fn verify(
    known: Option<Known>,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut chain = Chain { known: known.filter(|known| known.sequence > 0), ..Chain::default() };
    let mut pages = Pages { request: request(connection), is_over: false };
    while let Some(calls) = pages.next(connection).await? {
        calls.iter().try_for_each(|row| chain.follow(row))?;
    }
    if let Some(Known { sequence, .. }) = chain.known {
        return broken(format!("it does not hold row {sequence}, which was known"));
    }
    if json {
        return json::print(console, &json::Proof::new(chain.sequence, &chain.hash));
    }
    if chain.first > 1 {
        console.say(&format!("what came before row {} is no longer kept", chain.first))?;
    }
    let rows = chain.sequence - chain.first + i64::from(chain.first > 0);
    console.say(&format!("{rows} rows, each following from the one before"))?;
    console.say(&format!("{}:{}", chain.sequence, hex(&chain.hash)))
}

/// Where the recomputed chain stands; all zero before its first row.
#[derive(Default)]
struct Chain {
    first: i64,
    sequence: i64,
    hash: [u8; 32],
    /// What it has to come by yet.
    known: Option<Known>,
}

impl Chain {
    fn follow(&mut self, row: &LoggedCall) -> Result<(), CommandError> {
        let is_first = self.first == 0;
        let expected = if is_first { row.sequence } else { self.sequence + 1 };
        if row.sequence != expected || expected < 1 {
            return broken(format!("row {expected} is missing"));
        }
        let hash: [u8; 32] =
            Sha256::new().chain_update(self.hash).chain_update(&row.stored).finalize().into();
        let given: Result<[u8; 32], _> = row.hash.as_slice().try_into();
        // What the first row follows from is no longer kept, unless it is the very first.
        let hash = match given {
            Ok(given) if given == hash || (is_first && expected > 1) => given,
            _ => return broken(format!("row {expected} does not follow from the one before")),
        };
        if is_first {
            self.first = expected;
            // What was known and is older than all that is kept can no longer be compared.
            self.known.take_if(|known| known.sequence < expected);
        }
        if let Some(known) = self.known.take_if(|known| known.sequence == expected)
            && known.hash != hash
        {
            return broken(format!("row {expected} is not the one that was known"));
        }
        (self.sequence, self.hash) = (expected, hash);
        Ok(())
    }
}

fn request(connection: &Connection) -> ListCallsRequest {
    let client_id = connection.client_id.clone();
    ListCallsRequest { client_id, page_size: RULINGS_PER_PAGE, ..Default::default() }
}

/// The pages of one list.
struct Pages {
    request: ListCallsRequest,
    is_over: bool,
}

impl Pages {
    /// The next page, which may be empty; `None` after the last.
    async fn next(&mut self, connection: &mut Connection) -> Result<Option<Vec<LoggedCall>>, CommandError> {
        if self.is_over {
            return Ok(None);
        }
        let request = call(self.request.clone());
        let page = connection.governance().await?.list_calls(request).await?.into_inner();
        self.is_over = page.next_page_token.is_empty();
        self.request.page_token = page.next_page_token;
        Ok(Some(page.calls))
    }
}
