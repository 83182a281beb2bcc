//! `toolgate unit …`

use toolgate_api_proto::v1::{GetToolUnitRequest, ListToolUnitsRequest, ToolUnit, ToolUnitCommand};

use crate::args::UnitCommand;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::{COMMANDS_PER_PAGE, UNITS_PER_PAGE};
use crate::render::{json, text};

pub(crate) async fn run(
    command: UnitCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    match command {
        UnitCommand::List => list(json, connection, console).await,
        UnitCommand::Show { unit } => show(unit, json, connection, console).await,
    }
}

async fn list(
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let units = all(connection).await?;
    if json {
        let mut list = json::List::new("units");
        units.iter().try_for_each(|unit| list.push(console, &json::ToolUnit::from(unit)))?;
        return list.end(console);
    }
    let mut table = text::units();
    units.iter().for_each(|unit| table.push(text::unit_row(unit)));
    table.lines().try_for_each(|line| console.say(&line))
}

async fn all(connection: &mut Connection) -> Result<Vec<ToolUnit>, CommandError> {
    let mut request = ListToolUnitsRequest {
        client_id: connection.client_id.clone(),
        page_size: UNITS_PER_PAGE,
        ..Default::default()
    };
    let mut units = Vec::new();
    loop {
        let page = connection.catalog().await?.list_tool_units(call(request.clone())).await?.into_inner();
        units.extend(page.units);
        if page.next_page_token.is_empty() {
            return Ok(units);
        }
        request.page_token = page.next_page_token;
    }
}

async fn show(
    unit: String,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let (unit, commands, revision) = get(unit, connection).await?;
    match json {
        true => json::print(console, &json::UnitAnswer::new(&unit, &commands, &revision)),
        false => text::unit(&unit, &commands).iter().try_for_each(|line| console.say(line)),
    }
}

/// A unit with all its commands, and the revision of the last page.
async fn get(
    unit: String,
    connection: &mut Connection,
) -> Result<(ToolUnit, Vec<ToolUnitCommand>, String), CommandError> {
    let mut request = GetToolUnitRequest {
        unit,
        client_id: connection.client_id.clone(),
        page_size: COMMANDS_PER_PAGE,
        ..Default::default()
    };
    let mut commands = Vec::new();
    loop {
        let page = connection.catalog().await?.get_tool_unit(call(request.clone())).await?.into_inner();
        commands.extend(page.commands);
        if page.next_page_token.is_empty() {
            let unit = page.unit.ok_or(CommandError::Incomplete { field: "unit" })?;
            return Ok((unit, commands, page.revision));
        }
        request.page_token = page.next_page_token;
    }
}
