use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt, future, stream};
use tokio::sync::mpsc;
use tonic::{Request, Response, Status};
use toolgate_api_proto::v1::{self as pb, call_tool_response::Event, tool_gateway_server::ToolGateway};
use toolgate_definition::{
    arguments::{Arguments, ArgumentsError},
    json::{Document, Kind},
    limits::ARGUMENTS,
};
use toolgate_domain::{
    Caller, Fault,
    limits::{MAX_ARGUMENT_HEADERS, MAX_CALL_ID_BYTES, MAX_REQUEST_STATE_BYTES, MAX_SESSION_NAME_BYTES},
};
use toolgate_gateway::{Answers, CallNotice, CallTool, Called, CanBeAsked, Gateway, ToolRef, call_tool};

use crate::{Gate, convert::fields, rpc::Rpc};

/// Progress and log entries that wait for a caller who reads slowly; what comes on top of them is not told.
const MAX_WAITING_EVENTS: usize = 64;

/// How long a call goes on before anybody looks whether its caller's credential is still good: within this time of its end
/// the call ends.
const UNWATCHED: Duration = Duration::from_secs(1);

/// `ToolGateway` over the use case of a call.
#[derive(Debug, Clone)]
pub struct GatewayService {
    gateway: Gateway,
    gate: Gate,
}

type Events = Pin<Box<dyn Stream<Item = Result<pb::CallToolResponse, Status>> + Send>>;

impl GatewayService {
    /// Calls through `gateway`.
    pub fn new(gateway: Gateway, gate: Gate) -> Self {
        Self { gateway, gate }
    }

    async fn begin(&self, caller: Caller, ask: pb::CallToolRequest) -> Result<Events, Fault> {
        let call = self.call(&caller, ask)?;
        let (gateway, gate) = (self.gateway.clone(), self.gate.clone());
        let (events, told) = mpsc::channel(MAX_WAITING_EVENTS);
        let calling = async move {
            // Where the caller is behind, the next one tells it more.
            let tell = |notice| drop(events.try_send(Ok(response(event(notice)))));
            let called = tokio::select! {
                called = call_tool(&gateway, call, &tell) => called,
                () = until_lost(&gate, caller) => Err(Fault::CredentialInvalid),
            };
            let last = match called {
                Ok(called) => Ok(response(answer(called))),
                Err(fault) => Err(gate.status(Rpc::CallTool, &fault)),
            };
            // It fails only where nobody waits any more.
            let _ = events.send(last).await;
        };
        let told = stream::unfold(told, |mut told| async { told.recv().await.map(|event| (event, told)) });
        let calling = stream::once(calling).filter_map(|()| future::ready(None));
        Ok(Box::pin(stream::select(told, calling)))
    }

    fn call(&self, caller: &Caller, ask: pb::CallToolRequest) -> Result<CallTool, Fault> {
        let (client, tokens) = self.gate.tenant(caller, &ask.client_id)?;
        Ok(CallTool {
            client,
            agent: caller.agent,
            key: caller.key,
            tool: tool_ref(ask.tool)?,
            call_id: call_id(ask.call_id)?,
            arguments: arguments(&ask.arguments_json).map_err(|error| misread(&error))?,
            session: session(ask.session)?,
            argument_headers: argument_headers(ask.argument_headers)?,
            can_be_asked: can_be_asked(&ask.client_capabilities_json)?,
            answers: answers(ask.input_responses_json, ask.request_state)?,
            wants_progress: ask.wants_progress,
            log_level: fields::optional(&ask.log_level, "log_level")?,
            min_revision: tokens.open_revision(&ask.min_revision, "min_revision")?,
        })
    }
}

/// When the caller's credential is no longer accepted. Most calls end before anybody would look.
async fn until_lost(gate: &Gate, caller: Caller) {
    tokio::time::sleep(UNWATCHED).await;
    gate.until_lost(caller).lost().await;
}

fn answer(called: Called) -> Event {
    match called {
        Called::Result(result_json) => Event::Result(pb::CallToolResult { result_json }),
        Called::Asks(result_json) => Event::InputRequired(pb::CallToolInputRequired { result_json }),
    }
}

fn event(notice: CallNotice) -> Event {
    match notice {
        CallNotice::Progress(members) => {
            Event::Progress(pb::CallToolProgress { progress_json: format!("{{{members}}}") })
        }
        CallNotice::Log(log_json) => Event::Log(pb::CallToolLog { log_json }),
    }
}

fn response(event: Event) -> pb::CallToolResponse {
    pb::CallToolResponse { event: Some(event) }
}

fn tool_ref(tool: Option<pb::call_tool_request::Tool>) -> Result<ToolRef, Fault> {
    use pb::call_tool_request::Tool;
    match tool {
        Some(Tool::NamespacedName(name)) if !name.is_empty() => Ok(ToolRef::Name(name)),
        Some(Tool::ToolId(id)) => fields::required(&id, "tool_id").map(ToolRef::Id),
        Some(Tool::OxpId(id)) => Ok(ToolRef::OxpId(id)),
        Some(Tool::NamespacedName(_)) | None => {
            Err(Fault::invalid("tool", "is required: a namespaced_name, a tool_id or an oxp_id"))
        }
    }
}

fn session(name: String) -> Result<Option<String>, Fault> {
    match name.len() {
        0 => Ok(None),
        1..=MAX_SESSION_NAME_BYTES => Ok(Some(name)),
        _ => Err(Fault::invalid("session", format!("is longer than {} bytes", MAX_SESSION_NAME_BYTES))),
    }
}

fn call_id(id: String) -> Result<Option<String>, Fault> {
    if id.len() > MAX_CALL_ID_BYTES {
        return Err(Fault::invalid("call_id", format!("has more than {MAX_CALL_ID_BYTES} bytes")));
    }
    Ok(Some(id).filter(|id| !id.is_empty()))
}

fn argument_headers(headers: Option<pb::ArgumentHeaders>) -> Result<Option<BTreeMap<String, String>>, Fault> {
    let values = headers.map(|headers| headers.values);
    if values.as_ref().is_some_and(|values| values.len() > MAX_ARGUMENT_HEADERS) {
        let problem = format!("has more than {MAX_ARGUMENT_HEADERS} entries");
        return Err(Fault::invalid("argument_headers.values", problem));
    }
    Ok(values.map(|values| values.into_iter().collect()))
}

/// Nothing else of the capabilities is passed on.
fn can_be_asked(capabilities: &str) -> Result<Option<CanBeAsked>, Fault> {
    if capabilities.is_empty() {
        return Ok(None);
    }
    let capabilities = object("client_capabilities_json", capabilities)?;
    let elicitation = capabilities.root().get("elicitation").filter(|value| value.kind() == Kind::Object);
    Ok(Some(CanBeAsked { elicitation: elicitation.map(|value| value.text().to_owned()) }))
}

fn answers(responses: String, request_state: String) -> Result<Option<Answers>, Fault> {
    if request_state.len() > MAX_REQUEST_STATE_BYTES {
        let problem = format!("has more than {MAX_REQUEST_STATE_BYTES} bytes");
        return Err(Fault::invalid("request_state", problem));
    }
    let (responses, request_state) =
        [responses, request_state].map(|text| Some(text).filter(|text| !text.is_empty())).into();
    if let Some(responses) = &responses {
        object("input_responses_json", responses)?;
    }
    let is_answer = responses.is_some() || request_state.is_some();
    Ok(is_answer.then_some(Answers { responses, request_state }))
}

fn object<'t>(field: &str, text: &'t str) -> Result<Document<'t>, Fault> {
    let document =
        Document::parse(text, &ARGUMENTS).map_err(|error| Fault::invalid(field, error.to_string()))?;
    match document.root().kind() {
        Kind::Object => Ok(document),
        kind => Err(Fault::invalid(field, format!("is {kind}; send an object"))),
    }
}

fn arguments(text: &str) -> Result<Arguments, ArgumentsError> {
    if text.is_empty() { Ok(Arguments::none()) } else { Arguments::parse(text) }
}

fn misread(error: &ArgumentsError) -> Fault {
    Fault::invalid("arguments_json", error.to_string())
}

#[tonic::async_trait]
impl ToolGateway for GatewayService {
    type CallToolStream = Events;

    async fn call_tool(&self, request: Request<pb::CallToolRequest>) -> Result<Response<Events>, Status> {
        let call = |caller, request: Request<_>| self.begin(caller, request.into_inner());
        self.gate.run(Rpc::CallTool, request, call).await
    }
}
