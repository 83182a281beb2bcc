//! What an HTTP answer holds.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, WWW_AUTHENTICATE};
use toolgate_outbound::{OutboundError, Response};
use toolgate_upstream::ListingError;

use crate::conversation::Failure;
use crate::limits::MAX_REFUSAL_BYTES;
use crate::meter::Meter;
use crate::rpc::{Inbox, Request};

/// An answer without success: the MCP error in its body, or else its status.
pub(super) async fn refusal(mut answer: Response, request: &Request) -> Failure {
    let status = ListingError::Status(answer.status().as_u16());
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = answer.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_REFUSAL_BYTES {
            return status.into();
        }
    }
    let delivery = String::from_utf8(body).ok().and_then(|body| Inbox::new(request).deliver(&body).ok());
    match delivery.and_then(|delivery| delivery.answer) {
        Some(Err(error)) => error.into(),
        Some(Ok(_)) | None => status.into(),
    }
}

pub(super) fn unauthorized(answer: &Response) -> ListingError {
    let challenge = answer.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    ListingError::Unauthorized { status: answer.status().as_u16(), challenge: challenge.map(str::to_owned) }
}

pub(super) enum Body {
    Json,
    Events,
}

pub(super) fn body_kind(headers: &HeaderMap) -> Result<Body, ListingError> {
    if let Some(encoding) = headers.get(CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        let text = format!("the answer has content encoding `{encoding}`, which was not offered; gzip was");
        return Err(ListingError::Protocol(text));
    }
    let Some(media_type) = headers.get(CONTENT_TYPE) else { return Ok(Body::Json) };
    let media_type = String::from_utf8_lossy(media_type.as_bytes()).to_ascii_lowercase();
    match media_type.split(';').next().unwrap_or_default().trim() {
        "application/json" => Ok(Body::Json),
        "text/event-stream" => Ok(Body::Events),
        _ => Err(ListingError::Protocol(
            "the answer's content type is neither application/json nor text/event-stream".into(),
        )),
    }
}

pub(super) async fn read_document(
    mut answer: Response,
    mut inbox: Inbox,
    meter: &mut Meter,
) -> Result<String, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        meter.take(chunk.len())?;
        body.extend_from_slice(&chunk);
    }
    if body.is_empty() {
        return Err(ListingError::Protocol("the answer to a request has no body".into()).into());
    }
    let missing =
        || ListingError::Protocol("the answer belongs to another request: its id is not ours".into());
    Ok(inbox.deliver(&text(body)?)?.answer.ok_or_else(missing)??)
}

pub(super) fn text(bytes: Vec<u8>) -> Result<String, ListingError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ListingError::Protocol(format!("the answer is not UTF-8 at byte {at}"))
    })
}

pub(super) fn unreachable(error: OutboundError) -> ListingError {
    match error {
        OutboundError::Refused(refusal) => ListingError::Refused(refusal.to_string()),
        OutboundError::Connect(reason) => ListingError::Connect(reason.into()),
        OutboundError::Broken(what) => ListingError::Protocol(what.into()),
    }
}
