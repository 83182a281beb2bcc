//! The real binary as a child process, with a folder and ports of its own.
//!
//! `Server::builder()`, settings, `.start().await`; then every face of it as the operator (`catalog()`, `governance()`,
//! `get(…)`, `cli(…)`) or as anybody else (`as_key(…)`), and its end and return (`stop`, `kill_9`, `restart`).
//!
//! Nothing of the surrounding environment reaches the child but `PATH`. What it logs is printed when the test fails.

mod builder;
mod caller;
mod cli;
mod http;
mod process;

use std::{net::SocketAddr, path::Path, process::ExitStatus};

use tonic::transport::Channel;

pub use builder::{ServerBuilder, toolgate};
pub use caller::{Bearer, Caller, Catalog, Gateway, Governance};
pub use cli::{Finished, run};
pub use http::{Answer, Events};
pub use process::{Addresses, Exited, terminate};

use process::Process;

/// The operator key of every server that is not told another.
pub const OPERATOR_KEY: &str = "operator-key-of-the-tests-0123456789";

/// A server, running or stopped. Dropping it kills the process and removes the folder.
#[derive(Debug)]
pub struct Server {
    builder: ServerBuilder,
    operator: Option<String>,
    running: Option<Process>,
}

impl Server {
    /// A server with the settings of the tests.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// [`Server::builder`] with nothing added.
    ///
    /// # Panics
    /// When it does not become ready.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// Where it listens.
    ///
    /// # Panics
    /// When it is stopped.
    pub fn addresses(&self) -> Addresses {
        self.process().addresses
    }

    /// The folder of its data, kept over restarts.
    pub fn data_dir(&self) -> &Path {
        self.builder.data_dir()
    }

    /// Everything that it has logged, over all starts.
    pub fn log(&self) -> String {
        self.builder.log()
    }

    /// What it announced on standard output since it was started.
    ///
    /// # Panics
    /// When it is stopped.
    pub fn announced(&self) -> String {
        self.process().announced()
    }

    /// The process id.
    ///
    /// # Panics
    /// When it is stopped.
    pub fn pid(&self) -> u32 {
        self.process().id()
    }

    /// Kills it as a power cut would.
    ///
    /// # Panics
    /// When it is stopped.
    pub async fn kill_9(&mut self) {
        self.take().kill().await;
    }

    /// Asks it to stop (SIGTERM) and waits for its end.
    ///
    /// # Panics
    /// When it is stopped, or does not end.
    pub async fn stop(&mut self) -> ExitStatus {
        self.ask_to_stop();
        self.ended().await
    }

    /// Asks it to stop (SIGTERM), without waiting.
    ///
    /// # Panics
    /// When it is stopped.
    pub fn ask_to_stop(&self) {
        self.process().terminate();
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn ended(&mut self) -> ExitStatus {
        self.take().ended().await
    }

    /// Starts it again on the same folder, with the same settings and other ports; stops it first where it runs.
    ///
    /// # Panics
    /// When it does not become ready.
    pub async fn restart(&mut self) {
        if self.running.is_some() {
            self.stop().await;
        }
        self.running = Some(self.builder.spawn().await.unwrap_or_else(|exited| panic!("{exited}")));
    }

    /// Tries to start it again, and answers how it ended instead.
    ///
    /// # Panics
    /// When it runs, or becomes ready after all.
    pub async fn refuses_to_restart(&self) -> Exited {
        assert!(self.running.is_none(), "the server runs");
        self.builder.refused().await
    }

    /// A caller with the operator's key.
    ///
    /// # Panics
    /// When there is no such key, because the server made one itself.
    pub fn operator(&self) -> Caller {
        self.as_key(self.operator.as_deref().expect("the server was given an operator key"))
    }

    /// A caller with this key.
    pub fn as_key(&self, key: &str) -> Caller {
        Caller::new(self.addresses(), self.channel(), Some(key))
    }

    /// A caller without a key.
    pub fn as_nobody(&self) -> Caller {
        Caller::new(self.addresses(), self.channel(), None)
    }

    /// The catalogue, read with the operator's key.
    pub fn catalog(&self) -> Catalog {
        self.operator().catalog()
    }

    /// Governance, with the operator's key.
    pub fn governance(&self) -> Governance {
        self.operator().governance()
    }

    /// `GET`, with the operator's key.
    ///
    /// # Panics
    /// When no HTTP answer comes.
    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.operator().get(path, headers).await
    }

    /// `GET` of the administration listener.
    ///
    /// # Panics
    /// When no HTTP answer comes.
    pub async fn admin(&self, path: &str) -> Answer {
        http::request(self.addresses().admin, "GET", path, &[], "").await
    }

    /// Runs `toolgate` with these arguments, the operator's key and this server's endpoint.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn cli(&self, args: &[&str]) -> Finished {
        self.operator().cli(args).await
    }

    /// The connection that all callers share.
    pub fn channel(&self) -> Channel {
        self.process().channel.clone()
    }

    fn process(&self) -> &Process {
        self.running.as_ref().expect("the server runs")
    }

    fn take(&mut self) -> Process {
        self.running.take().expect("the server runs")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.builder.print_tail_of_log();
        }
    }
}

/// A loopback address as a URL.
fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}
