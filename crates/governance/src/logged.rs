//! What is written together with its row of the client's log, and is no ruling about a tool.

use toolgate_catalog::from_commit_error;
use toolgate_domain::{
    ClientId, Fault,
    ruling::{Act, Ruling},
};
use toolgate_records::{Key, Record, chain};
use toolgate_store::{Commit, CommitError, Condition, Revision};

use crate::{
    Governance,
    rows::{read, read_head},
};

/// How often an act that met another writer is judged anew.
pub(crate) const MAX_ATTEMPTS: usize = 16;

impl Governance {
    /// Commits `commit` with `act` as the next row of the log, for as long as the client exists. `None` when another writer
    /// came between: the act has to be judged anew.
    pub(crate) async fn commit_logged(
        &self,
        client: ClientId,
        subject: &str,
        act: Act,
        commit: Commit,
    ) -> Result<Option<Revision>, Fault> {
        if read(self.store(), &Key::Client(client)).await?.0.is_none() {
            return Err(Fault::ClientNotFound);
        }
        let (head, version) = read_head(self.store(), client).await?;
        let ruling = Ruling {
            sequence: 0,
            at: self.clock.now(),
            subject: subject.to_owned(),
            upstream: None,
            tool_name: String::new(),
            act,
        };
        let (row, head) = chain::append(&head, ruling);
        let mut commit = commit
            .when(Condition::Equals(Key::ChainHead(client).encode(), version))
            .when(Condition::Present(Key::Client(client).encode()));
        for record in [Record::Ruling(client, row), Record::ChainHead(client, head)] {
            let (key, value) = record.encode();
            commit = commit.put(key, value);
        }
        match self.store().commit(commit).await {
            Ok(revision) => Ok(Some(revision)),
            Err(CommitError::Conflict(_)) => Ok(None),
            Err(error) => Err(from_commit_error(&error)),
        }
    }
}

/// The end of an act that met other writers each time.
pub(crate) fn outrun() -> Fault {
    let cause = "other writers kept coming between".into();
    Fault::StoreUnavailable { outcome_unknown: false, cause }
}

/// Adds rows to a commit.
pub(crate) fn put_all(commit: Commit, records: impl IntoIterator<Item = Record>) -> Commit {
    records.into_iter().fold(commit, |commit, record| {
        let (key, value) = record.encode();
        commit.put(key, value)
    })
}
