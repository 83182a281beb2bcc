//! What all syncs share: how many begin at once, and how many work at once.
//!
//! A server decides how long a listing takes, so no turn is held while one is waited for (law 8): servers that hang delay
//! the others by [`BEGIN_PATIENCE`] for each [`BEGINNING`] of them, and only until all have begun.

use std::pin::pin;

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use super::limits::{AT_WORK, BEGIN_PATIENCE, BEGINNING};

/// Turns are given in the order in which they were asked for.
#[derive(Debug)]
pub(crate) struct Turns {
    beginning: Semaphore,
    at_work: Semaphore,
}

/// Leave to work; given back when dropped.
pub(crate) type Turn<'a> = SemaphorePermit<'a>;

impl Default for Turns {
    fn default() -> Self {
        Self { beginning: Semaphore::new(BEGINNING), at_work: Semaphore::new(AT_WORK) }
    }
}

impl Turns {
    /// Reads a listing, from when it may begin.
    pub(crate) async fn listing<L: Future>(&self, listing: L) -> L::Output {
        let turn = given(&self.beginning).await;
        let mut listing = pin!(listing);
        match timeout(BEGIN_PATIENCE, &mut listing).await {
            Ok(read) => read,
            Err(_) => {
                drop(turn);
                listing.await
            }
        }
    }

    /// A turn to judge, compare and write what was read. Never held while a server is waited for.
    pub(crate) async fn work(&self) -> Turn<'_> {
        given(&self.at_work).await
    }
}

async fn given(semaphore: &Semaphore) -> SemaphorePermit<'_> {
    semaphore.acquire().await.expect("the semaphores are never closed")
}
