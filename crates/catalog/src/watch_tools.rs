//! Use case: following a client's tools.
//!
//! A watcher is told what *differs* from what it was told before, taken from the newest snapshot: of a tool that changed
//! three times while the watcher was busy it sees the last. So nothing is queued for a slow watcher, and it can be resumed
//! from any revision: every tool in the catalogue remembers the commit that changed it last. Of the tools that left the
//! catalogue, a bounded number is remembered; who knew one that is forgotten begins anew.

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_domain::{ClientId, Fault, ToolId};
use toolgate_store::Revision;

use crate::{Catalog, Snapshot, ToolEntry, View, read_model::ReadModel};

/// What to follow, and from where.
#[derive(Debug, Clone, Copy)]
pub struct WatchTools {
    /// The tenant.
    pub client: ClientId,
    /// Which definition, and which tools.
    pub view: View,
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
    /// Tools that left after the point that was resumed from are forgotten.
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
    /// What the watcher knows; `None` for nothing yet.
    told: Option<Revision>,
    /// Whether anything was said yet: the first answer comes at once, even if nothing changed.
    greeted: bool,
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
    Ok(ToolWatch { model, moves, view: ask.view, told: ask.resume, greeted: false })
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
            Some(told) if self.greeted => told < snapshot.revision(),
            Some(told) => told <= snapshot.revision(),
        }
    }

    fn tell(&mut self, snapshot: &Snapshot) -> Result<Changes, WatchEnd> {
        let oldest = snapshot.oldest();
        if self.told.is_some_and(|told| told < oldest) {
            return Err(WatchEnd::Expired { oldest });
        }
        let since = self.told.unwrap_or(Revision::ZERO);
        let present = snapshot.changed_since(since).into_iter().filter_map(|entry| self.change(entry));
        let changes = self.gone(snapshot).chain(present).collect();
        self.told = Some(snapshot.revision());
        self.greeted = true;
        Ok(Changes { changes, revision: snapshot.revision() })
    }

    fn change(&self, entry: Arc<ToolEntry>) -> Option<ToolChange> {
        if self.view.holds(&entry.tool) {
            return Some(ToolChange::Upserted(entry));
        }
        // A watcher that knows nothing yet has nothing to drop.
        let may_be_known = self.told.is_some() && self.view.may_have_held(&entry.tool);
        may_be_known.then(|| ToolChange::Withdrawn(entry.tool.id))
    }

    fn gone(&self, snapshot: &Snapshot) -> impl Iterator<Item = ToolChange> {
        let known = self.told.map(|told| snapshot.withdrawn_since(told)).into_iter().flatten();
        known.filter(|tool| tool.may_have_been_in(self.view)).map(|tool| ToolChange::Withdrawn(tool.id()))
    }
}
