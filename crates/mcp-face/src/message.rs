//! JSON-RPC 2.0 as MCP narrows it: what a body holds, read from its exact text.

use std::borrow::Cow;

use toolgate_definition::json::{Kind, Node};

use crate::limits::MAX_ID_BYTES;
use crate::refusal::Refusal;

/// A request's id in its own spelling: a string, or a number of any size and precision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Id(String);

/// One message.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(Request<'a>),
    /// What is not to be answered.
    Notification(Notification<'a>),
    /// An answer to a request of ours. There are none, so it answers nothing.
    Response,
}

/// What is not to be answered.
#[derive(Debug)]
pub(crate) struct Notification<'a> {
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Params<'a>,
}

/// What is to be answered.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: Id,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Params<'a>,
}

/// The parameters of a message: an object, or nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Params<'a>(Option<Node<'a>>);

impl Id {
    /// Where no id could be read (JSON-RPC 2.0, section 5).
    pub(crate) fn unknown() -> Self {
        Self("null".to_owned())
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl<'a> Params<'a> {
    pub(crate) fn get(self, name: &str) -> Option<Node<'a>> {
        self.0?.get(name)
    }

    /// A member of `_meta` that the protocol itself defines.
    pub(crate) fn meta(self, name: &str) -> Option<Node<'a>> {
        self.get("_meta")?.get(&format!("io.modelcontextprotocol/{name}"))
    }

    /// A member that has to be a string where it is there.
    pub(crate) fn string(self, name: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str();
        text.map(Some)
            .ok_or_else(|| Refusal::invalid_params(&format!("{name}: is {}; send a string", value.kind())))
    }

    /// A string that has to be there.
    pub(crate) fn required(self, name: &str) -> Result<Cow<'a, str>, Refusal> {
        self.string(name)?
            .ok_or_else(|| Refusal::invalid_params(&format!("{name}: is missing; send a string")))
    }
}

/// The message that stands in `node`; else the id, as far as it could be read, and what is wrong.
pub(crate) fn read(node: Node<'_>) -> Result<Message<'_>, (Id, Refusal)> {
    let unknown = |problem: &str| (Id::unknown(), Refusal::invalid_request(problem));
    if node.kind() != Kind::Object {
        return Err(unknown("a message must be an object"));
    }
    // JSON-RPC 2.0, section 5: who could not read the id of what failed answers `null`.
    let fails = node.get("method").is_none() && node.get("error").is_some();
    let id = node.get("id").filter(|id| !(fails && id.kind() == Kind::Null));
    let id = id.map(self::id).transpose().map_err(unknown)?;
    let refused = |refusal| (id.clone().unwrap_or_else(Id::unknown), refusal);
    if node.get("jsonrpc").and_then(Node::as_str).as_deref() != Some("2.0") {
        return Err(refused(Refusal::invalid_request("jsonrpc: send \"2.0\"")));
    }
    let Some(method) = node.get("method") else {
        let answers = fails || (id.is_some() && node.get("result").is_some());
        return if answers {
            Ok(Message::Response)
        } else {
            Err(refused(Refusal::invalid_request("method: is missing")))
        };
    };
    let method = method.as_str().ok_or_else(|| refused(Refusal::invalid_request("method: send a string")))?;
    let params = params(node).map_err(refused)?;
    Ok(match id {
        Some(id) => Message::Request(Request { id, method, params }),
        None => Message::Notification(Notification { method, params }),
    })
}

/// MCP forbids the `null` that JSON-RPC allows.
fn id(node: Node<'_>) -> Result<Id, &'static str> {
    match node.kind() {
        Kind::String | Kind::Number if node.text().len() <= MAX_ID_BYTES => Ok(Id(node.text().to_owned())),
        Kind::String | Kind::Number => Err("id: is too long"),
        _ => Err("id: send a string or a number"),
    }
}

fn params(node: Node<'_>) -> Result<Params<'_>, Refusal> {
    match node.get("params") {
        None => Ok(Params(None)),
        Some(params) if params.kind() == Kind::Object => Ok(Params(Some(params))),
        Some(other) => Err(Refusal::invalid_params(&format!("params: is {}; send an object", other.kind()))),
    }
}
