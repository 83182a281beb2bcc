//! Units.

use serde::Serialize;
use toolgate_api_proto::v1;

/// `GetToolUnitResponse`, with the commands of all pages.
#[derive(Serialize)]
pub(crate) struct UnitAnswer<'a> {
    unit: ToolUnit<'a>,
    commands: Vec<Command<'a>>,
    revision: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolUnit<'a> {
    unit: &'a str,
    path: &'a str,
    description: &'a str,
    may: &'a [String],
    also: &'a [String],
    upstream_id: &'a str,
}

#[derive(Serialize)]
struct Command<'a> {
    name: &'a str,
    may: bool,
    description: &'a str,
    params: Vec<Param<'a>>,
}

#[derive(Serialize)]
struct Param<'a> {
    name: &'a str,
    r#type: &'a str,
    required: bool,
    default: &'a str,
    description: &'a str,
}

impl<'a> UnitAnswer<'a> {
    pub(crate) fn new(
        unit: &'a v1::ToolUnit,
        commands: &'a [v1::ToolUnitCommand],
        revision: &'a str,
    ) -> Self {
        Self { unit: unit.into(), commands: commands.iter().map(Command::from).collect(), revision }
    }
}

impl<'a> From<&'a v1::ToolUnit> for ToolUnit<'a> {
    fn from(unit: &'a v1::ToolUnit) -> Self {
        let v1::ToolUnit { unit, path, description, may, also, upstream_id } = unit;
        Self { unit, path, description, may, also, upstream_id }
    }
}

impl<'a> From<&'a v1::ToolUnitCommand> for Command<'a> {
    fn from(command: &'a v1::ToolUnitCommand) -> Self {
        let v1::ToolUnitCommand { name, may, description, params } = command;
        Self { name, may: *may, description, params: params.iter().map(Param::from).collect() }
    }
}

impl<'a> From<&'a v1::ToolUnitParam> for Param<'a> {
    fn from(param: &'a v1::ToolUnitParam) -> Self {
        let v1::ToolUnitParam { name, r#type, required, default, description } = param;
        Self { name, r#type, required: *required, default, description }
    }
}
