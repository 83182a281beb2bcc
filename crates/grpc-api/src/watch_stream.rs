//! A watch as messages: groups cut to size, the revision on the last one, word of progress in quiet times.

use std::{collections::VecDeque, time::Duration};

use futures::{Stream, stream};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use toolgate_api_proto::v1 as pb;
use toolgate_catalog::{
    View,
    watch_tools::{Changes, ToolChange, ToolWatch},
};
use toolgate_domain::{ClientId, Fault, limits};

use crate::{Gate, convert::tool, rpc::Rpc};

struct Following {
    watch: ToolWatch,
    client: ClientId,
    view: View,
    gate: Gate,
    stopping: CancellationToken,
    ready: VecDeque<pb::WatchToolsResponse>,
    ended: bool,
}

/// The stream of a watch. It ends with a resumable status when the server stops.
pub(crate) fn watch_stream(
    watch: ToolWatch,
    client: ClientId,
    view: View,
    gate: Gate,
    stopping: CancellationToken,
) -> impl Stream<Item = Result<pb::WatchToolsResponse, Status>> + Send {
    let ready = VecDeque::new();
    let following = Following { watch, client, view, gate, stopping, ready, ended: false };
    stream::unfold(following, |mut following| async move {
        let item = following.next().await?;
        Some((item, following))
    })
}

impl Following {
    async fn next(&mut self) -> Option<Result<pb::WatchToolsResponse, Status>> {
        if self.ended {
            return None;
        }
        if self.ready.is_empty() {
            match self.wait().await {
                Ok(changes) => self.ready = self.messages(changes),
                Err(fault) => {
                    self.ended = true;
                    return Some(Err(self.gate.status(Rpc::WatchTools, &fault)));
                }
            }
        }
        self.ready.pop_front().map(Ok)
    }

    /// The next group; an empty one with the revision told last when nothing moves for a while.
    async fn wait(&mut self) -> Result<Changes, Fault> {
        let quiet = Duration::from_millis(limits::WATCH_PROGRESS_MS);
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(Fault::Draining),
            moved = tokio::time::timeout(quiet, self.watch.next()) => match moved {
                Ok(changes) => changes,
                Err(_) => Ok(Changes { changes: Vec::new(), revision: self.watch.told() }),
            },
        }
    }

    fn messages(&self, group: Changes) -> VecDeque<pb::WatchToolsResponse> {
        let tokens = self.gate.tokens(self.client);
        let mut messages = VecDeque::from([pb::WatchToolsResponse::default()]);
        let mut bytes = 0;
        for change in group.changes {
            let (size, change) = match change {
                ToolChange::Upserted(entry) => {
                    let change = pb::ToolChange {
                        kind: pb::ToolChangeKind::Upserted.into(),
                        tool_id: entry.tool.id.to_string(),
                        tool: Some(tool::to_proto(&entry, self.view, &tokens)),
                    };
                    (entry.weight_bytes(), change)
                }
                ToolChange::Withdrawn(id) => {
                    let kind = pb::ToolChangeKind::Withdrawn.into();
                    (WITHDRAWN_BYTES, pb::ToolChange { kind, tool_id: id.to_string(), tool: None })
                }
            };
            if bytes > 0 && bytes + size > limits::PAGE_DEFINITION_BYTES {
                messages.push_back(pb::WatchToolsResponse::default());
                bytes = 0;
            }
            bytes += size;
            if let Some(message) = messages.back_mut() {
                message.changes.push(change);
            }
        }
        if let Some(last) = messages.back_mut() {
            last.revision = tokens.revision(group.revision);
        }
        messages
    }
}

/// What a change without its tool takes on the wire.
const WITHDRAWN_BYTES: usize = 48;
