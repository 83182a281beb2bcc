//! Word of keys that end, alone or with their client, on this replica or another: one watch of the store for everybody who waits.

use std::{sync::OnceLock, time::Duration};

use futures::StreamExt;
use tokio::sync::watch;
use toolgate_records::Key;
use toolgate_store::{SharedStore, WatchError};

/// Pause before a broken watch is opened again.
const PAUSE: Duration = Duration::from_millis(200);

/// Says that some key ended, not which.
#[derive(Debug, Default)]
pub(crate) struct Endings(OnceLock<watch::Receiver<()>>);

impl Endings {
    /// Every later ending in `store`. The first to ask begins the watch.
    pub(crate) fn follow(&self, store: &SharedStore) -> watch::Receiver<()> {
        let begin = || {
            let (sender, receiver) = watch::channel(());
            tokio::spawn(follow(SharedStore::clone(store), sender));
            receiver
        };
        self.0.get_or_init(begin).clone()
    }
}

/// To the end of the store, or until nobody listens.
async fn follow(store: SharedStore, word: watch::Sender<()>) {
    loop {
        let ended = tell(&store, &word).await;
        if matches!(ended, Err(WatchError::Store(toolgate_store::StoreError::Closed))) {
            // Whoever still waits finds out from the store itself.
            return word.closed().await;
        }
        tokio::select! {
            () = word.closed() => return,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

async fn tell(store: &SharedStore, word: &watch::Sender<()>) -> Result<(), WatchError> {
    let now = store.revision().await.map_err(WatchError::Store)?;
    let mut watch = store.watch(Key::owners_and_client_names(), now).await?;
    // What ended before the watch was open was not heard of.
    word.send_replace(());
    loop {
        let events = tokio::select! {
            () = word.closed() => return Ok(()),
            events = watch.next() => events,
        };
        let Some(events) = events else { return Ok(()) };
        if events?.changes.iter().any(|change| change.value.is_none()) {
            word.send_replace(());
        }
    }
}
