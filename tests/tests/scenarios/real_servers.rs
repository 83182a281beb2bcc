//! Servers of other people. What the catalogue keeps of each is compared with that server's own answer, which a script of
//! the standard library fetches on its own: same revision, same empty capabilities.

use std::{path::Path, process::Stdio};

use serde::Deserialize;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};
use toolgate_api_proto::v1::UpstreamHealth;
use toolgate_test_support::server::Server;

use crate::{
    installed::{Installed, own_file, search_path},
    report,
    steps::{register, register_stdio, sync, tools, upstream},
};

const SLUG: &str = "real";
/// Some of them take their time to start on a busy machine.
pub(crate) const CONNECT_TIMEOUT: &str = "TOOLGATE_SYNC_CONNECT_TIMEOUT_MS";
pub(crate) const PATIENT_MS: &str = "60000";

/// A server's own answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Raw {
    pub(crate) protocol_version: String,
    pub(crate) entries: Vec<String>,
}

#[tokio::test]
async fn server_everything_over_stdio_is_listed_exactly() {
    let Some(installed) = Installed::find("server-everything over stdio") else { return };
    let file = installed.npm_server("server-everything");
    over_stdio("server-everything (stdio)", &installed, &[&node(&installed), &file, "stdio"]).await;
}

#[tokio::test]
async fn server_filesystem_is_listed_exactly() {
    let Some(installed) = Installed::find("server-filesystem") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = installed.npm_server("server-filesystem");
    over_stdio("server-filesystem", &installed, &[&node(&installed), &file, text(folder.path())]).await;
}

#[tokio::test]
async fn server_memory_is_listed_exactly() {
    let Some(installed) = Installed::find("server-memory") else { return };
    let file = installed.npm_server("server-memory");
    over_stdio("server-memory", &installed, &[&node(&installed), &file]).await;
}

#[tokio::test]
async fn mcp_server_time_is_listed_exactly() {
    let Some(installed) = Installed::find("mcp-server-time") else { return };
    let python = text(&installed.python);
    over_stdio("mcp-server-time", &installed, &[python, "-m", "mcp_server_time", "--local-timezone", "UTC"])
        .await;
}

#[tokio::test]
async fn mcp_server_git_is_listed_exactly() {
    let Some(installed) = Installed::find("mcp-server-git") else { return };
    let repository = tempfile::tempdir().unwrap();
    let made = Command::new("git").args(["init", "--quiet"]).arg(repository.path()).status().await;
    assert!(made.unwrap().success());
    let python = text(&installed.python);
    let command = [python, "-m", "mcp_server_git", "--repository", text(repository.path())];
    over_stdio("mcp-server-git", &installed, &command).await;
}

#[tokio::test]
async fn server_everything_over_http_is_listed_exactly() {
    let Some(installed) = Installed::find("server-everything over Streamable HTTP") else { return };
    let (_child, url) = everything_over_http(&installed).await;
    let server = Server::builder().env(CONNECT_TIMEOUT, PATIENT_MS).start().await;
    register(&server, SLUG, &url).await;
    let raw = list_raw(&installed, &["http", &url]).await;
    compare("server-everything (Streamable HTTP)", &server, raw).await;
}

/// Registers the server with the one command allowed, and compares.
async fn over_stdio(name: &str, installed: &Installed, command: &[&str]) {
    let home = TempDir::new().unwrap();
    let env = [("PATH".to_owned(), search_path()), ("HOME".to_owned(), text(home.path()).to_owned())];
    let server = Server::builder().allow_stdio(command).env(CONNECT_TIMEOUT, PATIENT_MS).start().await;
    let words: Vec<_> = command.iter().map(|word| (*word).to_owned()).collect();
    register_stdio(&server, SLUG, &words, &env).await;

    let env = env.map(|(name, value)| format!("{name}={value}"));
    let options: Vec<_> = env.iter().flat_map(|pair| ["--env", pair]).collect();
    let arguments = [&["stdio"], options.as_slice(), &["--"], command].concat();
    compare(name, &server, list_raw(installed, &arguments).await).await;
}

/// Every entry of the server's own answer is a tool with exactly that text, and there is no other tool.
async fn compare(name: &str, server: &Server, raw: Raw) {
    sync(server, SLUG).await;
    let upstream = upstream(server, SLUG).await;
    assert_eq!((upstream.health(), upstream.last_error.as_str()), (UpstreamHealth::Ok, ""));
    assert_eq!(upstream.protocol_version, raw.protocol_version);
    assert_eq!(upstream.sync_issues, []);

    let mut kept: Vec<_> = tools(server).await.into_iter().map(|tool| tool.definition_json).collect();
    let mut listed = raw.entries;
    kept.sort();
    listed.sort();
    assert!(!listed.is_empty());
    assert_eq!(kept, listed);
    let bytes: usize = kept.iter().map(String::len).sum();
    report(&format!(
        "real server: {name}, revision {}: {} definitions, {bytes} bytes, all exactly as listed",
        raw.protocol_version,
        kept.len()
    ));
}

pub(crate) async fn list_raw(installed: &Installed, arguments: &[&str]) -> Raw {
    let output = Command::new(&installed.python)
        .arg(own_file("python/list_raw.py"))
        .args(arguments)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A fresh process on a free port of loopback, killed when dropped.
pub(crate) async fn everything_over_http(installed: &Installed) -> (Child, String) {
    let mut child = Command::new(&installed.node)
        .env("PORT", "0")
        .arg("--import")
        .arg(own_file("node/loopback.mjs"))
        .args([&installed.npm_server("server-everything"), "streamableHttp"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    loop {
        let line = lines.next_line().await.unwrap().expect("the server says where it listens");
        if let Some(address) = line.strip_prefix("listening on ") {
            let url = format!("http://{address}/mcp");
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (child, url);
        }
    }
}

fn node(installed: &Installed) -> String {
    text(&installed.node).to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
