//! The three sockets, bound before anything heavy begins.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use toolgate_config::Settings;

use crate::failure::Failure;

/// The bound sockets.
pub(crate) struct Listeners {
    pub(crate) http: TcpListener,
    pub(crate) grpc: TcpListener,
    pub(crate) admin: TcpListener,
}

/// Where they listen; with port 0 in the settings, the port that the system chose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    pub(crate) http: SocketAddr,
    pub(crate) grpc: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Listeners {
    pub(crate) async fn bind(settings: &Settings) -> Result<Self, Failure> {
        Ok(Self {
            http: bind("HTTP", settings.http.addr).await?,
            grpc: bind("gRPC", settings.grpc.addr).await?,
            admin: bind("administration", settings.admin.addr).await?,
        })
    }

    pub(crate) fn addresses(&self, settings: &Settings) -> Addresses {
        let of = |listener: &TcpListener, asked: SocketAddr| listener.local_addr().unwrap_or(asked);
        Addresses {
            http: of(&self.http, settings.http.addr),
            grpc: of(&self.grpc, settings.grpc.addr),
            admin: of(&self.admin, settings.admin.addr),
        }
    }
}

async fn bind(what: &'static str, address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|source| Failure::Listen { what, address, source })
}
