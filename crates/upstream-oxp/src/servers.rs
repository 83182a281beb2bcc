use async_trait::async_trait;
use http::{Method, StatusCode};
use tokio::time::timeout;
use toolgate_definition::json::quote;
use toolgate_outbound::Outbound;
use toolgate_upstream::{
    Bounds, CallAnswer, CallBounds, CallError, CallNotice, Endpoint, FollowEnd, Incomplete, Listing,
    ListingEnd, ListingError, ToolCall, ToolCalls, ToolServers,
};

use crate::answer::Server;
use crate::{SCHEMA, entries, results};

/// What a listing says that it was read in.
const PROTOCOL: &str = "OXP 1.0";

/// Reaches OXP servers.
#[derive(Debug)]
pub struct OxpServers {
    outbound: Outbound,
}

impl OxpServers {
    /// HTTP goes out through `outbound`.
    pub fn new(outbound: Outbound) -> Self {
        Self { outbound }
    }

    fn server<'a>(&'a self, endpoint: &'a Endpoint) -> Result<Server<'a>, ListingError> {
        match endpoint {
            Endpoint::Oxp { url, headers, allow_private } => {
                Ok(Server { outbound: &self.outbound, url, headers, allow_private: *allow_private })
            }
            Endpoint::Http { .. } | Endpoint::Stdio { .. } => {
                Err(ListingError::Refused("it does not speak OXP".into()))
            }
        }
    }
}

#[async_trait]
impl ToolServers for OxpServers {
    fn admits(&self, endpoint: &Endpoint) -> Result<(), ListingError> {
        let server = self.server(endpoint)?;
        let checked = self.outbound.check(server.url, server.allow_private);
        checked.map(drop).map_err(|refusal| ListingError::Refused(refusal.to_string()))
    }

    async fn list_tools(&self, endpoint: &Endpoint, bounds: &Bounds) -> Result<Listing, ListingError> {
        let server = self.server(endpoint)?;
        let asking = server.ask(Method::GET, "/tools", None, None, bounds.max_answer_bytes);
        let limit = bounds.answer_timeout.min(bounds.total_timeout);
        let late = || ListingError::Timeout(format!("the list took longer than {} ms", limit.as_millis()));
        let answer = timeout(limit, asking).await.map_err(|_| late())??;
        if answer.status != StatusCode::OK {
            return Err(server.refused(&answer));
        }
        let mut entries = entries::definitions(&answer.text)?;
        let end = match entries.len() > bounds.max_entries {
            true => {
                ListingEnd::Incomplete(Incomplete::Bound(format!("more than {} entries", bounds.max_entries)))
            }
            false => ListingEnd::Complete,
        };
        entries.truncate(bounds.max_entries);
        Ok(Listing {
            entries,
            end,
            protocol_version: PROTOCOL.to_owned(),
            ttl: None,
            public_ttl: None,
            binds_headers: false,
            server_name: None,
        })
    }

    /// OXP has no word for it.
    async fn follow(
        &self,
        _endpoint: &Endpoint,
        _bounds: &Bounds,
        _changed: &(dyn Fn() + Send + Sync),
    ) -> Result<FollowEnd, ListingError> {
        Ok(FollowEnd::NotOffered)
    }
}

#[async_trait]
impl ToolCalls for OxpServers {
    async fn call_tool(
        &self,
        endpoint: &Endpoint,
        call: &ToolCall<'_>,
        bounds: &CallBounds,
        _told: &(dyn Fn(CallNotice) + Send + Sync),
    ) -> Result<CallAnswer, CallError> {
        let not_sent = |error| CallError { error, may_have_run: false };
        let server = self.server(endpoint).map_err(not_sent)?;
        let no_id = || ListingError::Protocol("the definition has no OXP id".into());
        let id = entries::id_of(call.definition).ok_or_else(no_id).map_err(not_sent)?;
        if !(call.may_leave)() {
            return Err(not_sent(ListingError::Refused("the call was withdrawn before it was sent".into())));
        }
        let (schema, id, input) = (quote(SCHEMA), quote(&id), call.arguments);
        let body = format!(r#"{{"$schema":{schema},"request":{{"tool_id":{id},"input":{input}}}}}"#);
        let asking = server.ask(Method::POST, "/tools/call", Some(body), call.trace, bounds.max_answer_bytes);
        let answer = match timeout(bounds.total_timeout, asking).await {
            Ok(answer) => answer.map_err(from_error)?,
            Err(_) => {
                let limit = bounds.total_timeout.as_millis();
                let error = ListingError::Timeout(format!("the call took longer than {limit} ms"));
                return Err(CallError { error, may_have_run: true });
            }
        };
        match answer.status {
            StatusCode::OK => {
                let result = results::result(&answer.text);
                result.map(CallAnswer::Result).map_err(|error| CallError { error, may_have_run: true })
            }
            StatusCode::UNPROCESSABLE_ENTITY => Ok(CallAnswer::Result(results::invalid(&answer.text))),
            status => {
                let may_have_run = status.is_server_error();
                Err(CallError { error: server.refused(&answer), may_have_run })
            }
        }
    }
}

/// Whether the tool may have run where no answer was read.
fn from_error(error: ListingError) -> CallError {
    let may_have_run = matches!(error, ListingError::Protocol(_) | ListingError::TooLarge(_));
    CallError { error, may_have_run }
}
