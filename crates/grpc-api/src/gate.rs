use std::{future::Future, sync::Arc};

use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tonic::{Request, Response, Status, metadata::MetadataMap};
use toolgate_domain::{Caller, ClientId, Entropy, Fault, Scope};
use toolgate_identity::Authenticator;
use toolgate_sealing::Sealer;

use crate::{
    convert::fields,
    rpc::{Rpc, Takes},
    status::{self, deadline_exceeded},
    tokens::Tokens,
};

/// What every call passes: who calls, whether they may, and how long it may take.
#[derive(Debug, Clone)]
pub struct Gate {
    authenticator: Authenticator,
    sealer: Arc<Sealer>,
    entropy: Arc<dyn Entropy>,
}

impl Gate {
    /// Over the keys that `authenticator` knows; tokens are sealed with `sealer`, incidents numbered by `entropy`.
    pub fn new(authenticator: Authenticator, sealer: Arc<Sealer>, entropy: Arc<dyn Entropy>) -> Self {
        Self { authenticator, sealer, entropy }
    }

    /// Runs a call for whoever is allowed it, within its deadline, and maps what goes wrong.
    pub(crate) async fn run<Q, A, F>(
        &self,
        rpc: Rpc,
        request: Request<Q>,
        call: impl FnOnce(Caller, Request<Q>) -> F,
    ) -> Result<Response<A>, Status>
    where
        F: Future<Output = Result<A, Fault>>,
    {
        let work = async {
            let caller = self.admit(rpc, request.metadata()).await?;
            call(caller, request).await
        };
        let done = match rpc.rule().deadline {
            None => work.await,
            Some(deadline) => match tokio::time::timeout(deadline, work).await {
                Ok(done) => done,
                Err(_) => return Err(deadline_exceeded(rpc)),
            },
        };
        done.map(Response::new).map_err(|fault| self.status(rpc, &fault))
    }

    async fn admit(&self, rpc: Rpc, metadata: &MetadataMap) -> Result<Caller, Fault> {
        // A value that is not visible ASCII is a credential all the same: a bad one.
        let authorization = metadata.get("authorization").map(|value| value.to_str().unwrap_or_default());
        let caller = self.authenticator.authenticate(authorization).await?;
        match rpc.rule().takes {
            Takes::Scope(scope) => caller.require(scope)?,
            Takes::ScopeOnceFound(_) => {}
            Takes::ScopeOfView if caller.scopes.contains(Scope::Call) => {}
            Takes::ScopeOfView => caller.require(Scope::Read)?,
        }
        Ok(caller)
    }

    /// Tells when the caller's credential is no longer accepted.
    pub(crate) fn until_lost(&self, caller: Caller) -> Lost {
        let (authenticator, token) = (self.authenticator.clone(), CancellationToken::new());
        let guard = token.clone().drop_guard();
        let task = tokio::spawn(async move {
            let _guard = guard;
            authenticator.until_lost(&caller).await;
        });
        Lost { token, _task: AbortOnDropHandle::new(task) }
    }

    /// The status of a fault; the cause of an inner one goes into the log under an incident.
    pub(crate) fn status(&self, rpc: Rpc, fault: &Fault) -> Status {
        status::from_fault(rpc, fault, || hex(&self.entropy.ten_bytes()))
    }

    /// The client that a request is about, and its tokens.
    pub(crate) fn tenant<'a>(
        &'a self,
        caller: &Caller,
        client_id: &str,
    ) -> Result<(ClientId, Tokens<'a>), Fault> {
        let named = fields::optional(client_id, "client_id")?;
        let client = caller.acting_for(named)?;
        Ok((client, self.tokens(client)))
    }

    /// The tokens of a client.
    pub(crate) fn tokens(&self, client: ClientId) -> Tokens<'_> {
        Tokens::new(&self.sealer, client)
    }
}

/// Whether a credential is no longer accepted. That the question could not be asked to its end counts as a yes.
pub(crate) struct Lost {
    token: CancellationToken,
    _task: AbortOnDropHandle<()>,
}

impl Lost {
    pub(crate) async fn lost(&self) {
        self.token.cancelled().await;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
