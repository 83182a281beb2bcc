//! What the server reaches, starts and sends on behalf of its operators, and what it keeps to itself.

use std::{fs, path::Path};

use tonic::{Code, Status};
use toolgate_api_proto::v1::{
    CreateUpstreamRequest, HttpTransport, StdioTransport, UpstreamHealth, create_upstream_request::Transport,
};
use toolgate_test_support::{
    mcp_server::{Reply, ScriptedServer},
    server::Server,
};

use crate::{
    refusal::fields,
    steps::{entry, register, sync, upstream},
};

async fn refused(server: &Server, transport: Transport) -> Status {
    let request =
        CreateUpstreamRequest { slug: "srv".into(), transport: Some(transport), ..Default::default() };
    server.governance().create_upstream(request).await.unwrap_err()
}

#[tokio::test]
async fn a_private_address_is_reached_only_where_it_was_declared_and_the_settings_allow_it() {
    let scripted = ScriptedServer::start().await;
    let http = |allow_private| {
        Transport::Http(HttpTransport { url: scripted.url(), allow_private, ..Default::default() })
    };
    let server = Server::start().await;
    let undeclared = refused(&server, http(false)).await;
    assert_eq!(
        (undeclared.code(), fields(&undeclared)),
        (Code::InvalidArgument, vec!["http.url".to_owned()])
    );
    let strict = Server::builder().env("TOOLGATE_OUTBOUND_PRIVATE", "never").start().await;
    let forbidden = refused(&strict, http(true)).await;
    assert_eq!((forbidden.code(), fields(&forbidden)), (Code::InvalidArgument, vec!["http.url".to_owned()]));
    assert_eq!(scripted.received().len(), 0);
}

#[tokio::test]
async fn a_command_outside_the_allow_list_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("started");
    let server = Server::builder().allow_stdio(&["/usr/bin/touch", "/nowhere/else"]).start().await;
    let stdio = |args: &[&str]| {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Transport::Stdio(StdioTransport { command: "/usr/bin/touch".into(), args, ..Default::default() })
    };
    for args in [vec![trace.to_str().unwrap()], vec![]] {
        let refused = refused(&server, stdio(&args)).await;
        assert_eq!(
            (refused.code(), fields(&refused)),
            (Code::InvalidArgument, vec!["stdio.command".to_owned()])
        );
    }
    assert!(!trace.exists());
}

// Law 12
#[tokio::test]
async fn a_secret_header_reaches_its_server_and_is_never_shown_logged_or_kept_in_the_clear() {
    const SECRET: &str = "s3cr3t-of-the-upstream-0123456789";
    let scripted = ScriptedServer::start().await;
    scripted.list(&[entry("a", "d")]);
    let server = Server::builder().env("TOOLGATE_LOG_LEVEL", "debug").start().await;
    let folder = tempfile::tempdir().unwrap();
    let headers = folder.path().join("headers");
    fs::write(&headers, format!("# how it is reached\nX-Api-Key: {SECRET}\n")).unwrap();
    let (url, file) = (scripted.url(), headers.to_str().unwrap());
    server
        .cli(&["upstream", "add", "srv", "--url", &url, "--allow-private", "--header-file", file])
        .await
        .succeeded();
    assert_eq!(sync(&server, "srv").await.upstream.unwrap().health(), UpstreamHealth::Ok);
    assert!(scripted.received().iter().all(|request| request.headers["x-api-key"] == SECRET));

    // A server that echoes what it was sent.
    scripted.reply("tools/list", Reply::error(-32000, &format!("no such key: {SECRET}")));
    sync(&server, "srv").await;
    let told = upstream(&server, "srv").await;
    assert!(told.last_error.contains("-32000"), "{}", told.last_error);
    assert!(!format!("{told:?}").contains(SECRET), "{told:?}");
    let shown = server.cli(&["upstream", "show", "srv"]).await.succeeded();
    assert!(shown.to_lowercase().contains("x-api-key") && !shown.contains(SECRET), "{shown}");
    assert!(!server.log().contains(SECRET));
    assert!(holds(server.data_dir(), entry("a", "d").as_bytes()), "what is kept in the clear is found");
    assert!(!holds(server.data_dir(), SECRET.as_bytes()));
}

/// Whether the bytes stand anywhere below the folder.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().map(Result::unwrap).any(|entry| match entry.file_type().unwrap().is_dir() {
        true => holds(&entry.path(), bytes),
        false => fs::read(entry.path()).unwrap().windows(bytes.len()).any(|window| window == bytes),
    })
}

// Law 12
#[tokio::test]
async fn a_callers_key_is_never_sent_to_an_upstream() {
    let scripted = ScriptedServer::start().await;
    let server = Server::start().await;
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    let received = scripted.received();
    assert!(!received.is_empty());
    assert!(received.iter().all(|request| !request.headers.contains_key("authorization")));
    let key = toolgate_test_support::server::OPERATOR_KEY;
    assert!(received.iter().all(|request| !format!("{request:?}").contains(key)));
    assert!(!server.log().contains(key));
}
