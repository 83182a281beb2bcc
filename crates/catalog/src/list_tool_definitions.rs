//! Use case: what an agent may use, as OXP tool definitions.

use std::sync::Arc;

use toolgate_definition::projection::oxp_tool;
use toolgate_domain::{AgentId, Fault, Tool, limits, upstream::Auth};

use crate::{
    Snapshot, ToolKey, View,
    snapshot::{Filter, PageSize},
};

/// Which definitions.
#[derive(Debug, Clone)]
pub struct ListToolDefinitions {
    /// The agent that reads, if one does.
    pub agent: Option<AgentId>,
    /// Only tools after this one.
    pub after: Option<ToolKey>,
    /// Where the page ends.
    pub size: PageSize,
}

/// A served tool in the OXP shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    /// `Toolkit.Tool@x.y.z`, of this tool alone within its client.
    pub id: String,
    /// The name that it is served under.
    pub name: String,
    /// Never empty.
    pub description: String,
    /// `x.y.z`, as given at its approval.
    pub version: String,
    /// JSON text of an object, without references.
    pub input_schema: Option<String>,
    /// JSON text of an object, without references; `None` where the definition states none.
    pub output_schema: Option<String>,
    /// The slug of its upstream, where each user needs a credential of their own for that.
    pub takes_user_of: Option<String>,
}

/// A page of definitions.
#[derive(Debug, Clone)]
pub struct ToolDefinitionPage {
    /// In catalogue order.
    pub definitions: Vec<ToolDefinition>,
    /// The last tool of the page, where more follow.
    pub more_after: Option<ToolKey>,
}

/// Lists from a snapshot that the caller has already taken: the served tools that reach the reader, and no other (law 4).
///
/// # Errors
/// [`Fault::Internal`] when a served definition cannot be read.
pub fn list_tool_definitions(
    snapshot: &Snapshot,
    ask: &ListToolDefinitions,
) -> Result<ToolDefinitionPage, Fault> {
    let sight = snapshot.sight(View::Served, ask.agent);
    let page = snapshot.page(&sight, &Filter::default(), ask.after.as_ref(), ask.size);
    let (mut definitions, mut bytes) = (Vec::new(), 0);
    let mut last = None;
    for entry in &page.tools {
        let tool = &entry.tool;
        let Some(definition) = definition(snapshot, tool)? else { continue };
        // A schema may be larger with what it refers to in place.
        bytes += definition.weight_bytes();
        let is_full = ask.size != PageSize::Whole && bytes > limits::PAGE_DEFINITION_BYTES;
        if is_full && !definitions.is_empty() {
            return Ok(ToolDefinitionPage { definitions, more_after: last });
        }
        definitions.push(definition);
        last = Some(ToolKey { upstream: tool.upstream, name: Arc::from(tool.name()) });
    }
    Ok(ToolDefinitionPage { definitions, more_after: page.more_after })
}

fn takes_user_of(snapshot: &Snapshot, tool: &Tool) -> Option<String> {
    let upstream = &snapshot.upstream(tool.upstream)?.upstream;
    (upstream.auth() == Auth::PerUser).then(|| upstream.slug.to_string())
}

/// `None` unless the tool is served.
fn definition(snapshot: &Snapshot, tool: &Tool) -> Result<Option<ToolDefinition>, Fault> {
    let (Some(served), Some(version), Some(id)) =
        (tool.served_definition(), tool.oxp_version(), snapshot.oxp_id(tool))
    else {
        return Ok(None);
    };
    let shape = oxp_tool(&served).map_err(|error| Fault::Internal {
        cause: format!("served definition of tool {}: {error}", tool.id),
    })?;
    Ok(Some(ToolDefinition {
        id: format!("{id}@{version}"),
        name: tool.namespaced_name(),
        description: shape.description,
        version: version.to_string(),
        input_schema: shape.input_schema.map(|schema| schema.text),
        output_schema: shape.output_schema.map(|schema| schema.text),
        takes_user_of: takes_user_of(snapshot, tool),
    }))
}

/// What a definition takes on the wire beside texts of any length.
const FRAME_BYTES: usize = 256;

impl ToolDefinition {
    fn weight_bytes(&self) -> usize {
        let schemas = [&self.input_schema, &self.output_schema].into_iter().flatten();
        let schemas: usize = schemas.map(String::len).sum();
        FRAME_BYTES + self.id.len() + self.description.len() + schemas
    }
}
