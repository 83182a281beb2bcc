use tokio::process::Command;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::Channel,
};
use toolgate_api_proto::v1::{
    tool_catalog_client::ToolCatalogClient, tool_gateway_client::ToolGatewayClient,
    tool_governance_client::ToolGovernanceClient,
};

use super::{
    builder::toolgate,
    cli::{self, Finished},
    http::{self, Answer, Events},
    process::Addresses,
    url,
};

/// The client of `ToolCatalog`.
pub type Catalog = ToolCatalogClient<InterceptedService<Channel, Bearer>>;
/// The client of `ToolGovernance`.
pub type Governance = ToolGovernanceClient<InterceptedService<Channel, Bearer>>;

/// The client of `ToolGateway`.
pub type Gateway = ToolGatewayClient<InterceptedService<Channel, Bearer>>;

/// Bytes of a result that are taken.
const MAX_RESULT_BYTES: usize = 32 * 1024 * 1024;

/// Puts a key on every call.
#[derive(Debug, Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

/// Somebody with a key, or without one, on every face of a server.
#[derive(Debug, Clone)]
pub struct Caller {
    at: Addresses,
    channel: Channel,
    key: Option<String>,
}

impl Caller {
    pub(super) fn new(at: Addresses, channel: Channel, key: Option<&str>) -> Self {
        Self { at, channel, key: key.map(str::to_owned) }
    }

    /// The catalogue.
    pub fn catalog(&self) -> Catalog {
        ToolCatalogClient::with_interceptor(self.channel.clone(), self.bearer())
    }

    /// Governance.
    pub fn governance(&self) -> Governance {
        ToolGovernanceClient::with_interceptor(self.channel.clone(), self.bearer())
    }

    /// The gateway.
    pub fn gateway(&self) -> Gateway {
        let client = ToolGatewayClient::with_interceptor(self.channel.clone(), self.bearer());
        client.max_decoding_message_size(MAX_RESULT_BYTES)
    }

    fn bearer(&self) -> Bearer {
        let value = |key: &String| format!("Bearer {key}").parse().expect("a key is printable");
        Bearer(self.key.as_ref().map(value))
    }

    /// `GET` over HTTP.
    ///
    /// # Panics
    /// When no HTTP answer comes.
    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.request("GET", path, headers).await
    }

    /// Any method over HTTP, without a body. A `host` among the headers stands in place of the true one.
    ///
    /// # Panics
    /// When no HTTP answer comes.
    pub async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(method, path, headers, "").await
    }

    /// [`Caller::request`] with a body.
    ///
    /// # Panics
    /// When no HTTP answer comes.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let authorization = self.authorization();
        http::request(self.at.http, method, path, &with(&authorization, headers), body).await
    }

    /// [`Caller::send`] for an answer that is a stream of events.
    ///
    /// # Panics
    /// When no such stream opens.
    pub async fn events(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Events {
        let authorization = self.authorization();
        http::events(self.at.http, method, path, &with(&authorization, headers), body).await
    }

    fn authorization(&self) -> Option<String> {
        self.key.as_ref().map(|key| format!("Bearer {key}"))
    }

    /// Runs `toolgate` with these arguments against this server.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn cli(&self, args: &[&str]) -> Finished {
        cli::run(self.cli_command(args)).await
    }

    /// `toolgate` with these arguments against this server, not started yet; killed when dropped.
    pub fn cli_command(&self, args: &[&str]) -> Command {
        let mut command = toolgate(args);
        command.env("TOOLGATE_ENDPOINT", url(self.at.grpc));
        if let Some(key) = &self.key {
            command.env("TOOLGATE_KEY", key);
        }
        command
    }
}

fn with<'a>(authorization: &'a Option<String>, headers: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = headers.to_vec();
    all.extend(authorization.iter().map(|value| ("authorization", value.as_str())));
    all
}
