//! Why a server cannot be listed, in one fixed sentence for each kind of failure. What a server says of itself may hold
//! anything, so only the message of a JSON-RPC error is passed on, which the port has cleaned and cut.

use toolgate_domain::Fault;
use toolgate_upstream::{Incomplete, Listing, ListingEnd, ListingError};

/// Nothing came in time.
pub(super) const SILENT: &str = "The server did not answer in time.";
/// Others ask it, and it takes its time.
pub(super) const BUSY: &str = "Others wait for the server's answer; try again later.";
/// It was declared differently each time that it had answered.
pub(super) const UNSETTLED: &str = "The upstream is being changed; try again.";

/// Why there is no list.
pub(super) enum Failure {
    /// A credential is wanted.
    AuthRequired,
    /// Anything else.
    Unavailable(String),
}

/// The listing, if it is whole.
pub(super) fn failure(listing: Result<Listing, ListingError>) -> Result<Listing, Failure> {
    let unavailable = |why: &str| Failure::Unavailable(why.to_owned());
    let listing = listing.map_err(of_error)?;
    match listing.end {
        ListingEnd::Complete => Ok(listing),
        ListingEnd::Incomplete(Incomplete::RepeatedCursor) => {
            Err(unavailable("The server's list does not come to an end."))
        }
        ListingEnd::Incomplete(Incomplete::Bound(_)) => Err(unavailable(TOO_LONG)),
        ListingEnd::Incomplete(Incomplete::Page { error, .. }) => Err(of_error(error)),
    }
}

const TOO_LONG: &str = "The server's list is too long.";

fn of_error(error: ListingError) -> Failure {
    let why = match error {
        ListingError::Unauthorized { status: 401, .. } => return Failure::AuthRequired,
        ListingError::Unauthorized { .. } => "The server refuses the credential.",
        ListingError::Refused(_) => "The server may not be reached from here.",
        ListingError::Connect(_) => "The server cannot be reached.",
        ListingError::Timeout(_) => SILENT,
        ListingError::Status(_) => "The server answered with an HTTP error.",
        ListingError::Protocol(_) => "The server's answer is not MCP.",
        ListingError::TooLarge(_) => TOO_LONG,
        ListingError::MissingCapability { .. } => "The server requires capabilities that are not offered.",
        ListingError::Rpc { message, .. } => {
            return Failure::Unavailable(format!("The server answered with an error: {message}"));
        }
    };
    Failure::Unavailable(why.to_owned())
}

/// The upstream's secrets cannot be opened. The cause is for the log.
pub(super) fn unreadable(fault: &Fault) -> String {
    tracing::error!(fault = ?fault, "a tool server cannot be asked");
    "The server's credential cannot be read.".to_owned()
}
