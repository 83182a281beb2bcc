use std::{
    fmt,
    net::SocketAddr,
    process::ExitStatus,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};
use tonic::transport::{Channel, Endpoint};

use super::url;

/// How long it may take to become ready, or to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a server listens.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// HTTP/JSON.
    pub http: SocketAddr,
    /// gRPC.
    pub grpc: SocketAddr,
    /// `/livez`, `/readyz` and `/metrics`.
    pub admin: SocketAddr,
}

/// How a server ended that did not become ready.
#[derive(Debug, Clone)]
pub struct Exited {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard error.
    pub log: String,
}

impl fmt::Display for Exited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server did not become ready; exit code {:?}:\n{}", self.code, self.log)
    }
}

/// One run of the server.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) addresses: Addresses,
    pub(super) channel: Channel,
    announced: Arc<Mutex<Vec<String>>>,
}

impl Process {
    /// Starts it and waits until it says where it listens; else answers the exit code, if it has one.
    pub(super) async fn start(mut command: Command) -> Result<Self, Option<i32>> {
        let mut child = command.spawn().expect("the binary can be started");
        let stdout = child.stdout.take().expect("standard output is piped");
        let mut lines = BufReader::new(stdout).lines();
        let announced = Arc::default();
        let waited = timeout(PATIENCE, addresses(&mut lines, &announced)).await;
        let Some(addresses) = waited.ok().flatten() else {
            return Err(timeout(PATIENCE, child.wait()).await.ok().and_then(|status| status.ok()?.code()));
        };
        tokio::spawn(keep(lines, Arc::clone(&announced)));
        let endpoint = Endpoint::from_shared(url(addresses.grpc)).expect("an address makes a URL");
        Ok(Self { child, addresses, channel: endpoint.connect_lazy(), announced })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id().expect("the server runs")
    }

    pub(super) fn announced(&self) -> String {
        lock(&self.announced).join("\n")
    }

    pub(super) fn terminate(&self) {
        terminate(&self.child);
    }

    pub(super) async fn ended(mut self) -> ExitStatus {
        let status = timeout(PATIENCE, self.child.wait()).await.expect("the server ends in time");
        status.expect("the server is a child of this process")
    }

    pub(super) async fn kill(mut self) {
        self.child.kill().await.expect("the server runs");
    }
}

/// Asks a process to stop (SIGTERM).
///
/// # Panics
/// When it has ended.
pub fn terminate(child: &Child) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    kill_process(id.expect("the process runs"), Signal::TERM).expect("the process runs");
}

/// Reads what it announces up to the last address; `None` when its output ends before.
async fn addresses(
    lines: &mut Lines<BufReader<ChildStdout>>,
    announced: &Arc<Mutex<Vec<String>>>,
) -> Option<Addresses> {
    let mut found = [None; 3];
    let mut is_ready = false;
    while let Ok(Some(line)) = lines.next_line().await {
        is_ready |= line == "toolgate is ready";
        if let Some((name, address)) = line.trim().split_once(' ')
            && let Some(at) = ["http", "grpc", "admin"].iter().position(|known| *known == name)
        {
            found[at] = address.trim().strip_prefix("http://").and_then(|address| address.parse().ok());
        }
        lock(announced).push(line);
        if let [Some(http), Some(grpc), Some(admin)] = found
            && is_ready
        {
            return Some(Addresses { http, grpc, admin });
        }
    }
    None
}

/// Keeps reading, so that the server never waits for a reader.
async fn keep(mut lines: Lines<BufReader<ChildStdout>>, announced: Arc<Mutex<Vec<String>>>) {
    while let Ok(Some(line)) = lines.next_line().await {
        lock(&announced).push(line);
    }
}

/// The list is whole even where a test that held it panicked.
fn lock(announced: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    announced.lock().unwrap_or_else(PoisonError::into_inner)
}
