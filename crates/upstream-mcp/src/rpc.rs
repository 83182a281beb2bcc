//! JSON-RPC 2.0 as MCP uses it: one request of ours under way at a time, its id a number.

use std::borrow::Cow;

use toolgate_definition::json::{ParseError, quote};
use toolgate_definition::scan;
use toolgate_upstream::{InputAnswers, ListingError, LogLevel, ToolCall};

use crate::envelope::{Envelope, Meta};

use crate::limits::MAX_REQUESTS_ANSWERED;

/// The code of `UnsupportedProtocolVersionError` (2026-07-28).
pub(crate) const UNSUPPORTED_REVISION: i64 = -32022;
/// The code of `MissingRequiredClientCapabilityError` (2026-07-28).
const MISSING_CAPABILITY: i64 = -32021;
/// Bytes of what a server may require of a client.
const MAX_CAPABILITIES_BYTES: usize = 1024;

/// A request of ours.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) method: &'static str,
    pub(crate) text: String,
    /// The revision that the text itself declares. A transport with headers repeats it, the method and the name in them.
    pub(crate) declares: Option<&'static str>,
    /// The tool that is called.
    pub(crate) name: Option<String>,
    /// Arguments that headers repeat, by the names that the input schema binds them to.
    pub(crate) argument_headers: Vec<(String, String)>,
}

impl Request {
    pub(crate) fn new(id: u64, method: &'static str, params: &str, declares: Option<&'static str>) -> Self {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        Self { id, method, text, declares, name: None, argument_headers: Vec::new() }
    }

    /// A call, which tells its progress under its own id. A session knows no answers to give along.
    pub(crate) fn call(id: u64, call: &ToolCall<'_>, envelope: Envelope) -> Self {
        let mut members = format!(r#""name":{},"arguments":{}"#, quote(call.name), call.arguments);
        let answers = call.answers.filter(|_| envelope != Envelope::Bare);
        if let Some(InputAnswers { responses, state }) = answers {
            members.extend(responses.map(|responses| format!(r#","inputResponses":{responses}"#)));
            members.extend(state.map(|state| format!(r#","requestState":{}"#, quote(state))));
        }
        let meta = Meta {
            progress_token: call.wants_progress.then_some(id),
            log_level: call.log_level,
            elicitation: call.elicitation,
            trace: call.trace,
        };
        let params = envelope.params_with(&members, &meta);
        let name = Some(call.name.to_owned());
        let argument_headers = call.argument_headers.to_vec();
        Self { name, argument_headers, ..Self::new(id, "tools/call", &params, envelope.declares()) }
    }
}

/// An error that a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    /// `data.supported` of [`UNSUPPORTED_REVISION`].
    pub(crate) supported: Vec<String>,
    /// `data.requiredCapabilities` of [`MISSING_CAPABILITY`].
    pub(crate) required_capabilities: Option<String>,
}

impl From<RpcError> for ListingError {
    fn from(error: RpcError) -> Self {
        match error.required_capabilities {
            Some(capabilities_json) => Self::MissingCapability { capabilities_json },
            None => Self::Rpc { code: error.code, message: error.message },
        }
    }
}

/// That a request of ours is given up (2025-11-25 Cancellation, 2026-07-28 stdio).
pub(crate) fn cancelled(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

/// The request of ours that a message answers or tells the progress of.
pub(crate) fn addressee(text: &str) -> Option<u64> {
    let members = scan::object(text).ok()?;
    let id = match member(&members, "method") {
        None => member(&members, "id")?,
        Some(method) if string(method)? == "notifications/progress" => {
            member_at(member(&members, "params")?, &["progressToken"])?
        }
        Some(_) => return None,
    };
    id.trim_matches('"').parse().ok()
}

/// Whether a message is an entry of the server's log.
pub(crate) fn is_log(text: &str) -> bool {
    member_at(text, &["method"]).and_then(string).is_some_and(|method| method == "notifications/message")
}

/// Takes a server's messages until one answers our request.
#[derive(Debug)]
pub(crate) struct Inbox {
    awaited: u64,
    requests_to_answer: usize,
}

/// What one delivery brought: an answer, or texts to send back while waiting on.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) answer: Option<Result<String, RpcError>>,
    pub(crate) replies: Vec<String>,
    pub(crate) notices: Vec<Notice>,
}

/// A notification that tells something to who follows a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// `notifications/tools/list_changed`
    ToolsChanged,
    /// `notifications/subscriptions/acknowledged`, and whether it grants what was asked for.
    Acknowledged { tools: bool },
    /// `notifications/progress` of our request: the other members of its params, in their exact texts.
    Progress(String),
    /// `notifications/message`: its level, and the exact text of its params.
    Log(LogLevel, String),
}

/// What one message means to whoever waits for an answer.
enum Message<'a> {
    Result(&'a str),
    Error(&'a str),
    Request {
        id: &'a str,
        method: Cow<'a, str>,
    },
    Notice(Notice),
    /// Another notification, an answer to something else: passed over.
    Other,
}

impl Inbox {
    /// A server of a stateless revision asks nothing in this way, and is answered nothing.
    pub(crate) fn new(request: &Request) -> Self {
        let requests_to_answer = if request.declares.is_some() { 0 } else { MAX_REQUESTS_ANSWERED };
        Self { awaited: request.id, requests_to_answer }
    }

    /// For what a server sends on its own account: no answer is awaited.
    pub(crate) fn of_server() -> Self {
        Self { awaited: 0, requests_to_answer: MAX_REQUESTS_ANSWERED }
    }

    /// Reads a text that holds one message, or an array of them (a batch of revision 2025-03-26).
    pub(crate) fn deliver(&mut self, text: &str) -> Result<Delivery, ListingError> {
        let mut delivery = Delivery::default();
        if !text.trim_ascii_start().starts_with('[') {
            self.take(text, &mut delivery)?;
            return Ok(delivery);
        }
        for message in scan::elements(text) {
            self.take(message.map_err(|error| broken("the answer", &error))?, &mut delivery)?;
        }
        Ok(delivery)
    }

    fn take(&mut self, text: &str, delivery: &mut Delivery) -> Result<(), ListingError> {
        match read(text, self.awaited)? {
            Message::Result(result) => delivery.answer = Some(Ok(result.to_owned())),
            Message::Error(error) => delivery.answer = Some(Err(rpc_error(error)?)),
            Message::Request { id, method } if self.requests_to_answer > 0 => {
                self.requests_to_answer -= 1;
                delivery.replies.push(reply(id, &method));
            }
            Message::Notice(notice) => delivery.notices.push(notice),
            Message::Request { .. } | Message::Other => {}
        }
        Ok(())
    }
}

fn rpc_error(text: &str) -> Result<RpcError, ListingError> {
    let Ok(members) = scan::object(text) else {
        return Err(ListingError::Protocol("a JSON-RPC error that is not an object".into()));
    };
    let Some(code) = member(&members, "code").and_then(|code| code.parse().ok()) else {
        return Err(ListingError::Protocol("a JSON-RPC error without a whole number as its code".into()));
    };
    let message = member(&members, "message").and_then(string).unwrap_or_default();
    let supported = match code {
        UNSUPPORTED_REVISION => {
            member(&members, "data").and_then(|data| strings_at(data, "supported")).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let required_capabilities = match code {
        MISSING_CAPABILITY => member(&members, "data").and_then(required_capabilities),
        _ => None,
    };
    Ok(RpcError { code, message, supported, required_capabilities })
}

fn required_capabilities(data: &str) -> Option<String> {
    let required = member_at(data, &["requiredCapabilities"])?;
    let is_object = required.len() <= MAX_CAPABILITIES_BYTES && scan::object(required).is_ok();
    is_object.then(|| required.to_owned())
}

fn read(text: &str, awaited: u64) -> Result<Message<'_>, ListingError> {
    let members = scan::object(text).map_err(|error| broken("the answer", &error))?;
    let get = |key| member(&members, key).filter(|value| *value != "null");
    let (id, result, error) = (get("id"), member(&members, "result"), get("error"));
    if let Some(method) = get("method").and_then(string) {
        return Ok(match id.filter(|id| is_id(id)) {
            Some(id) => Message::Request { id, method: method.into() },
            None => notice(&method, get("params"), awaited).map_or(Message::Other, Message::Notice),
        });
    }
    match (id.is_some_and(|id| answers(id, awaited)), result, error) {
        (true, Some(result), None) => Ok(Message::Result(result)),
        (true, None | Some("null"), Some(error)) => Ok(Message::Error(error)),
        (true, ..) => Err(ListingError::Protocol("an answer must hold either a result or an error".into())),
        // An error about a message whose id the server could not read: only ours is under way.
        (false, _, Some(error)) if id.is_none() => Ok(Message::Error(error)),
        (false, ..) => Ok(Message::Other),
    }
}

fn notice(method: &str, params: Option<&str>, awaited: u64) -> Option<Notice> {
    match method {
        "notifications/progress" => progress(params?, awaited),
        "notifications/message" => log(params?),
        "notifications/tools/list_changed" => Some(Notice::ToolsChanged),
        "notifications/subscriptions/acknowledged" => {
            let granted = params.and_then(|params| member_at(params, &["notifications", "toolsListChanged"]));
            Some(Notice::Acknowledged { tools: granted == Some("true") })
        }
        _ => None,
    }
}

fn progress(params: &str, awaited: u64) -> Option<Notice> {
    let members = scan::object(params).ok()?;
    member(&members, "progressToken").filter(|token| answers(token, awaited))?;
    let others = members.iter().filter(|(name, _)| name != "progressToken");
    let texts: Vec<_> = others.map(|(name, value)| format!("{}:{value}", quote(name))).collect();
    Some(Notice::Progress(texts.join(",")))
}

fn log(params: &str) -> Option<Notice> {
    let level = member_at(params, &["level"]).and_then(string)?.parse().ok()?;
    Some(Notice::Log(level, params.to_owned()))
}

/// Whether an id is ours. JSON-RPC wants it back as it was sent; some servers send back its text, which is taken too,
/// since ours are all numbers and nothing else can be meant.
fn answers(id: &str, awaited: u64) -> bool {
    let digits = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or(id);
    digits == awaited.to_string()
}

/// An id that can be sent back in its own spelling.
fn is_id(id: &str) -> bool {
    string(id).is_some() || serde_json::from_str::<serde_json::Number>(id).is_ok()
}

/// Our side of a server's request: `ping` is answered, nothing else is offered.
fn reply(id: &str, method: &str) -> String {
    match method {
        "ping" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
        _ => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"method not found"}}}}"#)
        }
    }
}

/// The exact text of a member's value.
pub(crate) fn member<'a>(members: &[(Cow<'_, str>, &'a str)], key: &str) -> Option<&'a str> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
}

/// The value of a JSON string; `None` for anything else.
pub(crate) fn string(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// The exact text of the value that stands in an object below these keys.
pub(crate) fn member_at<'a>(object: &'a str, keys: &[&str]) -> Option<&'a str> {
    keys.iter().try_fold(object, |object, key| member(&scan::object(object).ok()?, key))
}

/// The strings of the array at a member of an object; `None` where there is no such array.
pub(crate) fn strings_at(object: &str, key: &str) -> Option<Vec<String>> {
    let elements = scan::elements(member_at(object, &[key])?).collect::<Result<Vec<_>, _>>().ok()?;
    Some(elements.into_iter().filter_map(string).collect())
}

/// The error for bytes that are not what `place` has to be.
pub(crate) fn broken(place: &str, error: &ParseError) -> ListingError {
    ListingError::Protocol(format!("{place}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deliver(text: &str) -> Result<Delivery, ListingError> {
        Inbox::new(&Request::new(1, "tools/list", "{}", None)).deliver(text)
    }

    fn answer(text: &str) -> Option<Result<String, RpcError>> {
        deliver(text).unwrap().answer
    }

    /// BR-089.
    #[test]
    fn an_answer_belongs_to_a_request_by_its_id_alone() {
        assert_eq!(answer(r#"{"id":1,"result":{"tools": []}}"#), Some(Ok(r#"{"tools": []}"#.into())));
        assert_eq!(answer(r#"{"result":7,"jsonrpc":"2.0","id" : "1"}"#), Some(Ok("7".into())));
        for other in [
            r#"{"id":77,"result":{}}"#,
            r#"{"id":"01","result":{}}"#,
            r#"{"id":null,"result":{}}"#,
            r#"{"result":{}}"#,
            r#"{"id":2,"error":{"code":1,"message":""}}"#,
            r#"{"method":"notifications/message","params":{"id":1}}"#,
            "{}",
        ] {
            assert_eq!(answer(other), None, "{other}");
        }
    }

    #[test]
    fn an_error_about_an_unreadable_id_is_the_answer() {
        let refused = Some(Err(RpcError {
            code: -32700,
            message: "no".into(),
            supported: Vec::new(),
            required_capabilities: None,
        }));
        assert_eq!(answer(r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#), refused);
        assert_eq!(answer(r#"{"error":{"code":-32700,"message":"no"}}"#), refused);
        assert_eq!(answer(r#"{"id":1,"result":null,"error":{"code":-32700,"message":"no"}}"#), refused);
    }

    #[test]
    fn a_batch_is_read_message_by_message() {
        let batch = r#" [{"id":77,"result":{}},{"id":5,"method":"ping"},{"id":1,"result":9}]"#;
        let delivery = deliver(batch).unwrap();
        assert_eq!(delivery.answer, Some(Ok("9".into())));
        assert_eq!(delivery.replies, [r#"{"jsonrpc":"2.0","id":5,"result":{}}"#]);
    }

    #[test]
    fn what_is_told_of_tools_is_heard_and_nothing_else() {
        let heard = |text: &str| deliver(text).unwrap().notices;
        let changed = r#"{"method":"notifications/tools/list_changed"}"#;
        assert_eq!(heard(changed), [Notice::ToolsChanged]);
        for (granted, tools) in [(r#"{"toolsListChanged":true}"#, true), ("{}", false), ("7", false)] {
            let text = format!(
                r#"{{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":{granted}}}}}"#
            );
            assert_eq!(heard(&text), [Notice::Acknowledged { tools }]);
        }
        assert_eq!(heard(r#"{"method":"notifications/prompts/list_changed"}"#), []);
    }

    #[test]
    fn a_servers_ping_is_answered_and_its_other_requests_are_declined() {
        let asked = |id: &str, method: &str| {
            deliver(&format!(r#"{{"id":{id},"method":"{method}"}}"#)).unwrap().replies.concat()
        };
        assert_eq!(asked(r#""p\u0031""#, "ping"), r#"{"jsonrpc":"2.0","id":"p\u0031","result":{}}"#);
        assert!(asked("-3", "sampling/createMessage").contains(r#""id":-3,"error":{"code":-32601"#));
        for not_an_id in ["{}", "tru", "null", "[1]"] {
            assert_eq!(asked(not_an_id, "ping"), "", "{not_an_id}");
        }
    }

    #[test]
    fn a_server_that_asks_without_end_is_answered_a_few_times() {
        let asking = vec![r#"{"id":5,"method":"ping"}"#; 1000].join(",");
        assert_eq!(deliver(&format!("[{asking}]")).unwrap().replies.len(), MAX_REQUESTS_ANSWERED);
    }

    #[test]
    fn only_the_error_about_revisions_tells_which_are_supported() {
        let supported = |code: i64, data: &str| {
            let text = format!(r#"{{"id":1,"error":{{"code":{code},"message":"","data":{data}}}}}"#);
            answer(&text).unwrap().unwrap_err().supported
        };
        assert_eq!(supported(-32022, r#"{"supported":["2026-07-28",7,"x"]}"#), ["2026-07-28", "x"]);
        for (code, data) in [(-32020, r#"{"supported":["x"]}"#), (-32022, "{}"), (-32022, "7")] {
            assert!(supported(code, data).is_empty(), "{code} {data}");
        }
    }

    #[test]
    fn a_server_of_a_stateless_revision_is_answered_nothing() {
        let mut inbox = Inbox::new(&Request::new(1, "tools/list", "{}", Some("2026-07-28")));
        assert!(inbox.deliver(r#"{"id":5,"method":"ping"}"#).unwrap().replies.is_empty());
    }

    /// BR-041.
    #[test]
    fn an_ambiguous_or_misshapen_message_is_a_protocol_error() {
        for text in [
            "<html>",
            "",
            "7",
            r#"{"id":1,"result":{},"result":{"tools":[]}}"#,
            r#"{"id":77,"result":{},"i\u0064":1}"#,
            r#"{"id":1}"#,
            r#"{"id":1,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"id":1,"result":{}} trailing"#,
        ] {
            assert!(matches!(deliver(text), Err(ListingError::Protocol(_))), "{text}");
        }
        for error in ["7", "{}", r#"{"code":"x"}"#, r#"{"code":1.5}"#, r#"{"code":1,"code":2}"#] {
            let delivery = deliver(&format!(r#"{{"id":1,"error":{error}}}"#));
            assert!(matches!(delivery, Err(ListingError::Protocol(_))), "{error}");
        }
    }
}
