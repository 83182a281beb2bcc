//! A way to a server that can be shut: connections break, and new ones are refused.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

/// Passes bytes on from an address of its own, while it is open.
pub(crate) struct Door {
    at: SocketAddr,
    to: String,
    passing: Option<JoinHandle<()>>,
}

impl Door {
    /// An open door to the server of this URL.
    pub(crate) async fn to(url: &str) -> Self {
        let to = url.trim_start_matches("http://").split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let passing = Some(tokio::spawn(pass(listener, to.clone())));
        Self { at, to, passing }
    }

    /// The URL of the server's MCP endpoint, through this door.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.at)
    }

    /// When it answers, nothing listens any more and no connection is left.
    pub(crate) async fn shut(&mut self) {
        let passing = self.passing.take().expect("the door is open");
        passing.abort();
        let _ = passing.await;
    }

    pub(crate) async fn open(&mut self) {
        let listener = TcpListener::bind(self.at).await.unwrap();
        self.passing = Some(tokio::spawn(pass(listener, self.to.clone())));
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some(passing) = &self.passing {
            passing.abort();
        }
    }
}

/// The connections end with this task.
async fn pass(listener: TcpListener, to: String) {
    let mut connections = JoinSet::new();
    loop {
        let (mut outside, _) = listener.accept().await.unwrap();
        let to = to.clone();
        connections.spawn(async move {
            let mut inside = TcpStream::connect(to).await?;
            copy_bidirectional(&mut outside, &mut inside).await
        });
    }
}
