//! The revisions that open with `initialize`: 2024-11-05 to 2025-11-25.

use serde_json::json;
use toolgate_definition::scan;
use toolgate_upstream::{Bounds, Listing, ListingError};

use crate::conversation::{Conversation, Failure, Wire};
use crate::pages::{Pages, Progress};
use crate::rpc;

/// The revisions spoken here, the offered one first.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Reads a server's whole list of tools.
///
/// When the server has forgotten the session (the wire tells so at most once), everything is asked again in a new one:
/// cursors belong to a session.
pub(crate) async fn list<W: Wire>(wire: W, bounds: &Bounds) -> Result<Listing, ListingError> {
    let mut conversation = Conversation::new(wire, bounds);
    let mut outcome = attempt(&mut conversation, bounds).await;
    if matches!(outcome, Err(Failure::SessionGone)) {
        outcome = attempt(&mut conversation, bounds).await;
    }
    conversation.end().await;
    outcome.map_err(ListingError::from)
}

async fn attempt<W: Wire>(conversation: &mut Conversation<W>, bounds: &Bounds) -> Result<Listing, Failure> {
    let server = shake_hands(conversation, bounds).await?;
    let mut pages = Pages::new(bounds);
    let mut cursor = None;
    let end = loop {
        let until = conversation.within(bounds.answer_timeout, "an answer");
        let answer = match conversation.ask("tools/list", &page_params(cursor.as_deref()), until).await {
            Err(Failure::SessionGone) => return Err(Failure::SessionGone),
            answer => answer.map_err(ListingError::from),
        };
        match answer.and_then(|result| pages.add(&result)) {
            Ok(Progress::Next(next)) => cursor = Some(next),
            Ok(Progress::End(end)) => break end,
            Err(error) => break pages.interrupted(error)?,
        }
    };
    Ok(Listing {
        entries: pages.into_entries(),
        end,
        protocol_version: server.revision.to_owned(),
        server_name: server.name,
    })
}

/// The cursor goes back in the server's own spelling.
fn page_params(cursor: Option<&str>) -> String {
    cursor.map_or_else(|| "{}".to_owned(), |token| format!(r#"{{"cursor":{token}}}"#))
}

/// What a server said of itself.
struct Server {
    revision: &'static str,
    name: Option<String>,
}

async fn shake_hands<W: Wire>(
    conversation: &mut Conversation<W>,
    bounds: &Bounds,
) -> Result<Server, Failure> {
    let until = conversation.within(bounds.connect_timeout, "the handshake");
    let params = json!({
        "protocolVersion": REVISIONS[0],
        "capabilities": {},
        "clientInfo": {"name": "toolgate", "version": env!("CARGO_PKG_VERSION")},
    });
    let result = conversation.ask("initialize", &params.to_string(), until).await?;
    let server = read_server(&result)?;
    conversation.agreed_on(server.revision);
    conversation.tell("notifications/initialized", until).await?;
    Ok(server)
}

fn read_server(result: &str) -> Result<Server, ListingError> {
    let members = scan::object(result).map_err(|error| rpc::broken("the initialize result", &error))?;
    let offered = rpc::member(&members, "protocolVersion").and_then(rpc::string);
    let Some(offered) = offered else {
        return Err(ListingError::Protocol("the initialize result has no protocolVersion".into()));
    };
    let Some(revision) = REVISIONS.into_iter().find(|known| *known == offered) else {
        let known = REVISIONS.join(", ");
        return Err(ListingError::Protocol(format!(
            "revisions {known} are known, the server speaks {offered}"
        )));
    };
    Ok(Server { revision, name: rpc::member(&members, "serverInfo").and_then(server_name) })
}

/// `<name> <version>`, or what there is of it. Not worth failing a listing for.
fn server_name(info: &str) -> Option<String> {
    let members = scan::object(info).ok()?;
    let parts = ["name", "version"].map(|key| rpc::member(&members, key).and_then(rpc::string));
    let joined = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    (!joined.is_empty()).then_some(joined)
}
