//! Writers that never stop by themselves, and know what was acknowledged and what was not answered.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use futures::future::join_all;
use tokio::{sync::Notify, task::JoinHandle};
use tonic::Status;
use tonic_types::StatusExt;
use toolgate_api_proto::v1::{
    ApproveToolRequest, DisableToolRequest, EnableToolRequest, RevokeToolApprovalRequest, SyncUpstreamRequest,
};
use toolgate_test_support::{
    eventually::PATIENCE,
    mcp_server::ScriptedServer,
    server::{Governance, Server},
};

use super::{
    owned::{Owned, Word},
    random::Random,
};

/// A server whose definitions carry a version.
pub(super) struct Moving {
    scripted: Arc<ScriptedServer>,
    versions: Arc<Versions>,
}

/// The last version that was listed, and the last one whose sync was acknowledged.
#[derive(Default)]
struct Versions {
    listed: AtomicU64,
    acknowledged: AtomicU64,
}

const MOVING_TOOLS: usize = 12;

impl Moving {
    pub(super) async fn start() -> Self {
        let scripted = Arc::new(ScriptedServer::start().await);
        let moving = Self { scripted, versions: Arc::default() };
        list_version(&moving.scripted, 0);
        moving
    }

    pub(super) fn url(&self) -> String {
        self.scripted.url()
    }
}

fn list_version(scripted: &ScriptedServer, version: u64) {
    let filling = "x".repeat(2000);
    let tools = (0..MOVING_TOOLS).map(|n| {
        format!(r#"{{"name":"moving{n}","inputSchema":{{}},"version":{version},"filling":"{filling}"}}"#)
    });
    scripted.list(&tools.collect::<Vec<_>>());
}

/// What is shared by those who write and the one who kills.
struct Shared {
    acknowledged: AtomicUsize,
    target: usize,
    reached: Notify,
    /// Numbers of the requests that were sent and are not answered.
    unanswered: Mutex<HashSet<usize>>,
    next_number: AtomicUsize,
}

impl Shared {
    fn sent(&self) -> usize {
        let number = self.next_number.fetch_add(1, Ordering::SeqCst);
        self.unanswered.lock().unwrap().insert(number);
        number
    }

    fn acknowledged(&self, number: usize) {
        self.unanswered.lock().unwrap().remove(&number);
        if self.acknowledged.fetch_add(1, Ordering::SeqCst) + 1 == self.target {
            self.reached.notify_one();
        }
    }
}

/// The writers of one round.
pub(super) struct Load {
    shared: Arc<Shared>,
    writers: Vec<JoinHandle<(Vec<Owned>, usize)>>,
    syncing: JoinHandle<usize>,
    versions: Arc<Versions>,
}

/// What is known after a kill.
pub(super) struct Stopped {
    pub(super) client: String,
    pub(super) owned: Vec<Vec<Owned>>,
    pub(super) acknowledged: usize,
    /// Requests that were on their way when the kill was sent, and never answered.
    pub(super) in_flight: usize,
    pub(super) version_acknowledged: u64,
    pub(super) version_sent: u64,
}

impl Load {
    pub(super) fn start(
        server: &Server,
        owned: Vec<Vec<Owned>>,
        moving: &Moving,
        random: &mut Random,
        target: usize,
    ) -> Self {
        let shared = Arc::new(Shared {
            acknowledged: AtomicUsize::new(0),
            target,
            reached: Notify::new(),
            unanswered: Mutex::default(),
            next_number: AtomicUsize::new(0),
        });
        let start =
            |owned| tokio::spawn(rule(server.governance(), owned, random.split(), Arc::clone(&shared)));
        let writers = owned.into_iter().map(start).collect();
        let (scripted, versions) = (Arc::clone(&moving.scripted), Arc::clone(&moving.versions));
        let syncing =
            tokio::spawn(follow(server.governance(), scripted, Arc::clone(&versions), Arc::clone(&shared)));
        Self { shared, writers, syncing, versions }
    }

    /// Waits until enough was acknowledged and most writers wait for an answer; gives the numbers of their requests.
    pub(super) async fn reached(&self) -> HashSet<usize> {
        let reached = async {
            self.shared.reached.notified().await;
            loop {
                let unanswered = self.shared.unanswered.lock().unwrap().clone();
                if unanswered.len() > self.writers.len() / 2 {
                    return unanswered;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, reached).await.expect("the server answers its writers")
    }

    /// Waits until every writer has noticed the kill. `in_flight` was taken right before it.
    pub(super) async fn stopped(self, in_flight: &HashSet<usize>) -> Stopped {
        let ended: Vec<_> = join_all(self.writers).await.into_iter().map(Result::unwrap).collect();
        let last_sync = self.syncing.await.unwrap();
        let unanswered = ended.iter().map(|(_, number)| number).chain([&last_sync]);
        let in_flight = unanswered.filter(|number| in_flight.contains(number)).count();
        let owned: Vec<_> = ended.into_iter().map(|(owned, _)| owned).collect();
        Stopped {
            client: owned[0][0].client_id.clone(),
            owned,
            acknowledged: self.shared.acknowledged.load(Ordering::SeqCst),
            in_flight,
            version_acknowledged: self.versions.acknowledged.load(Ordering::SeqCst),
            version_sent: self.versions.listed.load(Ordering::SeqCst),
        }
    }
}

/// Rules about its own tools until there is no answer any more; answers the number of the request without one.
async fn rule(
    mut governance: Governance,
    mut owned: Vec<Owned>,
    mut random: Random,
    shared: Arc<Shared>,
) -> (Vec<Owned>, usize) {
    loop {
        let at = random.below(owned.len());
        let tool = &mut owned[at];
        let word = tool.next(&mut random);
        let number = shared.sent();
        match send(&mut governance, tool, word).await {
            Ok(()) => {
                tool.acts.push(word);
                shared.acknowledged(number);
            }
            Err(status) => {
                assert_no_refusal(&status);
                tool.in_flight = Some(word);
                return (owned, number);
            }
        }
    }
}

async fn send(governance: &mut Governance, tool: &Owned, word: Word) -> Result<(), Status> {
    let id = tool.id.clone();
    match word {
        Word::Approve => {
            let definition_hash = tool.hash.clone();
            let request = ApproveToolRequest { id, definition_hash, ..Default::default() };
            governance.approve_tool(request).await.map(drop)
        }
        Word::Revoke => {
            let request = RevokeToolApprovalRequest { id, ..Default::default() };
            governance.revoke_tool_approval(request).await.map(drop)
        }
        Word::Disable => {
            governance.disable_tool(DisableToolRequest { id, ..Default::default() }).await.map(drop)
        }
        Word::Enable => {
            governance.enable_tool(EnableToolRequest { id, ..Default::default() }).await.map(drop)
        }
    }
}

/// Brings one version after the other into the catalogue until there is no answer any more; answers the number of the request
/// without one.
async fn follow(
    mut governance: Governance,
    scripted: Arc<ScriptedServer>,
    versions: Arc<Versions>,
    shared: Arc<Shared>,
) -> usize {
    loop {
        let version = versions.listed.fetch_add(1, Ordering::SeqCst) + 1;
        list_version(&scripted, version);
        let number = shared.sent();
        let request = SyncUpstreamRequest { id: "moving".into(), wait: true, ..Default::default() };
        match governance.sync_upstream(request).await {
            Ok(answer) => {
                assert_eq!(answer.into_inner().upstream.unwrap().last_error, "");
                versions.acknowledged.store(version, Ordering::SeqCst);
                shared.acknowledged(number);
            }
            Err(status) => {
                assert_no_refusal(&status);
                return number;
            }
        }
    }
}

/// A connection that broke says nothing; a server that refuses gives its reason.
fn assert_no_refusal(status: &Status) {
    assert_eq!(status.get_details_error_info().map(|info| info.reason), None, "{status:?}");
}
