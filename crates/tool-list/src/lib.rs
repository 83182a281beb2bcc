//! The documented answers of Melbis `tool_list`, so that every face says them in the same bytes.
//!
//! An answer has a first block, which is JSON ([`list`], [`unit`]), and, where a list is empty, a second one
//! ([`nothing_here`]). A refusal is one line of text ([`no_such_tool`], [`NO_RIGHT`]). Every member always stands: an absent
//! text is `""`, an absent list `[]`, and `files` is `null`, because a command of ours takes no attachments.
//!
//! This crate must know the contract alone: no transport, and nothing of who may see what.

use serde::Serialize;
use toolgate_api_proto::v1::{ToolUnit, ToolUnitCommand, ToolUnitParam};

/// The name of the call, and of the tool that agents have for it.
pub const NAME: &str = "tool_list";

/// The refusal of whoever may read no list.
pub const NO_RIGHT: &str = "ACCESS_DENIED: reading the AI tools takes the [AGENT_TOOL_LIST] right of the store - in the \
                            program that right is AI Assistant -> Tools -> Get list";

/// The refusal of an address that leads nowhere, or nowhere for the caller.
pub fn no_such_tool(unit: &str) -> String {
    format!("ACCESS_DENIED: no such tool: {unit}")
}

/// The second block of a list without tools. `grant` is a window of the program and a tab in it, parted by ` -> `.
pub fn nothing_here(grant: &str) -> String {
    let place = match grant.split_once(" -> ") {
        Some((window, tab)) => format!("window {window}, tab {tab}"),
        None => grant.to_owned(),
    };
    format!("This store has no AI-tools of its own yet. They are created in the program: {place}.")
}

#[derive(Serialize)]
struct List<'a> {
    grant: &'a str,
    tools: Table<UnitRow<'a>>,
}

#[derive(Serialize)]
struct Unit<'a> {
    unit: &'a str,
    path: &'a str,
    descr: &'a str,
    commands: Vec<Command<'a>>,
}

#[derive(Serialize)]
struct Command<'a> {
    name: &'a str,
    may: bool,
    descr: &'a str,
    params: Table<ParamRow<'a>>,
    files: (),
}

/// Every table has five columns.
#[derive(Serialize)]
struct Table<R> {
    columns: [&'static str; 5],
    rows: Vec<R>,
}

type UnitRow<'a> = (&'a str, &'a str, &'a str, &'a [String], &'a [String]);
type ParamRow<'a> = (&'a str, &'a str, bool, &'a str, &'a str);

/// The first block of a list of units, in their order. `grant` says where in the program the tools are created and the
/// rights to their commands granted.
pub fn list(grant: &str, units: &[ToolUnit]) -> String {
    let columns = ["unit", "path", "descr", "may", "also"];
    to_text(&List { grant, tools: Table { columns, rows: units.iter().map(unit_row).collect() } })
}

fn unit_row(unit: &ToolUnit) -> UnitRow<'_> {
    (&unit.unit, &unit.path, &unit.description, &unit.may, &unit.also)
}

/// The first block of one unit with its commands, in their order.
pub fn unit(unit: &ToolUnit, commands: &[ToolUnitCommand]) -> String {
    let commands = commands.iter().map(Command::from).collect();
    to_text(&Unit { unit: &unit.unit, path: &unit.path, descr: &unit.description, commands })
}

impl<'a> From<&'a ToolUnitCommand> for Command<'a> {
    fn from(command: &'a ToolUnitCommand) -> Self {
        let columns = ["name", "type", "required", "default", "descr"];
        let params = Table { columns, rows: command.params.iter().map(param_row).collect() };
        Self { name: &command.name, may: command.may, descr: &command.description, params, files: () }
    }
}

fn param_row(param: &ToolUnitParam) -> ParamRow<'_> {
    (&param.name, &param.r#type, param.required, &param.default, &param.description)
}

fn to_text(shape: &impl Serialize) -> String {
    serde_json::to_string(shape).expect("strings, booleans and lists of them are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduler() -> ToolUnit {
        ToolUnit {
            unit: "MCP_TASKS".into(),
            path: "Business -> Scheduler".into(),
            description: "Tasks, and \"notes\" under each.".into(),
            may: vec!["CmdList".into(), "add.note".into()],
            also: vec!["drop".into()],
            upstream_id: "019c1b2a-0000-7000-8000-000000000002".into(),
        }
    }

    fn command() -> ToolUnitCommand {
        let param = |name: &str, r#type: &str, required, default: &str| ToolUnitParam {
            name: name.into(),
            r#type: r#type.into(),
            required,
            default: default.into(),
            description: format!("of {name}"),
        };
        let params = vec![param("name", "str", true, ""), param("kind.key", "int/null", false, "\"\"")];
        ToolUnitCommand {
            name: "add".into(),
            may: true,
            description: "Adds a task.\nOpens it.".into(),
            params,
        }
    }

    #[test]
    fn a_list_has_the_documented_members_and_no_other() {
        let bare = ToolUnit { unit: "MCP_BARE".into(), path: "bare".into(), ..Default::default() };
        let expected = concat!(
            r#"{"grant":"Development -> AI Components","#,
            r#""tools":{"columns":["unit","path","descr","may","also"],"rows":["#,
            r#"["MCP_TASKS","Business -> Scheduler","Tasks, and \"notes\" under each.",["CmdList","add.note"],["drop"]],"#,
            r#"["MCP_BARE","bare","",[],[]]]}}"#
        );
        assert_eq!(list("Development -> AI Components", &[scheduler(), bare]), expected);
        let empty = r#"{"grant":"G","tools":{"columns":["unit","path","descr","may","also"],"rows":[]}}"#;
        assert_eq!(list("G", &[]), empty);
    }

    #[test]
    fn a_unit_has_the_documented_members_and_no_other() {
        let bare = ToolUnitCommand { name: "bare".into(), ..Default::default() };
        let expected = concat!(
            r#"{"unit":"MCP_TASKS","path":"Business -> Scheduler","descr":"Tasks, and \"notes\" under each.","commands":["#,
            r#"{"name":"add","may":true,"descr":"Adds a task.\nOpens it.","#,
            r#""params":{"columns":["name","type","required","default","descr"],"#,
            r#""rows":[["name","str",true,"","of name"],["kind.key","int/null",false,"\"\"","of kind.key"]]},"files":null},"#,
            r#"{"name":"bare","may":false,"descr":"","#,
            r#""params":{"columns":["name","type","required","default","descr"],"rows":[]},"files":null}]}"#
        );
        assert_eq!(unit(&scheduler(), &[command(), bare]), expected);
        let empty = r#"{"unit":"","path":"","descr":"","commands":[]}"#;
        assert_eq!(unit(&ToolUnit::default(), &[]), empty);
    }

    #[test]
    fn an_empty_store_is_told_the_window_and_the_tab() {
        let hint = "This store has no AI-tools of its own yet. They are created in the program: ";
        let named = [
            ("Development -> AI Components", "window Development, tab AI Components."),
            ("Settings -> Tools -> AI", "window Settings, tab Tools -> AI."),
            ("toolgate upstream add", "toolgate upstream add."),
        ];
        for (grant, place) in named {
            assert_eq!(nothing_here(grant), format!("{hint}{place}"));
        }
    }

    #[test]
    fn refusals_are_the_documented_lines() {
        assert_eq!(no_such_tool("MCP_NONE"), "ACCESS_DENIED: no such tool: MCP_NONE");
        assert_eq!(
            NO_RIGHT,
            "ACCESS_DENIED: reading the AI tools takes the [AGENT_TOOL_LIST] right of the store - in the program that right is AI Assistant -> Tools -> Get list"
        );
    }
}
