//! Units to the wire.

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::tool_units::{ListedUnit, ToolUnit, ToolUnitCommand};
use toolgate_definition::projection::MelbisParam;

/// The message of a unit, without its commands.
pub(crate) fn to_proto(unit: ToolUnit) -> pb::ToolUnit {
    let ToolUnit { upstream, unit, path, description } = unit;
    let (may, also) = (Vec::new(), Vec::new());
    pb::ToolUnit { unit, path, description, may, also, upstream_id: upstream.to_string() }
}

/// The message of a unit in a list.
pub(crate) fn listed_to_proto(listed: ListedUnit) -> pb::ToolUnit {
    let ListedUnit { unit, may, also } = listed;
    pb::ToolUnit { may, also, ..to_proto(unit) }
}

/// The message of a command.
pub(crate) fn command_to_proto(command: ToolUnitCommand) -> pb::ToolUnitCommand {
    let ToolUnitCommand { name, may, description, params } = command;
    let params = params.into_iter().map(param_to_proto).collect();
    pb::ToolUnitCommand { name, may, description, params }
}

fn param_to_proto(param: MelbisParam) -> pb::ToolUnitParam {
    let MelbisParam { name, value_type, required, default, descr } = param;
    pb::ToolUnitParam { name, r#type: value_type, required, default, description: descr }
}
