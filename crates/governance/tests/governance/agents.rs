//! Agents: made, attached to, deleted; and what reaches them.

use std::{collections::BTreeSet, num::NonZeroUsize};

use toolgate_catalog::{
    Revision, View,
    agents::{AgentRef, AttachmentRef, ListAgents, get_agent, list_agents},
    get_tool::{GetTool, get_tool},
    list_tools::{ListTools, list_tools},
    snapshot::{Filter, PageSize},
    upstreams::UpstreamRef,
    watch_tools::{ToolChange, ToolWatch, WatchEnd, WatchTools, watch_tools},
};
use toolgate_domain::{
    AgentId, Fault, Scope, Scopes, ToolId, UpstreamId,
    agent::AttachmentKind,
    ruling::{Act, AgentAct},
};
use toolgate_governance::{
    AttachAgentTool, AttachedKind, CreateAgent, CreateApiKey, DeleteAgent, DeleteUpstream, DetachAgentTool,
    StoredAgent, Wish,
};

use crate::workbench::{Workbench, definition};

fn named(name: &str) -> AgentRef {
    AgentRef::parse(name)
}

impl Workbench {
    async fn make(&self, name: &str) -> Result<StoredAgent, Fault> {
        let (client, name, display_name) = (self.client, name.to_owned(), String::new());
        let wanted = CreateAgent { client, name, display_name, validate_only: false };
        self.governance.create_agent(&self.caller(), wanted).await
    }

    fn attaching(&self, agent: &str, kind: AttachedKind, name: &str) -> AttachAgentTool {
        AttachAgentTool {
            client: self.client,
            agent: named(agent),
            based_on: None,
            kind,
            name: name.into(),
            display_name: String::new(),
            description: String::new(),
            validate_only: false,
        }
    }

    async fn attach(&self, agent: &str, upstream: &str) -> Result<StoredAgent, Fault> {
        let wanted = self.attaching(agent, AttachedKind::Mcp(UpstreamRef::parse(upstream)), "");
        self.governance.attach_agent_tool(&self.caller(), &wanted).await
    }

    async fn detach(&self, agent: &str, attachment: &str) -> Result<StoredAgent, Fault> {
        let wanted = DetachAgentTool {
            client: self.client,
            agent: named(agent),
            based_on: None,
            attachment: AttachmentRef::parse(attachment),
            validate_only: false,
        };
        self.governance.detach_agent_tool(&self.caller(), &wanted).await
    }

    fn deleting(&self, agent: &str) -> DeleteAgent {
        DeleteAgent { client: self.client, agent: named(agent), based_on: None, validate_only: false }
    }

    async fn key_of(&self, agent: &str) -> Result<toolgate_domain::credential::ApiKey, Fault> {
        let wanted = CreateApiKey {
            client: self.client,
            display_name: String::new(),
            scopes: [Scope::Call].into_iter().collect(),
            ttl_ms: None,
            operator: false,
            agent: Some(named(agent)),
            validate_only: false,
        };
        self.governance.create_api_key(&self.caller(), wanted).await.map(|created| created.key)
    }

    /// The names of what is attached, as anybody sees it.
    async fn attached(&self, agent: &str) -> Vec<String> {
        let (entry, snapshot) =
            get_agent(self.governance.catalog(), self.client, &named(agent), None).await.unwrap();
        snapshot.attachments(&entry.agent).map(|attachment| attachment.name.clone()).collect()
    }

    /// What an agent is listed.
    async fn listed(&self, agent: Option<AgentId>) -> BTreeSet<ToolId> {
        let ask = ListTools {
            client: self.client,
            view: View::Served,
            agent,
            filter: Filter::default(),
            after: None,
            size: PageSize::Whole,
            min_revision: None,
        };
        let listed = list_tools(self.governance.catalog(), &ask).await.unwrap();
        listed.page.tools.iter().map(|entry| entry.tool.id).collect()
    }

    /// Two upstreams, each with a served tool and one that is not; two agents with one upstream each.
    async fn two_agents(&self) -> ([UpstreamId; 2], [AgentId; 2]) {
        let mut upstreams = Vec::new();
        let mut agents = Vec::new();
        for (slug, name) in [("files", "support"), ("mail", "sales")] {
            let id = self.upstream(slug, &[&definition("a", "d"), &definition("b", "d")]).await;
            self.approve(id, "a").await;
            upstreams.push(id);
            agents.push(self.make(name).await.unwrap().entry.agent.id);
            self.attach(name, slug).await.unwrap();
        }
        ([upstreams[0], upstreams[1]], [agents[0], agents[1]])
    }
}

fn ids(tools: &[(UpstreamId, &str)]) -> BTreeSet<ToolId> {
    tools.iter().map(|(upstream, name)| ToolId::of(*upstream, name)).collect()
}

#[tokio::test]
async fn law_05_a_list_a_look_up_and_a_filter_agree_on_what_reaches_an_agent() {
    let bench = Workbench::new().await;
    let ([files, mail], [support, sales]) = bench.two_agents().await;
    assert_eq!(bench.listed(None).await, ids(&[(files, "a"), (mail, "a")]), "no agent: the whole client");
    assert_eq!(bench.listed(Some(AgentId::from_bytes([9; 16]))).await, ids(&[]), "one that is not there");
    for (agent, own, other) in [(support, files, mail), (sales, mail, files)] {
        assert_eq!(bench.listed(Some(agent)).await, ids(&[(own, "a")]));
        for (upstream, name) in [(own, "a"), (own, "b"), (other, "a"), (other, "b")] {
            let id = ToolId::of(upstream, name);
            let (client, view, agent, min_revision) = (bench.client, View::Served, Some(agent), None);
            let ask = GetTool { client, id, view, agent, min_revision };
            let found = get_tool(bench.governance.catalog(), &ask).await;
            assert_eq!(found.is_ok(), bench.listed(agent).await.contains(&id), "{name}");
        }
        let filtered = |upstream| ListTools {
            client: bench.client,
            view: View::Served,
            agent: Some(agent),
            filter: Filter { upstream: Some(upstream), ..Filter::default() },
            after: None,
            size: PageSize::Whole,
            min_revision: None,
        };
        let within = list_tools(bench.governance.catalog(), &filtered(own)).await.unwrap();
        assert_eq!(within.page.tools.len(), 1);
        let without = list_tools(bench.governance.catalog(), &filtered(other)).await.unwrap_err();
        assert_eq!(without, Fault::UpstreamNotFound, "what is not attached does not exist for an agent");
    }
}

#[tokio::test]
async fn an_agents_pages_hold_each_of_its_tools_once_and_in_the_one_order() {
    let bench = Workbench::new().await;
    bench.make("support").await.unwrap();
    let mut expected = Vec::new();
    for slug in ["a", "b", "c", "d"] {
        let entries = ["x", "y", "z"].map(|name| definition(name, "d"));
        let id = bench.upstream(slug, &[&entries[0], &entries[1], &entries[2]]).await;
        bench.clock.advance_ms(1);
        for name in ["x", "z"] {
            bench.approve(id, name).await;
        }
        if slug != "b" {
            bench.attach("support", slug).await.unwrap();
            expected.extend([ToolId::of(id, "x"), ToolId::of(id, "z")]);
        }
    }
    let agent = Some(bench.snapshot().await.agent_by_name("support").unwrap().agent.id);
    for (size, view) in [1, 2, 3, 100].into_iter().flat_map(|size| [(size, View::Served), (size, View::Raw)])
    {
        let snapshot = bench.snapshot().await;
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let sight = snapshot.sight(view, agent);
            let page = snapshot.page(&sight, &Filter::default(), after.as_ref(), PageSize::AtMost(size));
            seen.extend(page.tools.iter().filter(|entry| entry.tool.name() != "y").map(|e| e.tool.id));
            after = page.more_after;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected, "{size} {view:?}");
    }
}

#[tokio::test]
async fn an_act_about_an_agent_is_one_commit_with_its_row_of_the_log() {
    let bench = Workbench::new().await;
    bench.upstream("files", &[&definition("a", "d")]).await;
    let made = bench.make("support").await.unwrap().entry.agent.clone();
    bench.clock.advance_ms(5);
    let attached = bench.attach("support", "files").await.unwrap().entry.agent.clone();
    assert!(attached.updated_at > made.updated_at);
    let attachment = attached.attachments[0].clone();
    bench.detach("support", &attachment.id.to_string()).await.unwrap();
    bench.governance.delete_agent(&bench.caller(), bench.deleting("support")).await.unwrap();
    let log = bench.rulings().await;
    let acts: Vec<_> = log.iter().map(|row| row.ruling.act.clone()).collect();
    let (id, name) = (attachment.id, attachment.name.clone());
    let expected = [
        AgentAct::Create { display_name: String::new() },
        AgentAct::Attach(attachment),
        AgentAct::Detach { id, name },
        AgentAct::Delete,
    ];
    assert_eq!(acts, expected.map(|act| Act::Agent { agent: made.id, name: "support".into(), act }));
    assert!(log.iter().all(|row| row.ruling.subject == "key:test" && row.ruling.tool().is_none()));
}

#[tokio::test]
async fn acts_about_agents_and_rulings_about_tools_share_one_log_without_a_gap() {
    let bench = Workbench::new().await;
    let names: Vec<_> = (0..12).map(|n| format!("t{n}")).collect();
    let entries: Vec<_> = names.iter().map(|name| definition(name, "d")).collect();
    let id = bench.upstream("files", &entries.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut acts = tokio::task::JoinSet::new();
    for (n, name) in names.iter().enumerate() {
        let (governance, rule) = (bench.governance.clone(), bench.wish(id, name, Wish::Disable));
        acts.spawn(async move { governance.rule(rule).await.is_ok() });
        if n % 3 == 0 {
            let (governance, caller) = (bench.governance.clone(), bench.caller());
            let (client, name, display_name) = (bench.client, format!("a{n}"), String::new());
            let wanted = CreateAgent { client, name, display_name, validate_only: false };
            acts.spawn(async move { governance.create_agent(&caller, wanted).await.is_ok() });
        }
    }
    while let Some(done) = acts.join_next().await {
        assert!(done.unwrap());
    }
    assert_eq!(bench.rulings().await.len(), 16);
    assert_eq!(bench.snapshot().await.agent_count(), 4);
}

#[tokio::test]
async fn a_name_is_one_agents_and_free_again_when_it_is_deleted() {
    let bench = Workbench::new().await;
    let first = bench.make("support").await.unwrap().entry.agent.id;
    let taken = bench.make("support").await.unwrap_err();
    assert_eq!(taken, Fault::AgentNameTaken { name: "support".into() });
    for name in ["", "Support", "a__b", &"x".repeat(65)] {
        assert!(matches!(bench.make(name).await, Err(Fault::Invalid(_))), "{name}");
    }
    bench.governance.delete_agent(&bench.caller(), bench.deleting("support")).await.unwrap();
    let gone = bench.governance.delete_agent(&bench.caller(), bench.deleting("support")).await.unwrap_err();
    assert_eq!(gone, Fault::AgentNotFound);
    assert_ne!(bench.make("support").await.unwrap().entry.agent.id, first);
    assert_eq!(bench.restarted().await.snapshot().await.agent_count(), 1);
}

#[tokio::test]
async fn two_who_make_one_name_at_once_make_one_agent() {
    let bench = Workbench::new().await;
    let made = tokio::join!(bench.make("support"), bench.make("support"));
    assert_eq!([made.0, made.1].into_iter().filter(Result::is_ok).count(), 1);
    assert_eq!(bench.rulings().await.len(), 1);
}

#[tokio::test]
async fn an_attachment_bears_its_upstreams_slug_and_names_are_unique() {
    let bench = Workbench::new().await;
    let files = bench.upstream("my-files", &[]).await;
    bench.make("support").await.unwrap();
    let attached = bench.attach("support", &files.to_string()).await.unwrap();
    assert_eq!(attached.entry.agent.attachments[0].name, "my-files");
    let governance = &bench.governance;
    let attach = async |kind, name: &str| {
        governance.attach_agent_tool(&bench.caller(), &bench.attaching("support", kind, name)).await
    };
    let taken = |name: &str| Fault::AttachmentNameTaken { name: name.into() };
    assert_eq!(bench.attach("support", "my-files").await.unwrap_err(), taken("my-files"));
    let function = || AttachedKind::Function("{}".into());
    assert_eq!(attach(function(), "my-files").await.unwrap_err(), taken("my-files"));
    let free = attach(AttachedKind::Mcp(UpstreamRef::Id(files)), "files").await.unwrap_err();
    assert!(matches!(free, Fault::Invalid(found) if found[0].field == "name"));
    assert_eq!(bench.attach("support", "other").await.unwrap_err(), Fault::UpstreamNotFound);
    assert_eq!(bench.attach("nobody", "my-files").await.unwrap_err(), Fault::AgentNotFound);
    attach(function(), "Sum_1").await.unwrap();
    attach(AttachedKind::FileSearch("vs".into()), "docs").await.unwrap();
    assert_eq!(bench.attached("support").await, ["my-files", "Sum_1", "docs"]);
    assert_eq!(bench.restarted().await.attached("support").await, ["my-files", "Sum_1", "docs"]);
    bench.detach("support", "my-files").await.unwrap();
    assert_eq!(bench.detach("support", "my-files").await.unwrap_err(), Fault::AttachmentNotFound);
    assert_eq!(bench.attached("support").await, ["Sum_1", "docs"]);
}

#[tokio::test]
async fn a_functions_parameters_are_kept_as_they_were_written() {
    let bench = Workbench::new().await;
    bench.make("support").await.unwrap();
    let text = r#"{ "z": 1.0, "a": 12345678901234567890, "s": "\u00fc" }"#;
    let wanted = bench.attaching("support", AttachedKind::Function(text.into()), "f");
    bench.governance.attach_agent_tool(&bench.caller(), &wanted).await.unwrap();
    let snapshot = bench.restarted().await.snapshot().await;
    let kind = &snapshot.agent_by_name("support").unwrap().agent.attachments[0].kind;
    assert_eq!(*kind, AttachmentKind::Function { parameters: text.into() });
}

#[tokio::test]
async fn a_limit_of_attachments_is_named_and_nothing_is_written_past_it() {
    let bench = Workbench::new().await;
    bench.make("support").await.unwrap();
    let large = format!("{{\"x\":\"{}\"}}", "y".repeat(60_000));
    let attach = async |name: &str, parameters: &str| {
        let wanted = bench.attaching("support", AttachedKind::Function(parameters.into()), name);
        bench.governance.attach_agent_tool(&bench.caller(), &wanted).await
    };
    attach("a", &large).await.unwrap();
    attach("b", &large).await.unwrap();
    let over = attach("c", &large).await.unwrap_err();
    assert!(matches!(over, Fault::LimitExceeded { limit: "MAX_ATTACHMENT_BYTES_PER_AGENT", .. }), "{over:?}");
    assert_eq!((bench.attached("support").await.len(), bench.rulings().await.len()), (2, 3));
}

#[tokio::test]
async fn an_act_based_on_an_older_agent_is_refused() {
    let bench = Workbench::new().await;
    bench.upstream("files", &[]).await;
    let read = bench.make("support").await.unwrap().entry.changed;
    bench.attach("support", "files").await.unwrap();
    let stale = Some(read);
    let attach = AttachAgentTool {
        based_on: stale,
        ..bench.attaching("support", AttachedKind::Function(String::new()), "f")
    };
    let refused = bench.governance.attach_agent_tool(&bench.caller(), &attach).await.unwrap_err();
    assert!(matches!(refused, Fault::EtagMismatch { .. }));
    let delete = DeleteAgent { based_on: stale, ..bench.deleting("support") };
    let refused = bench.governance.delete_agent(&bench.caller(), delete).await.unwrap_err();
    assert!(matches!(refused, Fault::EtagMismatch { .. }));
    let now = bench.snapshot().await.agent_by_name("support").unwrap().changed;
    let delete = DeleteAgent { based_on: Some(now), ..bench.deleting("support") };
    assert!(bench.governance.delete_agent(&bench.caller(), delete).await.is_ok());
}

#[tokio::test]
async fn a_dry_run_answers_as_the_act_would_and_writes_nothing() {
    let bench = Workbench::new().await;
    bench.upstream("files", &[]).await;
    bench.make("support").await.unwrap();
    let before = bench.snapshot().await.revision();
    let mcp = AttachedKind::Mcp(UpstreamRef::parse("files"));
    let attach = AttachAgentTool { validate_only: true, ..bench.attaching("support", mcp, "") };
    let would = bench.governance.attach_agent_tool(&bench.caller(), &attach).await.unwrap();
    assert_eq!(would.entry.agent.attachments.len(), 1);
    let delete = DeleteAgent { validate_only: true, ..bench.deleting("support") };
    bench.governance.delete_agent(&bench.caller(), delete).await.unwrap();
    let (client, display_name) = (bench.client, String::new());
    for (name, is_free) in [("support", false), ("sales", true)] {
        let (name, display_name) = (name.to_owned(), display_name.clone());
        let create = CreateAgent { client, name, display_name, validate_only: true };
        assert_eq!(bench.governance.create_agent(&bench.caller(), create).await.is_ok(), is_free);
    }
    assert_eq!((bench.snapshot().await.revision(), bench.rulings().await.len()), (before, 1));
}

#[tokio::test]
async fn what_is_attached_of_a_deleted_upstream_is_void_and_its_name_is_free() {
    let bench = Workbench::new().await;
    let old = bench.upstream("files", &[&definition("a", "d")]).await;
    bench.make("support").await.unwrap();
    bench.attach("support", "files").await.unwrap();
    let (client, based_on, validate_only) = (bench.client, None, false);
    let delete = DeleteUpstream { client, upstream: old, based_on, validate_only };
    bench.governance.delete_upstream(&bench.caller(), delete).await.unwrap();
    assert_eq!(bench.attached("support").await, Vec::<String>::new());
    assert_eq!(bench.detach("support", "files").await.unwrap_err(), Fault::AttachmentNotFound);
    let new = bench.upstream("files", &[&definition("a", "d")]).await;
    assert_eq!(
        bench.attached("support").await,
        Vec::<String>::new(),
        "another upstream, however it is named"
    );
    let attached = bench.attach("support", "files").await.unwrap();
    let kinds: Vec<_> = attached.entry.agent.attachments.iter().map(|found| found.kind.clone()).collect();
    assert_eq!(kinds, [AttachmentKind::Mcp(new)], "the void one is swept");
}

#[tokio::test]
async fn a_key_of_an_agent_calls_and_does_nothing_else() {
    let bench = Workbench::new().await;
    assert_eq!(bench.key_of("support").await.unwrap_err(), Fault::AgentNotFound);
    let agent = bench.make("support").await.unwrap().entry.agent.id;
    assert_eq!(bench.key_of("support").await.unwrap().agent, Some(agent));
    for (scopes, operator, field) in [
        (Scopes::all(), false, "scopes"),
        ([Scope::Call, Scope::Read].into_iter().collect(), false, "scopes"),
        ([Scope::Call].into_iter().collect(), true, "operator"),
    ] {
        let wanted = CreateApiKey {
            client: bench.client,
            display_name: String::new(),
            scopes,
            ttl_ms: None,
            operator,
            agent: Some(named("support")),
            validate_only: false,
        };
        let refused = bench.governance.create_api_key(&bench.caller(), wanted).await.unwrap_err();
        assert!(matches!(refused, Fault::Invalid(found) if found[0].field == field));
    }
}

#[tokio::test]
async fn the_keys_of_an_agent_end_with_it_however_many_they_are() {
    let bench = Workbench::new().await;
    bench.make("support").await.unwrap();
    bench.make("sales").await.unwrap();
    for _ in 0..45 {
        bench.key_of("support").await.unwrap();
    }
    let other = bench.key_of("sales").await.unwrap();
    let deleted = bench.governance.delete_agent(&bench.caller(), bench.deleting("support")).await.unwrap();
    assert_eq!(deleted.api_key_count, 45);
    let ask = toolgate_governance::ListApiKeys {
        client: bench.client,
        after: None,
        size: NonZeroUsize::new(100).unwrap(),
    };
    let keys = bench.governance.list_api_keys(ask).await.unwrap().keys;
    let ended = keys.iter().filter(|key| key.revoked_at.is_some()).count();
    assert_eq!(ended, 45);
    assert!(keys.contains(&other));
    assert_eq!(bench.key_of("support").await.unwrap_err(), Fault::AgentNotFound);
}

#[tokio::test]
async fn a_revision_told_before_a_restart_is_reached_after_it_although_the_agent_is_gone() {
    let bench = Workbench::new().await;
    bench.make("support").await.unwrap();
    let deleted = bench.governance.delete_agent(&bench.caller(), bench.deleting("support")).await.unwrap();
    let told = deleted.snapshot.revision();
    let again = bench.restarted().await;
    assert_eq!(again.governance.catalog().snapshot(bench.client, None).await.unwrap().revision(), told);
}

#[tokio::test]
async fn agents_are_listed_page_by_page_in_order_of_creation() {
    let bench = Workbench::new().await;
    let mut made = Vec::new();
    for name in ["z", "b", "y", "a", "m"] {
        bench.clock.advance_ms(1);
        made.push(bench.make(name).await.unwrap().entry.agent.id);
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let ask = ListAgents {
            client: bench.client,
            after,
            size: NonZeroUsize::new(2).unwrap(),
            min_revision: None,
        };
        let page = list_agents(bench.governance.catalog(), &ask).await.unwrap();
        seen.extend(page.agents.iter().map(|entry| entry.agent.id));
        after = page.more_after;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, made);
}

async fn watch(bench: &Workbench, agent: AgentId, resume: Option<Revision>) -> ToolWatch {
    let (client, view, agent) = (bench.client, View::Served, Some(agent));
    watch_tools(bench.governance.catalog(), WatchTools { client, view, agent, resume }).await.unwrap()
}

/// Applies what a watch tells until it stands at `to`.
async fn follow(watch: &mut ToolWatch, held: &mut BTreeSet<ToolId>, to: Revision) {
    while watch.told() < to {
        for change in watch.next().await.unwrap().changes {
            match change {
                ToolChange::Upserted(entry) => held.insert(entry.tool.id),
                ToolChange::Withdrawn(id) => {
                    assert!(held.remove(&id), "an agent hears of nothing that it never saw");
                    true
                }
            };
        }
    }
}

#[tokio::test]
async fn law_05_a_watch_of_an_agent_holds_what_its_list_holds() {
    let bench = Workbench::new().await;
    let ([files, mail], [support, _]) = bench.two_agents().await;
    let (mut following, mut held) = (watch(&bench, support, None).await, BTreeSet::new());
    let steps: [(&str, &[(UpstreamId, &str)]); 6] = [
        ("nothing", &[(files, "a")]),
        ("attach mail", &[(files, "a"), (mail, "a")]),
        ("approve mail b", &[(files, "a"), (mail, "a"), (mail, "b")]),
        ("detach files", &[(mail, "a"), (mail, "b")]),
        ("approve files b", &[(mail, "a"), (mail, "b")]),
        ("disable mail a", &[(mail, "b")]),
    ];
    for (step, expected) in steps {
        match step {
            "attach mail" => drop(bench.attach("support", "mail").await.unwrap()),
            "approve mail b" => bench.approve(mail, "b").await,
            "detach files" => drop(bench.detach("support", "files").await.unwrap()),
            "approve files b" => bench.approve(files, "b").await,
            "disable mail a" => drop(bench.rule(mail, "a", Wish::Disable).await.unwrap()),
            _ => {}
        }
        follow(&mut following, &mut held, bench.snapshot().await.revision()).await;
        assert_eq!(held, ids(expected), "{step}");
        assert_eq!(held, bench.listed(Some(support)).await, "{step}");
    }
}

#[tokio::test]
async fn a_watch_of_an_agent_resumes_unless_something_was_attached_or_detached_since() {
    let bench = Workbench::new().await;
    let ([files, _], [support, _]) = bench.two_agents().await;
    let (mut following, mut held) = (watch(&bench, support, None).await, BTreeSet::new());
    follow(&mut following, &mut held, bench.snapshot().await.revision()).await;
    let told = following.told();
    bench.approve(files, "b").await;
    let mut resumed = watch(&bench, support, Some(told)).await;
    follow(&mut resumed, &mut held, bench.snapshot().await.revision()).await;
    assert_eq!(held, bench.listed(Some(support)).await);
    let told = resumed.told();
    let attached = bench.attach("support", "mail").await.unwrap().entry.changed;
    for bench in [&bench, &bench.restarted().await] {
        let mut late = watch(bench, support, Some(told)).await;
        assert_eq!(late.next().await.unwrap_err(), WatchEnd::Expired { oldest: attached });
        let mut from_there = watch(bench, support, Some(attached)).await;
        assert!(from_there.next().await.unwrap().changes.is_empty());
    }
}

#[tokio::test]
async fn a_watch_of_an_agent_that_is_deleted_loses_every_tool() {
    let bench = Workbench::new().await;
    let (_, [support, _]) = bench.two_agents().await;
    let (mut following, mut held) = (watch(&bench, support, None).await, BTreeSet::new());
    follow(&mut following, &mut held, bench.snapshot().await.revision()).await;
    assert!(!held.is_empty());
    bench.governance.delete_agent(&bench.caller(), bench.deleting("support")).await.unwrap();
    follow(&mut following, &mut held, bench.snapshot().await.revision()).await;
    assert_eq!(held, ids(&[]));
}
