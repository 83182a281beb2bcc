use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use toolgate_api_proto::v1::tool_catalog_client::ToolCatalogClient;
use toolgate_api_proto::v1::tool_gateway_client::ToolGatewayClient;
use toolgate_api_proto::v1::tool_governance_client::ToolGovernanceClient;

use crate::args::Globals;
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::{CALL_DEADLINE, CONNECT_DEADLINE, KEEP_ALIVE, MAX_MESSAGE_BYTES, MAX_RESULT_BYTES};

/// Where a server listens that was told nothing else.
const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:50051";

/// Where a frame's head has its type, and the type that a server's first frame must have (RFC 9113, sections 4.1 and 3.4).
const FRAME_TYPE_AT: usize = 3;
const SETTINGS: u8 = 4;

type Authorised = InterceptedService<Channel, Bearer>;

/// A connection to a server, for one client. It is opened by the first call, so that what can be checked without the
/// server is checked first.
pub(crate) struct Connection {
    endpoint: Endpoint,
    bearer: Bearer,
    channel: Option<Channel>,
    /// For the `client_id` of requests; empty for the key's own.
    pub(crate) client_id: String,
}

impl Connection {
    /// With the key of `--key-file`, else with that of the variable, else with none; and so the endpoint.
    pub(crate) fn new(globals: &Globals, console: &Console<'_>) -> Result<Self, CommandError> {
        let endpoint = globals.endpoint.as_deref().or(console.endpoint.as_deref());
        let key = match &globals.key_file {
            Some(path) => Some(bearer(&read_key(path)?, &path.display().to_string())?),
            None => console.key.as_deref().map(|key| bearer(key, "TOOLGATE_KEY")).transpose()?,
        };
        Ok(Self {
            endpoint: parse(endpoint.unwrap_or(DEFAULT_ENDPOINT))?,
            bearer: Bearer(key),
            channel: None,
            client_id: globals.client_id.clone().unwrap_or_default(),
        })
    }

    pub(crate) async fn catalog(&mut self) -> Result<ToolCatalogClient<Authorised>, CommandError> {
        let client = ToolCatalogClient::with_interceptor(self.channel().await?, self.bearer.clone());
        Ok(client.max_decoding_message_size(MAX_MESSAGE_BYTES))
    }

    pub(crate) async fn governance(&mut self) -> Result<ToolGovernanceClient<Authorised>, CommandError> {
        let client = ToolGovernanceClient::with_interceptor(self.channel().await?, self.bearer.clone());
        Ok(client.max_decoding_message_size(MAX_MESSAGE_BYTES))
    }

    pub(crate) async fn gateway(&mut self) -> Result<ToolGatewayClient<Authorised>, CommandError> {
        let client = ToolGatewayClient::with_interceptor(self.channel().await?, self.bearer.clone());
        Ok(client.max_decoding_message_size(MAX_RESULT_BYTES))
    }

    /// Whether what listens there answers the opening of HTTP/2 with something else, such as HTTP/1.1. Worth asking after a
    /// connection broke: whether the channel reports the foreign answer or only that the connection closed is a matter of
    /// which it noticed first.
    pub(crate) async fn meets_another_protocol(&self) -> bool {
        let uri = self.endpoint.uri();
        let (Some(host), Some(port)) = (uri.host(), uri.port_u16()) else { return false };
        let opening = first_frame((host.trim_matches(['[', ']']), port));
        let head = tokio::time::timeout(CONNECT_DEADLINE, opening).await;
        matches!(head, Ok(Ok(head)) if head[FRAME_TYPE_AT] != SETTINGS)
    }

    /// The channel, which opens again by itself where it breaks.
    async fn channel(&mut self) -> Result<Channel, CommandError> {
        match &self.channel {
            Some(channel) => Ok(channel.clone()),
            None => Ok(self.channel.insert(connect(&self.endpoint).await?).clone()),
        }
    }
}

/// The head of the first frame that answers a client's preface (RFC 9113, sections 3.4 and 4.1).
async fn first_frame(address: (&str, u16)) -> io::Result<[u8; 9]> {
    const PREFACE_AND_EMPTY_SETTINGS: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(PREFACE_AND_EMPTY_SETTINGS).await?;
    let mut head = [0; 9];
    stream.read_exact(&mut head).await?;
    Ok(head)
}

/// A call with the usual deadline.
pub(crate) fn call<T>(message: T) -> Request<T> {
    call_within(CALL_DEADLINE, message)
}

/// A call with a deadline of its own.
pub(crate) fn call_within<T>(deadline: Duration, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(deadline);
    request
}

async fn connect(endpoint: &Endpoint) -> Result<Channel, CommandError> {
    let unreachable = |error: tonic::transport::Error| CommandError::Unreachable {
        endpoint: endpoint.uri().to_string(),
        cause: innermost(&error),
    };
    endpoint.connect().await.map_err(unreachable)
}

fn parse(endpoint: &str) -> Result<Endpoint, CommandError> {
    let usage = |problem: String| CommandError::Usage {
        problem,
        hint: "an endpoint is `http://HOST:PORT`, from --endpoint or TOOLGATE_ENDPOINT".to_owned(),
    };
    let parsed = Endpoint::from_shared(endpoint.to_owned())
        .map_err(|_| usage(format!("the endpoint {endpoint} is not a URL")))?;
    match parsed.uri().scheme_str() {
        Some("http") => Ok(parsed
            .connect_timeout(CONNECT_DEADLINE)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)),
        Some("https") => Err(usage("TLS endpoints are not supported yet".to_owned())),
        _ => Err(usage(format!("the endpoint {endpoint} does not begin with `http://`"))),
    }
}

/// The last of an error's causes, which says most.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

fn read_key(path: &Path) -> Result<String, CommandError> {
    fs::read_to_string(path).map_err(|source| CommandError::Unreadable { path: path.to_owned(), source })
}

fn bearer(key: &str, origin: &str) -> Result<MetadataValue<Ascii>, CommandError> {
    let key = key.trim();
    let malformed = || CommandError::Usage {
        problem: format!("{origin} does not hold a key"),
        hint: "a key is one line of printable ASCII, `tg_<id>_<secret>`".to_owned(),
    };
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(malformed());
    }
    let mut value = MetadataValue::try_from(format!("Bearer {key}")).map_err(|_| malformed())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Puts the caller's key, if there is one, into each call.
#[derive(Clone)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn an_endpoint_that_cannot_be_spoken_to_is_a_usage_error() {
        let cases = [
            ("https://tools.example", "TLS endpoints are not supported yet"),
            ("127.0.0.1:50051", "the endpoint 127.0.0.1:50051 does not begin with `http://`"),
            ("http://a b", "the endpoint http://a b is not a URL"),
        ];
        for (endpoint, problem) in cases {
            let error = parse(endpoint).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.exit()), (problem, Exit::Usage));
        }
    }

    #[test]
    fn a_malformed_key_is_refused_without_being_repeated() {
        for key in ["", " \n", "two words", "line\nline", "schlüssel"] {
            let error = bearer(key, "the file k").unwrap_err();
            assert_eq!(error.to_string(), "the file k does not hold a key");
        }
    }
}
