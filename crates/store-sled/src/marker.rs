use std::{
    io,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use toolgate_store::Revision;

use crate::{folder::Folder, limits::MARK_EVERY, meta::Identity, shared::Shared};

/// The thread that notes once a second how far the store has come, off the way of commits.
pub(crate) struct Marker {
    thread: JoinHandle<()>,
    stop: mpsc::Sender<()>,
}

impl Marker {
    pub(crate) fn start(
        shared: Arc<Shared>,
        folder: Arc<Folder>,
        identity: Identity,
        marked: Revision,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let mark = move || keep_marked(&shared, &folder, identity, marked, &stopped);
        let thread = thread::Builder::new().name("store-mark".into()).spawn(mark)?;
        Ok(Self { thread, stop })
    }

    pub(crate) fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the thread that keeps the store's mark panicked");
        }
    }
}

fn keep_marked(
    shared: &Shared,
    folder: &Folder,
    identity: Identity,
    mut marked: Revision,
    stopped: &mpsc::Receiver<()>,
) {
    while stopped.recv_timeout(MARK_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
        let revision = shared.revision();
        if revision == marked {
            continue;
        }
        match folder.write_mark(identity, revision) {
            Ok(()) => marked = revision,
            Err(error) => tracing::warn!(%error, "the store's mark could not be written; trying again"),
        }
    }
}
