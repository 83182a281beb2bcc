//! Use cases: the upstreams of a client as units of the Melbis `tool_list`, their tools as commands.

use std::sync::Arc;

use toolgate_definition::{
    names::melbis_unit,
    projection::{MelbisCommand, MelbisParam, brief, melbis_command},
};
use toolgate_domain::{AgentId, Fault, Tool, Upstream, UpstreamId, limits};

use crate::{Sight, Snapshot, ToolKey, UpstreamEntry, View, snapshot::PageSize};

/// Where a unit stands in the tree: the units of a folder in order of creation, then its folders by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitKey {
    /// Its folders.
    pub path: Vec<String>,
    /// Ids of upstreams sort by creation.
    pub upstream: UpstreamId,
}

/// Who reads units.
#[derive(Debug, Clone, Copy)]
pub struct UnitReader {
    /// [`View::Raw`] for whoever sees every command; else only what is served is there (law 4).
    pub view: View,
    /// The agent that reads, if one does.
    pub agent: Option<AgentId>,
}

/// Which units.
#[derive(Debug, Clone)]
pub struct ListToolUnits {
    /// Who reads.
    pub reader: UnitReader,
    /// Only units after this one.
    pub after: Option<UnitKey>,
    /// Where the page ends.
    pub size: PageSize,
}

/// An upstream as a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUnit {
    /// The upstream.
    pub upstream: UpstreamId,
    /// Its address.
    pub unit: String,
    /// Its place in the tree.
    pub path: String,
    /// What it is for: cut in a list, else whole.
    pub description: String,
}

/// A unit in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedUnit {
    /// The unit.
    pub unit: ToolUnit,
    /// Names of the tools that the reader may use.
    pub may: Vec<String>,
    /// Names of all other tools that are there for the reader.
    pub also: Vec<String>,
}

/// A page of units.
#[derive(Debug, Clone)]
pub struct ToolUnitPage {
    /// In the order of the tree.
    pub units: Vec<ListedUnit>,
    /// The last unit of the page, where more follow.
    pub more_after: Option<UnitKey>,
}

/// Lists from a snapshot that the caller has already taken.
pub fn list_tool_units(snapshot: &Snapshot, ask: &ListToolUnits) -> ToolUnitPage {
    let readable = Readable::of(snapshot, ask.reader);
    let (mut page, mut bytes, mut last) = (ToolUnitPage { units: Vec::new(), more_after: None }, 0, None);
    for (key, entry) in
        in_tree(snapshot).filter(|(key, _)| ask.after.as_ref().is_none_or(|after| key > after))
    {
        let Some(listed) = readable.listed(&entry.upstream) else { continue };
        bytes += listed.weight_bytes();
        if let PageSize::AtMost(most) = ask.size
            && !page.units.is_empty()
            && (page.units.len() >= most || bytes > limits::PAGE_DEFINITION_BYTES)
        {
            page.more_after = last;
            break;
        }
        last = Some(key);
        page.units.push(listed);
    }
    page
}

fn in_tree(snapshot: &Snapshot) -> impl Iterator<Item = (UnitKey, &Arc<UpstreamEntry>)> {
    let key = |entry: &UpstreamEntry| {
        let Upstream { id, path, .. } = &entry.upstream;
        UnitKey { path: path.clone(), upstream: *id }
    };
    let mut entries: Vec<_> = snapshot.upstreams().map(|entry| (key(entry), entry)).collect();
    entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    entries.into_iter()
}

/// Which unit, and which of its commands.
#[derive(Debug, Clone)]
pub struct GetToolUnit {
    /// Who reads.
    pub reader: UnitReader,
    /// Its address, exactly.
    pub unit: String,
    /// Only commands after this tool.
    pub after: Option<ToolKey>,
    /// Where the page ends.
    pub size: PageSize,
}

/// A tool as a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUnitCommand {
    /// The upstream's own name for the tool.
    pub name: String,
    /// Whether the reader may use it.
    pub may: bool,
    /// The whole description; may be empty.
    pub description: String,
    /// Its inputs.
    pub params: Vec<MelbisParam>,
}

/// A unit with a page of its commands.
#[derive(Debug, Clone)]
pub struct ToolUnitDetail {
    /// The unit.
    pub unit: ToolUnit,
    /// By name.
    pub commands: Vec<ToolUnitCommand>,
    /// The last command of the page, where more follow.
    pub more_after: Option<ToolKey>,
}

/// Reads from a snapshot that the caller has already taken.
///
/// # Errors
/// [`Fault::UpstreamNotFound`] when [`list_tool_units`] lists no such unit to the reader; [`Fault::Internal`] when a definition
/// cannot be read.
pub fn get_tool_unit(snapshot: &Snapshot, ask: &GetToolUnit) -> Result<ToolUnitDetail, Fault> {
    let readable = Readable::of(snapshot, ask.reader);
    let upstream = &addressed(snapshot, &ask.unit).ok_or(Fault::UpstreamNotFound)?.upstream;
    if !readable.holds(upstream) {
        return Err(Fault::UpstreamNotFound);
    }
    let description = upstream.description.clone();
    let unit = unit(upstream, description);
    let mut detail = ToolUnitDetail { unit, commands: Vec::new(), more_after: None };
    let (mut bytes, mut last) = (detail.unit.weight_bytes(), None);
    let is_wanted = |tool: &&Tool| ask.after.as_ref().is_none_or(|after| tool.name() > &*after.name);
    for tool in readable.tools_of(upstream.id).filter(is_wanted) {
        let command = readable.command(tool)?;
        bytes += command.weight_bytes();
        if let PageSize::AtMost(most) = ask.size
            && !detail.commands.is_empty()
            && (detail.commands.len() >= most || bytes > limits::PAGE_DEFINITION_BYTES)
        {
            detail.more_after = last;
            break;
        }
        last = Some(ToolKey { upstream: upstream.id, name: Arc::from(tool.name()) });
        detail.commands.push(command);
    }
    Ok(detail)
}

/// The upstream with exactly this address.
fn addressed<'s>(snapshot: &'s Snapshot, address: &str) -> Option<&'s Arc<UpstreamEntry>> {
    let slug = address.strip_prefix("MCP_")?.to_ascii_lowercase();
    let entry = snapshot.upstream_by_slug(&slug)?;
    (melbis_unit(&entry.upstream.slug) == address).then_some(entry)
}

/// What is there for a reader, and what of that it may use.
struct Readable<'s> {
    snapshot: &'s Snapshot,
    view: View,
    /// Of what is served.
    usable: Sight,
}

impl<'s> Readable<'s> {
    fn of(snapshot: &'s Snapshot, reader: UnitReader) -> Self {
        let UnitReader { view, agent } = reader;
        Self { snapshot, view, usable: snapshot.sight(View::Served, agent) }
    }

    /// The tools of an upstream that are there, by name.
    fn tools_of(&self, upstream: UpstreamId) -> impl Iterator<Item = &'s Tool> {
        let tools = self.snapshot.tools_of(upstream).map(|entry| &entry.tool);
        tools.filter(|tool| self.view == View::Raw || self.usable.holds(tool))
    }

    /// Whether an upstream is there as a unit: for whoever sees what is served alone, one with a tool to use.
    fn holds(&self, upstream: &Upstream) -> bool {
        self.view == View::Raw || self.tools_of(upstream.id).next().is_some()
    }

    fn listed(&self, upstream: &Upstream) -> Option<ListedUnit> {
        if !self.holds(upstream) {
            return None;
        }
        let (may, also): (Vec<_>, Vec<_>) =
            self.tools_of(upstream.id).partition(|tool| self.usable.holds(tool));
        let names = |tools: Vec<&Tool>| tools.into_iter().map(|tool| tool.name().to_owned()).collect();
        let description = brief(&upstream.description).into_owned();
        Some(ListedUnit { unit: unit(upstream, description), may: names(may), also: names(also) })
    }

    fn command(&self, tool: &Tool) -> Result<ToolUnitCommand, Fault> {
        let may = self.usable.holds(tool);
        let definition = tool.served_definition().unwrap_or_else(|| tool.definition_if_served());
        let MelbisCommand { descr, params } = melbis_command(&definition).map_err(|error| {
            Fault::Internal { cause: format!("served definition of tool {}: {error}", tool.id) }
        })?;
        Ok(ToolUnitCommand { name: tool.name().to_owned(), may, description: descr, params })
    }
}

fn unit(upstream: &Upstream, description: String) -> ToolUnit {
    let address = melbis_unit(&upstream.slug);
    ToolUnit { upstream: upstream.id, unit: address, path: upstream.place(), description }
}

/// What a unit, a command or an input takes on the wire beside texts of any length.
const FRAME_BYTES: usize = 128;
/// What a name in a list of names takes beside its text.
const NAME_FRAME_BYTES: usize = 4;

impl ToolUnit {
    fn weight_bytes(&self) -> usize {
        FRAME_BYTES + self.unit.len() + self.path.len() + self.description.len()
    }
}

impl ListedUnit {
    fn weight_bytes(&self) -> usize {
        let names = self.may.iter().chain(&self.also);
        self.unit.weight_bytes() + names.map(|name| name.len() + NAME_FRAME_BYTES).sum::<usize>()
    }
}

impl ToolUnitCommand {
    fn weight_bytes(&self) -> usize {
        let param = |param: &MelbisParam| {
            let MelbisParam { name, value_type, required: _, default, descr } = param;
            FRAME_BYTES + name.len() + value_type.len() + default.len() + descr.len()
        };
        FRAME_BYTES + self.name.len() + self.description.len() + self.params.iter().map(param).sum::<usize>()
    }
}
