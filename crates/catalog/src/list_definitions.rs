//! Use case: every definition of a tool, listed now or once.
//!
//! The one read that goes to the store: what is no longer listed is not in memory.

use std::{cmp::Reverse, num::NonZeroUsize, sync::Arc};

use toolgate_definition::Fingerprint;
use toolgate_domain::{ClientId, Fault, Moment, ToolId, limits, tool::SeenDefinition};
use toolgate_records::{Key, Record};
use toolgate_store::{KeyRange, Revision, Store, limits::SCAN_PAGE_ROWS};

use crate::{Catalog, Snapshot, ToolKey, from_row_error, from_store_error, snapshot::ENTRY_BYTES};

/// Which definitions.
#[derive(Debug, Clone)]
pub struct ListDefinitions {
    /// The tenant.
    pub client: ClientId,
    /// The tool.
    pub tool: ToolId,
    /// Only these; empty for all.
    pub only: Vec<Fingerprint>,
    /// Only definitions after this one.
    pub after: Option<Fingerprint>,
    /// At most so many; a page also ends before [`limits::PAGE_DEFINITION_BYTES`] of texts.
    pub size: NonZeroUsize,
    /// What the answer must have reached.
    pub min_revision: Option<Revision>,
}

/// One definition of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDefinition {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its text and its times.
    pub seen: SeenDefinition,
    /// The one that is listed now, or was last.
    pub current: bool,
    /// The one that an approval names which counts.
    pub approved: bool,
}

/// A page of definitions, the one first seen last before all others.
#[derive(Debug, Clone)]
pub struct DefinitionPage {
    /// In order.
    pub definitions: Vec<ListedDefinition>,
    /// The last definition of this page, where more come after it.
    pub more_after: Option<Fingerprint>,
    /// What says which one is current and which approved.
    pub snapshot: Arc<Snapshot>,
}

/// Lists.
///
/// # Errors
/// [`Fault::ToolNotFound`]; [`Fault::Invalid`] when `after` is no definition of the tool; those of [`Catalog::snapshot`];
/// failures of the store.
pub async fn list_definitions(catalog: &Catalog, ask: &ListDefinitions) -> Result<DefinitionPage, Fault> {
    let snapshot = catalog.snapshot(ask.client, ask.min_revision).await?;
    let tool = &snapshot.tool(ask.tool).ok_or(Fault::ToolNotFound)?.tool;
    let key = ToolKey { upstream: tool.upstream, name: Arc::from(tool.name()) };
    let (current, approved) = (tool.observed.fingerprint, tool.approved());
    let reader = Reader { store: catalog.store().as_ref(), client: ask.client, tool: key };
    let mut places = reader.places(&ask.only).await?;
    places.sort_unstable();
    places.dedup();
    let first = match ask.after {
        None => 0,
        Some(after) => {
            1 + places.iter().position(|place| place.fingerprint == after).ok_or_else(|| {
                Fault::invalid("page_token", "is of no definition of this tool; begin again")
            })?
        }
    };
    let mut definitions = Vec::new();
    let mut bytes = 0;
    for place in &places[first..] {
        let Some(seen) = reader.seen(place.fingerprint).await? else { continue };
        bytes += ENTRY_BYTES + seen.text.as_ref().map_or(0, String::len);
        let is_full = definitions.len() == ask.size.get() || bytes > limits::PAGE_DEFINITION_BYTES;
        if is_full && let Some(ListedDefinition { fingerprint, .. }) = definitions.last() {
            let more_after = Some(*fingerprint);
            return Ok(DefinitionPage { definitions, more_after, snapshot });
        }
        let Place { fingerprint, .. } = *place;
        let (current, approved) = (fingerprint == current, Some(fingerprint) == approved);
        definitions.push(ListedDefinition { fingerprint, seen, current, approved });
    }
    Ok(DefinitionPage { definitions, more_after: None, snapshot })
}

/// Where a definition stands in the one order of a tool's definitions: newest first, those without a time last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    first_seen_at: Reverse<Option<Moment>>,
    fingerprint: Fingerprint,
}

struct Reader<'a> {
    store: &'a dyn Store,
    client: ClientId,
    tool: ToolKey,
}

impl Reader<'_> {
    /// Of those in `only`, or of all, in any order. No text is kept while more are read.
    async fn places(&self, only: &[Fingerprint]) -> Result<Vec<Place>, Fault> {
        let mut places = Vec::new();
        for fingerprint in only {
            if let Some(seen) = self.seen(*fingerprint).await? {
                places.push(Place { first_seen_at: Reverse(seen.first_seen_at), fingerprint: *fingerprint });
            }
        }
        let range = Key::definitions_of(self.client, self.tool.upstream, &self.tool.name);
        let mut next = only.is_empty().then(|| range.start.clone());
        while let Some(start) = next.take() {
            let rest = KeyRange { start, end: range.end.clone() };
            let page =
                self.store.scan(&rest, SCAN_PAGE_ROWS).await.map_err(|error| from_store_error(&error))?;
            for row in &page.rows {
                let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
                if let Record::Definition(_, _, _, fingerprint, seen) = record {
                    places.push(Place { first_seen_at: Reverse(seen.first_seen_at), fingerprint });
                }
            }
            next = page.next;
        }
        Ok(places)
    }

    async fn seen(&self, fingerprint: Fingerprint) -> Result<Option<SeenDefinition>, Fault> {
        let key = Key::Definition(self.client, self.tool.upstream, self.tool.name.to_string(), fingerprint);
        let row = self.store.get(&key.encode()).await.map_err(|error| from_store_error(&error))?;
        let Some(row) = row else { return Ok(None) };
        match Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))? {
            Record::Definition(.., seen) => Ok(Some(seen)),
            other => Err(Fault::Internal { cause: format!("{:?} where a definition belongs", other.key()) }),
        }
    }
}
