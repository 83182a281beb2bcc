//! A watch as messages: groups cut to size, the revision on the last one, word of progress in quiet times.

use std::{iter::Peekable, time::Duration, vec};

use futures::{Stream, stream};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use toolgate_api_proto::v1 as pb;
use toolgate_catalog::{
    Revision, View,
    watch_tools::{Changes, ToolChange, ToolWatch},
};
use toolgate_domain::{Caller, ClientId, Fault, limits};

use crate::{Gate, convert::tool, gate::Lost, rpc::Rpc, tokens::Tokens};

struct Following {
    watch: ToolWatch,
    client: ClientId,
    view: View,
    gate: Gate,
    stopping: CancellationToken,
    lost: Lost,
    group: Option<Group>,
    ended: bool,
}

/// Changes that are not sent yet. They are rendered a message at a time: the first group may be a whole catalogue.
struct Group {
    changes: Peekable<vec::IntoIter<ToolChange>>,
    revision: Revision,
}

/// The stream of a watch. It ends with a resumable status when the server stops, and with its caller's credential.
pub(crate) fn watch_stream(
    watch: ToolWatch,
    caller: Caller,
    client: ClientId,
    view: View,
    gate: Gate,
    stopping: CancellationToken,
) -> impl Stream<Item = Result<pb::WatchToolsResponse, Status>> + Send {
    let lost = gate.until_lost(caller);
    let following = Following { watch, client, view, gate, stopping, lost, group: None, ended: false };
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
        let group = match self.group.take() {
            Some(group) if !self.stopping.is_cancelled() && !self.lost.is_lost() => Ok(group),
            _ => self.wait().await.map(Group::from),
        };
        Some(match group {
            Ok(group) => Ok(self.message(group)),
            Err(fault) => {
                self.ended = true;
                Err(self.gate.status(Rpc::WatchTools, &fault))
            }
        })
    }

    /// The next group; an empty one with the revision told last when nothing moves for a while.
    async fn wait(&mut self) -> Result<Changes, Fault> {
        let quiet = Duration::from_millis(limits::WATCH_PROGRESS_MS);
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(Fault::Draining),
            () = self.lost.lost() => Err(Fault::CredentialInvalid),
            moved = tokio::time::timeout(quiet, self.watch.next()) => match moved {
                Ok(changes) => changes,
                Err(_) => Ok(Changes { changes: Vec::new(), revision: self.watch.told() }),
            },
        }
    }

    /// As many changes as fit, and with the last of a group its revision.
    fn message(&mut self, mut group: Group) -> pb::WatchToolsResponse {
        let tokens = self.gate.tokens(self.client);
        let (mut message, mut bytes) = (pb::WatchToolsResponse::default(), 0);
        let mut fits = |change: &ToolChange| {
            let is_first = bytes == 0;
            bytes += weight_bytes(change);
            is_first || bytes <= limits::PAGE_DEFINITION_BYTES
        };
        while let Some(change) = group.changes.next_if(&mut fits) {
            message.changes.push(to_proto(&change, self.view, &tokens));
        }
        if group.changes.peek().is_none() {
            message.revision = tokens.revision(group.revision);
        } else {
            self.group = Some(group);
        }
        message
    }
}

impl From<Changes> for Group {
    fn from(Changes { changes, revision }: Changes) -> Self {
        Self { changes: changes.into_iter().peekable(), revision }
    }
}

fn to_proto(change: &ToolChange, view: View, tokens: &Tokens<'_>) -> pb::ToolChange {
    match change {
        ToolChange::Upserted(entry) => pb::ToolChange {
            kind: pb::ToolChangeKind::Upserted.into(),
            tool_id: entry.tool.id.to_string(),
            tool: Some(tool::to_proto(entry, view, tokens)),
        },
        ToolChange::Withdrawn(id) => {
            pb::ToolChange { kind: pb::ToolChangeKind::Withdrawn.into(), tool_id: id.to_string(), tool: None }
        }
    }
}

fn weight_bytes(change: &ToolChange) -> usize {
    match change {
        ToolChange::Upserted(entry) => entry.weight_bytes(),
        ToolChange::Withdrawn(_) => WITHDRAWN_BYTES,
    }
}

/// What a change without its tool takes on the wire.
const WITHDRAWN_BYTES: usize = 48;
