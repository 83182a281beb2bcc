use serde_json::json;
use toolgate_api_proto::v1::{ToolUnit, ToolUnitCommand, ToolUnitParam};
use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, id};

async fn start() -> Double {
    let unit = |name: &str, path: &str| ToolUnit {
        unit: name.to_owned(),
        path: path.to_owned(),
        description: "Files\u{1b}[2J.".to_owned(),
        may: vec!["read".to_owned()],
        also: vec!["drop".to_owned(), "write".to_owned()],
        upstream_id: id(1),
    };
    let param = ToolUnitParam {
        name: "kind.key".to_owned(),
        r#type: "int/null".to_owned(),
        required: true,
        default: "0".to_owned(),
        description: "of it".to_owned(),
    };
    let read = ToolUnitCommand {
        name: "read".to_owned(),
        may: true,
        description: "Reads.\nAll of it.".to_owned(),
        params: vec![param],
    };
    let drop = ToolUnitCommand { name: "drop".to_owned(), ..Default::default() };
    let units =
        vec![(unit("MCP_GH", "gh"), Vec::new()), (unit("MCP_FILES", "Business -> Files"), vec![drop, read])];
    Double::start(Script { units, ..Default::default() }).await
}

#[tokio::test]
async fn units_are_listed_over_all_pages() {
    let double = start().await;
    let listed = double.run(&["unit", "list"]).await;
    let expected = concat!(
        "UNIT       PATH               MAY  ALSO  DESCRIPTION\n",
        "MCP_GH     gh                 1    2     Files\\u{1b}[2J.\n",
        "MCP_FILES  Business -> Files  1    2     Files\\u{1b}[2J.\n",
    );
    assert_eq!((listed.out.as_str(), listed.exit), (expected, Exit::Ok));
    let json: serde_json::Value =
        serde_json::from_str(&double.run(&["--json", "unit", "list"]).await.out).unwrap();
    let unit = json!({
        "unit": "MCP_GH", "path": "gh", "description": "Files\u{1b}[2J.", "may": ["read"], "also": ["drop", "write"],
        "upstreamId": id(1),
    });
    assert_eq!((json["units"].as_array().unwrap().len(), &json["units"][0]), (2, &unit));
}

#[tokio::test]
async fn a_unit_is_shown_with_what_its_commands_take() {
    let double = start().await;
    let shown = double.run(&["unit", "show", "MCP_FILES"]).await.out;
    let commands = concat!(
        "drop  may not be used\n",
        "read  may be used\n",
        "  Reads.\n",
        "  All of it.\n",
        "  INPUT     TYPE      REQUIRED  DEFAULT  DESCRIPTION\n",
        "  kind.key  int/null  yes       0        of it\n",
    );
    assert!(shown.contains("Business -> Files") && shown.ends_with(commands), "{shown}");
    let json = double.run(&["--json", "unit", "show", "MCP_FILES"]).await.out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["unit"]["unit"], &json["revision"]), (&json!("MCP_FILES"), &json!("r8")));
    assert_eq!(json["commands"][0], json!({"name": "drop", "may": false, "description": "", "params": []}));
    let param = json!({"name": "kind.key", "type": "int/null", "required": true, "default": "0", "description": "of it"});
    assert_eq!(json["commands"][1]["params"], json!([param]));
    assert_eq!(double.run(&["unit", "show", "MCP_NONE"]).await.exit, Exit::NotFound);
}
