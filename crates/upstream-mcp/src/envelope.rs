//! What stands around the params of a request, and of a result.

use serde_json::json;
use toolgate_definition::scan;
use toolgate_upstream::{ListingError, LogLevel};

use crate::rpc;

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
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
        self.params_telling(members, None, None)
    }

    /// The same with the token under which progress is to be told, and with what is to be logged. A session has no way to ask
    /// for that of one request.
    pub(crate) fn params_telling(
        self,
        members: &str,
        progress_token: Option<u64>,
        log_level: Option<LogLevel>,
    ) -> String {
        let mut meta = serde_json::Map::new();
        if let Self::Declaring(revision) = self {
            meta.insert(PROTOCOL_VERSION.into(), json!(revision));
            meta.insert(CLIENT_INFO.into(), client_info());
            meta.insert(CLIENT_CAPABILITIES.into(), json!({}));
            if let Some(level) = log_level {
                meta.insert(LOG_LEVEL.into(), json!(level.as_str()));
            }
        }
        if let Some(token) = progress_token {
            meta.insert("progressToken".into(), json!(token));
        }
        if meta.is_empty() {
            return format!("{{{members}}}");
        }
        let comma = if members.is_empty() { "" } else { "," };
        format!(r#"{{{members}{comma}"_meta":{}}}"#, serde_json::Value::Object(meta))
    }

    pub(crate) fn declares(self) -> Option<&'static str> {
        match self {
            Self::Bare => None,
            Self::Declaring(revision) => Some(revision),
        }
    }

    /// The result of a call, which is an object and no question.
    pub(crate) fn checked_call(self, result: String) -> Result<String, ListingError> {
        scan::object(&result).map_err(|error| rpc::broken("the result", &error))?;
        self.check(&result)?;
        Ok(result)
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
