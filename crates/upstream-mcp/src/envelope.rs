//! What stands around the params of a request, and of a result.

use serde_json::json;
use toolgate_definition::{json::quote, scan};
use toolgate_upstream::{CallAnswer, ListingError, LogLevel, TraceContext};

use crate::rpc;

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The one thing that a server may ask for.
const ELICITATION: &str = "elicitation/create";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// How a request says what it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// Not at all: a handshake did.
    Bare,
    /// Each request declares its revision and the client in `_meta` (2026-07-28 basic, `_meta`).
    Declaring(&'static str),
}

impl Envelope {
    /// The params whose members these are.
    pub(crate) fn params(self, members: &str) -> String {
        self.params_with(members, &Meta::default())
    }

    /// The same with what a call says of itself. A session has no way to ask for logs of one request, and says what its client
    /// is capable of when it is opened.
    pub(crate) fn params_with(self, members: &str, call: &Meta<'_>) -> String {
        let mut meta = Vec::new();
        let mut push = |name: &str, value: &str| meta.push(format!(r#"{}:{value}"#, quote(name)));
        if let Self::Declaring(revision) = self {
            let capabilities = call.elicitation.map(|value| format!(r#"{{"elicitation":{value}}}"#));
            push(PROTOCOL_VERSION, &quote(revision));
            push(CLIENT_INFO, &client_info().to_string());
            push(CLIENT_CAPABILITIES, capabilities.as_deref().unwrap_or("{}"));
            if let Some(level) = call.log_level {
                push(LOG_LEVEL, &quote(level.as_str()));
            }
        }
        if let Some(token) = call.progress_token {
            push("progressToken", &token.to_string());
        }
        if let Some(TraceContext { traceparent, tracestate }) = call.trace {
            push("traceparent", &quote(traceparent));
            tracestate.into_iter().for_each(|tracestate| push("tracestate", &quote(tracestate)));
        }
        if meta.is_empty() {
            return format!("{{{members}}}");
        }
        let comma = if members.is_empty() { "" } else { "," };
        format!(r#"{{{members}{comma}"_meta":{{{}}}}}"#, meta.join(","))
    }

    pub(crate) fn declares(self) -> Option<&'static str> {
        match self {
            Self::Bare => None,
            Self::Declaring(revision) => Some(revision),
        }
    }

    /// The result of a call, which is an object, or a question.
    pub(crate) fn checked_call(self, result: String) -> Result<CallAnswer, ListingError> {
        let members = scan::object(&result).map_err(|error| rpc::broken("the result", &error))?;
        let kind = rpc::member(&members, "resultType").and_then(rpc::string);
        if self != Self::Bare && kind.as_deref() == Some("input_required") {
            check_asked(rpc::member(&members, "inputRequests"))?;
            return Ok(CallAnswer::Asks(result));
        }
        self.check(&result)?;
        Ok(CallAnswer::Result(result))
    }

    /// A result that is a question (`resultType`) is none to us: nothing is offered that a server could ask for.
    pub(crate) fn check(self, result: &str) -> Result<(), ListingError> {
        if self == Self::Bare {
            return Ok(());
        }
        let members = scan::object(result).map_err(|error| rpc::broken("the result", &error))?;
        match rpc::member(&members, "resultType").map(rpc::string) {
            None => Ok(()),
            Some(Some(kind)) if kind == "complete" => Ok(()),
            Some(_) => Err(ListingError::Protocol("the result's resultType is not `complete`".into())),
        }
    }
}

/// What a call says of itself in `_meta`.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    /// Under which progress is to be told.
    pub(crate) progress_token: Option<u64>,
    /// How much of the server's log is wanted.
    pub(crate) log_level: Option<LogLevel>,
    /// JSON text of the capability of whoever can be asked.
    pub(crate) elicitation: Option<&'a str>,
    /// The trace that it is part of (MCP, `_meta`: `traceparent` and `tracestate`).
    pub(crate) trace: Option<TraceContext<'a>>,
}

/// A server may ask for what can be offered at all, and for nothing else.
fn check_asked(asked: Option<&str>) -> Result<(), ListingError> {
    let Some(asked) = asked else { return Ok(()) };
    let requests = scan::object(asked).map_err(|error| rpc::broken("inputRequests", &error))?;
    for (_, request) in requests {
        let method = rpc::member_at(request, &["method"]).and_then(rpc::string).unwrap_or_default();
        if method != ELICITATION {
            let method: String = method.chars().filter(|at| !at.is_control()).take(64).collect();
            return Err(ListingError::Protocol(format!("it asks for `{method}`, which is not offered")));
        }
    }
    Ok(())
}

/// Who asks.
pub(crate) fn client_info() -> serde_json::Value {
    json!({"name": "toolgate", "version": env!("CARGO_PKG_VERSION")})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaring_request_keeps_its_members_and_gains_the_three_keys() {
        let params = Envelope::Declaring("2026-07-28").params(r#""cursor":"\u0061""#);
        assert!(params.starts_with(r#"{"cursor":"\u0061","_meta":{"#), "{params}");
        let params: serde_json::Value = serde_json::from_str(&params).unwrap();
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "toolgate", "version": env!("CARGO_PKG_VERSION")},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        assert_eq!(params["_meta"], meta);
        assert_eq!(Envelope::Bare.params(""), "{}");
    }

    #[test]
    fn a_call_may_be_answered_by_the_question_that_can_be_offered_and_by_no_other() {
        let envelope = Envelope::Declaring("2026-07-28");
        let asks =
            |requests: &str| format!(r#"{{"resultType":"input_required","inputRequests":{requests}}}"#);
        let offered = asks(r#"{"a":{"method":"elicitation/create","params":{}}}"#);
        let answer = |envelope: Envelope, text: &str| envelope.checked_call(text.to_owned());
        assert_eq!(answer(envelope, &offered), Ok(CallAnswer::Asks(offered.clone())));
        assert_eq!(answer(Envelope::Bare, &offered), Ok(CallAnswer::Result(offered.clone())));
        let none = r#"{"resultType":"input_required","requestState":"s"}"#;
        assert_eq!(answer(envelope, none), Ok(CallAnswer::Asks(none.to_owned())));
        for other in [
            r#"{"a":{"method":"sampling/createMessage","params":{}}}"#,
            r#"{"a":{"method":"elicitation/create"},"b":{"method":"roots/list"}}"#,
            r#"{"a":{}}"#,
            "[]",
        ] {
            assert!(matches!(answer(envelope, &asks(other)), Err(ListingError::Protocol(_))), "{other}");
        }
        let result = r#"{"content":[],"resultType":"complete"}"#;
        assert_eq!(answer(envelope, result), Ok(CallAnswer::Result(result.to_owned())));
    }

    #[test]
    fn a_result_that_asks_for_input_is_no_result() {
        let envelope = Envelope::Declaring("2026-07-28");
        for complete in ["{}", r#"{"resultType":"complete"}"#] {
            assert_eq!(envelope.check(complete), Ok(()));
        }
        for other in [r#"{"resultType":"input_required"}"#, r#"{"resultType":null}"#, "7"] {
            assert!(matches!(envelope.check(other), Err(ListingError::Protocol(_))), "{other}");
            assert_eq!(Envelope::Bare.check(other), Ok(()));
        }
    }
}
