//! All servers of the corpus at once, in every documented shape.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, future::join_all, stream};
use serde_json::{Value, value::RawValue};
use toolgate_api_proto::v1::{Tool, ToolState, UpstreamHealth};
use toolgate_definition::{Definition, projection::ServerTool};
use toolgate_test_support::{mcp_server::ScriptedServer, server::Server};

use crate::{
    installed::own_file,
    openapi::Schemas,
    report,
    steps::{approve, register, sync, tools, upstream},
};

/// The exact texts of every server's tools, by the server's name; `None` where the corpus is absent.
pub(crate) fn corpus() -> Option<BTreeMap<String, Vec<String>>> {
    let text = std::fs::read_to_string(own_file("../../shared/corpus/handed.jsonl")).ok()?;
    let mut servers = BTreeMap::<_, Vec<_>>::new();
    for line in text.lines() {
        let line: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
        servers.entry(line["server"].get().to_owned()).or_default().push(line["tool"].get().to_owned());
    }
    Some(servers)
}

/// Every server of the corpus, registered and listed.
struct Listed {
    server: Server,
    corpus: BTreeMap<String, Vec<String>>,
    /// In the order of the corpus.
    slugs: Vec<String>,
    _scripted: Vec<ScriptedServer>,
}

impl Listed {
    async fn new(corpus: BTreeMap<String, Vec<String>>) -> Self {
        let server = Server::start().await;
        let scripted = join_all(corpus.values().map(async |entries| {
            let scripted = ScriptedServer::start().await;
            scripted.list(entries);
            scripted
        }))
        .await;
        let slugs: Vec<String> = (0..corpus.len()).map(|n| format!("s-{n:02}")).collect();
        let both = slugs.iter().zip(&scripted);
        join_all(both.map(async |(slug, one)| register(&server, slug, &one.url()).await)).await;
        join_all(slugs.iter().map(|slug| sync(&server, slug))).await;
        Self { server, corpus, slugs, _scripted: scripted }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_servers_of_the_corpus_fit_every_shape_with_every_entry_accounted_for() {
    let Some(corpus) = corpus() else { return report("not run: all servers at once: corpus absent") };
    let listed = Listed::new(corpus).await;
    account_for_every_entry(&listed).await;

    let server = &listed.server;
    let all = tools(server).await;
    let approved = stream::iter(&all).map(|tool| approve(server, tool)).buffered(32);
    let refused = approved.filter(|answer| std::future::ready(answer.is_err())).count().await;
    assert!(refused < 20, "{refused} refused");
    let tools = tools(server).await;
    let schemas = Schemas::read(server).await;
    governs_every_tool(server, &schemas, &tools).await;
    let served: Vec<_> = tools.iter().filter(|tool| tool.state() == ToolState::Served).collect();
    assert!(served.len() > 1000, "{} served", served.len());
    defines_every_served_tool(server, &schemas, &served).await;
    tells_what_every_server_lists(&listed, &schemas, &tools).await;
    shows_every_tool_as_a_command(&listed, &schemas, &tools).await;
    report(&format!(
        "corpus: {} of {} tools are served, each valid in every shape",
        served.len(),
        tools.len()
    ));
}

/// Every entry is a tool with its exact text, an identical repeat of one, or told of by a sync issue.
async fn account_for_every_entry(Listed { server, corpus, slugs, .. }: &Listed) {
    let mut shown = BTreeMap::<_, BTreeMap<_, _>>::new();
    for tool in tools(server).await {
        shown.entry(tool.upstream_id).or_default().insert(tool.name, tool.definition_json);
    }
    let (mut entries_read, mut rows, mut repeats, mut in_issues) = (0, 0, 0, 0);
    for (slug, (name, entries)) in slugs.iter().zip(corpus) {
        let upstream = upstream(server, slug).await;
        assert_eq!(upstream.health(), UpstreamHealth::Ok, "{name}: {}", upstream.last_error);
        let shown = shown.remove(&upstream.id).unwrap_or_default();
        let excused: usize = upstream.sync_issues.iter().map(|issue| issue.entries as usize).sum();
        let faulty: BTreeSet<usize> =
            upstream.sync_issues.iter().map(|issue| issue.position as usize).collect();
        let mut first = BTreeMap::new();
        for (_, text) in entries.iter().enumerate().filter(|(position, _)| !faulty.contains(position)) {
            first.entry(Definition::parse(text).unwrap().name().to_owned()).or_insert(text);
        }
        assert_eq!(shown.len(), first.len(), "{name}");
        for (tool, text) in &first {
            assert!(shown[tool] == **text, "{name}: {tool} is not as it was listed");
        }
        let again = entries.len() - excused - first.len();
        assert_eq!(upstream.entries_read as usize, shown.len() + again + excused, "{name}");
        assert_eq!(upstream.entries_read as usize, entries.len(), "{name}");
        rows += shown.len();
        (entries_read, repeats, in_issues) =
            (entries_read + entries.len(), repeats + again, in_issues + excused);
    }
    assert!(shown.is_empty(), "tools of no server: {shown:?}");
    report(&format!(
        "corpus: {} servers, {entries_read} entries read = {rows} tools + {repeats} identical repeats + {in_issues} in \
         issues, every text equal",
        corpus.len()
    ));
}

fn members<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|one| one[name].as_str().unwrap()).collect()
}

/// The Roar shape.
async fn governs_every_tool(server: &Server, schemas: &Schemas, tools: &[Tool]) {
    let list = schemas.fitting(server, "/client/mcp/tools", "McpToolList").await;
    let ids: Vec<_> = tools.iter().map(|tool| &*tool.id).collect();
    assert_eq!(members(&list["data"], "id"), ids);
}

/// The Prisme shape: every entry that can be named, in its server's order, under the name that the catalogue has for it.
async fn tells_what_every_server_lists(listed: &Listed, schemas: &Schemas, tools: &[Tool]) {
    let Listed { server, corpus, slugs, .. } = listed;
    server.cli(&["agent", "create", "all"]).await.succeeded();
    for (slug, entries) in slugs.iter().zip(corpus.values()) {
        server.cli(&["agent", "attach", "all", slug]).await.succeeded();
        let path = format!("/v1/agents/all/tools/{slug}/capabilities");
        let list = schemas.fitting(server, &path, "ToolCapabilities").await;
        assert_eq!(list["status"], "ok", "{slug}");
        let mut seen = BTreeSet::new();
        let readable = entries.iter().filter_map(|entry| ServerTool::read(entry));
        let expected = readable.filter(|tool| seen.insert(tool.fingerprint)).map(|tool| tool.name);
        assert_eq!(members(&list["items"], "name"), expected.collect::<Vec<_>>(), "{slug}");
        let id = upstream(server, slug).await.id;
        let known: BTreeMap<_, _> = tools
            .iter()
            .filter(|tool| tool.upstream_id == id && tool.state() == ToolState::Served)
            .map(|tool| (&*tool.name, &*tool.namespaced_name))
            .collect();
        for item in list["items"].as_array().unwrap() {
            let known = known.get(item["name"].as_str().unwrap());
            assert!(known.is_none_or(|name| item["canonical_name"] == **name), "{item}");
        }
    }
}

/// The OXP shape.
async fn defines_every_served_tool(server: &Server, schemas: &Schemas, served: &[&Tool]) {
    let list = schemas.fitting(server, "/tools", "ToolDefinitionList").await;
    let names: Vec<_> = served.iter().map(|tool| &*tool.namespaced_name).collect();
    assert_eq!(members(&list["items"], "name"), names);
    let ids = members(&list["items"], "id");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "each id is one tool's");
    for item in list["items"].as_array().unwrap() {
        let is_versioned = item["id"].as_str().unwrap().split_once('@').unwrap().1 == item["version"];
        assert!(is_versioned && item["description"] != "", "{item}");
        for schema in ["input_schema", "output_schema"].iter().filter_map(|name| item.get(*name)) {
            assert!(["$ref", "$defs", "definitions"].iter().all(|word| schema.get(word).is_none()), "{item}");
        }
    }
}

/// The Melbis shape: each server a unit, each tool one of its commands, which may be used where it is served.
async fn shows_every_tool_as_a_command(listed: &Listed, schemas: &Schemas, tools: &[Tool]) {
    let Listed { server, slugs, .. } = listed;
    let list = schemas.fitting(server, "/tool_list", "ToolUnitList").await;
    let rows = list["tools"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), slugs.len());
    for slug in slugs {
        let address = format!("MCP_{}", slug.replace('-', "_").to_uppercase());
        let row = rows.iter().find(|row| row[0] == *address).unwrap();
        let id = upstream(server, slug).await.id;
        let of_unit = || tools.iter().filter(|tool| tool.upstream_id == id);
        for (column, may) in [(3, true), (4, false)] {
            let names = of_unit().filter(|tool| (tool.state() == ToolState::Served) == may);
            let names: Vec<_> = names.map(|tool| &*tool.name).collect();
            assert_eq!(row[column], Value::from(names), "{address}");
        }
        let unit = schemas.fitting(server, &format!("/tool_list?unit={address}"), "ToolUnit").await;
        let names: Vec<_> = of_unit().map(|tool| &*tool.name).collect();
        assert_eq!(members(&unit["commands"], "name"), names, "{address}");
    }
}
