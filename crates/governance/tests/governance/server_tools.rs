//! What a server lists when it is asked outside of a sync.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout};
use toolgate_catalog::{
    agents::{AgentRef, AttachmentRef},
    server_tools::{ListServerTools, Outcome, ServerToolList, ServerTools},
    upstreams::UpstreamRef,
};
use toolgate_domain::{
    AgentId, Clock, Fault, UpstreamId,
    sync_status::Health,
    upstream::{Auth, NamePolicy, Transport, TransportChange, UpstreamChange},
};
use toolgate_governance::{
    AttachAgentTool, AttachedKind, CreateAgent, CreateUpstream, DeleteUpstream, UpdateUpstream, Wish,
};
use toolgate_store::{KeyRange, scan_all};
use toolgate_test_support::scripted_servers::{complete, ended};
use toolgate_upstream::{Incomplete, Listing, ListingEnd, ListingError};

use crate::workbench::{Workbench, definition, url};

const KEPT_FOR: Duration = Duration::from_secs(60);
const UNAVAILABLE_KEPT_MS: i64 = 5_000;

/// An agent with upstreams attached, and the way to ask for their servers' lists.
struct Seat {
    bench: Workbench,
    agent: AgentId,
    tools: ServerTools,
}

impl Seat {
    async fn new() -> Self {
        let bench = Workbench::new().await;
        let tools = ServerTools::new(bench.governance.catalog(), bench.governance.syncs(), KEPT_FOR);
        let agent = CreateAgent {
            client: bench.client,
            name: "support".into(),
            display_name: String::new(),
            validate_only: false,
        };
        let made = bench.governance.create_agent(&bench.caller(), agent).await.unwrap();
        let agent = made.entry.agent.id;
        Self { bench, agent, tools }
    }

    /// Registers a server without a credential, syncs it and attaches it.
    async fn open(&self, slug: &str, entries: &[&str]) -> UpstreamId {
        self.attached(slug, entries, open(self.bench.http(slug))).await
    }

    async fn attached(&self, slug: &str, entries: &[&str], wanted: CreateUpstream) -> UpstreamId {
        let bench = &self.bench;
        bench.servers.answers(&url(slug), complete(entries));
        let created = bench.governance.create_upstream(&bench.caller(), wanted).await.unwrap();
        let id = created.detail.entry.upstream.id;
        bench.sync(id).await;
        self.attach("", AttachedKind::Mcp(UpstreamRef::Id(id))).await;
        id
    }

    async fn attach(&self, name: &str, kind: AttachedKind) {
        let attach = AttachAgentTool {
            client: self.bench.client,
            agent: AgentRef::Id(self.agent),
            name: name.to_owned(),
            kind,
            display_name: String::new(),
            description: String::new(),
            based_on: None,
            validate_only: false,
        };
        self.bench.governance.attach_agent_tool(&self.bench.caller(), &attach).await.unwrap();
    }

    async fn list(&self, slug: &str) -> Result<ServerToolList, Fault> {
        let (client, agent) = (self.bench.client, self.agent);
        let attachment = AttachmentRef::Name(slug.to_owned());
        self.tools.list(&ListServerTools { client, agent, attachment, min_revision: None }).await
    }

    async fn outcome(&self, slug: &str) -> Outcome {
        self.list(slug).await.unwrap().outcome
    }

    /// How often the server was listed since `before`.
    fn asked_since(&self, slug: &str, before: usize) -> usize {
        self.bench.servers.listings(&url(slug)) - before
    }

    fn asked(&self, slug: &str) -> usize {
        self.bench.servers.listings(&url(slug))
    }
}

fn open(wanted: CreateUpstream) -> CreateUpstream {
    let Transport::Http { url, .. } = wanted.transport else { panic!("a server over HTTP") };
    let transport = Transport::Http { url, headers: Vec::new(), allow_private: false };
    CreateUpstream { transport, ..wanted }
}

/// A list that anybody may keep.
fn public(entries: &[&str], ttl_ms: u64) -> Result<Listing, ListingError> {
    let ttl = Duration::from_millis(ttl_ms);
    complete(entries).map(|listing| Listing { ttl: Some(ttl), public_ttl: Some(ttl), ..listing })
}

fn names(outcome: &Outcome) -> Vec<(&str, &str)> {
    let Outcome::Listed(tools) = outcome else { panic!("{outcome:?}") };
    tools.iter().map(|tool| (tool.name.as_str(), tool.canonical_name.as_str())).collect()
}

/// BR-083, BR-087
#[tokio::test]
async fn the_list_is_the_servers_in_its_order_and_its_spelling() {
    let seat = Seat::new().await;
    let listed = [
        r#"{"name":"z","description":"d","inputSchema":{ "b":1.0,"a":9007199254740993 },"annotations":{"readOnlyHint":"yes"}}"#,
        r#"{"name":"a.b","annotations":null}"#,
        r#"{"description":"nameless"}"#,
        r#"{"annotations":null,"name":"a.b"}"#,
        r#"{"name":"a_b","annotations":{}}"#,
    ];
    seat.open("srv", &listed).await;
    let list = seat.list("srv").await.unwrap();
    let [_, dotted, plain] = &names(&list.outcome)[..] else { panic!("{list:?}") };
    assert_eq!((dotted.0, *plain), ("a.b", ("a_b", "srv__a_b")));
    assert!(dotted.1.starts_with("srv__a_b_") && dotted.1.len() == "srv__a_b_01234567".len(), "{dotted:?}");
    let Outcome::Listed(tools) = &list.outcome else { unreachable!() };
    assert_eq!(tools[0].input_schema.as_deref(), Some(r#"{ "b":1.0,"a":9007199254740993 }"#));
    assert_eq!(tools[0].annotations.as_deref(), Some(r#"{"readOnlyHint":"yes"}"#));
    assert_eq!((tools[1].annotations.as_deref(), tools[2].annotations.as_deref()), (None, Some("{}")));
    for _ in 0..50 {
        assert_eq!(seat.outcome("srv").await, list.outcome);
    }
    assert_eq!((list.asked_at, list.from_cache), (Some(seat.bench.clock.now()), false));
}

#[tokio::test]
async fn what_a_server_lists_when_it_is_asked_changes_nothing_of_the_catalogue() {
    let seat = Seat::new().await;
    let bench = &seat.bench;
    seat.open("srv", &[&definition("a", "as it was synced")]).await;
    let rows = async || scan_all(bench.store.as_ref(), &KeyRange::all()).await.unwrap();
    let (before, revision) = (rows().await, bench.snapshot().await.revision());
    for answer in [
        complete(&[&definition("a", "another"), &definition("b", "new")]),
        complete(&[]),
        Err(ListingError::Unauthorized { status: 401, challenge: None }),
        Err(ListingError::Connect("refused".into())),
    ] {
        bench.servers.answers(&url("srv"), answer);
        seat.list("srv").await.unwrap();
        bench.clock.advance_ms(600_000);
    }
    assert_eq!((rows().await, bench.snapshot().await.revision()), (before, revision));
}

#[tokio::test]
async fn a_tool_is_named_as_the_catalogue_names_it_and_a_new_one_as_no_other_is() {
    let seat = Seat::new().await;
    let bench = &seat.bench;
    let entries = ["a.b", "c d", "e"].map(|name| definition(name, "d"));
    let entries = entries.each_ref().map(String::as_str);
    let wanted = CreateUpstream { name_policy: NamePolicy::Repair, ..open(bench.http("srv")) };
    let id = seat.attached("srv", &entries, wanted).await;
    bench.rule(id, "e", Wish::Rename(Some("find".into()))).await.unwrap();
    let other = seat.open("other", &[&definition("x", "d")]).await;
    bench.rule(other, "x", Wish::Rename(Some("srv__y".into()))).await.unwrap();
    let later = ["a_b", "a.b", "c d", "e", "y"].map(|name| definition(name, "d"));
    bench.servers.answers(&url("srv"), complete(&later.each_ref().map(String::as_str)));
    let outcome = seat.outcome("srv").await;
    let named: Vec<_> = names(&outcome);
    assert_eq!(named[1..4], [("a.b", "srv__a_b"), ("c d", "srv__c_d"), ("e", "find")]);
    for (tool, name) in [named[0], named[4]] {
        let tail = toolgate_definition::names::canonical_name_with_tail("srv", tool);
        assert_eq!(name, tail, "another tool has the plain name");
    }
    bench.rule(id, "e", Wish::Rename(Some("seek".into()))).await.unwrap();
    assert_eq!(names(&seat.outcome("srv").await)[3].1, "seek", "a kept list is named as it is asked for");
}

#[tokio::test]
async fn a_list_is_kept_for_as_long_as_its_server_says_within_bounds_and_else_as_configured() {
    let seat = Seat::new().await;
    let entry = definition("a", "d");
    for (slug, answer, life_ms) in [
        ("silent", complete(&[&entry]), 60_000),
        ("short", public(&[&entry], 2_000), 2_000),
        ("long", public(&[&entry], u64::MAX), 600_000),
        ("never", public(&[&entry], 0), 0),
        ("private", complete(&[&entry]).map(|l| Listing { ttl: Some(Duration::from_secs(3)), ..l }), 3_000),
    ] {
        seat.open(slug, &[]).await;
        seat.bench.servers.answers(&url(slug), answer);
        let before = seat.asked(slug);
        let first = seat.list(slug).await.unwrap();
        let kept_until = first.kept_until.map(|until| until.ms_since(first.asked_at.unwrap()));
        assert_eq!(kept_until, Some(life_ms).filter(|ms| *ms > 0), "{slug}");
        if life_ms > 0 {
            seat.bench.clock.advance_ms(life_ms - 1);
            let again = seat.list(slug).await.unwrap();
            assert_eq!((again.from_cache, again.asked_at), (true, first.asked_at), "{slug}");
            assert_eq!((again.outcome, again.kept_until), (first.outcome, first.kept_until), "{slug}");
            assert_eq!(seat.asked_since(slug, before), 1, "{slug}");
            seat.bench.clock.advance_ms(1);
        }
        assert!(!seat.list(slug).await.unwrap().from_cache, "{slug}");
        assert_eq!(seat.asked_since(slug, before), 2, "{slug}");
    }
    seat.bench.clock.advance_ms(-4_000);
    assert!(!seat.list("long").await.unwrap().from_cache, "a clock that goes back keeps nothing longer");
}

/// law 12
#[tokio::test]
async fn a_list_that_a_credential_was_sent_for_is_never_kept() {
    let seat = Seat::new().await;
    let entry = definition("a", "d");
    seat.attached("srv", &[], seat.bench.http("srv")).await;
    seat.bench.servers.answers(&url("srv"), public(&[&entry], 600_000));
    let before = seat.asked("srv");
    for _ in 0..3 {
        let list = seat.list("srv").await.unwrap();
        assert_eq!((list.from_cache, list.kept_until, names(&list.outcome).len()), (false, None, 1));
    }
    assert_eq!(seat.asked_since("srv", before), 3);
}

#[tokio::test]
async fn callers_who_come_at_once_share_one_question() {
    let seat = Seat::new().await;
    seat.open("srv", &[&definition("a", "d")]).await;
    let before = seat.asked("srv");
    let all = futures::future::join_all((0..16).map(|_| seat.list("srv"))).await;
    assert_eq!(seat.asked_since("srv", before), 1);
    let asked = all.iter().filter(|list| !list.as_ref().unwrap().from_cache).count();
    assert_eq!((asked, all.len()), (1, 16));
}

/// BR-057
#[tokio::test]
async fn whatever_fails_is_told_in_one_sentence_and_without_half_a_list() {
    let seat = Seat::new().await;
    let entry = definition("a", "d");
    seat.open("srv", &[&entry]).await;
    let rpc = |message: &str| ListingError::Rpc { code: -32_000, message: message.into() };
    let page = |error| ListingEnd::Incomplete(Incomplete::Page { page: 2, error });
    let unauthorized = |status| ListingError::Unauthorized { status, challenge: Some("Bearer".into()) };
    let said = |words: &str| Outcome::Unavailable(words.to_owned());
    let secret = || "10.0.0.7 said no".to_owned();
    for (answer, expected) in [
        (Err(unauthorized(401)), Outcome::AuthRequired),
        (ended(&[&entry], page(unauthorized(401))), Outcome::AuthRequired),
        (Err(unauthorized(403)), said("The server refuses the credential.")),
        (Err(ListingError::Refused(secret())), said("The server may not be reached from here.")),
        (Err(ListingError::Connect(secret())), said("The server cannot be reached.")),
        (Err(ListingError::Timeout(secret())), said("The server did not answer in time.")),
        (Err(ListingError::Status(503)), said("The server answered with an HTTP error.")),
        (Err(ListingError::Protocol(secret())), said("The server's answer is not MCP.")),
        (Err(ListingError::TooLarge(secret())), said("The server's list is too long.")),
        (Err(rpc("no quota")), said("The server answered with an error: no quota")),
        (ended(&[&entry], page(rpc("no quota"))), said("The server answered with an error: no quota")),
        (ended(&[&entry], page(ListingError::Status(500))), said("The server answered with an HTTP error.")),
        (
            ended(&[&entry], ListingEnd::Incomplete(Incomplete::RepeatedCursor)),
            said("The server's list does not come to an end."),
        ),
        (
            ended(&[&entry], ListingEnd::Incomplete(Incomplete::Bound(secret()))),
            said("The server's list is too long."),
        ),
    ] {
        seat.bench.servers.answers(&url("srv"), answer.clone());
        assert_eq!(seat.outcome("srv").await, expected, "{answer:?}");
        seat.bench.clock.advance_ms(UNAVAILABLE_KEPT_MS);
    }
    seat.bench.servers.answers(&url("srv"), complete(&[&entry]));
    assert_eq!(names(&seat.outcome("srv").await), [("a", "srv__a")]);
}

#[tokio::test]
async fn a_dead_server_is_left_alone_for_a_moment_and_one_that_wants_a_credential_is_not() {
    let seat = Seat::new().await;
    for slug in ["open", "own"] {
        let wanted = seat.bench.http(slug);
        let wanted = if slug == "open" { open(wanted) } else { wanted };
        seat.attached(slug, &[], wanted).await;
        seat.bench.servers.answers(&url(slug), Err(ListingError::Status(502)));
        let before = seat.asked(slug);
        for _ in 0..3 {
            seat.list(slug).await.unwrap();
        }
        assert_eq!(seat.asked_since(slug, before), 1, "{slug}");
        seat.bench.clock.advance_ms(UNAVAILABLE_KEPT_MS);
        seat.list(slug).await.unwrap();
        assert_eq!(seat.asked_since(slug, before), 2, "{slug}");
        seat.bench.clock.advance_ms(UNAVAILABLE_KEPT_MS);
        let wants = ListingError::Unauthorized { status: 401, challenge: None };
        seat.bench.servers.answers(&url(slug), Err(wants));
        for asked in 3..6 {
            assert_eq!(seat.outcome(slug).await, Outcome::AuthRequired);
            assert_eq!(seat.asked_since(slug, before), asked, "{slug}");
        }
    }
}

/// BR-057
#[tokio::test]
async fn a_server_of_each_users_own_credential_is_asked_for_nobody() {
    let seat = Seat::new().await;
    let bench = &seat.bench;
    let entry = definition("a", "d");
    let wanted = CreateUpstream { auth: Some(Auth::PerUser), ..open(bench.http("srv")) };
    let id = seat.attached("srv", &[&entry], wanted).await;
    let list = seat.list("srv").await.unwrap();
    assert_eq!((list.outcome, list.asked_at, list.kept_until), (Outcome::AuthRequired, None, None));
    assert_eq!(seat.asked("srv"), 0, "it is not synced either");
    let status = bench.detail(id).await.status;
    assert_eq!((status.health, status.last_attempt_at), (Health::Unknown, None));
    assert!(status.last_error.contains("headers"), "{}", status.last_error);

    let headers = vec![("authorization".to_owned(), "Bearer of its syncs".to_owned())];
    let transport = Some(TransportChange::Http { url: None, headers: Some(headers), allow_private: None });
    let change = UpstreamChange { transport, ..UpstreamChange::NOTHING };
    update(bench, id, change).await;
    bench.sync(id).await;
    let status = bench.detail(id).await.status;
    assert_eq!((status.health, status.last_error.as_str()), (Health::Ok, ""));
    assert_eq!(bench.snapshot().await.tool_count(), 1, "synced under its own credential");
    let asked = seat.asked("srv");
    assert_eq!(seat.outcome("srv").await, Outcome::AuthRequired);
    assert_eq!(seat.asked("srv"), asked, "which is used for nothing else");
}

async fn update(bench: &Workbench, upstream: UpstreamId, change: UpstreamChange<String>) {
    let update = UpdateUpstream {
        client: bench.client,
        upstream,
        change,
        keep_approvals: false,
        based_on: None,
        validate_only: false,
    };
    bench.governance.update_upstream(&bench.caller(), update).await.unwrap();
}

fn moved(slug: &str) -> UpstreamChange<String> {
    let url = Some(url(slug));
    let transport = Some(TransportChange::Http { url, headers: None, allow_private: None });
    UpstreamChange { transport, ..UpstreamChange::NOTHING }
}

async fn delete(bench: &Workbench, upstream: UpstreamId) {
    let (client, based_on, validate_only) = (bench.client, None, false);
    let deletion = DeleteUpstream { client, upstream, based_on, validate_only };
    bench.governance.delete_upstream(&bench.caller(), deletion).await.unwrap();
}

#[tokio::test]
async fn a_kept_list_is_no_longer_told_once_the_upstream_is_declared_differently_or_gone() {
    let seat = Seat::new().await;
    let id = seat.open("srv", &[&definition("old", "d")]).await;
    assert_eq!(names(&seat.outcome("srv").await), [("old", "srv__old")]);
    seat.bench.servers.answers(&url("new"), complete(&[&definition("new", "d")]));
    update(&seat.bench, id, moved("new")).await;
    let list = seat.list("srv").await.unwrap();
    assert_eq!((names(&list.outcome), list.from_cache), (vec![("new", "srv__new")], false));
    delete(&seat.bench, id).await;
    assert_eq!(seat.list("srv").await.unwrap_err(), Fault::AttachmentNotFound);
}

#[tokio::test(start_paused = true)]
async fn a_kept_list_is_no_longer_told_once_its_server_tells_of_a_change() {
    let seat = Seat::new().await;
    let notices = seat.bench.servers.tells_changes(&url("srv"));
    seat.open("srv", &[&definition("a", "d")]).await;
    // It agrees to tell, which counts as a change.
    tokio::time::sleep(Duration::from_secs(20)).await;
    seat.list("srv").await.unwrap();
    assert!(seat.list("srv").await.unwrap().from_cache);
    seat.bench.servers.answers(&url("srv"), complete(&[&definition("b", "d")]));
    notices.notify_one();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let list = seat.list("srv").await.unwrap();
    assert_eq!((names(&list.outcome), list.from_cache), (vec![("b", "srv__b")], false));
}

/// Law 8. The clock of this test moves when all is idle.
#[tokio::test(start_paused = true)]
async fn law_08_a_server_that_hangs_keeps_only_those_waiting_who_ask_it_and_not_for_long() {
    let seat = Arc::new(Seat::new().await);
    seat.open("good", &[&definition("a", "d")]).await;
    seat.open("hang", &[&definition("a", "d")]).await;
    seat.bench.servers.hangs(&url("hang"));
    let begun = Instant::now();
    let ask = || {
        let seat = Arc::clone(&seat);
        tokio::spawn(async move { seat.outcome("hang").await })
    };
    let waiting = [ask(), ask(), ask()];
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(names(&seat.outcome("good").await), [("a", "good__a")]);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    for waits in waiting {
        let outcome = waits.await.unwrap();
        assert!(matches!(outcome, Outcome::Unavailable(_)), "{outcome:?}");
    }
    assert!(begun.elapsed() <= Duration::from_secs(31), "{:?}", begun.elapsed());
}

type Asked = tokio::task::JoinHandle<Result<ServerToolList, Fault>>;

fn ask(seat: &Arc<Seat>) -> Asked {
    let seat = Arc::clone(seat);
    tokio::spawn(async move { seat.list("srv").await })
}

async fn at_once(asked: Asked) -> Result<ServerToolList, Fault> {
    timeout(Duration::from_secs(1), asked).await.expect("it is answered at once").unwrap()
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_server_that_was_moved_or_removed_meanwhile() {
    let seat = Arc::new(Seat::new().await);
    let id = seat.open("srv", &[&definition("a", "d")]).await;
    seat.bench.servers.hangs(&url("srv"));
    seat.bench.servers.answers(&url("new"), complete(&[&definition("new", "d")]));
    let asked = ask(&seat);
    tokio::time::sleep(Duration::from_millis(1)).await;
    update(&seat.bench, id, moved("new")).await;
    let list = at_once(asked).await.unwrap();
    assert_eq!(names(&list.outcome), [("new", "srv__new")]);

    seat.bench.clock.advance_ms(600_000);
    seat.bench.servers.hangs(&url("new"));
    let asked = ask(&seat);
    tokio::time::sleep(Duration::from_millis(1)).await;
    delete(&seat.bench, id).await;
    assert_eq!(at_once(asked).await.unwrap_err(), Fault::AttachmentNotFound);
}

#[tokio::test]
async fn only_what_has_a_tool_server_behind_it_can_be_asked() {
    let seat = Seat::new().await;
    let bench = &seat.bench;
    for (name, kind) in
        [("sum", AttachedKind::Function(String::new())), ("docs", AttachedKind::FileSearch("vs_1".into()))]
    {
        seat.attach(name, kind).await;
    }
    for (name, kind) in [("sum", "function"), ("docs", "file_search")] {
        assert_eq!(seat.list(name).await.unwrap_err(), Fault::AttachmentNotMcp { kind });
    }
    assert_eq!(seat.list("none").await.unwrap_err(), Fault::AttachmentNotFound);
    seat.bench.servers.answers(&url("srv"), complete(&[]));
    bench.governance.create_upstream(&bench.caller(), open(bench.http("srv"))).await.unwrap();
    assert_eq!(seat.list("srv").await.unwrap_err(), Fault::AttachmentNotFound, "it is not attached");
}

#[tokio::test]
async fn a_declaration_that_contradicts_the_credential_is_refused() {
    let bench = Workbench::new().await;
    for (auth, wanted) in [(Auth::None, bench.http("srv")), (Auth::Static, open(bench.http("srv")))] {
        let wanted = CreateUpstream { auth: Some(auth), ..wanted };
        let refused = bench.governance.create_upstream(&bench.caller(), wanted).await.unwrap_err();
        let Fault::Invalid(found) = refused else { panic!("{refused:?}") };
        assert_eq!(found[0].field, "auth", "{auth:?}");
    }
}

/// Nothing but the store tells of it. The clock of this test moves when all is idle.
#[tokio::test(start_paused = true)]
async fn what_was_declared_differently_on_another_replica_is_asked_anew() {
    let seat = Arc::new(Seat::new().await);
    let id = seat.open("srv", &[&definition("old", "d")]).await;
    let replica = seat.bench.replica(Arc::clone(&seat.bench.store)).await;
    let move_to = async |slug: &str| {
        seat.bench.servers.answers(&url(slug), complete(&[&definition(slug, "d")]));
        update(&replica, id, moved(slug)).await;
        let at = replica.snapshot().await.revision();
        seat.bench.governance.catalog().snapshot(seat.bench.client, Some(at)).await.unwrap();
    };
    assert_eq!(names(&seat.outcome("srv").await), [("old", "srv__old")]);
    move_to("new").await;
    assert_eq!(names(&seat.outcome("srv").await), [("new", "srv__new")], "what is kept is the old one's");

    seat.bench.clock.advance_ms(600_000);
    seat.bench.servers.hangs(&url("new"));
    let asked = ask(&seat);
    tokio::time::sleep(Duration::from_millis(1)).await;
    move_to("newest").await;
    let list = asked.await.unwrap().unwrap();
    assert_eq!(names(&list.outcome), [("newest", "srv__newest")], "the new one's silence is not told");
}
