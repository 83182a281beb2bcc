//! The calls about units.

use tonic::Request;
use toolgate_api_proto::{WholeAnswer, v1 as pb};
use toolgate_catalog::{
    View,
    snapshot::PageSize,
    tool_units::{GetToolUnit, ListToolUnits, UnitReader, get_tool_unit, list_tool_units},
};
use toolgate_domain::{Caller, Fault, Scope, limits};

use super::{CatalogService, agent_bytes, list_size_bytes, view_byte};
use crate::{
    convert::{fields, tool_unit},
    tokens::{RequestDigest, digest},
};

impl CatalogService {
    pub(super) async fn list_tool_units(
        &self,
        caller: Caller,
        request: Request<pb::ListToolUnitsRequest>,
    ) -> Result<pb::ListToolUnitsResponse, Fault> {
        let whole = is_whole(&request);
        let ask = request.into_inner();
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let reader = reader(&caller);
        let of = digest_for(reader, b"tool units", "");
        let size = fields::page_size(ask.page_size, limits::UNITS_PAGE_SIZE, limits::MAX_UNITS_PAGE_SIZE)?;
        let size = if whole { PageSize::Whole } else { PageSize::AtMost(size) };
        let list = ListToolUnits { reader, after: tokens.open_unit_page(of, &ask.page_token)?, size };
        let min_revision = tokens.open_revision(&ask.min_revision, "min_revision")?;
        let snapshot = self.catalog.snapshot(client, min_revision).await?;
        let page_of = digest([&of[..], &list_size_bytes(size), ask.page_token.as_bytes()]);
        let etag = tokens.answer(page_of, snapshot.revision());
        let revision = tokens.revision(snapshot.revision());
        if ask.if_none_match == etag {
            let not_modified = true;
            return Ok(pb::ListToolUnitsResponse { revision, etag, not_modified, ..Default::default() });
        }
        // Off the threads that serve connections: every tool of the client is looked at.
        let page = tokio::task::spawn_blocking(move || list_tool_units(&snapshot, &list)).await;
        let page = page.map_err(|error| Fault::Internal { cause: error.to_string() })?;
        let next_page_token = page.more_after.map(|after| tokens.unit_page(of, &after)).unwrap_or_default();
        let units = page.units.into_iter().map(tool_unit::listed_to_proto).collect();
        Ok(pb::ListToolUnitsResponse { units, next_page_token, revision, etag, not_modified: false })
    }

    pub(super) async fn get_tool_unit(
        &self,
        caller: Caller,
        request: Request<pb::GetToolUnitRequest>,
    ) -> Result<pb::GetToolUnitResponse, Fault> {
        let whole = is_whole(&request);
        let ask = request.into_inner();
        if ask.unit.is_empty() {
            return Err(Fault::invalid("unit", "is required: a unit's address, as ListToolUnits gives it"));
        }
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let reader = reader(&caller);
        let of = digest_for(reader, b"tool unit", &ask.unit);
        let size = fields::page_size(ask.page_size, limits::TOOLS_PAGE_SIZE, limits::TOOLS_PAGE_SIZE)?;
        let size = if whole { PageSize::Whole } else { PageSize::AtMost(size) };
        let get =
            GetToolUnit { reader, unit: ask.unit, after: tokens.open_tool_page(of, &ask.page_token)?, size };
        let min_revision = tokens.open_revision(&ask.min_revision, "min_revision")?;
        let snapshot = self.catalog.snapshot(client, min_revision).await?;
        let page_of = digest([&of[..], &list_size_bytes(size), ask.page_token.as_bytes()]);
        let etag = tokens.answer(page_of, snapshot.revision());
        let revision = tokens.revision(snapshot.revision());
        if ask.if_none_match == etag {
            let not_modified = true;
            return Ok(pb::GetToolUnitResponse { revision, etag, not_modified, ..Default::default() });
        }
        // Off the threads that serve connections: schemas are inlined for each command.
        let detail = tokio::task::spawn_blocking(move || get_tool_unit(&snapshot, &get)).await;
        let detail = detail.map_err(|error| Fault::Internal { cause: error.to_string() })??;
        let next_page_token = detail.more_after.map(|after| tokens.tool_page(of, &after)).unwrap_or_default();
        let commands = detail.commands.into_iter().map(tool_unit::command_to_proto).collect();
        let unit = Some(tool_unit::to_proto(detail.unit));
        Ok(pb::GetToolUnitResponse { unit, commands, next_page_token, revision, etag, not_modified: false })
    }
}

fn is_whole<Q>(request: &Request<Q>) -> bool {
    request.extensions().get::<WholeAnswer>().is_some()
}

/// Every command is there for whoever may read the whole catalogue; for others what is served.
fn reader(caller: &Caller) -> UnitReader {
    let view = if caller.require(Scope::Read).is_ok() { View::Raw } else { View::Served };
    UnitReader { view, agent: caller.agent }
}

/// What the pages of one list, or of one unit, have in common.
fn digest_for(reader: UnitReader, kind: &[u8], unit: &str) -> RequestDigest {
    digest([kind, &view_byte(reader.view), agent_bytes(reader.agent.as_ref()), unit.as_bytes()])
}
