use std::sync::Arc;

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderMap, Method, StatusCode};
use thiserror::Error;
use tokio::sync::Semaphore;
use url::Url;

use crate::failure::{OutboundError, Refusal};
use crate::limits::{IDLE_CONNECTION, MAX_LOOKUPS, MAX_REDIRECTS};
use crate::policy::{Private, Reach};
use crate::resolver::GuardedResolver;

/// The way out: makes [`Client`]s.
///
/// Two connection pools stand behind it, so that a connection to a declared private address never serves a request
/// that declared nothing.
#[derive(Debug, Clone)]
pub struct Outbound {
    undeclared: Client,
    declared: Client,
}

/// The process cannot make TLS connections.
#[derive(Debug, Error)]
#[error(
    "cannot set up outgoing connections: no usable certificate authorities; install the ca-certificates package"
)]
pub struct SetupError;

impl Outbound {
    /// Reads the system's certificate authorities and sets up both pools. Proxies of the environment are not used.
    pub fn new(private: Private) -> Result<Self, SetupError> {
        let lookups = Arc::new(Semaphore::new(MAX_LOOKUPS));
        Ok(Self {
            undeclared: Client::new(Reach::new(private, false), &lookups)?,
            declared: Client::new(Reach::new(private, true), &lookups)?,
        })
    }

    /// The client for one target. `allow_private`: somebody with the right to do so declared the target private.
    pub fn client(&self, allow_private: bool) -> &Client {
        if allow_private { &self.declared } else { &self.undeclared }
    }

    /// Parses a URL and judges what can be judged without a name server: its form and a literal address.
    pub fn check(&self, url: &str, allow_private: bool) -> Result<Url, Refusal> {
        let url = Url::parse(url).map_err(|_| Refusal::Malformed)?;
        self.client(allow_private).reach.admit_url(&url)?;
        Ok(url)
    }
}

/// Sends requests to what its policy allows.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    reach: Reach,
}

impl Client {
    fn new(reach: Reach, lookups: &Arc<Semaphore>) -> Result<Self, SetupError> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .pool_idle_timeout(IDLE_CONNECTION)
            .dns_resolver(GuardedResolver::new(reach, Arc::clone(lookups)))
            .build()
            .map_err(|_| SetupError)?;
        Ok(Self { http, reach })
    }

    /// Sends one request and waits for the head of the answer. Has no time limit of its own.
    ///
    /// A 307 or 308 within the origin is followed with method, headers and body as they are. Any other redirect is
    /// refused: a request carries credentials, and those belong to one origin.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response, OutboundError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            self.reach.admit_url(&url)?;
            let request =
                self.http.request(method.clone(), url.clone()).headers(headers.clone()).body(body.clone());
            let answer = request.send().await.map_err(|error| OutboundError::sending(&error))?;
            match next_hop(&url, answer.status(), answer.headers())? {
                Some(next) => url = next,
                None => return Ok(Response { inner: answer }),
            }
        }
        Err(Refusal::TooManyRedirects.into())
    }
}

fn next_hop(current: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Option<Url>, Refusal> {
    match status {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => {}
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => {
            return Err(Refusal::MethodChange(status.as_u16()));
        }
        _ => return Ok(None),
    }
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok()).ok_or(Refusal::BadLocation)?;
    let next = current.join(location).map_err(|_| Refusal::BadLocation)?;
    if next.origin() != current.origin() {
        return Err(Refusal::OtherOrigin);
    }
    Ok(Some(next))
}

/// The head of an answer, and its body piece by piece.
#[derive(Debug)]
pub struct Response {
    inner: reqwest::Response,
}

impl Response {
    /// The status.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The headers. A `Content-Encoding` that is still here was not decoded (gzip is, and nothing else is offered).
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// The next piece of the body after decompression, `None` at the end. Pieces are small, whatever the body's size.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, OutboundError> {
        self.inner.chunk().await.map_err(|error| OutboundError::receiving(&error))
    }
}
