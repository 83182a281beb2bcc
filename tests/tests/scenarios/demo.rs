//! `toolgate demo`: the first thing that a stranger runs, and what it tells them to run next.

use std::process::Stdio;

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};
use toolgate_test_support::{
    eventually::PATIENCE,
    server::{Finished, run, terminate, toolgate},
};

const ANY_PORT: &str = "127.0.0.1:0";

#[tokio::test]
async fn the_demo_shows_a_tool_in_each_state_and_the_commands_that_it_names_work() {
    let mut command =
        toolgate(&["demo", "--http-addr", ANY_PORT, "--grpc-addr", ANY_PORT, "--admin-addr", ANY_PORT]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut demo = command.spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut said = Vec::new();
    while !said.last().is_some_and(|line: &String| line.contains("stay up")) {
        said.push(timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().expect("the demo stays up"));
    }

    let state_of = |name: &str| {
        let row =
            said.iter().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {said:#?}"));
        row[24..].split_whitespace().next().unwrap().to_owned()
    };
    for (name, state) in [
        ("sample__alarm_ring", "removed"),
        ("sample__report_print", "lock_mismatch"),
        ("sample__forecast", "served"),
        ("sample__notes_erase", "disabled"),
        ("sample__notes_list", "unapproved"),
        ("sample__notes_send", "drifted"),
        ("sample__station reset", "bad_name"),
    ] {
        assert_eq!(state_of(name), state);
    }
    assert_eq!(said.iter().filter(|line| *line == "HTTP/1.1 200 OK").count(), 4, "{said:#?}");
    for shape in [
        r#"{"data":[{"id":"#,
        r#"{"status":"ok","#,
        r#"{"$schema":"urn:oxp:1.0","#,
        r#"{"unit":"MCP_SAMPLE""#,
    ] {
        assert!(said.iter().any(|line| line.replace(' ', "").starts_with(shape)), "{shape}: {said:#?}");
    }

    let export = said.iter().find_map(|line| line.trim().strip_prefix("export ")).unwrap();
    let (endpoint, key_file) = export.split_once(" TOOLGATE_KEY=$(cat ").unwrap();
    let endpoint = endpoint.strip_prefix("TOOLGATE_ENDPOINT=").unwrap();
    let key_file = key_file.strip_suffix(')').unwrap();
    let cli = async |args: &[&str]| -> Finished {
        run(toolgate(&[&["--endpoint", endpoint, "--key-file", key_file], args].concat())).await
    };
    assert!(cli(&["tool", "list"]).await.succeeded().contains("sample__notes_send"));
    for named in said.iter().filter_map(|line| line.trim().strip_prefix("toolgate agent ")) {
        let words: Vec<_> = named.split_whitespace().collect();
        cli(&[&["agent"], &*words].concat()).await.succeeded();
    }
    let named = said.iter().any(|line| line.trim().starts_with("toolgate tool live helper sample"));
    let live = cli(&["tool", "live", "helper", "sample"]).await.succeeded();
    assert!(named && live.contains("sample__station_reset") && !live.contains("alarm_ring"), "{live}");
    let key = cli(&["key", "create", "--agent", "helper", "--scope", "mcp:call"]).await.succeeded();
    assert!(key.starts_with("tg_"), "{key}");
    let shown = cli(&["tool", "show", "sample__notes_send"]).await.succeeded();
    let hash = |label: &str| {
        let line = shown.lines().find(|line| line.starts_with(label)).unwrap();
        line.split_whitespace().last().unwrap().to_owned()
    };
    let approve = async |hash: &str| cli(&["tool", "approve", "sample__notes_send", "--hash", hash]).await;
    let stale = approve(&hash("approved hash")).await;
    assert_eq!(stale.code, Some(4), "{}", stale.stderr);
    assert!(stale.stderr.contains(&hash("hash ")), "{}", stale.stderr);
    let send = async || cli(&["call", "sample__notes_send", r#"{"to":"ops","note":"n"}"#]).await;
    let drifted = send().await;
    assert_eq!(drifted.code, Some(4), "{}", drifted.stderr);
    assert!(drifted.stderr.contains("the tool is drifted"), "{}", drifted.stderr);
    assert!(approve(&hash("hash ")).await.succeeded().contains("served"));
    assert_eq!(send().await.succeeded(), "notes_send was sent {\"note\":\"n\",\"to\":\"ops\"}\n");

    terminate(&demo);
    assert_eq!(timeout(PATIENCE, demo.wait()).await.unwrap().unwrap().code(), Some(0));
    assert!(!std::path::Path::new(key_file).exists(), "its data goes with it");
}
