//! What can be asked, in either era.

use bytes::Bytes;
use serde_json::json;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;

use crate::caller::Caller;
use crate::endpoint::Face;
use crate::limits::{DISCOVERY_TTL_MS, LIST_TTL_MS};
use crate::message::Params;
use crate::refusal::Refusal;
use crate::{pages, service};

/// What the server offers: tools, word of their changes, and what their servers log of a call.
pub(crate) const CAPABILITIES: &str = r#"{"logging":{},"tools":{"listChanged":true}}"#;

/// What is known to both eras, beside calls.
pub(crate) enum Method {
    ListTools,
}

/// A result: its members without the braces, and how long it is fresh where it may be kept.
pub(crate) struct Outcome {
    pub(crate) members: Bytes,
    pub(crate) fresh_for_ms: Option<u64>,
}

impl Method {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "tools/list" => Some(Self::ListTools),
            _ => None,
        }
    }

    /// Asks the service, who judges the credential.
    pub(crate) async fn run<C: ToolCatalog>(
        self,
        face: &Face<C>,
        caller: &Caller,
        params: Params<'_>,
    ) -> Result<Outcome, Refusal> {
        match self {
            Self::ListTools => {
                let cursor = params.string("cursor")?;
                let members = pages::page(&*face.catalog, &face.pages, caller, cursor.as_deref()).await?;
                Ok(Outcome { members, fresh_for_ms: Some(LIST_TTL_MS) })
            }
        }
    }
}

/// `server/discover`
pub(crate) async fn discover<C: ToolCatalog>(face: &Face<C>, caller: &Caller) -> Result<Outcome, Refusal> {
    service::admit(&*face.catalog, caller).await?;
    let versions = json!(face.supported());
    let members = format!(r#""supportedVersions":{versions},"capabilities":{CAPABILITIES}"#);
    Ok(Outcome { members: members.into(), fresh_for_ms: Some(DISCOVERY_TTL_MS) })
}
