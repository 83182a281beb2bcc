//! Which revisions a server speaks, found out without harm to one that speaks only older ones.

use toolgate_upstream::ListingError;

use crate::conversation::{Conversation, Deadline, Failure, Wire};
use crate::envelope::Envelope;
use crate::rpc::{self, RpcError, UNSUPPORTED_REVISION};
use crate::session_era;

/// The stateless revisions spoken here, the preferred one first.
const REVISIONS: [&str; 1] = ["2026-07-28"];

/// `HeaderMismatch` and `MissingRequiredClientCapability`: only a server of a stateless revision answers them.
const STATELESS_ERRORS: [i64; 2] = [-32020, -32021];

/// HTTP statuses that tell nothing of a server's revisions: it has no time for us.
const BUSY: [u16; 2] = [429, 503];

/// How to speak to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Each request stands for itself, in this revision.
    Stateless(&'static str),
    /// A session is opened with `initialize`.
    Session,
    /// The same over HTTP as it was before revision 2025-03-26: all that the server says comes on one stream of events, which
    /// first names where messages are to be posted.
    Streams,
}

/// Whether a server refused `initialize` as one does that speaks HTTP+SSE alone (2025-11-25 Transports, "Backwards
/// Compatibility").
pub(crate) fn may_be_older(error: &ListingError) -> bool {
    matches!(error, ListingError::Status(400 | 404 | 405))
}

/// What is known of a server that speaks HTTP+SSE.
pub(crate) const STREAMS: Known = Known { era: Era::Streams, tells_changes: false };

/// What is known of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) era: Era,
    /// Whether it tells when its list of tools changes (`tools.listChanged`); in sessions a handshake says so.
    pub(crate) tells_changes: bool,
}

/// Asks `server/discover` and, where that is answered by anything but a stateless revision, concludes that the server is
/// older (2026-07-28 Streamable HTTP and stdio, "Backward Compatibility"). Silence is such an answer, too.
pub(crate) async fn find<W: Wire>(
    conversation: &mut Conversation<W>,
    until: Deadline,
) -> Result<Known, ListingError> {
    conversation.envelope = Envelope::Declaring(REVISIONS[0]);
    match conversation.ask("server/discover", "", until.half()).await {
        Ok(result) => {
            let told = rpc::member_at(&result, &["capabilities", "tools", "listChanged"]);
            Ok(Known { era: discovered(&result)?, tells_changes: told == Some("true") })
        }
        Err(failure) => Ok(Known { era: refused(failure)?, tells_changes: false }),
    }
}

fn discovered(result: &str) -> Result<Era, ListingError> {
    match rpc::strings_at(result, "supportedVersions") {
        Some(supported) => common(&supported),
        None => Ok(Era::Session),
    }
}

fn refused(failure: Failure) -> Result<Era, ListingError> {
    match failure {
        Failure::Rpc(error) => by_error(error),
        Failure::Listing(error @ ListingError::Status(status)) if BUSY.contains(&status) => Err(error),
        Failure::Listing(
            error @ (ListingError::Refused(_)
            | ListingError::Connect(_)
            | ListingError::Unauthorized { .. }
            | ListingError::TooLarge(_)),
        ) => Err(error),
        Failure::SessionGone
        | Failure::Listing(
            ListingError::Timeout(_)
            | ListingError::Status(_)
            | ListingError::Rpc { .. }
            | ListingError::MissingCapability { .. }
            | ListingError::Protocol(_),
        ) => Ok(Era::Session),
    }
}

fn by_error(error: RpcError) -> Result<Era, ListingError> {
    match error.code {
        UNSUPPORTED_REVISION if !error.supported.is_empty() => common(&error.supported),
        UNSUPPORTED_REVISION => Err(error.into()),
        code if STATELESS_ERRORS.contains(&code) => Err(error.into()),
        _ => Ok(Era::Session),
    }
}

/// The best revision that both sides know.
fn common(supported: &[String]) -> Result<Era, ListingError> {
    let speaks = |known: &&str| supported.iter().any(|offered| offered == known);
    if let Some(revision) = REVISIONS.into_iter().find(|known| speaks(known)) {
        return Ok(Era::Stateless(revision));
    }
    if session_era::REVISIONS.iter().any(speaks) {
        return Ok(Era::Session);
    }
    let known = [&REVISIONS[..], &session_era::REVISIONS[..]].concat().join(", ");
    let offered = supported.join(", ");
    Err(ListingError::Protocol(format!("revisions {known} are known, the server speaks {offered}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supported(versions: &[&str]) -> Result<Era, ListingError> {
        common(&versions.iter().map(|version| (*version).to_owned()).collect::<Vec<_>>())
    }

    /// BR-063.
    #[test]
    fn the_best_common_revision_is_spoken_and_none_is_an_error_that_names_both_sides() {
        assert_eq!(supported(&["2099-01-01", "2025-11-25", "2026-07-28"]), Ok(Era::Stateless("2026-07-28")));
        assert_eq!(supported(&["2099-01-01", "2025-06-18"]), Ok(Era::Session));
        let Err(ListingError::Protocol(text)) = supported(&["2099-01-01"]) else {
            panic!("no common revision")
        };
        assert!(text.contains("2026-07-28, 2025-11-25") && text.ends_with("the server speaks 2099-01-01"));
    }

    #[test]
    fn only_an_answer_of_a_stateless_revision_keeps_from_the_handshake() {
        let error = |code| RpcError {
            code,
            message: "no".into(),
            supported: Vec::new(),
            required_capabilities: None,
        };
        for code in [-32020, -32021, -32022] {
            assert_eq!(by_error(error(code)), Err(ListingError::Rpc { code, message: "no".into() }));
        }
        for code in [-32601, -32602, -32600, -32000, 0] {
            assert_eq!(by_error(error(code)), Ok(Era::Session));
        }
        assert_eq!(discovered("{}"), Ok(Era::Session));
    }
}
