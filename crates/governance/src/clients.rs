//! Use cases: making and listing clients. What an operator alone may do.

use std::num::NonZeroUsize;

use toolgate_catalog::{from_commit_error, from_row_error, from_store_error};
use toolgate_definition::names::Slug;
use toolgate_domain::{Caller, ClientId, Fault, Moment};
use toolgate_records::{Key, Record};
use toolgate_store::{Commit, CommitError, Condition};

use crate::{
    Governance,
    rows::{after, read},
};

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Identity.
    pub id: ClientId,
    /// Unique among all.
    pub name: String,
    /// When it was made.
    pub created_at: Moment,
}

/// A page of clients.
#[derive(Debug, Clone)]
pub struct ClientPage {
    /// In the order of their names.
    pub clients: Vec<Client>,
    /// The last of the page, where more follow.
    pub more_after: Option<String>,
}

impl Governance {
    /// Makes a client, if nobody has its name. With `validate_only`, everything but that.
    ///
    /// # Errors
    /// [`Fault::OperatorRequired`]; [`Fault::Invalid`]; [`Fault::ClientNameTaken`]; failures of the store.
    pub async fn create_client(
        &self,
        caller: &Caller,
        name: &str,
        validate_only: bool,
    ) -> Result<Client, Fault> {
        caller.require_operator()?;
        let slug: Slug = name.parse().map_err(|error| Fault::invalid("name", format!("{error}")))?;
        let (name, created_at) = (slug.to_string(), self.clock.now());
        let client = Client { id: ClientId::new(created_at, self.entropy.ten_bytes()), name, created_at };
        let claim = Record::ClientName(client.name.clone(), client.id);
        if validate_only {
            let (holder, _) = read(self.store(), &claim.key()).await?;
            return holder.map_or(Ok(client.clone()), |_| Err(taken(&client)));
        }
        let mut commit = Commit::new().when(Condition::Absent(claim.key().encode()));
        for record in [Record::Client(client.id, client.name.clone(), created_at), claim] {
            let (at, value) = record.encode();
            commit = commit.put(at, value);
        }
        match self.store().commit(commit).await {
            Ok(_) => Ok(client),
            Err(CommitError::Conflict(_)) => Err(taken(&client)),
            Err(error) => Err(from_commit_error(&error)),
        }
    }

    /// Lists clients whose names come after one.
    ///
    /// # Errors
    /// [`Fault::OperatorRequired`]; failures of the store.
    pub async fn list_clients(
        &self,
        caller: &Caller,
        last: Option<String>,
        size: NonZeroUsize,
    ) -> Result<ClientPage, Fault> {
        caller.require_operator()?;
        let all = Key::client_names();
        let range = last.map_or(all.clone(), |last| after(all, &Key::ClientName(last)));
        let page = self.store().scan(&range, size).await.map_err(|error| from_store_error(&error))?;
        let mut clients = Vec::with_capacity(page.rows.len());
        for row in &page.rows {
            let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
            let Record::ClientName(name, id) = record else {
                return Err(Fault::Internal { cause: format!("{:?} among the clients", record.key()) });
            };
            let (Some(Record::Client(id, _, created_at)), _) = read(self.store(), &Key::Client(id)).await?
            else {
                return Err(Fault::Internal { cause: format!("the name {name} points nowhere") });
            };
            clients.push(Client { id, name, created_at });
        }
        let more_after = page.next.and_then(|_| clients.last().map(|client| client.name.clone()));
        Ok(ClientPage { clients, more_after })
    }
}

fn taken(client: &Client) -> Fault {
    Fault::ClientNameTaken { name: client.name.clone() }
}
