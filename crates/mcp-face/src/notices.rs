//! Streams that tell of changes: `subscriptions/listen`, and `GET` in a session.
//!
//! Both follow the service's watch of what the caller may read, and so end with its credential. Its word of progress in
//! quiet times becomes a comment, which keeps the connection open and finds out when nobody is there any more.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::{Instant, sleep_until};
use tonic::Status;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::{ErrorReason, ToolView, WatchToolsRequest};

use crate::accepted::EVENTS;
use crate::caller::Caller;
use crate::limits::NOTICE_PACE_MS;
use crate::message::Id;
use crate::refusal::Refusal;
use crate::service::{self, reason};

/// Asks proxies to pass on each event at once.
pub(crate) const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// A line that readers pass over.
const COMMENT: &str = ":\n\n";

/// What a stream says, each part a whole event.
pub(crate) struct Wording {
    opening: Option<String>,
    /// That the list of tools changed; `None` where nobody asked for that.
    changed: Option<String>,
    /// That the server ends the stream.
    closing: Option<String>,
}

impl Wording {
    /// In the words of `subscriptions/listen`: all of them bear the id of the request.
    pub(crate) fn of_subscription(id: &Id, tools: bool) -> Self {
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, id.text());
        let granted = if tools { r#"{"toolsListChanged":true}"# } else { "{}" };
        let acknowledged = format!(r#"{{{meta},"notifications":{granted}}}"#);
        let result =
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete",{meta}}}}}"#, id.text());
        Self {
            opening: Some(notification("subscriptions/acknowledged", &acknowledged)),
            changed: tools.then(|| notification("tools/list_changed", &format!("{{{meta}}}"))),
            closing: Some(event(&result)),
        }
    }

    /// In the words of a session.
    pub(crate) fn of_session() -> Self {
        let changed = event(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        Self { opening: None, changed: Some(changed), closing: None }
    }
}

fn notification(method: &str, params: &str) -> String {
    event(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#))
}

/// A JSON text whose line breaks, if it has any, are white space.
pub(crate) fn event(data: &str) -> String {
    format!("event: message\ndata: {}\n\n", data.replace(['\r', '\n'], " "))
}

/// The stream for `caller`, once the service has accepted its credential.
pub(crate) async fn stream<C: ToolCatalog>(
    catalog: &Arc<C>,
    caller: &Caller,
    wording: Wording,
) -> Result<Response, Refusal> {
    let revision = service::admit(&**catalog, caller).await?;
    let watch =
        watch(&**catalog, caller, &revision).await.map_err(|status| service::refusal(&status, caller))?;
    let notices = Notices {
        catalog: Arc::clone(catalog),
        caller: caller.clone(),
        watch: Some(watch),
        revision,
        changed: false,
        rest_until: Instant::now(),
        wording,
    };
    let events = stream::unfold(notices, |mut notices| async move {
        let event = notices.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(event)), notices))
    });
    let headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static(EVENTS)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (X_ACCEL_BUFFERING, HeaderValue::from_static("no")),
    ]);
    Ok((headers, Body::from_stream(events)).into_response())
}

async fn watch<C: ToolCatalog>(catalog: &C, caller: &Caller, revision: &str) -> Result<Watch<C>, Status> {
    let watch = WatchToolsRequest {
        view: ToolView::Served.into(),
        resume_revision: revision.to_owned(),
        ..WatchToolsRequest::default()
    };
    let stream = catalog.watch_tools(service::request(caller, watch)).await?.into_inner();
    Ok(Box::pin(stream))
}

type Watch<C> = std::pin::Pin<Box<<C as ToolCatalog>::WatchToolsStream>>;

struct Notices<C: ToolCatalog> {
    catalog: Arc<C>,
    caller: Caller,
    /// `None` once it ended.
    watch: Option<Watch<C>>,
    /// Where to go on.
    revision: String,
    /// Something changed that was not told yet.
    changed: bool,
    rest_until: Instant,
    wording: Wording,
}

impl<C: ToolCatalog> Notices<C> {
    /// The next event; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if let Some(opening) = self.wording.opening.take() {
            return Some(opening);
        }
        sleep_until(self.rest_until).await;
        loop {
            let group = match self.watch.as_mut()?.next().await {
                Some(Ok(group)) => group,
                Some(Err(status)) if self.resumes(&status).await => continue,
                Some(Err(status)) => return self.end(&status),
                None => return None,
            };
            self.changed |= !group.changes.is_empty();
            if !group.revision.is_empty() {
                self.revision = group.revision;
                return Some(self.told());
            }
        }
    }

    /// Word of a change, once for all that changed; else a comment.
    fn told(&mut self) -> String {
        match &self.wording.changed {
            Some(changed) if std::mem::take(&mut self.changed) => {
                self.rest_until = Instant::now() + Duration::from_millis(NOTICE_PACE_MS);
                changed.clone()
            }
            _ => COMMENT.to_owned(),
        }
    }

    /// A watch that fell behind goes on where it was. One whose past is forgotten goes on from now, and something changed.
    async fn resumes(&mut self, status: &Status) -> bool {
        match reason(status) {
            Some(ErrorReason::WatchLagged) => {}
            Some(ErrorReason::WatchExpired) => match service::admit(&*self.catalog, &self.caller).await {
                Ok(revision) => (self.revision, self.changed) = (revision, true),
                Err(_) => return false,
            },
            _ => return false,
        }
        match watch(&*self.catalog, &self.caller, &self.revision).await {
            Ok(watch) => {
                self.watch = Some(watch);
                true
            }
            Err(_) => false,
        }
    }

    /// A server that stops says so. Whoever lost its right learns of it by asking again.
    fn end(&mut self, status: &Status) -> Option<String> {
        self.watch = None;
        match reason(status) {
            Some(ErrorReason::Draining) => self.wording.closing.take(),
            _ => None,
        }
    }
}
