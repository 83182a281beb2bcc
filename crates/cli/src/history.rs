//! `toolgate tool history` and `toolgate tool diff`.

use toolgate_api_proto::v1::{ListObservedDefinitionsRequest, ObservedDefinition, Tool, ToolState};

use crate::args::View;
use crate::comparison::Comparison;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::DEFINITIONS_PER_PAGE;
use crate::render::{json, text};
use crate::tool;

pub(crate) async fn list(
    name: &str,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut pages = Pages::new(tool::id(name, connection).await?, Vec::new(), connection);
    if json {
        let mut list = json::List::new("definitions");
        while let Some(definitions) = pages.next(connection).await? {
            definitions
                .iter()
                .try_for_each(|one| list.push(console, &json::ObservedDefinition::from(one)))?;
        }
        return list.end(console);
    }
    let mut table = text::definitions();
    while let Some(definitions) = pages.next(connection).await? {
        definitions.iter().for_each(|one| table.push(text::definition_row(one)));
    }
    table.lines().try_for_each(|line| console.say(&line))
}

pub(crate) async fn compare(
    name: &str,
    from: Option<String>,
    to: Option<String>,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let (tool, _) = tool::get(name, View::Raw, connection).await?;
    let from = from.or_else(|| tool.approved_hash.clone()).ok_or_else(|| CommandError::Usage {
        problem: format!("{name} has no approval to compare with"),
        hint: "--from HASH names a definition; `toolgate tool history` lists them".to_owned(),
    })?;
    let to = to.unwrap_or_else(|| tool.definition_hash.clone());
    let [old, new] = texts(&tool, [&from, &to], connection).await?;
    let comparison = Comparison::new((&from, &old), (&to, &new))?;
    match json {
        true => json::print(console, &json::Diff::new(&tool.id, &from, &to, &comparison.differences())),
        false => comparison.lines().iter().try_for_each(|line| console.say(line)),
    }
}

/// What changed since a tool was approved, in lines; none for a tool that is not drifted. That it cannot be told is told in
/// its place: it keeps nobody from looking at the definition itself.
pub(crate) async fn drift(tool: &Tool, connection: &mut Connection) -> Result<Vec<String>, CommandError> {
    let Some(approved) = &tool.approved_hash else { return Ok(Vec::new()) };
    if tool.state() != ToolState::Drifted {
        return Ok(Vec::new());
    }
    let mut lines = vec!["changed since it was approved".to_owned()];
    let texts = texts(tool, [approved, &tool.definition_hash], connection).await;
    let differences = texts
        .and_then(|[old, new]| Ok(Comparison::new((approved, &old), (&tool.definition_hash, &new))?.lines()));
    match differences {
        Ok(differences) => lines.extend(differences.iter().map(|line| format!("  {line}"))),
        Err(error) => lines.push(format!("  cannot be shown: {error}")),
    }
    Ok(lines)
}

/// The texts of two definitions of a tool.
async fn texts(
    tool: &Tool,
    hashes: [&String; 2],
    connection: &mut Connection,
) -> Result<[String; 2], CommandError> {
    let is_past = |hash: &&String| **hash != tool.definition_hash;
    let past: Vec<String> = hashes.into_iter().filter(is_past).cloned().collect();
    let mut found = Vec::new();
    if !past.is_empty() {
        let mut pages = Pages::new(tool.id.clone(), past, connection);
        while let Some(definitions) = pages.next(connection).await? {
            found.extend(definitions);
        }
    }
    let text = |hash: &String| {
        if *hash == tool.definition_hash {
            return Ok(tool.definition_json.clone());
        }
        let one = found.iter().find(|definition| definition.definition_hash == *hash);
        let (tool, hash) = (tool.namespaced_name.clone(), hash.clone());
        match one {
            None => Err(CommandError::NoSuchDefinition { tool, hash }),
            Some(ObservedDefinition { definition_json: None, .. }) => Err(CommandError::TextNotKept { hash }),
            Some(ObservedDefinition { definition_json: Some(text), .. }) => Ok(text.clone()),
        }
    };
    let [from, to] = hashes;
    Ok([text(from)?, text(to)?])
}

/// The pages of one tool's definitions.
struct Pages {
    request: ListObservedDefinitionsRequest,
    is_over: bool,
}

impl Pages {
    /// Of these fingerprints; of all when there is none.
    fn new(tool_id: String, definition_hashes: Vec<String>, connection: &Connection) -> Self {
        let client_id = connection.client_id.clone();
        let page_size = DEFINITIONS_PER_PAGE;
        let request = ListObservedDefinitionsRequest {
            tool_id,
            client_id,
            page_size,
            definition_hashes,
            ..Default::default()
        };
        Self { request, is_over: false }
    }

    /// The next page, which may be empty; `None` after the last.
    async fn next(
        &mut self,
        connection: &mut Connection,
    ) -> Result<Option<Vec<ObservedDefinition>>, CommandError> {
        if self.is_over {
            return Ok(None);
        }
        let request = call(self.request.clone());
        let page = connection.catalog().await?.list_observed_definitions(request).await?.into_inner();
        self.is_over = page.next_page_token.is_empty();
        self.request.page_token = page.next_page_token;
        Ok(Some(page.definitions))
    }
}
