//! A watch as messages: groups cut to size, the revision on the last one, word of progress in quiet times.
//!
//! A task makes each message when the one before it was taken, so that a watcher who reads slowly costs one message and no
//! queue. One who takes nothing for [`limits::WATCH_STALL_MS`] is cut off: its task ends, and the stream ends with a status
//! to resume from as soon as it is read again.

use std::{iter::Peekable, time::Duration};

use futures::{Stream, stream};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use toolgate_api_proto::v1 as pb;
use toolgate_catalog::{
    Revision, View,
    watch_tools::{Changes, ToolChange, ToolWatch, WatchEnd},
};
use toolgate_domain::{ClientId, Fault, limits};

use crate::{Gate, convert::tool, gate::Lost, rpc::Rpc};

/// Who is told what, and from where.
pub(crate) struct Following {
    pub(crate) watch: ToolWatch,
    pub(crate) client: ClientId,
    pub(crate) view: View,
    pub(crate) gate: Gate,
    /// Ends the stream, resumably.
    pub(crate) stopping: CancellationToken,
    /// Ends it with the caller's credential.
    pub(crate) lost: Lost,
}

type Messages = mpsc::Sender<pb::WatchToolsResponse>;

/// Why nothing more is told.
enum End {
    Told(Fault),
    /// The watcher went away.
    Gone,
}

/// The stream of a watch.
pub(crate) fn watch_stream(
    following: Following,
) -> impl Stream<Item = Result<pb::WatchToolsResponse, Status>> + Send {
    let (messages, taken) = mpsc::channel(1);
    let (end, ended) = oneshot::channel();
    tokio::spawn(async move {
        let gate = following.gate.clone();
        if let End::Told(fault) = following.tell(messages).await {
            // A watcher that just went away needs no status.
            let _gone = end.send(gate.status(Rpc::WatchTools, &fault));
        }
    });
    stream::unfold(Some((taken, ended)), |open| async move {
        let (mut taken, ended) = open?;
        match taken.recv().await {
            Some(message) => Some((Ok(message), Some((taken, ended)))),
            None => ended.await.ok().map(|status| (Err(status), None)),
        }
    })
}

impl Following {
    /// Tells group after group, until the watch ends.
    async fn tell(mut self, messages: Messages) -> End {
        loop {
            let group = tokio::select! {
                biased;
                () = messages.closed() => return End::Gone,
                group = self.group() => group,
            };
            let told = match group {
                Ok(group) => self.tell_group(group, &messages).await,
                Err(fault) => Err(End::Told(fault)),
            };
            if let Err(end) = told {
                return end;
            }
        }
    }

    /// The next group; an empty one with the revision told last when nothing moves for a while.
    async fn group(&mut self) -> Result<Changes, Fault> {
        let quiet = Duration::from_millis(limits::WATCH_PROGRESS_MS);
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(Fault::Draining),
            () = self.lost.lost() => Err(Fault::CredentialInvalid),
            moved = tokio::time::timeout(quiet, self.watch.next()) => match moved {
                Ok(changes) => changes.map_err(|end| self.fault(end)),
                Err(_) => Ok(Changes { changes: Vec::new(), revision: self.watch.told() }),
            },
        }
    }

    fn fault(&self, end: WatchEnd) -> Fault {
        match end {
            WatchEnd::ClientDeleted => Fault::ClientNotFound,
            WatchEnd::Draining => Fault::Draining,
            WatchEnd::Expired { oldest } => {
                Fault::WatchExpired { oldest: self.gate.tokens(self.client).revision(oldest) }
            }
        }
    }

    async fn tell_group(&self, group: Changes, messages: &Messages) -> Result<(), End> {
        let mut changes = group.changes.into_iter().peekable();
        loop {
            let message = self.message(&mut changes, group.revision);
            let is_last = !message.revision.is_empty();
            self.hand_over(message, messages).await?;
            if is_last {
                return Ok(());
            }
        }
    }

    async fn hand_over(&self, message: pb::WatchToolsResponse, messages: &Messages) -> Result<(), End> {
        let stall = Duration::from_millis(limits::WATCH_STALL_MS);
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(End::Told(Fault::Draining)),
            () = self.lost.lost() => Err(End::Told(Fault::CredentialInvalid)),
            taken = tokio::time::timeout(stall, messages.send(message)) => match taken {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(End::Gone),
                Err(_) => {
                    tracing::info!(client.id = %self.client, "a watcher that takes no messages is cut off");
                    Err(End::Told(Fault::WatchLagged))
                }
            },
        }
    }

    /// As many changes as fit, and the revision once they are all told.
    fn message(
        &self,
        changes: &mut Peekable<impl Iterator<Item = ToolChange>>,
        revision: Revision,
    ) -> pb::WatchToolsResponse {
        let tokens = self.gate.tokens(self.client);
        let mut message = pb::WatchToolsResponse::default();
        let mut bytes = 0;
        while let Some(change) = changes.next_if(|change| {
            bytes += weight_bytes(change);
            message.changes.is_empty() || bytes <= limits::PAGE_DEFINITION_BYTES
        }) {
            message.changes.push(self.change(change));
        }
        if changes.peek().is_none() {
            message.revision = tokens.revision(revision);
        }
        message
    }

    fn change(&self, change: ToolChange) -> pb::ToolChange {
        match change {
            ToolChange::Upserted(entry) => pb::ToolChange {
                kind: pb::ToolChangeKind::Upserted.into(),
                tool_id: entry.tool.id.to_string(),
                tool: Some(tool::to_proto(&entry, self.view, &self.gate.tokens(self.client))),
            },
            ToolChange::Withdrawn(id) => {
                let kind = pb::ToolChangeKind::Withdrawn.into();
                pb::ToolChange { kind, tool_id: id.to_string(), tool: None }
            }
        }
    }
}

fn weight_bytes(change: &ToolChange) -> usize {
    /// What a change without its tool takes on the wire.
    const WITHDRAWN_BYTES: usize = 48;
    match change {
        ToolChange::Upserted(entry) => entry.weight_bytes(),
        ToolChange::Withdrawn(_) => WITHDRAWN_BYTES,
    }
}

#[cfg(test)]
mod tests;
