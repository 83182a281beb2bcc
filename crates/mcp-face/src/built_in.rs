//! `tool_list`, the tool that is the face's own: the upstreams that reach the caller as units in the Melbis shape.
//!
//! Whoever may use the endpoint may call it: the service takes the same scopes for both.

use serde_json::Value;
use tonic::{Code, Request, Response, Status};
use toolgate_api_proto::WholeAnswer;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::{
    CallToolResponse, CallToolResult, GetToolUnitRequest, ListToolUnitsRequest, call_tool_response::Event,
};
use toolgate_definition::json::Node;
pub(crate) use toolgate_tool_list::NAME;
use toolgate_tool_list::{list, no_such_tool, nothing_here, unit};

use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::service;

/// As it stands in a list of tools. No served tool has its name.
pub(crate) const DEFINITION: &str = concat!(
    r#"{"name":"tool_list","title":"Tool list","description":"Lists the units that tools come in: where each stands, what it "#,
    r#"is for and which of its commands you may use. With `unit`, one of them whole: every command and what it takes.","#,
    r#""inputSchema":{"type":"object","properties":{"unit":{"type":"string","description":"Address of a unit as the list "#,
    r#"gives it, for example MCP_FILES; leave it out for the list."}}},"annotations":{"readOnlyHint":true,"openWorldHint":false}}"#
);

/// What a model reads of a call.
struct Told {
    blocks: Vec<String>,
    is_error: bool,
}

/// What comes of a call. What a model can mend is a result too.
pub(crate) async fn call<C: ToolCatalog>(
    catalog: &C,
    caller: &Caller,
    grant: &str,
    arguments: Option<Node<'_>>,
) -> Result<CallToolResponse, Refusal> {
    let told = match arguments.and_then(|arguments| arguments.get("unit")) {
        None => list_units(catalog, caller, grant).await?,
        Some(address) => match address.as_str() {
            Some(address) if address.is_empty() => list_units(catalog, caller, grant).await?,
            Some(address) => one_unit(catalog, caller, &address).await?,
            None => {
                // Nobody is told what is wrong with a call before the service has accepted the credential.
                service::admit(catalog, caller).await?;
                refused(format!("unit: is {}; send a string, or leave it out for the list", address.kind()))
            }
        },
    };
    Ok(told.into())
}

async fn list_units<C: ToolCatalog>(catalog: &C, caller: &Caller, grant: &str) -> Result<Told, Refusal> {
    let ask = whole(caller, ListToolUnitsRequest::default());
    let units = answered(catalog.list_tool_units(ask).await, caller)?.units;
    let hint = units.is_empty().then(|| nothing_here(grant));
    Ok(Told { blocks: [list(grant, &units)].into_iter().chain(hint).collect(), is_error: false })
}

async fn one_unit<C: ToolCatalog>(catalog: &C, caller: &Caller, address: &str) -> Result<Told, Refusal> {
    let ask = whole(caller, GetToolUnitRequest { unit: address.to_owned(), ..Default::default() });
    let answer = match catalog.get_tool_unit(ask).await {
        Err(status) if status.code() == Code::NotFound => return Ok(refused(no_such_tool(address))),
        answer => answered(answer, caller)?,
    };
    let text = unit(&answer.unit.unwrap_or_default(), &answer.commands);
    Ok(Told { blocks: vec![text], is_error: false })
}

/// Not cut into pages.
fn whole<Q>(caller: &Caller, message: Q) -> Request<Q> {
    let mut request = service::request(caller, message);
    request.extensions_mut().insert(WholeAnswer);
    request
}

fn answered<A>(answer: Result<Response<A>, Status>, caller: &Caller) -> Result<A, Refusal> {
    answer.map(Response::into_inner).map_err(|status| service::refusal(&status, caller))
}

fn refused(line: String) -> Told {
    Told { blocks: vec![line], is_error: true }
}

impl From<Told> for CallToolResponse {
    fn from(told: Told) -> Self {
        let block = |text| format!(r#"{{"type":"text","text":{}}}"#, Value::from(text));
        let content = told.blocks.into_iter().map(block).collect::<Vec<_>>().join(",");
        let is_error = if told.is_error { r#","isError":true"# } else { "" };
        let result_json = format!(r#"{{"content":[{content}]{is_error}}}"#);
        Self { event: Some(Event::Result(CallToolResult { result_json })) }
    }
}
