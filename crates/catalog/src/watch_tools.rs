//! Use case: following a client's tools.
//!
//! A watcher is told what *differs* from what it was told before, taken from the newest snapshot: of a tool that changed
//! three times while the watcher was busy it sees the last. So nothing is queued for a slow watcher, and it can be resumed
//! from any revision: every tool in the catalogue remembers the commit that changed it last. Of the tools that left the
//! catalogue, a bounded number is remembered; who knew one that is forgotten begins anew. What was attached to an agent
//! before is not remembered: its watch is resumed from no point before the last time that changed.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::watch;
use toolgate_domain::{AgentId, ClientId, Fault, ToolId};
use toolgate_store::Revision;

use crate::{Catalog, Sight, Snapshot, ToolEntry, View, read_model::ReadModel};

/// What to follow, and from where.
#[derive(Debug, Clone, Copy)]
pub struct WatchTools {
    /// The tenant.
    pub client: ClientId,
    /// Which definition, and which tools.
    pub view: View,
    /// The agent that follows, if one does.
    pub agent: Option<AgentId>,
    /// Only what changed after this; `None` to begin with every tool.
    pub resume: Option<Revision>,
}

/// What became of a tool.
#[derive(Debug, Clone)]
pub enum ToolChange {
    /// New in the view, or changed.
    Upserted(Arc<ToolEntry>),
    /// No longer in the view, if it ever was.
    Withdrawn(ToolId),
}

/// Everything that changed up to a revision.
#[derive(Debug, Clone)]
pub struct Changes {
    /// Tools that left the catalogue, then all others in catalogue order; may be empty.
    pub changes: Vec<ToolChange>,
    /// The point to resume from.
    pub revision: Revision,
}

/// Why a watch ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEnd {
    /// What left after the point that was resumed from is forgotten.
    Expired {
        /// The oldest point that can be resumed from.
        oldest: Revision,
    },
    /// The client was deleted.
    ClientDeleted,
    /// The catalogue is given up.
    Draining,
}

/// A watch that has begun.
#[derive(Debug)]
pub struct ToolWatch {
    model: Arc<ReadModel>,
    moves: watch::Receiver<Revision>,
    view: View,
    agent: Option<AgentId>,
    /// What the watcher knows; `None` for nothing yet.
    told: Option<Revision>,
    /// What it saw when it was told that; `None` while this watch has told it nothing.
    saw: Option<Sight>,
}

/// Begins to follow. The first [`ToolWatch::next`] answers at once, unless this replica has yet to reach the revision that
/// is resumed from.
///
/// # Errors
/// Those of [`Catalog::snapshot`].
pub async fn watch_tools(catalog: &Catalog, ask: WatchTools) -> Result<ToolWatch, Fault> {
    catalog.snapshot(ask.client, None).await?;
    let model = catalog.model(ask.client).await?;
    let mut moves = model.moves();
    moves.mark_changed();
    let WatchTools { view, agent, resume: told, .. } = ask;
    Ok(ToolWatch { model, moves, view, agent, told, saw: None })
}

impl ToolWatch {
    /// The next changes, as soon as the catalogue moves past what was told. Dropping the future loses nothing.
    ///
    /// # Errors
    /// What [`WatchEnd`] tells.
    pub async fn next(&mut self) -> Result<Changes, WatchEnd> {
        loop {
            self.moves.changed().await.map_err(|_| WatchEnd::Draining)?;
            let snapshot = self.model.snapshot();
            if snapshot.is_deleted() {
                return Err(WatchEnd::ClientDeleted);
            }
            if self.has_news(&snapshot) {
                return self.tell(&snapshot);
            }
        }
    }

    /// What the watcher knows: the point to resume from.
    pub fn told(&self) -> Revision {
        self.told.unwrap_or(Revision::ZERO)
    }

    fn has_news(&self, snapshot: &Snapshot) -> bool {
        match self.told {
            None => true,
            Some(told) if self.saw.is_some() => told < snapshot.revision(),
            // The first answer comes at once, even if nothing changed.
            Some(told) => told <= snapshot.revision(),
        }
    }

    fn tell(&mut self, snapshot: &Snapshot) -> Result<Changes, WatchEnd> {
        let oldest = self.oldest(snapshot);
        if self.told.is_some_and(|told| told < oldest) {
            return Err(WatchEnd::Expired { oldest });
        }
        let sight = snapshot.sight(self.view, self.agent);
        let before = self.saw.take().unwrap_or_else(|| sight.clone());
        let present = self.candidates(snapshot, &before, &sight).into_iter();
        let present = present.filter_map(|entry| self.change(entry, &before, &sight));
        let changes = self.gone(snapshot, &before).chain(present).collect();
        self.told = Some(snapshot.revision());
        self.saw = Some(sight);
        Ok(Changes { changes, revision: snapshot.revision() })
    }

    /// The oldest point that the watcher may stand at.
    fn oldest(&self, snapshot: &Snapshot) -> Revision {
        match self.saw {
            Some(_) => snapshot.oldest(),
            None => snapshot.oldest().max(snapshot.reach_since(self.agent)),
        }
    }

    /// The tools that changed, and those that came within reach or went out of it, in catalogue order.
    fn candidates(&self, snapshot: &Snapshot, before: &Sight, sight: &Sight) -> Vec<Arc<ToolEntry>> {
        let changed = snapshot.changed_since(self.told.unwrap_or(Revision::ZERO));
        let moved = sight.reach_differing_from(before);
        if moved.is_empty() {
            return changed;
        }
        let key = |entry: Arc<ToolEntry>| ((entry.tool.upstream, entry.tool.name().to_owned()), entry);
        let moved = moved.into_iter().flat_map(|upstream| snapshot.tools_of(upstream));
        let all: BTreeMap<_, _> = changed.into_iter().chain(moved.map(Arc::clone)).map(key).collect();
        all.into_values().collect()
    }

    fn change(&self, entry: Arc<ToolEntry>, before: &Sight, sight: &Sight) -> Option<ToolChange> {
        if sight.holds(&entry.tool) {
            return Some(ToolChange::Upserted(entry));
        }
        // A watcher that knows nothing yet has nothing to drop.
        let may_be_known = self.told.is_some() && before.may_have_held(&entry.tool);
        may_be_known.then(|| ToolChange::Withdrawn(entry.tool.id))
    }

    fn gone(&self, snapshot: &Snapshot, before: &Sight) -> impl Iterator<Item = ToolChange> {
        let known = self.told.map(|told| snapshot.withdrawn_since(told)).into_iter().flatten();
        known.filter(|tool| before.may_have_held_gone(tool)).map(|tool| ToolChange::Withdrawn(tool.id()))
    }
}
