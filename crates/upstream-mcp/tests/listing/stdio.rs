use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolgate_outbound::{Outbound, Private};
use toolgate_upstream::{Bounds, Endpoint, Listing, ListingError, Secret, ToolServers};
use toolgate_upstream_mcp::{McpServers, StdioAllow, limits};

use super::{A, assert_complete, assert_protocol_error, bounds};

/// Declines `server/discover`, answers `initialize`, takes the notification, and leaves `tools/list` (id 3) to what follows.
const HANDSHAKE: &str = r#"
read -r line
echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}'
read -r line
echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}'
read -r line
read -r line
"#;

/// Prints a page of one tool whose description is `$1`.
const PAGE: &str = r#"
page() { printf '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a","description":"%s"}]}}\n' "$1"; }
"#;

async fn run(script: &str, env: &[(&str, &str)], bounds: &Bounds) -> Result<Listing, ListingError> {
    let shell = ["/bin/sh", "-c"].map(str::to_owned).to_vec();
    let allow = StdioAllow::new(vec![shell]).unwrap();
    let servers = McpServers::new(Outbound::new(Private::Never).unwrap(), allow);
    let endpoint = Endpoint::Stdio {
        command: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), script.into()],
        env: env.iter().map(|&(name, value)| (name.to_owned(), Secret::new(value))).collect(),
    };
    servers.list_tools(&endpoint, bounds).await
}

async fn after_handshake(script: &str) -> Result<Listing, ListingError> {
    run(&format!("{PAGE}{HANDSHAKE}{script}"), &[], &bounds()).await
}

/// What a script told in the description of its one tool.
async fn told(script: &str, env: &[(&str, &str)]) -> String {
    let listing = run(&format!("{PAGE}{HANDSHAKE}{script}"), env, &bounds()).await.unwrap();
    let tool: serde_json::Value = serde_json::from_str(&listing.entries[0]).unwrap();
    tool["description"].as_str().unwrap().trim().to_owned()
}

/// Waits until a process is gone or dead; the kernel takes its time after a kill.
async fn assert_dies(pid: &str) {
    let stat = Path::new("/proc").join(pid).join("stat");
    let is_alive = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    let died = async {
        while is_alive() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), died).await.expect("the process lives on");
}

/// BR-045.
#[tokio::test]
async fn lines_may_end_in_crlf_blank_ones_are_skipped_and_strings_keep_theirs() {
    let entry = r#"{"name":"a","description":"l1\r\nl2","inputSchema":{"type":"object"}}"#;
    let script = format!(
        r#"
        read -r line
        printf '{{"jsonrpc":"2.0","id":1,"error":{{"code":-32601,"message":""}}}}\r\n'
        read -r line
        printf '{{"jsonrpc":"2.0","id":2,"result":{{"protocolVersion":"2025-11-25"}}}}\r\n\r\n\n   \n'
        read -r line; read -r line
        printf '%s\r\n' '{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{entry}]}}}}'
        "#
    );
    assert_complete(run(&script, &[], &bounds()).await, &[entry]);
}

#[tokio::test]
async fn notifications_pings_and_stray_output_before_the_answer_are_taken_in_stride() {
    let script = format!(
        r#"
        echo 'Server ready.'
        echo '{{"jsonrpc":"2.0","method":"notifications/message","params":{{}}}}'
        echo '{{"jsonrpc":"2.0","id":"p","method":"ping"}}'
        read -r pong
        case "$pong" in
            *'"id":"p","result":{{}}'*) echo '{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{A}]}}}}' ;;
        esac
        "#
    );
    assert_complete(after_handshake(&script).await, &[A]);
}

#[tokio::test]
async fn only_allowed_commands_are_started() {
    let dir = tempfile::tempdir().unwrap();
    let witness = dir.path().join("started");
    let endpoint = Endpoint::Stdio {
        command: "/bin/sh".into(),
        args: vec!["-c".into(), format!(": > {}", witness.display())],
        env: Vec::new(),
    };
    for allowed in [vec![], vec![vec!["/bin/sh".to_owned(), "/srv/server.sh".to_owned()]]] {
        let servers =
            McpServers::new(Outbound::new(Private::Never).unwrap(), StdioAllow::new(allowed).unwrap());
        let refused = servers.list_tools(&endpoint, &bounds()).await;
        assert!(matches!(refused, Err(ListingError::Refused(_))), "{refused:?}");
        assert_eq!(servers.admits(&endpoint), refused.map(drop));
    }
    assert!(!witness.exists());
}

#[tokio::test]
async fn a_child_has_the_given_environment_and_nothing_else() {
    let script = r#"page "$(/usr/bin/tr '\0' ' ' < /proc/$$/environ)""#;
    assert_eq!(told(script, &[("B", "2"), ("A", "1")]).await.split(' ').collect::<Vec<_>>(), ["A=1", "B=2"]);
    assert_eq!(told(script, &[]).await, "");
}

#[tokio::test]
async fn a_child_inherits_no_open_descriptor() {
    let _file = fs::File::open("/dev/null").unwrap();
    let _socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let script = r#"
        open=""
        fd=3
        while [ $fd -lt 256 ]; do
            if [ -e /proc/$$/fd/$fd ]; then open="$open $fd"; fi
            fd=$((fd + 1))
        done
        page "$open"
    "#;
    assert_eq!(told(script, &[]).await, "");
}

#[test]
fn a_child_inherits_no_descriptor_that_this_process_was_started_with() {
    let again = r#"exec 9</dev/null; exec "$0" --exact stdio::a_child_inherits_no_open_descriptor"#;
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new("/bin/sh").args(["-c", again]).arg(this).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn a_child_runs_under_limits() {
    let limits = told(r#"page "$(ulimit -n) $(ulimit -c) $(ulimit -H -c) $(ulimit -t)""#, &[]).await;
    assert_eq!(limits, format!("{} 0 0 {}", limits::CHILD_OPEN_FILES, limits::CHILD_CPU_SECONDS));
}

#[tokio::test]
async fn a_noisy_standard_error_blocks_nothing() {
    let script = r#"
        i=0
        while [ $i -lt 4000 ]; do echo "noise noise noise noise noise noise noise" >&2; i=$((i + 1)); done
        page quiet
    "#;
    assert_eq!(told(script, &[]).await, "quiet");
}

#[tokio::test]
async fn what_a_child_started_dies_with_the_listing() {
    let pid = told(r#"/bin/sleep 1000 & page $!"#, &[]).await;
    assert_dies(&pid).await;
}

#[tokio::test]
async fn a_listing_that_is_abandoned_takes_its_processes_along() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let script = format!(r#"/bin/sleep 1000 & echo "$$ $!" > {0}.new; mv {0}.new {0}; wait"#, pids.display());
    let hanging = tokio::spawn(async move { run(&script, &[("PATH", "/usr/bin:/bin")], &bounds()).await });
    while !pids.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    hanging.abort();
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        assert_dies(pid).await;
    }
}

#[tokio::test]
async fn a_stateless_child_is_listed_without_a_handshake() {
    let script = format!(
        r#"
        read -r line
        case "$line" in *server/discover*'"io.modelcontextprotocol/protocolVersion":"2026-07-28"'*)
            echo '{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","supportedVersions":["2026-07-28"]}}}}' ;;
        esac
        read -r line
        case "$line" in *tools/list*'"io.modelcontextprotocol/protocolVersion":"2026-07-28"'*)
            echo '{{"jsonrpc":"2.0","id":2,"result":{{"resultType":"complete","tools":[{A}],"ttlMs":5}}}}' ;;
        esac
        read -r line
        "#
    );
    let listing = run(&script, &[], &bounds()).await.unwrap();
    assert_eq!((listing.protocol_version.as_str(), listing.binds_headers), ("2026-07-28", false));
    assert_complete(Ok(listing), &[A]);
}

#[tokio::test]
async fn a_child_that_ends_on_the_probe_is_started_again() {
    for last_words in
        [":", r#"echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"expected initialize"}}'"#]
    {
        let script = format!(
            r#"
            read -r line
            case "$line" in *'"initialize"'*) ;; *) {last_words}; exit 1 ;; esac
            echo '{{"jsonrpc":"2.0","id":2,"result":{{"protocolVersion":"2025-06-18"}}}}'
            read -r line; read -r line
            echo '{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{A}]}}}}'
            read -r line
            "#
        );
        assert_complete(run(&script, &[], &bounds()).await, &[A]);
    }
}

/// BR-055.
#[tokio::test]
async fn a_silent_child_ends_within_its_budget() {
    let short = Bounds { connect_timeout: Duration::from_millis(300), ..bounds() };
    let silent = run("while read -r line; do :; done", &[], &short).await;
    assert_eq!(silent, Err(ListingError::Timeout("the handshake took longer than 300 ms".into())));
}

/// BR-095.
#[tokio::test]
async fn an_endless_line_and_endless_lines_end_at_the_limit() {
    let too_large = Err(ListingError::TooLarge("more than 1048576 bytes in one answer".into()));
    for endless in [
        "printf aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        assert_eq!(after_handshake(&format!("while :; do {endless}; done")).await, too_large);
    }
}

#[tokio::test]
async fn a_child_that_ends_early_or_talks_nonsense_is_an_error_at_once() {
    assert_protocol_error(run("exit 0", &[], &bounds()).await, "process ended");
    assert_protocol_error(after_handshake("exit 1").await, "process ended");
    assert_protocol_error(after_handshake("echo '{nonsense'; read -r line").await, "the answer");
    assert_protocol_error(after_handshake(r#"printf '{"\377"}\n'; read -r line"#).await, "UTF-8");
}

#[tokio::test]
async fn a_program_that_does_not_exist_cannot_be_started() {
    let missing = vec!["/no/such/program".to_owned()];
    let allow = StdioAllow::new(vec![missing]).unwrap();
    let servers = McpServers::new(Outbound::new(Private::Never).unwrap(), allow);
    let endpoint = Endpoint::Stdio { command: "/no/such/program".into(), args: Vec::new(), env: Vec::new() };
    let error = servers.list_tools(&endpoint, &bounds()).await.unwrap_err();
    assert_eq!(error, ListingError::Connect("the program or its interpreter does not exist".into()));
}

// law 12
#[tokio::test]
async fn law_12_a_secret_of_the_environment_is_in_no_error() {
    let script = r#"
        while read -r line; do
            printf '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no access with %s"}}\n' "$TOKEN"
        done
    "#;
    let error = run(script, &[("TOKEN", "s3cret-token")], &bounds()).await.unwrap_err();
    assert_eq!(error, ListingError::Rpc { code: -1, message: "no access with [hidden]".into() });
}
