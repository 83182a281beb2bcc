use serde_json::json;
use toolgate_api_proto::v1::create_upstream_request::Transport;
use toolgate_api_proto::v1::{
    HttpTransport, SyncIssue, UpdateUpstreamRequest, Upstream, UpstreamHealth, upstream as of_upstream,
};
use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, Seat, file, id, tool, upstream};

fn listed() -> Upstream {
    let issue = SyncIssue {
        code: "TOO_LARGE".to_owned(),
        tool_name: "big\u{1b}[2J".to_owned(),
        position: 3,
        message: "the definition is larger than 256 KiB".to_owned(),
        entries: 1,
        ..Default::default()
    };
    let http = HttpTransport {
        url: "http://127.0.0.1:9/mcp".to_owned(),
        header_names: vec!["authorization".to_owned()],
        allow_private: true,
        ..Default::default()
    };
    Upstream {
        transport: Some(of_upstream::Transport::Http(http)),
        sync_issues: vec![issue],
        entries_read: 12,
        last_complete_listing_time: Some(Default::default()),
        ..upstream(1, "gh")
    }
}

async fn start(upstreams: Vec<Upstream>) -> Double {
    Double::start(Script { upstreams, found: [2, 1, 0, 9], ..Default::default() }).await
}

#[tokio::test]
async fn an_http_upstream_is_sent_with_the_headers_of_its_file() {
    let double = start(vec![]).await;
    let (_folder, path) = file("# secrets\nAuthorization: Bearer abc\n");
    let words =
        ["upstream", "add", "gh", "--url", "http://x/mcp", "--allow-private", "--display-name", "GitHub"];

    let ended = double.run(&[&words[..], &["--header-file", path.to_str().unwrap()]].concat()).await;

    assert_eq!(ended.out, format!("registered gh  {}\n", id(9)));
    assert_eq!(ended.err, "its first sync has begun: toolgate upstream sync gh --wait\n");
    let created = double.script().created.pop().unwrap();
    assert_eq!((created.slug.as_str(), created.display_name.as_str()), ("gh", "GitHub"));
    let Some(Transport::Http(http)) = created.transport else { panic!("{:?}", created.transport) };
    assert_eq!((http.url.as_str(), http.allow_private), ("http://x/mcp", true));
    assert_eq!(http.headers, [("Authorization".to_owned(), "Bearer abc".to_owned())].into());
}

#[tokio::test]
async fn a_place_in_the_tree_is_sent_in_its_parts() {
    let double = start(vec![listed()]).await;
    let place = ["--description", "What it is for.", "--path", "Business -> Planning->Time"];
    double.run(&[&["upstream", "add", "gh", "--url", "http://x/mcp"], &place[..]].concat()).await;
    let created = double.script().created.pop().unwrap();
    assert_eq!(
        (&*created.description, &created.path[..]),
        ("What it is for.", &["Business", "Planning", "Time"].map(String::from)[..])
    );
    double.run(&[&["upstream", "update", "gh"], &place[..]].concat()).await;
    let sent = double.script().updates.pop().unwrap();
    assert_eq!(paths(&sent), ["description", "path"]);
    let upstream = sent.upstream.unwrap();
    assert_eq!((upstream.description, upstream.path), (created.description, created.path));
    double.run(&["upstream", "update", "gh", "--path", ""]).await;
    assert_eq!(double.script().updates.pop().unwrap().upstream.unwrap().path, [""; 0]);
}

#[tokio::test]
async fn a_stdio_upstream_is_sent_with_its_command_and_environment() {
    let double = start(vec![]).await;
    let (_folder, path) = file("TOKEN=a=b\n");
    let environment = ["--env-file", path.to_str().unwrap(), "--dry-run"];
    let command = ["--", "/usr/bin/node", "server.js", "--url", "x"];

    let ended = double
        .run(&[&["upstream", "add", "files", "--stdio"], &environment[..], &command[..]].concat())
        .await;

    assert_eq!(ended.out, "files can be registered (dry run: nothing was written)\n");
    let created = double.script().created.pop().unwrap();
    assert!(created.validate_only);
    let Some(Transport::Stdio(stdio)) = created.transport else { panic!("{:?}", created.transport) };
    assert_eq!(
        (stdio.command.as_str(), &stdio.args[..]),
        ("/usr/bin/node", &["server.js", "--url", "x"].map(String::from)[..])
    );
    assert_eq!(stdio.env, [("TOKEN".to_owned(), "a=b".to_owned())].into());
}

#[tokio::test]
async fn a_bad_header_file_is_refused_by_line_before_anything_is_sent() {
    let (_folder, path) = file("A: 1\n\nhunter2 is no header\n");
    let path = path.to_str().unwrap();
    let words = ["upstream", "add", "gh", "--url", "http://x", "--header-file", path];

    // No server is there: what is wrong here is found without one.
    let ended = crate::toolgate_at("http://127.0.0.1:1", crate::Seat::Script, &words).await;

    let expected = format!(
        "error: {path}, line 3: there is no `:` after a name\n\
         hint: each line is `Name: value`; a line that begins with # is a comment\n"
    );
    assert_eq!((ended.err, ended.exit), (expected, Exit::Usage));
}

#[tokio::test]
async fn a_missing_file_is_named() {
    let words = ["upstream", "add", "gh", "--url", "http://x", "--header-file", "/nonexistent/headers"];
    let ended = start(vec![]).await.run(&words).await;
    assert!(ended.err.starts_with("error: cannot read /nonexistent/headers: "), "{}", ended.err);
    assert_eq!(ended.exit, Exit::Usage);
}

#[tokio::test]
async fn upstreams_are_listed_in_a_table() {
    let ended = start(vec![listed(), upstream(2, "new")]).await.run(&["upstream", "list"]).await;
    let expected = "\
NAME  HEALTH  ENTRIES  ISSUES  LAST COMPLETE LISTING  REACHED BY
gh    ok      12       1       1970-01-01T00:00:00Z   http://127.0.0.1:9/mcp
new   ok      0        0       -                      -
";
    assert_eq!(ended.out, expected);
}

#[tokio::test]
async fn show_tells_what_was_wrong_with_the_last_listing() {
    let ended = start(vec![listed()]).await.run(&["upstream", "show", "gh"]).await;
    let expected = r"sync issues            1
  CODE       POSITION  TOOL           PATH  MESSAGE
  TOO_LARGE  3         big\u{1b}[2J  -     the definition is larger than 256 KiB
";
    let expected = expected.replace("TOOL           PATH", "TOOL          PATH");
    assert!(ended.out.ends_with(&expected), "{}", ended.out);
    assert!(ended.out.contains("headers                authorization\n"), "{}", ended.out);
}

#[tokio::test]
async fn json_shows_the_transport_as_protobuf_json_does() {
    let ended = start(vec![listed()]).await.run(&["upstream", "show", "gh", "--json"]).await;
    let read: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        read["upstream"]["http"],
        json!({"url": "http://127.0.0.1:9/mcp", "headerNames": ["authorization"], "allowPrivate": true})
    );
    assert_eq!(read["upstream"]["health"], "UPSTREAM_HEALTH_OK");
    assert_eq!(read["upstream"]["syncIssues"][0]["position"], 3);
    assert_eq!(read["revision"], "r7");
}

#[tokio::test]
async fn a_sync_that_is_waited_for_prints_what_it_found() {
    let double = start(vec![listed()]).await;
    let text = double.run(&["upstream", "sync", "gh", "--wait"]).await;
    assert_eq!(
        text.out,
        "gh  ok  12 tools listed (2 new in this sync, 1 changed), 0 removed, 1 sync issues\n"
    );
    assert!(double.script().syncs.pop().unwrap().wait);
    let json = double.run(&["upstream", "sync", "gh", "--wait", "--json"]).await;
    let read: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&read["added"], &read["unchanged"], &read["revision"]), (&json!(2), &json!(9), &json!("r8")));
    let started = double.run(&["upstream", "sync", "gh"]).await;
    assert_eq!(started.out, "a sync of gh is under way\n");
    assert!(!double.script().syncs.pop().unwrap().wait);
}

#[tokio::test]
async fn a_sync_of_an_unavailable_upstream_ends_with_6() {
    let mut upstream = listed();
    upstream.set_health(UpstreamHealth::Unavailable);
    upstream.last_error = "timed out\u{1b}[2J".to_owned();
    let double = start(vec![upstream]).await;

    let ended = double.run(&["upstream", "sync", "gh", "--wait"]).await;

    let expected = "error: upstream gh could not be listed: timed out\\u{1b}[2J\n\
                    hint: its tools stay as they were; toolgate upstream show gh\n";
    assert_eq!((ended.err.as_str(), ended.exit.code()), (expected, 6));
    assert_eq!(double.run(&["upstream", "sync", "gh"]).await.exit, Exit::Ok, "nothing was waited for");
}

#[tokio::test]
async fn an_incomplete_listing_is_a_warning() {
    let mut upstream = listed();
    upstream.set_health(UpstreamHealth::Incomplete);
    upstream.last_error = "the cursor repeats".to_owned();
    let ended = start(vec![upstream]).await.run(&["upstream", "sync", "gh", "--wait"]).await;
    assert_eq!(ended.err, "warning: the listing stopped early, so no tool was removed: the cursor repeats\n");
    assert_eq!(ended.exit, Exit::Ok);
}

#[tokio::test]
async fn a_new_key_is_all_that_stands_on_standard_output() {
    let double = start(vec![]).await;
    let words = ["key", "create", "--scope", "mcp:read", "--scope", "mcp:call", "--display-name", "ci"];
    let text = double.run(&words).await;
    assert_eq!(text.out, "tg_5_secret\n");
    let expected =
        format!("key {} of client {} with mcp:read, mcp:call; it cannot be shown again\n", id(5), id(0));
    assert_eq!(text.err, expected);
    let json = double.run(&[&words[..], &["--json"]].concat()).await;
    let read: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&read["secret"], &read["apiKey"]["displayName"]), (&json!("tg_5_secret"), &json!("ci")));
}

fn with_two_tools() -> Script {
    Script { upstreams: vec![listed()], tools: vec![tool(2, "a"), tool(3, "b")], ..Default::default() }
}

#[tokio::test]
async fn a_person_is_told_what_goes_with_an_upstream_before_it_is_deleted() {
    let double = Double::start(with_two_tools()).await;

    let ended = double.run_as(Seat::Person("y\n"), &["upstream", "remove", "gh"]).await;

    let told = format!("gh  {}: 2 tools, 1 of them approved\nDelete it? [y/N] ", id(1));
    assert_eq!((ended.err, ended.exit), (told, Exit::Ok));
    assert_eq!(ended.out, format!("deleted gh  {}, with 2 tools, 1 of them approved\n", id(1)));
    let asked: Vec<_> =
        double.script().deletions.drain(..).map(|ask| (ask.validate_only, ask.etag)).collect();
    assert_eq!(asked, [(true, String::new()), (false, "e4".into())], "what is deleted is what was shown");
}

#[tokio::test]
async fn an_upstream_that_nobody_confirms_stays() {
    let double = Double::start(with_two_tools()).await;
    for (seat, exit) in [(Seat::Person("n\n"), Exit::Failure), (Seat::Script, Exit::Usage)] {
        assert_eq!(double.run_as(seat, &["upstream", "remove", "gh"]).await.exit, exit);
    }
    let dry = double.run(&["upstream", "remove", "gh", "--dry-run"]).await;
    assert_eq!(
        dry.out,
        "gh can be deleted, with 2 tools, 1 of them approved (dry run: nothing was written)\n"
    );
    assert!(double.script().deletions.iter().all(|ask| ask.validate_only));
}

#[tokio::test]
async fn a_script_deletes_an_upstream_when_it_says_so() {
    let double = Double::start(with_two_tools()).await;
    let ended = double.run(&["upstream", "remove", "gh", "--yes", "--json"]).await;
    let read: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&read["toolCount"], &read["upstream"]["slug"], &read["revision"]),
        (&json!(2), &json!("gh"), &json!("r8"))
    );
    assert!(!double.script().deletions.pop().unwrap().validate_only);
    let unknown = double.run(&["upstream", "remove", "lost", "--yes"]).await;
    assert_eq!(unknown.exit, Exit::NotFound);
}

fn paths(request: &UpdateUpstreamRequest) -> Vec<&str> {
    request.update_mask.iter().flat_map(|mask| &mask.paths).map(String::as_str).collect()
}

#[tokio::test]
async fn an_update_names_what_was_given_and_nothing_else() {
    let double = start(vec![listed()]).await;
    let (_folder, headers) = file("X-Key: abc\n");
    let words =
        ["upstream", "update", "gh", "--url", "http://y/mcp", "--allow-private=false", "--keep-approvals"];

    let ended = double.run(&[&words[..], &["--header-file", headers.to_str().unwrap()]].concat()).await;

    assert_eq!((ended.out, ended.exit), (format!("updated gh  {}\n", id(1)), Exit::Ok));
    let sent = double.script().updates.pop().unwrap();
    assert_eq!(paths(&sent), ["http.url", "http.headers", "http.allow_private"]);
    let upstream = sent.upstream.unwrap();
    let Some(of_upstream::Transport::Http(http)) = upstream.transport else { panic!("no http") };
    assert_eq!((upstream.id, http.url.as_str(), http.allow_private), (id(1), "http://y/mcp", false));
    assert_eq!(http.headers, [("X-Key".to_owned(), "abc".to_owned())].into());
    assert!(sent.keep_approvals && !sent.validate_only);

    for (words, expected) in [
        ("--display-name= --name-policy repair", &["display_name", "name_policy"][..]),
        ("--auth per-user --no-headers", &["auth", "http.headers"]),
        ("--description= --path=", &["description", "path"]),
        ("--no-headers --allow-private", &["http.headers", "http.allow_private"]),
        ("--no-env -- /bin/server -y", &["stdio.command", "stdio.args", "stdio.env"]),
    ] {
        let words: Vec<_> =
            ["upstream", "update", "gh", "--dry-run"].into_iter().chain(words.split(' ')).collect();
        let ended = double.run(&words).await;
        assert_eq!(ended.out, "gh can be updated (dry run: nothing was written)\n");
        let sent = double.script().updates.pop().unwrap();
        assert_eq!(paths(&sent), expected);
        assert!(sent.validate_only);
    }
}
