//! `toolgate tool approve`. The fingerprint that is sent is the one that the caller gave, or the one of the definition
//! that was printed; it is never read again in between.

use toolgate_api_proto::v1::{
    ApproveToolRequest, ApproveToolResponse, ListToolsRequest, Tool, ToolState, ToolView,
};

use crate::args::{Approve, View};
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{json, text};
use crate::{history, refusal, tool, upstream};

pub(crate) async fn run(
    args: Approve,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut approval = Approval { dry_run: args.dry_run, json, connection, console };
    match (args.name, args.upstream, args.hash) {
        (Some(name), _, Some(hash)) => approval.of_hash(&name, hash).await,
        (Some(name), ..) => approval.of_reviewed(&name).await,
        (None, Some(upstream), _) => approval.of_all(&upstream, args.yes).await,
        (None, None, _) => Err(CommandError::Usage {
            problem: "nothing to approve was named".to_owned(),
            hint: "toolgate tool approve NAME, or --all --upstream NAME".to_owned(),
        }),
    }
}

/// A definition to approve.
struct Reviewed<'a> {
    id: String,
    hash: String,
    /// Of what was printed; empty where only the hash is known.
    etag: String,
    /// How the caller names the tool.
    name: &'a str,
}

impl<'a> Reviewed<'a> {
    fn of(tool: &Tool, name: &'a str) -> Self {
        Self { id: tool.id.clone(), hash: tool.definition_hash.clone(), etag: tool.etag.clone(), name }
    }
}

struct Approval<'c, 'o> {
    dry_run: bool,
    json: bool,
    connection: &'c mut Connection,
    console: &'c mut Console<'o>,
}

impl Approval<'_, '_> {
    async fn of_hash(&mut self, name: &str, hash: String) -> Result<(), CommandError> {
        let id = tool::id(name, self.connection).await?;
        self.approve(Reviewed { id, hash, etag: String::new(), name }).await
    }

    /// Shows the definition to a person and approves that one.
    async fn of_reviewed(&mut self, name: &str) -> Result<(), CommandError> {
        if !self.console.interactive {
            return Err(CommandError::Usage {
                problem: "without a terminal nobody can be asked, so --hash must name what was reviewed"
                    .to_owned(),
                hint: format!("`toolgate tool show {name}` shows the definition and its hash"),
            });
        }
        let (tool, _) = tool::get(name, View::Raw, self.connection).await?;
        self.show(&tool).await?;
        self.console.confirm("Approve this definition?")?;
        self.approve(Reviewed::of(&tool, name)).await
    }

    /// Shows every definition of an upstream that waits for approval, and approves those.
    async fn of_all(&mut self, upstream: &str, yes: bool) -> Result<(), CommandError> {
        let asks = !yes && !self.dry_run;
        if asks && !self.console.interactive {
            return Err(CommandError::Usage {
                problem: "without a terminal nobody can be asked".to_owned(),
                hint: "look at what --dry-run prints, then pass --yes".to_owned(),
            });
        }
        let tools = self.waiting(upstream).await?;
        for tool in &tools {
            self.show(tool).await?;
            self.console.note("")?;
        }
        match tools.len() {
            0 => return self.console.note(&format!("no tool of {upstream} waits for approval")),
            count => self.console.note(&format!("{count} definitions of {upstream} to approve"))?,
        }
        if asks {
            self.console.confirm("Approve all of them?")?;
        }
        self.approve_each(&tools).await
    }

    async fn waiting(&mut self, upstream: &str) -> Result<Vec<Tool>, CommandError> {
        let upstream_id = upstream::get(upstream, self.connection).await?.0.id;
        let request = ListToolsRequest {
            client_id: self.connection.client_id.clone(),
            view: ToolView::Raw.into(),
            upstream_id,
            states: vec![ToolState::Unapproved.into(), ToolState::Drifted.into()],
            ..Default::default()
        };
        Ok(tool::Pages::new(request).all(self.connection).await?.0)
    }

    /// Approves one after another, whatever becomes of each; stops where every further one would fail the same way.
    async fn approve_each(&mut self, tools: &[Tool]) -> Result<(), CommandError> {
        let mut exits = Vec::new();
        let mut tried = 0;
        for tool in tools {
            tried += 1;
            let Err(error) = self.approve(Reviewed::of(tool, &tool.namespaced_name)).await else { continue };
            if matches!(error, CommandError::Output(_)) {
                return Err(error);
            }
            self.console.note(&format!("not approved: {}", tool.namespaced_name))?;
            self.console.report(&error)?;
            exits.push(error.exit());
            if matches!(error.exit(), Exit::Denied | Exit::Unavailable) {
                break;
            }
        }
        let Some(&first) = exits.first() else { return Ok(()) };
        let exit = if exits.iter().all(|&exit| exit == first) { first } else { Exit::Failure };
        let (failed, untried, asked) = (exits.len(), tools.len() - tried, tools.len());
        Err(CommandError::SomeFailed { failed, untried, asked, exit })
    }

    async fn approve(&mut self, reviewed: Reviewed<'_>) -> Result<(), CommandError> {
        let hash = reviewed.hash.clone();
        let response = self.send(reviewed).await?;
        let tool = response.tool.ok_or(CommandError::Incomplete { field: "tool" })?;
        match self.json {
            true => json::print(self.console, &json::ToolAnswer::new(&tool, &response.revision)),
            false => {
                let done = format!("approved {}  {hash}", tool.namespaced_name);
                self.console.say(&text::ruled(&done, &tool, self.dry_run))
            }
        }
    }

    async fn send(&mut self, reviewed: Reviewed<'_>) -> Result<ApproveToolResponse, CommandError> {
        let Reviewed { id, hash, etag, name } = reviewed;
        let request = ApproveToolRequest {
            id: id.clone(),
            client_id: self.connection.client_id.clone(),
            definition_hash: hash,
            etag,
            validate_only: self.dry_run,
        };
        let answer = self.connection.governance().await?.approve_tool(call(request)).await;
        let response = answer.map_err(|status| match refusal::current_hash(&status) {
            Some(current_hash) => CommandError::Stale { tool: name.to_owned(), id, current_hash },
            None => status.into(),
        })?;
        Ok(response.into_inner())
    }

    /// The definition, and what changed in it since another one was approved.
    async fn show(&mut self, tool: &Tool) -> Result<(), CommandError> {
        text::review(tool).iter().try_for_each(|line| self.console.note(line))?;
        let drift = history::drift(tool, self.connection).await?;
        drift.iter().try_for_each(|line| self.console.note(line))
    }
}
