//! Requests to a server, and what comes back.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use toolgate_definition::scan;
use toolgate_outbound::{Outbound, OutboundError};
use toolgate_upstream::{ListingError, RESERVED_HEADERS, Secret, TraceContext};
use url::Url;

use crate::entries::{member, string};

/// Characters of a server's own words that are told.
const MAX_MESSAGE_CHARS: usize = 300;

/// A server, as it is reached.
pub(crate) struct Server<'a> {
    pub(crate) outbound: &'a Outbound,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(String, Secret)],
    pub(crate) allow_private: bool,
}

/// An answer that was read to its end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
}

impl Server<'_> {
    /// Sends a request to a path below the server's URL, and reads at most so many bytes of the answer.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        trace: Option<TraceContext<'_>>,
        max_bytes: usize,
    ) -> Result<Answer, ListingError> {
        let url = self.below(path)?;
        let headers = self.request_headers(trace)?;
        let body = body.map(Bytes::from).unwrap_or_default();
        let client = self.outbound.client(self.allow_private);
        let mut answer = client.send(method, &url, &headers, body).await.map_err(unreachable)?;
        let status = answer.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let challenge = answer.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
            let challenge = challenge.map(str::to_owned);
            return Err(ListingError::Unauthorized { status: status.as_u16(), challenge });
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > max_bytes {
                return Err(ListingError::TooLarge(format!("more than {max_bytes} bytes in one answer")));
            }
        }
        let text =
            String::from_utf8(bytes).map_err(|_| ListingError::Protocol("the answer is not UTF-8".into()))?;
        Ok(Answer { status, text })
    }

    fn below(&self, path: &str) -> Result<Url, ListingError> {
        let base = self.url.trim_end_matches('/');
        let checked = self.outbound.check(&format!("{base}{path}"), self.allow_private);
        checked.map_err(|refusal| ListingError::Refused(refusal.to_string()))
    }

    fn request_headers(&self, trace: Option<TraceContext<'_>>) -> Result<HeaderMap, ListingError> {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            let refused = |why: &str| ListingError::Refused(format!("header `{name}` {why}"));
            let key = HeaderName::try_from(name.as_str())
                .map_err(|_| refused("has a name that HTTP does not allow"))?;
            if RESERVED_HEADERS.contains(&key.as_str()) {
                return Err(refused("is not the upstream's to set"));
            }
            let mut value = HeaderValue::from_bytes(value.expose().as_bytes())
                .map_err(|_| refused("has a value with characters that HTTP does not allow"))?;
            value.set_sensitive(true);
            headers.append(key, value);
        }
        let json = HeaderValue::from_static("application/json");
        headers.insert(ACCEPT, json.clone());
        headers.insert(CONTENT_TYPE, json);
        if let Some(TraceContext { traceparent, tracestate }) = trace {
            let header = |text: &str| HeaderValue::try_from(text).ok();
            headers.extend(header(traceparent).map(|value| (HeaderName::from_static("traceparent"), value)));
            let state = tracestate.and_then(header);
            headers.extend(state.map(|value| (HeaderName::from_static("tracestate"), value)));
        }
        Ok(headers)
    }

    /// An error of the server's, in its own words without the upstream's secrets.
    pub(crate) fn refused(&self, answer: &Answer) -> ListingError {
        let said =
            scan::object(&answer.text).ok().and_then(|members| member(&members, "message").and_then(string));
        let Some(mut message) = said else { return ListingError::Status(answer.status.as_u16()) };
        for (_, secret) in self.headers.iter().filter(|(_, secret)| !secret.expose().is_empty()) {
            message = message.replace(secret.expose(), "…");
        }
        let message = message.chars().filter(|at| !at.is_control()).take(MAX_MESSAGE_CHARS).collect();
        ListingError::Rpc { code: answer.status.as_u16().into(), message }
    }
}

fn unreachable(error: OutboundError) -> ListingError {
    match error {
        OutboundError::Refused(refusal) => ListingError::Refused(refusal.to_string()),
        OutboundError::Connect(reason) => ListingError::Connect(reason.into()),
        OutboundError::Broken(what) => ListingError::Protocol(what.into()),
    }
}
