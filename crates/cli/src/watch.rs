//! `toolgate tool watch`.

use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Request, Status};
use toolgate_api_proto::v1::{ToolChange, ToolView, WatchToolsRequest, WatchToolsResponse};

use crate::args::View;
use crate::connection::Connection;
use crate::console::Console;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::limits::MAX_RESUME_PAUSE;
use crate::refusal;
use crate::render::{json, text};

/// Prints the view as it is, then each change, until the watch is refused. A stream that breaks is resumed where it
/// broke; before the first whole snapshot there is nothing to resume from, so that ends the command.
pub(crate) async fn run(
    view: View,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut watch = Watch { view, json, revision: String::new(), names: HashMap::new(), failures: 0 };
    loop {
        let ended = match watch.follow(connection, console).await {
            Err(CommandError::Refused(status)) => *status,
            Err(error) => return Err(error),
            Ok(()) => Status::new(Code::Unavailable, "the server ended the watch"),
        };
        if Exit::of(&ended) != Exit::Unavailable || watch.revision.is_empty() {
            return Err(ended.into());
        }
        console.note(&format!("note: {}; resuming", refusal::message(&ended)))?;
        tokio::time::sleep(watch.pause()).await;
    }
}

struct Watch {
    view: View,
    json: bool,
    /// Where to resume; empty before the first.
    revision: String,
    /// Names by tool id, for the withdrawn, which come without.
    names: HashMap<String, String>,
    /// Attempts since the last message.
    failures: u32,
}

impl Watch {
    /// Prints what one stream brings, until it ends.
    async fn follow(
        &mut self,
        connection: &mut Connection,
        console: &mut Console<'_>,
    ) -> Result<(), CommandError> {
        let request = WatchToolsRequest {
            client_id: connection.client_id.clone(),
            view: ToolView::from(self.view).into(),
            resume_revision: self.revision.clone(),
        };
        let mut stream = connection.catalog().await?.watch_tools(Request::new(request)).await?.into_inner();
        while let Some(message) = stream.message().await? {
            self.failures = 0;
            self.print(&message, console)?;
            if !message.revision.is_empty() {
                self.revision = message.revision;
            }
        }
        Ok(())
    }

    fn print(&mut self, message: &WatchToolsResponse, console: &mut Console<'_>) -> Result<(), CommandError> {
        match self.json {
            true => json::print(console, &json::Changes::from(message))?,
            false => {
                for change in &message.changes {
                    let line = self.line(change);
                    console.say(&line)?;
                }
            }
        }
        Ok(console.out.flush()?)
    }

    fn line(&mut self, change: &ToolChange) -> String {
        match &change.tool {
            Some(tool) => {
                self.names.insert(tool.id.clone(), tool.namespaced_name.clone());
                format!("+ {}", text::tool_line(tool))
            }
            None => format!("- {}", self.names.remove(&change.tool_id).as_ref().unwrap_or(&change.tool_id)),
        }
    }

    /// None before the first attempt to resume, then one second, doubled each time up to a limit.
    fn pause(&mut self) -> Duration {
        let pause = match self.failures {
            0 => Duration::ZERO,
            failures => Duration::from_secs(1 << (failures - 1).min(16)).min(MAX_RESUME_PAUSE),
        };
        self.failures += 1;
        pause
    }
}
