//! A server of the stateless revision, written with the SDK of other people, that changes while it is watched.

use std::process::Stdio;

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
};
use toolgate_api_proto::v1::UpstreamHealth;
use toolgate_test_support::{eventually::eventually, mcp_server::ScriptedServer, server::Server};

use crate::{
    installed::{Installed, own_file},
    real_servers::list_raw,
    report,
    steps::{entry, register, sync, tools, upstream},
};

const SLUG: &str = "modern";
const STATELESS: &str = "2026-07-28";

#[tokio::test]
async fn a_stateless_server_is_listed_exactly_but_for_a_misbound_header() {
    let Some(installed) = Installed::find("a server of revision 2026-07-28") else { return };
    let modern = ModernServer::start(&installed).await;
    let server = Server::start().await;
    register(&server, SLUG, &modern.url).await;
    sync(&server, SLUG).await;

    let raw = list_raw(&installed, &["http", &modern.url]).await;
    assert_eq!(raw.protocol_version, STATELESS);
    let (misbound, mut listed): (Vec<_>, Vec<_>) =
        raw.entries.into_iter().partition(|text| text.contains("misbound"));
    let mut kept = definitions(&server).await;
    kept.sort();
    listed.sort();
    assert_eq!((misbound.len(), kept.len()), (1, 2));
    assert_eq!(kept, listed);

    let upstream = upstream(&server, SLUG).await;
    assert_eq!((upstream.health(), upstream.last_error.as_str()), (UpstreamHealth::Ok, ""));
    assert_eq!(upstream.protocol_version, STATELESS);
    let [issue] = &upstream.sync_issues[..] else { panic!("{:?}", upstream.sync_issues) };
    assert_eq!((issue.code.as_str(), issue.tool_name.as_str()), ("X_MCP_HEADER_INVALID", "misbound"));
    report(&format!(
        "real server: mcp 2.3.0, revision {STATELESS}: {} definitions, exactly as listed",
        kept.len()
    ));
}

#[tokio::test]
async fn a_stateless_server_that_tells_of_a_change_is_listed_again_by_itself() {
    let Some(installed) = Installed::find("notices of a server of revision 2026-07-28") else { return };
    let mut modern = ModernServer::start(&installed).await;
    let server = Server::start().await;
    register(&server, SLUG, &modern.url).await;
    sync(&server, SLUG).await;
    for count in [3, 4] {
        modern.grow().await;
        eventually("the new tool is in the catalogue", async || {
            (definitions(&server).await.len() == count).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_session_server_that_tells_of_a_change_is_listed_again_by_itself() {
    let scripted = ScriptedServer::start().await;
    scripted.open_sessions();
    scripted.offer_notices();
    scripted.list(&[entry("a", "first")]);
    let server = Server::start().await;
    register(&server, SLUG, &scripted.url()).await;
    sync(&server, SLUG).await;
    scripted.list(&[entry("a", "first"), entry("b", "first")]);
    scripted.tell_changed();
    eventually("the new tool is in the catalogue", async || {
        (definitions(&server).await.len() == 2).then_some(())
    })
    .await;
}

async fn definitions(server: &Server) -> Vec<String> {
    tools(server).await.into_iter().map(|tool| tool.definition_json).collect()
}

/// `python/modern_server.py` on a free port of loopback; it ends with its standard input.
struct ModernServer {
    url: String,
    input: ChildStdin,
    _child: Child,
}

impl ModernServer {
    async fn start(installed: &Installed) -> Self {
        let mut child = Command::new(&installed.python)
            .arg(own_file("python/modern_server.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap().expect("the server says where it listens");
        Self { url, input: child.stdin.take().unwrap(), _child: child }
    }

    /// Adds a tool and tells those who listen.
    async fn grow(&mut self) {
        self.input.write_all(b"\n").await.unwrap();
    }
}
