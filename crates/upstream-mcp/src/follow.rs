//! Hearing from a server that its list of tools changed: the answer of `subscriptions/listen` in stateless revisions, the
//! GET stream of a session in older ones.
//!
//! Only over HTTP. A child process would have to stay up for as long as it is followed, one an upstream; what that costs
//! is more than the schedule's delay.

use tokio::time::{sleep, timeout};
use toolgate_upstream::{Bounds, FollowEnd, ListingError};

use crate::conversation::{Conversation, Failure, Wire};
use crate::envelope::Envelope;
use crate::eras::{self, Era};
use crate::http::{EventStream, HttpWire};
use crate::limits::{FAREWELL, MAX_FOLLOWED, NOTICES_EVERY};
use crate::meter::Meter;
use crate::rpc::{Delivery, Inbox, Notice, Request};
use crate::session_era;

const METHOD_NOT_FOUND: i64 = -32601;

/// Calls `changed` when the server has agreed to tell, and for what it tells.
pub(crate) async fn follow(
    wire: HttpWire<'_>,
    era: Option<Era>,
    bounds: &Bounds,
    changed: &(dyn Fn() + Send + Sync),
) -> Result<FollowEnd, ListingError> {
    let mut conversation = Conversation::new(wire, bounds);
    // Dead connections are not always noticed.
    let outcome = timeout(MAX_FOLLOWED, follow_in_era(&mut conversation, era, bounds, changed)).await;
    // Whether the server heard the farewell makes no difference.
    let _ = timeout(FAREWELL, conversation.wire.end()).await;
    match outcome {
        Ok(Ok(end)) => Ok(end),
        Ok(Err(Failure::Rpc(error))) if error.code == METHOD_NOT_FOUND => Ok(FollowEnd::NotOffered),
        Ok(Err(Failure::SessionGone)) | Err(_) => Ok(FollowEnd::Ended),
        Ok(Err(failure)) => Err(failure.into()),
    }
}

async fn follow_in_era(
    conversation: &mut Conversation<HttpWire<'_>>,
    era: Option<Era>,
    bounds: &Bounds,
    changed: &(dyn Fn() + Send + Sync),
) -> Result<FollowEnd, Failure> {
    let opening = conversation.opening(bounds);
    let era = match era {
        Some(era) => era,
        None => eras::find(conversation, opening).await?.era,
    };
    match era {
        Era::Stateless(revision) => listen(conversation, revision, bounds, changed).await,
        // It tells on the stream of each connection, and to follow one would be to hold one for that alone.
        Era::Streams => Ok(FollowEnd::NotOffered),
        Era::Session => {
            conversation.envelope = Envelope::Bare;
            let server = session_era::shake_hands(conversation, opening).await?;
            if !server.tells_changes {
                return Ok(FollowEnd::NotOffered);
            }
            let stream = in_time(bounds, conversation.wire.open_session_stream()).await?;
            let Some(stream) = stream else { return Ok(FollowEnd::NotOffered) };
            changed();
            let nothing_awaited = Request::new(0, "", "{}", None);
            hear(&mut conversation.wire, stream, &nothing_awaited, bounds, changed).await
        }
    }
}

/// `subscriptions/listen` (2026-07-28, Subscriptions).
async fn listen(
    conversation: &mut Conversation<HttpWire<'_>>,
    revision: &'static str,
    bounds: &Bounds,
    changed: &(dyn Fn() + Send + Sync),
) -> Result<FollowEnd, Failure> {
    conversation.envelope = Envelope::Declaring(revision);
    let request =
        conversation.request("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    let mut meter = Meter::new(bounds);
    let stream =
        in_time(bounds, conversation.wire.open_answer_stream(&request, revision, &mut meter)).await?;
    match stream {
        Some(stream) => hear(&mut conversation.wire, stream, &request, bounds, changed).await,
        None => Ok(FollowEnd::Ended),
    }
}

async fn in_time<T>(bounds: &Bounds, opened: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let limit = bounds.answer_timeout;
    timeout(limit, opened).await.unwrap_or_else(|_| {
        let text = format!("the stream of notices was not opened within {} ms", limit.as_millis());
        Err(ListingError::Timeout(text).into())
    })
}

/// Hears what a stream tells, to its end.
async fn hear(
    wire: &mut HttpWire<'_>,
    mut stream: EventStream,
    request: &Request,
    bounds: &Bounds,
    changed: &(dyn Fn() + Send + Sync),
) -> Result<FollowEnd, Failure> {
    let mut meter = Meter::new(bounds);
    while let Some(texts) = stream.next(&mut meter).await? {
        if texts.is_empty() {
            continue;
        }
        meter = Meter::new(bounds);
        for text in texts {
            let Delivery { answer, replies, notices } = Inbox::new(request).deliver(&text)?;
            if let Some(answer) = answer {
                return Ok(answer.map(|_| FollowEnd::Ended)?);
            }
            if notices.contains(&Notice::Acknowledged { tools: false }) {
                return Ok(FollowEnd::NotOffered);
            }
            let tells_changes =
                |notice: &Notice| matches!(notice, Notice::ToolsChanged | Notice::Acknowledged { .. });
            if notices.iter().any(tells_changes) {
                changed();
            }
            wire.reply(replies).await?;
        }
        // What a server tells meanwhile waits in the connection: a flood costs it more than us.
        sleep(NOTICES_EVERY).await;
    }
    Ok(FollowEnd::Ended)
}
