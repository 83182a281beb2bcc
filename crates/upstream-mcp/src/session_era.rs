//! The revisions that open with `initialize`: 2024-11-05 to 2025-11-25.

use toolgate_definition::scan;
use toolgate_upstream::{Bounds, Listing, ListingError};

use crate::conversation::{Conversation, Deadline, Failure, Wire};
use crate::envelope::{Envelope, client_info};
use crate::{pages, rpc};

/// The revisions spoken here, the offered one first.
pub(crate) const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Reads a server's whole list of tools; the session is open by `opening`. The flag: whether the server tells changes.
///
/// When the server has forgotten the session (the wire tells so at most once), everything is asked again in a new one:
/// cursors belong to a session.
pub(crate) async fn list<W: Wire>(
    conversation: &mut Conversation<W>,
    bounds: &Bounds,
    opening: Deadline,
) -> Result<(bool, Listing), ListingError> {
    conversation.envelope = Envelope::Bare;
    let mut outcome = attempt(conversation, bounds, opening).await;
    if matches!(outcome, Err(Failure::SessionGone)) {
        let opening = conversation.opening(bounds);
        outcome = attempt(conversation, bounds, opening).await;
    }
    outcome.map_err(ListingError::from)
}

async fn attempt<W: Wire>(
    conversation: &mut Conversation<W>,
    bounds: &Bounds,
    opening: Deadline,
) -> Result<(bool, Listing), Failure> {
    let server = shake_hands(conversation, opening).await?;
    let (pages, end) = pages::read(conversation, bounds).await?;
    let listing = Listing {
        end,
        protocol_version: server.revision.to_owned(),
        server_name: server.name,
        ttl: pages.ttl(),
        public_ttl: pages.public_ttl(),
        binds_headers: false,
        entries: pages.into_entries(),
    };
    Ok((server.tells_changes, listing))
}

/// What a server said of itself.
pub(crate) struct Server {
    revision: &'static str,
    name: Option<String>,
    /// Whether it tells when its list of tools changes.
    pub(crate) tells_changes: bool,
}

/// Opens a session.
pub(crate) async fn shake_hands<W: Wire>(
    conversation: &mut Conversation<W>,
    until: Deadline,
) -> Result<Server, Failure> {
    let (revision, client) = (REVISIONS[0], client_info());
    let params = format!(r#""protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{client}"#);
    let result = conversation.ask("initialize", &params, until).await?;
    conversation.is_opened = true;
    let server = read_server(&result)?;
    conversation.wire.agreed_on(server.revision);
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
    Ok(Server {
        revision,
        name: rpc::member(&members, "serverInfo").and_then(server_name),
        tells_changes: rpc::member_at(result, &["capabilities", "tools", "listChanged"]) == Some("true"),
    })
}

/// `<name> <version>`, or what there is of it. Not worth failing a listing for.
pub(crate) fn server_name(info: &str) -> Option<String> {
    let members = scan::object(info).ok()?;
    let parts = ["name", "version"].map(|key| rpc::member(&members, key).and_then(rpc::string));
    let joined = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    (!joined.is_empty()).then_some(joined)
}
