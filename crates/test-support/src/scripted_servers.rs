//! The double of the upstream port: what a server lists is what the test says.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tokio::sync::Notify;
use toolgate_upstream::{
    Bounds, CallAnswer, CallBounds, CallError, CallNotice, Endpoint, FollowEnd, InputAnswers, Listing,
    ListingEnd, ListingError, SessionKey, ToolCall, ToolCalls, ToolServers,
};

/// Tool servers that are known by their URL. One that was told nothing refuses the connection.
#[derive(Debug, Default)]
pub struct ScriptedServers {
    answers: Mutex<HashMap<String, VecDeque<Result<Listing, ListingError>>>>,
    listings: Mutex<HashMap<String, usize>>,
    notices: Mutex<HashMap<String, Arc<Notify>>>,
    calls: Mutex<Vec<Called>>,
    results: Mutex<HashMap<String, Result<String, CallError>>>,
    held: Mutex<HashMap<String, Arc<HeldCalls>>>,
}

/// One call that reached a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The server's URL.
    pub url: String,
    /// The server's own name of the tool.
    pub name: String,
    /// As they were sent.
    pub arguments: String,
    /// The arguments that headers repeat.
    pub argument_headers: Vec<(String, String)>,
    /// The capability of whoever could be asked, as it was told.
    pub elicitation: Option<String>,
    /// The answers that came with it, and the server's own state.
    pub answers: Option<(Option<String>, Option<String>)>,
    /// Whose call it was.
    pub shares: Option<SessionKey>,
}

/// Calls that are about to leave.
#[derive(Debug, Default)]
pub struct HeldCalls {
    /// Notified when one waits.
    pub arrived: Notify,
    /// Lets one go.
    pub go: Notify,
}

/// A listing that was read to its end.
pub fn complete(entries: &[&str]) -> Result<Listing, ListingError> {
    ended(entries, ListingEnd::Complete)
}

/// A listing with any end.
pub fn ended(entries: &[&str], end: ListingEnd) -> Result<Listing, ListingError> {
    let entries = entries.iter().map(|entry| (*entry).to_owned()).collect();
    let protocol_version = "2025-11-25".to_owned();
    Ok(Listing {
        entries,
        end,
        protocol_version,
        ttl: None,
        public_ttl: None,
        binds_headers: false,
        server_name: None,
    })
}

impl ScriptedServers {
    /// From now on the server at `url` answers this.
    pub fn answers(&self, url: &str, answer: Result<Listing, ListingError>) {
        self.answers_in_turn(url, vec![answer]);
    }

    /// From now on the server at `url` answers these, one a listing; the last one for ever.
    pub fn answers_in_turn(&self, url: &str, answers: Vec<Result<Listing, ListingError>>) {
        self.lock().insert(url.to_owned(), answers.into());
    }

    /// From now on the server at `url` takes the request and never answers.
    pub fn hangs(&self, url: &str) {
        self.answers_in_turn(url, Vec::new());
    }

    /// From now on the server at `url` tells when its list changes: whenever the answer is notified.
    pub fn tells_changes(&self, url: &str) -> Arc<Notify> {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(notices.entry(url.to_owned()).or_default())
    }

    fn followed(&self, url: &str) -> Option<Arc<Notify>> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned()
    }

    /// From now on every call to the server at `url` ends like this, and not with what was sent.
    pub fn ends_calls(&self, url: &str, result: Result<String, CallError>) {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), result);
    }

    /// From now on every call to the server at `url` waits before it leaves, each time until it is let go.
    pub fn holds_calls(&self, url: &str) -> Arc<HeldCalls> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(held.entry(url.to_owned()).or_default())
    }

    /// Lets go the call that waits, and every one after it.
    pub fn lets_calls_go(&self, url: &str) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(url);
        held.into_iter().for_each(|held| held.go.notify_one());
    }

    fn held(&self, url: &str) -> Option<Arc<HeldCalls>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned()
    }

    /// Every call that reached a server.
    pub fn calls(&self) -> Vec<Called> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often the server at `url` was listed.
    pub fn listings(&self, url: &str) -> usize {
        let listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        listings.get(url).copied().unwrap_or_default()
    }

    fn answer(&self, url: &str) -> Option<Result<Listing, ListingError>> {
        let mut answers = self.lock();
        let Some(queue) = answers.get_mut(url) else {
            return Some(Err(ListingError::Connect("connection refused".into())));
        };
        if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
    }

    /// The table is whole even where a test that held it panicked.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Result<Listing, ListingError>>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ToolServers for ScriptedServers {
    fn admits(&self, _endpoint: &Endpoint) -> Result<(), ListingError> {
        Ok(())
    }

    async fn list_tools(&self, endpoint: &Endpoint, _bounds: &Bounds) -> Result<Listing, ListingError> {
        let Endpoint::Http { url, .. } = endpoint else {
            return Err(ListingError::Refused("only HTTP is scripted".into()));
        };
        *self.listings.lock().unwrap_or_else(PoisonError::into_inner).entry(url.to_owned()).or_default() += 1;
        match self.answer(url) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    async fn follow(
        &self,
        endpoint: &Endpoint,
        _bounds: &Bounds,
        changed: &(dyn Fn() + Send + Sync),
    ) -> Result<FollowEnd, ListingError> {
        let Endpoint::Http { url, .. } = endpoint else { return Ok(FollowEnd::NotOffered) };
        let Some(notices) = self.followed(url) else { return Ok(FollowEnd::NotOffered) };
        changed();
        loop {
            notices.notified().await;
            changed();
        }
    }
}

#[async_trait]
impl ToolCalls for ScriptedServers {
    async fn call_tool(
        &self,
        endpoint: &Endpoint,
        call: &ToolCall<'_>,
        _bounds: &CallBounds,
        told: &(dyn Fn(CallNotice) + Send + Sync),
    ) -> Result<CallAnswer, CallError> {
        let Endpoint::Http { url, .. } = endpoint else {
            let error = ListingError::Refused("only HTTP is scripted".into());
            return Err(CallError { error, may_have_run: false });
        };
        if let Some(held) = self.held(url) {
            held.arrived.notify_one();
            held.go.notified().await;
        }
        if !(call.may_leave)() {
            let error = ListingError::Refused("the call was withdrawn".into());
            return Err(CallError { error, may_have_run: false });
        }
        let (name, arguments) = (call.name.to_owned(), call.arguments.to_owned());
        let argument_headers = call.argument_headers.to_vec();
        let called = Called {
            url: url.clone(),
            name,
            arguments,
            argument_headers,
            elicitation: call.elicitation.map(str::to_owned),
            answers: call.answers.map(|InputAnswers { responses, state }| {
                (responses.map(str::to_owned), state.map(str::to_owned))
            }),
            shares: call.shares,
        };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(called);
        if call.wants_progress {
            told(CallNotice::Progress(r#""progress":1"#.into()));
        }
        let scripted = self.results.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned();
        let result =
            scripted.unwrap_or_else(|| Ok(format!(r#"{{"content":[],"sent":{}}}"#, call.arguments)))?;
        match result.contains("input_required") {
            true => Ok(CallAnswer::Asks(result)),
            false => Ok(CallAnswer::Result(result)),
        }
    }
}
