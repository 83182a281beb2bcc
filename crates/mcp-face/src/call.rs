//! `tools/call`, while the server does not forward calls.

use bytes::Bytes;
use toolgate_api_proto::v1::ListToolsRequest;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_definition::json::Kind;

use crate::caller::Caller;
use crate::message::Params;
use crate::refusal::Refusal;
use crate::service;

/// A result that a model can read: the tool is there, and cannot be called through this server.
const NOT_ENABLED: &str = concat!(
    r#""content":[{"type":"text","text":"Calls are not enabled on this server yet: it lists tools and does not "#,
    r#"forward calls. Nothing was sent to the tool."}],"isError":true"#
);

/// The members of the result of a call.
pub(crate) async fn call<C: ToolCatalog>(
    catalog: &C,
    caller: &Caller,
    params: Params<'_>,
) -> Result<Bytes, Refusal> {
    let name = params.required("name")?;
    if let Some(other) = params.get("arguments").filter(|arguments| arguments.kind() != Kind::Object) {
        return Err(Refusal::invalid_params(&format!("arguments: is {}; send an object", other.kind())));
    }
    if !is_served(catalog, caller, &name).await? {
        return Err(Refusal { is_the_services: true, ..Refusal::unknown_tool(&name) });
    }
    Ok(Bytes::from_static(NOT_ENABLED.as_bytes()))
}

/// Whether the caller has a tool of this name. No tool has an empty one, which the service takes for any name.
async fn is_served<C: ToolCatalog>(catalog: &C, caller: &Caller, name: &str) -> Result<bool, Refusal> {
    let named =
        ListToolsRequest { namespaced_name: name.to_owned(), page_size: 1, ..ListToolsRequest::default() };
    let list = service::list_served(catalog, caller, named).await?;
    Ok(!name.is_empty() && !list.tools.is_empty())
}
