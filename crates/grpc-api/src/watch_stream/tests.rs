//! Time stands still and jumps to the next thing that waits for it.

use std::{pin::Pin, sync::Arc};

use futures::StreamExt;
use tokio::time::Instant;
use tonic::Code;
use tonic_types::StatusExt;
use toolgate_catalog::{
    Catalog,
    sync::{SyncLimits, Syncs},
    watch_tools::{WatchTools, watch_tools},
};
use toolgate_domain::{Caller, UpstreamId, upstream::Transport};
use toolgate_governance::{CreateUpstream, Governance};
use toolgate_identity::Authenticator;
use toolgate_sealing::{MasterKey, Sealer};
use toolgate_store::SharedStore;
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::{
    ambient::{CountingEntropy, MovableClock},
    scripted_servers::{ScriptedServers, complete},
};

use super::*;

const KEY: &str = "a key of at least thirty-two characters";
const URL: &str = "https://srv.example.com/mcp";
/// Of so many that their listing takes several messages.
const TOOLS: usize = 30;
const DEFINITION_BYTES: usize = 250 * 1024;

type Answers = Pin<Box<dyn Stream<Item = Result<pb::WatchToolsResponse, Status>> + Send>>;

/// A catalogue of a few large tools, and what it takes to follow it.
struct Bench {
    servers: Arc<ScriptedServers>,
    governance: Governance,
    gate: Gate,
    client: ClientId,
    caller: Caller,
    upstream: UpstreamId,
    stopping: CancellationToken,
}

impl Bench {
    async fn new() -> Self {
        let store: SharedStore = Arc::new(MemoryStore::new());
        let (clock, entropy) = (Arc::new(MovableClock::default()), Arc::new(CountingEntropy::default()));
        let (sealer, servers) =
            (Arc::new(Sealer::new(&MasterKey::ephemeral())), Arc::new(ScriptedServers::default()));
        let catalog = Catalog::new(Arc::clone(&store));
        let limits = SyncLimits::default();
        let syncs = Syncs::new(&catalog, servers.clone(), Arc::clone(&sealer), clock.clone(), limits);
        let authenticator = Authenticator::new(store, Arc::clone(&sealer), clock.clone());
        let gate = Gate::new(authenticator.clone(), Arc::clone(&sealer), entropy.clone());
        let governance = Governance::new(catalog, syncs, servers.clone(), sealer, clock, entropy);
        let client = governance.bootstrap(KEY).await.unwrap().client;
        let caller = authenticator.authenticate(Some(&format!("Bearer {KEY}"))).await.unwrap();
        let stopping = CancellationToken::new();
        list(&servers, "1");
        let upstream = register(&governance, &caller).await;
        let bench = Self { servers, governance, gate, client, caller, upstream, stopping };
        bench.sync().await;
        bench
    }

    async fn sync(&self) {
        let report = self.governance.syncs().sync(self.client, self.upstream).await.unwrap();
        self.governance.catalog().snapshot(self.client, report.revision).await.unwrap();
    }

    /// Every tool changes.
    async fn change(&self, to: &str) {
        list(&self.servers, to);
        self.sync().await;
    }

    async fn watch(&self, resume: &str) -> Answers {
        Box::pin(watch_stream(self.following(resume).await))
    }

    async fn following(&self, resume: &str) -> Following {
        let resume = self.gate.tokens(self.client).open_revision(resume, "resume_revision").unwrap();
        let ask = WatchTools { client: self.client, view: View::Raw, agent: None, resume };
        let watch = watch_tools(self.governance.catalog(), ask).await.unwrap();
        let (gate, stopping) = (self.gate.clone(), self.stopping.clone());
        let lost = gate.until_lost(self.caller.clone());
        Following { watch, client: self.client, view: View::Raw, gate, stopping, lost }
    }
}

fn list(servers: &ScriptedServers, text: &str) {
    let text = text.repeat(DEFINITION_BYTES);
    let entries: Vec<String> = (0..TOOLS)
        .map(|n| format!(r#"{{"name":"t{n:02}","description":"{text}","inputSchema":{{"type":"object"}}}}"#))
        .collect();
    servers.answers(URL, complete(&entries.iter().map(String::as_str).collect::<Vec<_>>()));
}

async fn register(governance: &Governance, caller: &Caller) -> UpstreamId {
    let client = caller.client;
    let transport = Transport::Http { url: URL.into(), headers: Vec::new(), allow_private: false };
    let (slug, display_name) = ("srv".into(), String::new());
    let name_policy = Default::default();
    let (description, path, auth) = (String::new(), Vec::new(), None);
    let wanted = CreateUpstream {
        client,
        slug,
        display_name,
        description,
        path,
        transport,
        name_policy,
        auth,
        calls: Default::default(),
        protocol: Default::default(),
        validate_only: false,
    };
    governance.create_upstream(caller, wanted).await.unwrap().detail.entry.upstream.id
}

/// Reads to the end of a group: how many changes it has, and its revision.
async fn group(answers: &mut Answers) -> (usize, String) {
    let mut changes = 0;
    loop {
        let message = answers.next().await.unwrap().unwrap();
        changes += message.changes.len();
        if !message.revision.is_empty() {
            return (changes, message.revision);
        }
    }
}

/// Reads to the end of the stream: how many changes came before it, and how it ended.
async fn end(answers: &mut Answers) -> (usize, Status) {
    let mut changes = 0;
    loop {
        match answers.next().await.unwrap() {
            Ok(message) => changes += message.changes.len(),
            Err(status) => {
                assert!(answers.next().await.is_none(), "a status is the end");
                return (changes, status);
            }
        }
    }
}

fn reason(status: &Status) -> (Code, String) {
    (status.code(), status.get_details_error_info().unwrap().reason)
}

async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[tokio::test(start_paused = true)]
async fn in_quiet_times_a_watcher_gets_word_of_progress() {
    let bench = Bench::new().await;
    let mut answers = bench.watch("").await;
    let (_, revision) = group(&mut answers).await;
    for _ in 0..3 {
        let begun = Instant::now();
        let progress = answers.next().await.unwrap().unwrap();
        assert_eq!((progress.changes.len(), &progress.revision), (0, &revision));
        let waited = u64::try_from(begun.elapsed().as_millis()).unwrap();
        assert!((limits::WATCH_PROGRESS_MS..limits::WATCH_PROGRESS_MS + 10).contains(&waited), "{waited} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_takes_no_message_is_cut_off_and_resumes_without_a_gap() {
    let bench = Bench::new().await;
    let mut answers = bench.watch("").await;
    let (all, revision) = group(&mut answers).await;
    assert_eq!(all, TOOLS);
    bench.change("2").await;
    pass(3 * limits::WATCH_STALL_MS).await;
    bench.change("3").await;
    let (told, status) = end(&mut answers).await;
    assert_eq!(reason(&status), (Code::Unavailable, "WATCH_LAGGED".into()));
    assert!(told < TOOLS, "what waited was not kept: {told}");
    let mut resumed = bench.watch(&revision).await;
    assert_eq!(group(&mut resumed).await.0, TOOLS);
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_takes_its_messages_late_but_in_time_is_not_cut_off() {
    let bench = Bench::new().await;
    let mut answers = bench.watch("").await;
    let (mut messages, mut changes) = (0, 0);
    loop {
        pass(limits::WATCH_STALL_MS - 1).await;
        let message = answers.next().await.unwrap().unwrap();
        (messages, changes) = (messages + 1, changes + message.changes.len());
        if !message.revision.is_empty() {
            break;
        }
    }
    assert!(messages > 2 && changes == TOOLS, "{changes} in {messages}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_watch_resumably_whether_its_messages_are_taken_or_not() {
    let bench = Bench::new().await;
    let (mut reader, mut idler) = (bench.watch("").await, bench.watch("").await);
    group(&mut reader).await;
    bench.stopping.cancel();
    for answers in [&mut reader, &mut idler] {
        assert_eq!(reason(&end(answers).await.1), (Code::Unavailable, "DRAINING".into()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_too_old_to_resume_names_the_oldest_revision() {
    let bench = Bench::new().await;
    let fault = bench.following("").await.fault(WatchEnd::Expired { oldest: Revision(7) });
    let status = bench.gate.status(Rpc::WatchTools, &fault);
    assert_eq!(reason(&status), (Code::OutOfRange, "WATCH_EXPIRED".into()));
    let oldest = &status.get_details_error_info().unwrap().metadata["oldest_revision"];
    let opened = bench.gate.tokens(bench.client).open_revision(oldest, "resume_revision");
    assert_eq!(opened, Ok(Some(Revision(7))));
}
