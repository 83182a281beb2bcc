//! `ListToolUnits` and `GetToolUnit`: upstreams as units of the Melbis `tool_list`.

use prost::Message;
use prost_types::FieldMask;
use tonic::{Code, Status};
use toolgate_api_proto::{
    WholeAnswer,
    v1::{self as pb, tool_catalog_server::ToolCatalog, tool_governance_server::ToolGovernance},
};

use crate::ring::{ALL, Key, Ring, definition, http, reason, said};

async fn list(ring: &Ring, key: &Key, ask: pb::ListToolUnitsRequest) -> pb::ListToolUnitsResponse {
    said(ring.catalog.list_tool_units(key.asks(ask))).await.unwrap()
}

/// Address, `may` and `also` of every unit.
async fn units(ring: &Ring, key: &Key) -> Vec<(String, Vec<String>, Vec<String>)> {
    let units = list(ring, key, Default::default()).await.units;
    units.into_iter().map(|unit| (unit.unit, unit.may, unit.also)).collect()
}

async fn get(ring: &Ring, key: &Key, unit: &str) -> Result<pb::GetToolUnitResponse, Status> {
    let ask = pb::GetToolUnitRequest { unit: unit.into(), ..Default::default() };
    said(ring.catalog.get_tool_unit(key.asks(ask))).await
}

/// Names of a unit's commands, each with whether it may be used.
async fn commands(ring: &Ring, key: &Key, unit: &str) -> Vec<(String, bool)> {
    let commands = get(ring, key, unit).await.unwrap().commands;
    commands.into_iter().map(|command| (command.name, command.may)).collect()
}

fn row(unit: &str, may: &[&str], also: &[&str]) -> (String, Vec<String>, Vec<String>) {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    (unit.to_owned(), names(may), names(also))
}

async fn approve(ring: &Ring, key: &Key, names: &[&str]) {
    for tool in ring.tools(key).await {
        if names.contains(&tool.namespaced_name.as_str()) {
            ring.approve(key, &tool).await.unwrap();
        }
    }
}

/// Declares an upstream differently: display name, description, folders.
async fn declare(
    ring: &Ring,
    key: &Key,
    slug: &str,
    name: &str,
    description: &str,
    path: &[&str],
) -> pb::Upstream {
    let upstream = pb::Upstream {
        slug: slug.into(),
        display_name: name.into(),
        description: description.into(),
        path: path.iter().map(|folder| (*folder).to_owned()).collect(),
        ..Default::default()
    };
    let paths = ["display_name", "description", "path"].map(str::to_owned).into();
    let ask = pb::UpdateUpstreamRequest {
        upstream: Some(upstream),
        update_mask: Some(FieldMask { paths }),
        ..Default::default()
    };
    said(ring.governance.update_upstream(key.asks(ask))).await.unwrap().upstream.unwrap()
}

/// Two units: of the first, one tool is served, one drifted and one never approved; of the second, nothing is.
async fn half_served() -> (Ring, Key) {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let [a, b, c] = ["a", "b", "c"].map(|name| definition(name, "d"));
    ring.upstream(&key, "my-srv", &[&a, &b, &c]).await;
    ring.upstream(&key, "more", &[&a]).await;
    approve(&ring, &key, &["my-srv__a", "my-srv__b"]).await;
    ring.lists(&key, "my-srv", &[&a, &definition("b", "another"), &c]).await;
    (ring, key)
}

#[tokio::test]
async fn whoever_reads_the_catalogue_sees_every_command_split_by_what_may_be_used() {
    let (ring, key) = half_served().await;
    let all = [row("MCP_MY_SRV", &["a"], &["b", "c"]), row("MCP_MORE", &[], &["a"])];
    assert_eq!(units(&ring, &key).await, all);
    assert_eq!(units(&ring, &ring.key("", &["mcp:read"]).await).await, all);
    let of_first = [("a".to_owned(), true), ("b".to_owned(), false), ("c".to_owned(), false)];
    assert_eq!(commands(&ring, &key, "MCP_MY_SRV").await, of_first);
    assert_eq!(commands(&ring, &key, "MCP_MORE").await, [("a".to_owned(), false)]);
    ring.lists(&key, "my-srv", &[&definition("a", "d")]).await;
    assert_eq!(units(&ring, &key).await[0], all[0], "what is gone is known, and not to be used");
    ring.upstream(&key, "empty", &[]).await;
    assert_eq!(units(&ring, &key).await[2], row("MCP_EMPTY", &[], &[]));
}

#[tokio::test]
async fn law_04_for_an_agent_there_is_only_what_is_served_and_reaches_it() {
    let (ring, key) = half_served().await;
    let caller = ring.key("", &["mcp:call"]).await;
    let served = [row("MCP_MY_SRV", &["a"], &[])];
    assert_eq!(units(&ring, &caller).await, served);
    assert_eq!(commands(&ring, &caller, "MCP_MY_SRV").await, [("a".to_owned(), true)]);

    ring.agent(&key, "support", &["my-srv", "more"]).await;
    ring.agent(&key, "sales", &["more"]).await;
    let support = ring.agent_key("support").await;
    assert_eq!(units(&ring, &support).await, served);
    assert_eq!(commands(&ring, &support, "MCP_MY_SRV").await, [("a".to_owned(), true)]);
    let sales = ring.agent_key("sales").await;
    assert_eq!(units(&ring, &sales).await, []);

    for (key, unit) in
        [(&caller, "MCP_MORE"), (&support, "MCP_MORE"), (&sales, "MCP_MORE"), (&sales, "MCP_MY_SRV")]
    {
        let [there, nowhere] = [get(&ring, key, unit).await, get(&ring, key, "MCP_NOWHERE").await];
        assert_eq!(there.as_ref().unwrap_err().message(), nowhere.as_ref().unwrap_err().message());
        assert_eq!(reason(there), (Code::NotFound, "UPSTREAM_NOT_FOUND".to_owned()), "{unit}");
    }
}

#[tokio::test]
async fn law_05_units_hold_what_the_served_list_holds() {
    let (ring, key) = half_served().await;
    ring.agent(&key, "support", &["my-srv"]).await;
    for key in [ring.key("", &["mcp:call"]).await, ring.agent_key("support").await, key] {
        let served = pb::ListToolsRequest { view: pb::ToolView::Served.into(), ..Default::default() };
        let served = ring.list(&key, served).await.unwrap().tools.into_iter().map(|tool| tool.name);
        let may = list(&ring, &key, Default::default()).await.units.into_iter().flat_map(|unit| unit.may);
        assert_eq!(may.collect::<Vec<_>>(), served.collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn units_stand_in_the_order_of_the_tree_each_under_its_folders() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    for slug in ["a", "b", "c", "d", "e"] {
        ring.upstream(&key, slug, &[]).await;
        ring.clock.advance_ms(1);
    }
    let long = format!("What it is for. {}", "word ".repeat(40).trim());
    let declared = declare(&ring, &key, "a", "Scheduler", &long, &["Business", "Time"]).await;
    assert_eq!(
        (&*declared.description, &declared.path),
        (&*long, &vec!["Business".to_owned(), "Time".to_owned()])
    );
    declare(&ring, &key, "b", "", "", &["Business"]).await;
    declare(&ring, &key, "c", " - Root\t", "", &[]).await;
    declare(&ring, &key, "d", "First", "", &["Business"]).await;
    let found = list(&ring, &key, Default::default()).await.units;
    let places: Vec<_> = found.iter().map(|unit| (&*unit.unit, &*unit.path)).collect();
    let expected = [
        ("MCP_C", "Root"),
        ("MCP_E", "e"),
        ("MCP_B", "Business -> b"),
        ("MCP_D", "Business -> First"),
        ("MCP_A", "Business -> Time -> Scheduler"),
    ];
    assert_eq!(places, expected);
    assert_eq!((&*found[4].description, &*found[4].upstream_id), ("What it is for.", &*declared.id));
    let whole = get(&ring, &key, "MCP_A").await.unwrap().unit.unwrap();
    assert_eq!((&*whole.description, &*whole.path), (&*long, expected[4].1));
    assert!(whole.may.is_empty() && whole.also.is_empty());
    let [after, again] = [
        list(&ring.restarted().await, &key, Default::default()).await,
        list(&ring, &key, Default::default()).await,
    ];
    assert_eq!((after.units, again.units), (found.clone(), found));
}

#[tokio::test]
async fn law_06_a_command_takes_what_agents_read() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let listed = r#"{"name":"a.b","title":"T","inputSchema":{"type":"object","properties":
        {"org":{"type":"string"},"q":{"type":["integer","null"],"default":0,"description":"how many"}},"required":["org","q"]}}"#;
    ring.upstream(&key, "srv", &[listed]).await;
    let tool = ring.tools(&key).await.remove(0);
    let id = tool.id.clone();
    let lock = pb::UpdateToolLocksRequest {
        id: id.clone(),
        set_json: r#"{"org":"s3cr3t"}"#.into(),
        ..Default::default()
    };
    said(ring.governance.update_tool_locks(key.asks(lock))).await.unwrap();
    let name =
        pb::RenameToolRequest { id: id.clone(), served_name: Some("find".into()), ..Default::default() };
    said(ring.governance.rename_tool(key.asks(name))).await.unwrap();
    let params = vec![pb::ToolUnitParam {
        name: "q".into(),
        r#type: "int/null".into(),
        required: true,
        default: "0".into(),
        description: "how many".into(),
    }];
    let command = |may, description: &str| pb::ToolUnitCommand {
        name: "a.b".into(),
        may,
        description: description.into(),
        params: params.clone(),
    };
    assert_eq!(
        get(&ring, &key, "MCP_SRV").await.unwrap().commands,
        [command(false, "T")],
        "before it is served"
    );
    ring.approve(&key, &tool).await.unwrap();
    assert_eq!(get(&ring, &key, "MCP_SRV").await.unwrap().commands, [command(true, "T")]);
    let described =
        pb::SetToolDescriptionRequest { id, description: Some("Finds.".into()), ..Default::default() };
    said(ring.governance.set_tool_description(key.asks(described))).await.unwrap();
    assert_eq!(get(&ring, &key, "MCP_SRV").await.unwrap().commands, [command(true, "Finds.")]);
}

#[tokio::test]
async fn a_unit_is_found_by_its_exact_address_alone() {
    let (ring, key) = half_served().await;
    assert!(get(&ring, &key, "MCP_MY_SRV").await.is_ok());
    for other in
        ["MCP_MY-SRV", "mcp_my_srv", "MCP_my_srv", "MY_SRV", "my-srv", "MCP_", "MCP_MY_SRV ", "MCP_MORE__A"]
    {
        assert_eq!(reason(get(&ring, &key, other).await).1, "UPSTREAM_NOT_FOUND", "{other:?}");
    }
    assert_eq!(reason(get(&ring, &key, "").await), (Code::InvalidArgument, "FIELD_INVALID".to_owned()));
    let client = ring.client(2).await;
    let theirs = ring.key(&client, &ALL).await;
    assert_eq!(reason(get(&ring, &theirs, "MCP_MY_SRV").await).1, "UPSTREAM_NOT_FOUND", "law 10");
}

#[tokio::test]
async fn a_place_or_a_description_that_cannot_be_is_refused_by_its_field() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let fields = |status: Status| {
        let details = tonic_types::StatusExt::get_details_bad_request(&status).unwrap();
        details.field_violations.into_iter().map(|violation| violation.field).collect::<Vec<_>>()
    };
    let path = vec!["fine".to_owned(), "a -> b".to_owned()];
    let made = pb::CreateUpstreamRequest { description: " ".into(), path: path.clone(), ..http("srv", &[]) };
    let refused = said(ring.governance.create_upstream(key.asks(made))).await.unwrap_err();
    assert_eq!(fields(refused), ["description", "path[1]"]);
    let made =
        pb::CreateUpstreamRequest { description: "d".into(), path: vec!["p".into()], ..http("srv", &[]) };
    let made = said(ring.governance.create_upstream(key.asks(made))).await.unwrap().upstream.unwrap();
    assert_eq!((&*made.description, &*made.path), ("d", &["p".to_owned()][..]));
    let upstream = pb::Upstream { id: made.id, description: " ".into(), path, ..Default::default() };
    let paths = vec!["description".to_owned(), "path".to_owned()];
    let update = pb::UpdateUpstreamRequest {
        upstream: Some(upstream),
        update_mask: Some(FieldMask { paths }),
        ..Default::default()
    };
    let refused = said(ring.governance.update_upstream(key.asks(update))).await.unwrap_err();
    assert_eq!(fields(refused), ["upstream.description", "upstream.path[1]"]);
}

#[tokio::test]
async fn law_13_an_etag_is_good_until_something_changes_and_for_its_own_reader() {
    let (ring, key) = half_served().await;
    let first = list(&ring, &key, Default::default()).await;
    assert_eq!(list(&ring, &key, Default::default()).await, first);
    let ask = pb::ListToolUnitsRequest { if_none_match: first.etag.clone(), ..Default::default() };
    let same = list(&ring, &key, ask.clone()).await;
    assert!(same.not_modified && same.units.is_empty() && same.etag == first.etag);
    let caller = ring.key("", &["mcp:call"]).await;
    assert!(!list(&ring, &caller, ask.clone()).await.not_modified, "it sees less");
    let unit = get(&ring, &key, "MCP_MORE").await.unwrap();
    let one = pb::GetToolUnitRequest {
        unit: "MCP_MORE".into(),
        if_none_match: unit.etag.clone(),
        ..Default::default()
    };
    let same = said(ring.catalog.get_tool_unit(key.asks(one.clone()))).await.unwrap();
    assert!(same.not_modified && same.unit.is_none() && same.commands.is_empty() && same.etag == unit.etag);
    let other = pb::GetToolUnitRequest { unit: "MCP_MY_SRV".into(), ..one.clone() };
    assert!(!said(ring.catalog.get_tool_unit(key.asks(other))).await.unwrap().not_modified);
    declare(&ring, &key, "more", "More", "", &[]).await;
    assert!(!list(&ring, &key, ask).await.not_modified);
    assert!(!said(ring.catalog.get_tool_unit(key.asks(one))).await.unwrap().not_modified);
}

#[tokio::test]
async fn pages_hold_every_unit_and_command_once_and_a_whole_answer_has_no_pages() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let entries: Vec<_> = (0..5).map(|n| definition(&format!("t{n}"), &"x".repeat(200_000))).collect();
    let entries: Vec<_> = entries.iter().map(String::as_str).collect();
    for (slug, folders) in [("a", &["F", "G"][..]), ("b", &[]), ("c", &["F"])] {
        ring.upstream(&key, slug, &entries).await;
        declare(&ring, &key, slug, "", "", folders).await;
    }
    let (mut ask, mut found) = (pb::ListToolUnitsRequest { page_size: 1, ..Default::default() }, Vec::new());
    loop {
        let page = list(&ring, &key, ask.clone()).await;
        found.extend(page.units.into_iter().map(|unit| unit.unit));
        if page.next_page_token.is_empty() {
            break;
        }
        ask.page_token = page.next_page_token;
    }
    assert_eq!(found, ["MCP_B", "MCP_C", "MCP_A"]);
    let large: Vec<_> = (0..20).map(|n| definition(&format!("t{n:02}"), &"x".repeat(250_000))).collect();
    ring.lists(&key, "a", &large.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let (mut ask, mut found) =
        (pb::GetToolUnitRequest { unit: "MCP_A".into(), ..Default::default() }, Vec::new());
    loop {
        let page = said(ring.catalog.get_tool_unit(key.asks(ask.clone()))).await.unwrap();
        assert!(page.encoded_len() < 4 * 1024 * 1024, "{}", page.encoded_len());
        found.extend(page.commands);
        if page.next_page_token.is_empty() {
            break;
        }
        ask.page_token = page.next_page_token;
    }
    // Those that are no longer listed are known too.
    assert_eq!(found.len(), 25);
    let mut whole = key.asks(pb::GetToolUnitRequest { page_token: String::new(), ..ask });
    whole.extensions_mut().insert(WholeAnswer);
    let whole = said(ring.catalog.get_tool_unit(whole)).await.unwrap();
    assert!(whole.encoded_len() > 4 * 1024 * 1024 && whole.next_page_token.is_empty());
    assert_eq!(whole.commands, found);
}
