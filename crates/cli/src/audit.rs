//! `toolgate audit …`

mod calls;

use sha2::{Digest, Sha256};
use toolgate_api_proto::v1::{ListRulingsRequest, Ruling, VerifyRulingsRequest};

use crate::args::AuditCommand;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::RULINGS_PER_PAGE;
use crate::render::{json, text};
use crate::{tool, upstream};

/// A place of a log and the hash that stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    sequence: i64,
    hash: [u8; 32],
}

pub(crate) async fn run(
    command: AuditCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    match command {
        AuditCommand::List { tool, agent, calls: true, .. } => {
            calls::list(tool, agent, json, connection, console).await
        }
        AuditCommand::List { tool, upstream, .. } => list(tool, upstream, json, connection, console).await,
        AuditCommand::Verify { known, calls: true } => calls::verify(known, json, connection, console).await,
        AuditCommand::Verify { known, .. } => verify(known, json, connection, console).await,
    }
}

async fn list(
    tool: Option<String>,
    upstream: Option<String>,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut request = request(connection);
    if let Some(name) = tool {
        request.tool_id = tool::id(&name, connection).await?;
    }
    if let Some(name) = upstream {
        // The log outlives an upstream, which is known by its id alone then.
        request.upstream_id = match tool::is_id(&name) {
            true => name,
            false => upstream::get(&name, connection).await?.0.id,
        };
    }
    let mut pages = Pages { request, is_over: false };
    match json {
        true => {
            let mut list = json::List::new("rulings");
            while let Some(rulings) = pages.next(connection).await? {
                rulings.iter().try_for_each(|row| list.push(console, &json::Ruling::from(row)))?;
            }
            list.end(console)
        }
        false => {
            let mut table = text::rulings();
            while let Some(rulings) = pages.next(connection).await? {
                rulings.iter().for_each(|row| table.push(text::ruling_row(row)));
            }
            table.lines().try_for_each(|line| console.say(&line))
        }
    }
}

/// The chain is recomputed here: the server is asked for its rows, and not believed about their hashes.
async fn verify(
    known: Option<Known>,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let ask = VerifyRulingsRequest { client_id: connection.client_id.clone() };
    let claimed = connection.governance().await?.verify_rulings(call(ask)).await?.into_inner();
    // A log that was empty then has nothing to come by.
    let known = known.filter(|known| known.sequence > 0);
    let mut chain = Chain { sequence: 0, hash: [0; 32], known };
    let mut pages = Pages { request: request(connection), is_over: false };
    while let Some(rulings) = pages.next(connection).await? {
        // Rulings that were made after the server said where the log ends are left to the next time.
        let asked_about = rulings.iter().take_while(|row| row.sequence <= claimed.count);
        asked_about.into_iter().try_for_each(|row| chain.follow(row))?;
    }
    if chain.sequence != claimed.count || chain.hash[..] != claimed.head_hash[..] {
        let (last, count) = (chain.sequence, claimed.count);
        return broken(format!("what is listed ends with ruling {last}, the log's head is ruling {count}"));
    }
    if !claimed.problem.is_empty() {
        return broken(claimed.problem);
    }
    if let Some(Known { sequence, .. }) = chain.known {
        return broken(format!("it ends before ruling {sequence}, which was known"));
    }
    let head = hex(&chain.hash);
    match json {
        true => json::print(console, &json::Proof::new(chain.sequence, &chain.hash)),
        false => {
            let rulings = if chain.sequence == 1 { "ruling" } else { "rulings" };
            console.say(&format!("{} {rulings}, each following from the one before", chain.sequence))?;
            console.say(&format!("{}:{head}", chain.sequence))
        }
    }
}

/// Where the recomputed chain stands.
struct Chain {
    sequence: i64,
    hash: [u8; 32],
    /// What it has to come by yet.
    known: Option<Known>,
}

impl Chain {
    fn follow(&mut self, row: &Ruling) -> Result<(), CommandError> {
        let expected = self.sequence + 1;
        if row.sequence != expected {
            return broken(format!("ruling {expected} is missing"));
        }
        let hash: [u8; 32] =
            Sha256::new().chain_update(self.hash).chain_update(&row.stored).finalize().into();
        if hash[..] != row.hash[..] {
            return broken(format!("ruling {expected} does not follow from the one before"));
        }
        if let Some(known) = self.known.take_if(|known| known.sequence == expected)
            && known.hash != hash
        {
            return broken(format!("ruling {expected} is not the one that was known"));
        }
        (self.sequence, self.hash) = (expected, hash);
        Ok(())
    }
}

fn broken(problem: String) -> Result<(), CommandError> {
    Err(CommandError::BrokenLog(problem))
}

fn request(connection: &Connection) -> ListRulingsRequest {
    let client_id = connection.client_id.clone();
    ListRulingsRequest { client_id, page_size: RULINGS_PER_PAGE, ..Default::default() }
}

/// The pages of one list.
struct Pages {
    request: ListRulingsRequest,
    is_over: bool,
}

impl Pages {
    /// The next page, which may be empty; `None` after the last.
    async fn next(&mut self, connection: &mut Connection) -> Result<Option<Vec<Ruling>>, CommandError> {
        if self.is_over {
            return Ok(None);
        }
        let request = call(self.request.clone());
        let page = connection.governance().await?.list_rulings(request).await?.into_inner();
        self.is_over = page.next_page_token.is_empty();
        self.request.page_token = page.next_page_token;
        Ok(Some(page.rulings))
    }
}

/// Reads `COUNT:HASH`.
pub(crate) fn known(text: &str) -> Result<Known, String> {
    let wrong = || "is not COUNT:HASH as `audit verify` prints it".to_owned();
    let (sequence, digits) = text.split_once(':').ok_or_else(wrong)?;
    let sequence: i64 = sequence.parse().map_err(|_| wrong())?;
    let mut hash = [0; 32];
    if sequence < 0 || digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
    }
    match sequence {
        0 if hash != [0; 32] => Err(wrong()),
        _ => Ok(Known { sequence, hash }),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(subjects: &[&str]) -> Vec<Ruling> {
        let mut before = [0; 32];
        let rows = subjects.iter().zip(1..).map(|(subject, sequence)| {
            let stored = subject.as_bytes().to_vec();
            before = Sha256::new().chain_update(before).chain_update(&stored).finalize().into();
            Ruling { sequence, stored, hash: before.to_vec(), ..Default::default() }
        });
        rows.collect()
    }

    fn follow(rows: &[Ruling], known: Option<Known>) -> Result<Chain, String> {
        let mut chain = Chain { sequence: 0, hash: [0; 32], known };
        rows.iter().try_for_each(|row| chain.follow(row)).map_err(|error| error.to_string())?;
        Ok(chain)
    }

    #[test]
    fn law_14_a_changed_or_missing_ruling_is_noticed_without_the_server() {
        let rows = log(&["a", "b", "c"]);
        assert_eq!(follow(&rows, None).unwrap().sequence, 3);
        let mut changed = rows.clone();
        changed[1].stored = b"x".to_vec();
        assert!(follow(&changed, None).is_err());
        assert!(follow(&[rows[0].clone(), rows[2].clone()], None).is_err());
    }

    #[test]
    fn law_14_a_log_that_was_written_anew_differs_from_what_was_noted() {
        let rows = log(&["a", "b", "c"]);
        let noted = known(&format!("2:{}", hex(&rows[1].hash))).unwrap();
        assert!(follow(&rows, Some(noted)).unwrap().known.is_none());
        assert!(follow(&log(&["a", "x", "c"]), Some(noted)).is_err());
        assert!(follow(&rows[..1], Some(noted)).unwrap().known.is_some(), "too short to hold it");
    }

    #[test]
    fn the_head_of_an_empty_log_can_be_known() {
        assert!(known(&format!("0:{}", hex(&[0; 32]))).is_ok());
    }

    #[test]
    fn only_a_place_and_a_whole_hash_can_be_known() {
        for wrong in ["", "2", "2:ab", &format!("0:{}", "a".repeat(64)), &format!("1:{}", "é".repeat(32))] {
            assert!(known(wrong).is_err(), "{wrong}");
        }
    }
}
